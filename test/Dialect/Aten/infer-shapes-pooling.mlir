// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the pooling family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @max_pool2d_with_indices(
func.func @max_pool2d_with_indices(%a0: tensor<2x3x9x8xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>) {
  // CHECK: aten.max_pool2d_with_indices {{.*}}-> (tensor<2x3x5x5xf32>, tensor<2x3x5x5xi64>)
  %r:2 = aten.max_pool2d_with_indices %a0 {ceil_mode = true, kernel_size = array<i64: 3, 3>, padding = array<i64: 1, 1>, stride = array<i64: 2, 2>} : (tensor<2x3x9x8xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>)
  return %r#0, %r#1 : tensor<?x?x?x?xf32>, tensor<?x?x?x?xi64>
}

// CHECK-LABEL: @max_pool2d_with_indices_default_2(
func.func @max_pool2d_with_indices_default_2(%a0: tensor<3x9x8xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?xi64>) {
  // CHECK: aten.max_pool2d_with_indices {{.*}}-> (tensor<3x4x4xf32>, tensor<3x4x4xi64>)
  %r:2 = aten.max_pool2d_with_indices %a0 {kernel_size = array<i64: 2, 2>} : (tensor<3x9x8xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?xi64>)
  return %r#0, %r#1 : tensor<?x?x?xf32>, tensor<?x?x?xi64>
}

// CHECK-LABEL: @max_pool2d_with_indices_backward(
func.func @max_pool2d_with_indices_backward(%a0: tensor<2x3x4x4xf32>, %a1: tensor<2x3x9x8xf32>, %a2: tensor<2x3x4x4xi64>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.max_pool2d_with_indices_backward {{.*}}-> tensor<2x3x9x8xf32>
  %r = aten.max_pool2d_with_indices_backward %a0, %a1, %a2 {ceil_mode = false, dilation = array<i64: 1, 1>, kernel_size = array<i64: 2, 2>, padding = array<i64: 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x3x4x4xf32>, tensor<2x3x9x8xf32>, tensor<2x3x4x4xi64>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @avg_pool1d(
func.func @avg_pool1d(%a0: tensor<2x3x9xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.avg_pool1d {{.*}}-> tensor<2x3x5xf32>
  %r = aten.avg_pool1d %a0 {kernel_size = array<i64: 3>, padding = array<i64: 1>, stride = array<i64: 2>} : (tensor<2x3x9xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @avg_pool2d(
func.func @avg_pool2d(%a0: tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.avg_pool2d {{.*}}-> tensor<2x3x5x3xf32>
  %r = aten.avg_pool2d %a0 {ceil_mode = true, kernel_size = array<i64: 2, 3>, padding = array<i64: 1, 1>} : (tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @avg_pool2d_backward(
func.func @avg_pool2d_backward(%a0: tensor<2x3x4x4xf32>, %a1: tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.avg_pool2d_backward {{.*}}-> tensor<2x3x9x8xf32>
  %r = aten.avg_pool2d_backward %a0, %a1 {ceil_mode = false, count_include_pad = true, kernel_size = array<i64: 2, 2>, padding = array<i64: 0, 0>, stride = array<i64: 2, 2>} : (tensor<2x3x4x4xf32>, tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @adaptive_avg_pool2d(
func.func @adaptive_avg_pool2d(%a0: tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.adaptive_avg_pool2d {{.*}}-> tensor<2x3x1x2xf32>
  %r = aten.adaptive_avg_pool2d %a0 {output_size = array<i64: 1, 2>} : (tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @adaptive_avg_pool2d_backward(
func.func @adaptive_avg_pool2d_backward(%a0: tensor<2x3x1x2xf32>, %a1: tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.adaptive_avg_pool2d_backward {{.*}}-> tensor<2x3x9x8xf32>
  %r = aten.adaptive_avg_pool2d_backward %a0, %a1 : (tensor<2x3x1x2xf32>, tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @upsample_nearest2d(
func.func @upsample_nearest2d(%a0: tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.upsample_nearest2d {{.*}}-> tensor<2x3x18x16xf32>
  %r = aten.upsample_nearest2d %a0 {output_size = array<i64: 18, 16>, scales_h = 2.0 : f64, scales_w = 2.0 : f64} : (tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @upsample_bilinear2d(
func.func @upsample_bilinear2d(%a0: tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.upsample_bilinear2d {{.*}}-> tensor<2x3x18x16xf32>
  %r = aten.upsample_bilinear2d %a0 {align_corners = false, output_size = array<i64: 18, 16>} : (tensor<2x3x9x8xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @upsample_nearest2d_backward(
func.func @upsample_nearest2d_backward(%a0: tensor<2x3x18x16xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.upsample_nearest2d_backward {{.*}}-> tensor<2x3x9x8xf32>
  %r = aten.upsample_nearest2d_backward %a0 {input_size = array<i64: 2, 3, 9, 8>, output_size = array<i64: 18, 16>} : (tensor<2x3x18x16xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @upsample_bilinear2d_backward(
func.func @upsample_bilinear2d_backward(%a0: tensor<2x3x18x16xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.upsample_bilinear2d_backward {{.*}}-> tensor<2x3x9x8xf32>
  %r = aten.upsample_bilinear2d_backward %a0 {align_corners = true, input_size = array<i64: 2, 3, 9, 8>, output_size = array<i64: 18, 16>} : (tensor<2x3x18x16xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}
