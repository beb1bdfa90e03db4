// RUN: dynamo-opt %s --codegen-lower-vectors | FileCheck %s

// Transfers within bounds are loads and stores of one dimension; a contraction
// is multiply-adds of rows.
// CHECK-LABEL: func.func @contract
// CHECK-NOT: vector.transfer
// CHECK-NOT: vector.contract
// CHECK: vector.load
// CHECK: vector.fma {{.*}} : vector<8xf32>
// CHECK: vector.store
module @contract attributes {rt.kernel} {
  func.func @contract(%a: memref<2x1xf32>, %b: memref<1x8xf32>, %c: memref<2x8xf32>) {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    %0 = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<2x1xf32>, vector<2x1xf32>
    %1 = vector.transfer_read %b[%c0, %c0], %z {in_bounds = [true, true]} : memref<1x8xf32>, vector<1x8xf32>
    %2 = vector.transfer_read %c[%c0, %c0], %z {in_bounds = [true, true]} : memref<2x8xf32>, vector<2x8xf32>
    %3 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %0, %1, %2 : vector<2x1xf32>, vector<1x8xf32> into vector<2x8xf32>
    vector.transfer_write %3, %c[%c0, %c0] {in_bounds = [true, true]} : vector<2x8xf32>, memref<2x8xf32>
    return
  }
}
