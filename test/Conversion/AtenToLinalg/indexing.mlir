// RUN: dynamo-opt %s --convert-aten-to-linalg | FileCheck %s

// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, 0)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d1)>

// A row is read at a clamped index, whatever the index is.
// CHECK-LABEL: @embedding
func.func @embedding(%w: tensor<100x16xf32>, %i: tensor<2x5xi64>) -> tensor<2x5x16xf32> {
  // CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<2x5xi64>)
  // CHECK: arith.maxsi
  // CHECK: %[[ROW:.*]] = arith.minsi
  // CHECK: tensor.extract %arg0[%[[ROW]], %{{.*}}]
  %0 = aten.embedding %w, %i : (tensor<100x16xf32>, tensor<2x5xi64>) -> tensor<2x5x16xf32>
  return %0 : tensor<2x5x16xf32>
}

// Index tensors broadcast; where indexed dims are not adjacent, theirs come first.
// CHECK-LABEL: @index
func.func @index(%x: tensor<4x6x8xf32>, %i: tensor<2x1xi64>, %j: tensor<3xi64>) -> tensor<2x3x6xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #{{.*}}]
  // CHECK: linalg.index 2
  %0 = aten.index %x, %i, %j {indices_present = array<i1: true, false, true>}
    : (tensor<4x6x8xf32>, tensor<2x1xi64>, tensor<3xi64>) -> tensor<2x3x6xf32>
  return %0 : tensor<2x3x6xf32>
}

// Writes are in order; an index out of range writes what was there.
// CHECK-LABEL: @put
func.func @put(%x: tensor<4x6xf32>, %i: tensor<3xi64>, %v: tensor<3x6xf32>) -> tensor<4x6xf32> {
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: %[[VALID:.*]] = arith.cmpi ult
  // CHECK: arith.addf
  // CHECK: arith.select %[[VALID]]
  // CHECK: tensor.insert
  %0 = aten.index_put %x, %i, %v {indices_present = array<i1: true>, accumulate = true}
    : (tensor<4x6xf32>, tensor<3xi64>, tensor<3x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// A running sum carries a scalar along its dim.
// CHECK-LABEL: @cumsum
func.func @cumsum(%x: tensor<4x6xi1>) -> tensor<4x6xi64> {
  // CHECK-COUNT-3: scf.for
  // CHECK: arith.addi
  // CHECK: tensor.insert
  %0 = aten.cumsum %x {dim = 1 : i64} : (tensor<4x6xi1>) -> tensor<4x6xi64>
  return %0 : tensor<4x6xi64>
}
