// RUN: dynamo-opt %s --convert-aten-to-linalg | FileCheck %s

// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, 0)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d1)>

// A row is read at a clamped index, whatever the index is.
// CHECK-LABEL: @embedding
func.func @embedding(%w: tensor<100x16xf32>, %i: tensor<2x5xi64>) -> tensor<2x5x16xf32> {
  // CHECK: rt.refuse_if
  // CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<2x5xi64>)
  // CHECK: arith.maxsi
  // CHECK: %[[ROW:.*]] = arith.minsi
  // CHECK: tensor.extract %arg0[%[[ROW]], %{{.*}}]
  %0 = aten.embedding %w, %i : (tensor<100x16xf32>, tensor<2x5xi64>) -> tensor<2x5x16xf32>
  return %0 : tensor<2x5x16xf32>
}

// What eager raises for refuses the run. One check serves all uses of an index
// tensor, through views.
// CHECK-LABEL: @checked
func.func @checked(%x: tensor<4x6xf32>, %i: tensor<4xi64>) -> (tensor<2x2x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  // CHECK: %[[ZERO:.*]] = arith.constant 0 : i8
  // CHECK: %[[INIT:.*]] = linalg.fill ins(%[[ZERO]]
  // CHECK: %[[BAD:.*]] = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%arg1 : tensor<4xi64>) outs(%[[INIT]] : tensor<i8>)
  // CHECK: arith.cmpi slt
  // CHECK: arith.cmpi sgt
  // CHECK: rt.refuse_if %[[BAD]], "an index is out of range" : tensor<i8>
  // CHECK-NOT: rt.refuse_if
  %j = aten.view %i {size = array<i64: 2, 2>} : (tensor<4xi64>) -> tensor<2x2xi64>
  %0 = aten.embedding %x, %j : (tensor<4x6xf32>, tensor<2x2xi64>) -> tensor<2x2x6xf32>
  %1 = aten.index_select %x, %i {dim = 0 : i64} : (tensor<4x6xf32>, tensor<4xi64>) -> tensor<4x6xf32>
  // Nothing is checked where no data can be wrong.
  %low = arith.constant 0 : i64
  %high = arith.constant 3 : i64
  %k = aten.clamp %i, %low, %high {operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4xi64>, i64, i64) -> tensor<4xi64>
  %2 = aten.index_select %x, %k {dim = 0 : i64} : (tensor<4x6xf32>, tensor<4xi64>) -> tensor<4x6xf32>
  return %0, %1, %2 : tensor<2x2x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

// An unsafe overload's caller knows that the indices are right.
// CHECK-LABEL: @unsafe
func.func @unsafe(%x: tensor<4x6xf32>, %i: tensor<3xi64>) -> tensor<3x6xf32> {
  // CHECK-NOT: rt.refuse_if
  %0 = aten.index %x, %i {indices_present = array<i1: true>, aten.overload = "aten::_unsafe_index.Tensor"}
    : (tensor<4x6xf32>, tensor<3xi64>) -> tensor<3x6xf32>
  return %0 : tensor<3x6xf32>
}

// Index tensors broadcast; where indexed dims are not adjacent, theirs come first.
// CHECK-LABEL: @index
func.func @index(%x: tensor<4x6x8xf32>, %i: tensor<2x1xi64>, %j: tensor<3xi64>) -> tensor<2x3x6xf32> {
  // CHECK-COUNT-2: rt.refuse_if
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
