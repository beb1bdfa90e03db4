// RUN: dynamo-opt %s --convert-aten-to-linalg | FileCheck %s

// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d1, 0)>

// A view splits and joins dims; where neither is enough it goes through their
// common collapsed shape.
// CHECK-LABEL: @view
func.func @view(%x: tensor<2x6x4xf32>) -> (tensor<12x4xf32>, tensor<2x2x3x4xf32>, tensor<4x12xf32>) {
  // CHECK: tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]]
  %0 = aten.view %x {size = array<i64: 12, 4>} : (tensor<2x6x4xf32>) -> tensor<12x4xf32>
  // CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1, 2], [3]]
  %1 = aten.view %x {size = array<i64: 2, 2, 3, 4>} : (tensor<2x6x4xf32>) -> tensor<2x2x3x4xf32>
  // CHECK: %[[C:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1, 2]]
  // CHECK: tensor.expand_shape %[[C]] {{\[\[}}0, 1]]
  %2 = aten.view %x {size = array<i64: 4, 12>} : (tensor<2x6x4xf32>) -> tensor<4x12xf32>
  return %0, %1, %2 : tensor<12x4xf32>, tensor<2x2x3x4xf32>, tensor<4x12xf32>
}

// Slices clamp and count from the end as in Python; a select drops the dim.
// CHECK-LABEL: @slices
func.func @slices(%x: tensor<4x10xf32>) -> (tensor<4x3xf32>, tensor<4xf32>, tensor<4x0xf32>) {
  // CHECK: tensor.extract_slice %arg0[0, 5] [4, 3] [1, 2]
  %0 = aten.slice %x {dim = 1 : i64, start = -5 : i64, end = 9223372036854775807 : i64, step = 2 : i64} : (tensor<4x10xf32>) -> tensor<4x3xf32>
  // CHECK: tensor.extract_slice %arg0[0, 9] [4, 1] [1, 1]
  // CHECK: tensor.collapse_shape
  %1 = aten.select %x {dim = -1 : i64, index = -1 : i64} : (tensor<4x10xf32>) -> tensor<4xf32>
  // CHECK: tensor.extract_slice %arg0[0, 8] [4, 0] [1, 1]
  %2 = aten.slice %x {dim = 1 : i64, start = 8 : i64, end = 2 : i64} : (tensor<4x10xf32>) -> tensor<4x0xf32>
  return %0, %1, %2 : tensor<4x3xf32>, tensor<4xf32>, tensor<4x0xf32>
}

// A broadcast is a copy through a map, of a bool as of bytes.
// CHECK-LABEL: @expand
func.func @expand(%x: tensor<4x1xi1>) -> tensor<2x4x5xi1> {
  // CHECK: linalg.generic {indexing_maps = [#[[ROW]],
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: i8, %{{.*}}: i8):
  // CHECK-NEXT: linalg.yield %[[IN]] : i8
  %0 = aten.expand %x {size = array<i64: 2, -1, 5>} : (tensor<4x1xi1>) -> tensor<2x4x5xi1>
  return %0 : tensor<2x4x5xi1>
}

// Empty parts of a concatenation are skipped, others promoted.
// CHECK-LABEL: @cat
func.func @cat(%x: tensor<2x3xf32>, %y: tensor<2x1xi64>, %z: tensor<0xf32>) -> tensor<2x4xf32> {
  // CHECK: arith.sitofp
  // CHECK: tensor.concat dim(1) %arg0, %{{.*}} : (tensor<2x3xf32>, tensor<2x1xf32>)
  %0 = aten.cat %x, %z, %y {dim = -1 : i64} : (tensor<2x3xf32>, tensor<0xf32>, tensor<2x1xi64>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Negative padding crops.
// CHECK-LABEL: @pad
func.func @pad(%x: tensor<4x10xf32>) -> tensor<4x11xf32> {
  // CHECK: %[[S:.*]] = tensor.extract_slice %arg0[0, 0] [4, 8] [1, 1]
  // CHECK: tensor.pad %[[S]] low[0, 3] high[0, 0]
  // CHECK: tensor.yield %{{.*}} : f32
  %v = arith.constant 1.5 : f64
  %0 = aten.constant_pad_nd %x, %v {pad = array<i64: 3, -2>} : (tensor<4x10xf32>, f64) -> tensor<4x11xf32>
  return %0 : tensor<4x11xf32>
}

// A slice is written into a tensor.
// CHECK-LABEL: @scatter
func.func @scatter(%x: tensor<4x10xf32>, %s: tensor<4xf32>) -> tensor<4x10xf32> {
  // CHECK: tensor.insert_slice %{{.*}} into %arg0[0, 8] [4, 1] [1, 1]
  %0 = aten.select_scatter %x, %s {dim = 1 : i64, index = -2 : i64} : (tensor<4x10xf32>, tensor<4xf32>) -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}

// A roll is two slices joined the other way round.
// CHECK-LABEL: @roll
func.func @roll(%x: tensor<4x10xf32>) -> tensor<4x10xf32> {
  // CHECK: %[[TAIL:.*]] = tensor.extract_slice %arg0[0, 3] [4, 7] [1, 1]
  // CHECK: %[[HEAD:.*]] = tensor.extract_slice %arg0[0, 0] [4, 3] [1, 1]
  // CHECK: tensor.concat dim(1) %[[TAIL]], %[[HEAD]]
  %0 = aten.roll %x {shifts = array<i64: -3>, dims = array<i64: 1>} : (tensor<4x10xf32>) -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}

// A triangle compares indices.
// CHECK-LABEL: @tril
func.func @tril(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: arith.cmpi sle
  // CHECK: arith.select
  %0 = aten.tril %x {diagonal = -1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
