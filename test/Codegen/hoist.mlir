// RUN: dynamo-opt %s --split-input-file --codegen-hoist | FileCheck %s

// The tile is read before the loop, carried, and written after it; invariant
// arithmetic leaves the loop.
// CHECK-LABEL: func.func @k
// CHECK: math.exp
// CHECK: %[[T:.*]] = vector.transfer_read
// CHECK: scf.for {{.*}} %{{.*}} = %[[T]]
// CHECK-NOT: vector.transfer
// CHECK: arith.addf
// CHECK: scf.yield
// CHECK: vector.transfer_write
module @k {
  func.func @k(%a: tensor<8xf32>, %x: vector<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0.0 : f32
    %r = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %a) -> tensor<8xf32> {
      %e = math.exp %x : vector<8xf32>
      %0 = vector.transfer_read %acc[%c0], %z {in_bounds = [true]} : tensor<8xf32>, vector<8xf32>
      %1 = arith.addf %0, %e : vector<8xf32>
      %2 = vector.transfer_write %1, %acc[%c0] {in_bounds = [true]} : vector<8xf32>, tensor<8xf32>
      scf.yield %2 : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }
}

// -----

// A matmul kernel carries its accumulators already: nothing looks for tiles.
// CHECK-LABEL: func.func @matmul
// CHECK: math.exp
// CHECK: scf.for
// CHECK: vector.transfer_read
module @matmul attributes {rt.kernel, rt.strategy = "matmul"} {
  func.func @matmul(%a: tensor<8xf32>, %x: vector<8xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0.0 : f32
    %r = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %a) -> tensor<8xf32> {
      %e = math.exp %x : vector<8xf32>
      %0 = vector.transfer_read %acc[%c0], %z {in_bounds = [true]} : tensor<8xf32>, vector<8xf32>
      %1 = arith.addf %0, %e : vector<8xf32>
      %2 = vector.transfer_write %1, %acc[%c0] {in_bounds = [true]} : vector<8xf32>, tensor<8xf32>
      scf.yield %2 : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }
}
