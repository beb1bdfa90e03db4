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
