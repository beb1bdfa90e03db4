// RUN: dynamo-opt %s --convert-aten-to-linalg --verify-linalg | FileCheck %s

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[COLS:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>

// Layer norm is four generics over one space; statistics and weights are read by
// their maps.
// CHECK-LABEL: @layer_norm
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>
func.func @layer_norm(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ROWS]]]
  // CHECK: %[[MEAN:.*]] = linalg.generic {{.*}} ins(%[[SUM]]
  // CHECK: %[[SQUARES:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ROWS]], #[[ROWS]]]{{.*}} ins(%[[X]], %[[MEAN]]
  // CHECK: %[[RSTD:.*]] = linalg.generic {{.*}} ins(%[[SQUARES]]
  // CHECK: math.sqrt
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROWS]], #[[ROWS]], #[[COLS]], #[[COLS]], #[[ID]]]
  // CHECK-SAME: ins(%[[X]], %[[RSTD]], %[[MEAN]], %[[W]], %[[B]]
  %0:3 = aten.native_layer_norm %x, %w, %b {normalized_shape = array<i64: 8>, eps = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1>}
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
  return %0#0 : tensor<4x8xf32>
}

// Batch norm in inference is one scale and shift per channel.
// CHECK-LABEL: @batch_norm
func.func @batch_norm(%x: tensor<2x3x4x5xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3x4x5xf32> {
  // CHECK: linalg.generic {{.*}}#[[CHANNEL]], #[[CHANNEL]]
  // CHECK: %[[P:.*]] = arith.mulf
  // CHECK-NEXT: arith.addf %[[P]]
  // CHECK-NEXT: linalg.yield
  %0:3 = aten.native_batch_norm_legit_no_training %x, %w, %b, %m, %v {momentum = 0.1 : f64, eps = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}
      : (tensor<2x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4x5xf32>, tensor<0xf32>, tensor<0xf32>)
  return %0#0 : tensor<2x3x4x5xf32>
}

// Group norm splits channels by a view.
// CHECK-LABEL: @group_norm
func.func @group_norm(%x: tensor<2x6x4x5xf32>) -> tensor<2x6x4x5xf32> {
  // CHECK: tensor.collapse_shape {{.*}} : tensor<2x6x4x5xf32> into tensor<2x6x20xf32>
  // CHECK: tensor.expand_shape {{.*}} : tensor<2x6x20xf32> into tensor<2x3x2x20xf32>
  // CHECK: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  %0:3 = aten.native_group_norm %x {N = 2 : i64, C = 6 : i64, HxW = 20 : i64, group = 3 : i64, eps = 1.0e-5 : f64, operandSegmentSizes = array<i32: 1, 0, 0>}
      : (tensor<2x6x4x5xf32>) -> (tensor<2x6x4x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#0 : tensor<2x6x4x5xf32>
}

// Only the gradients that are asked for are computed; saved statistics lose
// their dims of size 1.
// CHECK-LABEL: @layer_norm_backward
func.func @layer_norm_backward(%g: tensor<4x8xf32>, %x: tensor<4x8xf32>, %m: tensor<4x1xf32>, %r: tensor<4x1xf32>) -> tensor<4x8xf32> {
  // CHECK-DAG: tensor.collapse_shape {{.*}} : tensor<4x1xf32> into tensor<4xf32>
  // CHECK-COUNT-2: iterator_types = ["parallel", "reduction"]
  // CHECK-NOT: "reduction"
  %0 = aten.native_layer_norm_backward %g, %x, %m, %r {normalized_shape = array<i64: 8>, output_mask = array<i1: true, false, false>,
      operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0>}
      : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
