// RUN: dynamo-opt %s --split-input-file --codegen-bufferize-kernel | FileCheck %s

// The result is computed in the output buffer, seen through the reshape: no
// allocation and no copy.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME: %[[IN:.*]]: memref<4x10xf32>, %[[OUT:.*]]: memref<40xf32>)
// CHECK-NOT: alloc
// CHECK: %[[VIEW:.*]] = memref.expand_shape %[[OUT]]
// CHECK: linalg.generic {{.*}} ins(%[[IN]] : {{.*}}) outs(%[[VIEW]] :
// CHECK-NOT: memref.copy
#id = affine_map<(d0, d1) -> (d0, d1)>
module @in_place attributes {rt.kernel} {
  func.func @in_place(%x: tensor<4x10xf32>) -> tensor<40xf32> {
    %e = tensor.empty() : tensor<4x10xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<4x10xf32>) outs(%e : tensor<4x10xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.negf %a : f32
      linalg.yield %v : f32
    } -> tensor<4x10xf32>
    %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<4x10xf32> into tensor<40xf32>
    return %1 : tensor<40xf32>
  }
}

// -----

// A temporary is on the stack; an argument that is returned is copied.
// CHECK-LABEL: func.func @scratch(
// CHECK-SAME: %[[IN:.*]]: memref<8x8xf32>, %[[OUT:.*]]: memref<8x8xf32>, %[[SAME:.*]]: memref<8x8xf32>)
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<8x8xf32>
// CHECK: memref.copy %[[IN]], %[[SAME]]
module @scratch attributes {rt.kernel} {
  func.func @scratch(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x8xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
    %0 = linalg.matmul ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = linalg.matmul ins(%0, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %1, %x : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// Two reductions that start from one filled tensor keep their own outputs.
// CHECK-LABEL: func.func @shared_start(
// CHECK-SAME: %{{[a-z0-9]*}}: memref<64xf32>, %{{[a-z0-9]*}}: memref<2xf32>, %[[A:[a-z0-9]*]]: memref<f32>, %[[B:[a-z0-9]*]]: memref<f32>)
// CHECK-NOT: memref.copy
// CHECK: linalg.fill {{.*}} outs(%[[A]]
// CHECK: linalg.fill {{.*}} outs(%[[B]]
// CHECK: linalg.generic {{.*}} outs(%[[A]]
// CHECK: linalg.generic {{.*}} outs(%[[B]]
// CHECK-NOT: memref.copy
module @shared_start attributes {rt.kernel} {
  func.func @shared_start(%x: tensor<64xf32>, %y: tensor<2xf32>) -> (tensor<f32>, tensor<f32>) {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
        ins(%x : tensor<64xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.addf %a, %o : f32
      linalg.yield %v : f32
    } -> tensor<f32>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
        ins(%y : tensor<2xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.addf %a, %o : f32
      linalg.yield %v : f32
    } -> tensor<f32>
    return %0, %1 : tensor<f32>, tensor<f32>
  }
}

// -----

// A write into a copy of an input happens in the output, without scratch.
// CHECK-LABEL: func.func @written
// CHECK-SAME: %[[IN:[a-z0-9]+]]: memref<3x4xf32>, %[[S:[a-z0-9]+]]: memref<3x1xf32>, %[[OUT:[a-z0-9]+]]: memref<3x4xf32>
// CHECK-NOT: memref.alloc
// CHECK: linalg.copy ins(%[[IN]] : {{.*}}) outs(%[[OUT]]
// CHECK: %[[V:.*]] = memref.subview %[[OUT]]
// CHECK: memref.copy %[[S]], %[[V]]
// CHECK-NOT: memref.copy
module @written attributes {rt.kernel, rt.strategy = "loops"} {
  func.func @written(%x: tensor<3x4xf32>, %s: tensor<3x1xf32>) -> tensor<3x4xf32> {
    %0 = tensor.insert_slice %s into %x[0, 3] [3, 1] [1, 1] : tensor<3x1xf32> into tensor<3x4xf32>
    return %0 : tensor<3x4xf32>
  }
}

// -----

// Parts of a concatenation are computed in their places, each when it is its
// turn. The second is returned too: it is made there, and copied.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4x8xf32>, %[[Y:[a-z0-9]+]]: memref<4x8xf32>, %[[OUT:[a-z0-9]+]]: memref<12x8xf32>, %[[SAME:[a-z0-9]+]]: memref<4x8xf32>
// CHECK-NOT: memref.alloc
// CHECK: linalg.exp ins(%[[Y]] : {{.*}}) outs(%[[SAME]]
// CHECK: %[[V0:.*]] = memref.subview %[[OUT]][0, 0]
// CHECK: linalg.exp ins(%[[X]] : {{.*}}) outs(%[[V0]]
// CHECK: memref.copy %[[SAME]]
// CHECK: %[[V2:.*]] = memref.subview %[[OUT]][8, 0]
// CHECK: linalg.fill {{.*}} outs(%[[V2]]
// CHECK-NOT: memref.copy
module @parts attributes {rt.kernel, rt.strategy = "loops"} {
  func.func @parts(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<12x8xf32>, tensor<4x8xf32>) {
    %c = arith.constant 1.0 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %0 = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = linalg.exp ins(%y : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = linalg.fill ins(%c : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %d = tensor.empty() : tensor<12x8xf32>
    %3 = tensor.insert_slice %0 into %d[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<12x8xf32>
    %4 = tensor.insert_slice %1 into %3[4, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<12x8xf32>
    %5 = tensor.insert_slice %2 into %4[8, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<12x8xf32>
    return %5, %1 : tensor<12x8xf32>, tensor<4x8xf32>
  }
}

// -----

// A tile of a parallel loop, made by a loop from nothing, is made in its place.
// CHECK-LABEL: func.func @tiles
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<64x8xf32>, %[[OUT:[a-z0-9]+]]: memref<64x8xf32>
// CHECK-NOT: memref.alloc
// CHECK: scf.forall
// CHECK:   %[[TILE:.*]] = memref.subview %[[OUT]]
// CHECK:   scf.for
// CHECK:     vector.transfer_write %{{.*}}, %[[TILE]]
// CHECK-NOT: memref.copy
module @tiles attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @tiles(%x: tensor<64x8xf32>) -> tensor<64x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x8xf32>
    %0 = scf.forall (%i) = (0) to (64) step (16) shared_outs(%o = %e) -> tensor<64x8xf32> {
      %t = tensor.empty() : tensor<16x8xf32>
      %1 = scf.for %j = %c0 to %c16 step %c1 iter_args(%a = %t) -> tensor<16x8xf32> {
        %r = arith.addi %i, %j : index
        %v = vector.transfer_read %x[%r, %c0], %z {in_bounds = [true]} : tensor<64x8xf32>, vector<8xf32>
        %w = vector.transfer_write %v, %a[%j, %c0] {in_bounds = [true]} : vector<8xf32>, tensor<16x8xf32>
        scf.yield %w : tensor<16x8xf32>
      }
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %1 into %o[%i, 0] [16, 8] [1, 1] : tensor<16x8xf32> into tensor<64x8xf32>
      }
    }
    return %0 : tensor<64x8xf32>
  }
}
