// RUN: dynamo-opt %s --convert-aten-to-linalg | FileCheck %s

// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 + d5, d2 * 2 + d6, d3, d7)>

// The general form: channels last, zeros around, bias on the last dim, and back.
// CHECK-LABEL: @conv2d
func.func @conv2d(%x: tensor<2x3x8x8xf32>, %w: tensor<16x3x3x3xf32>, %b: tensor<16xf32>) -> tensor<2x16x4x4xf32> {
  // CHECK: linalg.transpose {{.*}} permutation = [0, 2, 3, 1]
  // CHECK: linalg.transpose {{.*}} permutation = [2, 3, 1, 0]
  // CHECK: tensor.pad {{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0]
  // CHECK: linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK: linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
  %0 = aten.convolution %x, %w, %b {stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, dilation = array<i64: 1, 1>,
    transposed = false, output_padding = array<i64: 0, 0>, groups = 1 : i64}
    : (tensor<2x3x8x8xf32>, tensor<16x3x3x3xf32>, tensor<16xf32>) -> tensor<2x16x4x4xf32>
  return %0 : tensor<2x16x4x4xf32>
}

// A window of one element is a matrix product of pixels.
// CHECK-LABEL: @pointwise
func.func @pointwise(%x: tensor<2x32x4x4xf32>, %w: tensor<16x32x1x1xf32>) -> tensor<2x16x2x2xf32> {
  // CHECK: tensor.extract_slice {{.*}} [1, 2, 1, 1]
  // CHECK: tensor.extract_slice {{.*}} [1, 1, 2, 1]
  // CHECK: tensor.collapse_shape {{.*}} into tensor<8x32xf32>
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK: tensor.expand_shape {{.*}} into tensor<2x2x2x16xf32>
  %0 = aten.convolution %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, dilation = array<i64: 1, 1>,
    transposed = false, output_padding = array<i64: 0, 0>, groups = 1 : i64}
    : (tensor<2x32x4x4xf32>, tensor<16x32x1x1xf32>) -> tensor<2x16x2x2xf32>
  return %0 : tensor<2x16x2x2xf32>
}

// Windows side by side are a matrix product of patches; the weight of an image
// (few channels) keeps its order.
// CHECK-LABEL: @patches
func.func @patches(%x: tensor<1x3x9x8xf32>, %w: tensor<16x3x4x4xf32>) -> tensor<1x16x2x2xf32> {
  // CHECK: tensor.extract_slice {{.*}} [1, 8, 8, 3]
  // CHECK: linalg.transpose {{.*}} permutation = [0, 1, 3, 5, 2, 4]
  // CHECK: tensor.collapse_shape {{.*}} into tensor<4x48xf32>
  // CHECK: tensor.collapse_shape %arg1 {{.*}} into tensor<16x48xf32>
  // CHECK: iterator_types = ["parallel", "parallel", "reduction"]
  %0 = aten.convolution %x, %w {stride = array<i64: 4, 4>, padding = array<i64: 0, 0>, dilation = array<i64: 1, 1>,
    transposed = false, output_padding = array<i64: 0, 0>, groups = 1 : i64}
    : (tensor<1x3x9x8xf32>, tensor<16x3x4x4xf32>) -> tensor<1x16x2x2xf32>
  return %0 : tensor<1x16x2x2xf32>
}

// One channel per group.
// CHECK-LABEL: @depthwise
func.func @depthwise(%x: tensor<1x8x9x9xbf16>, %w: tensor<8x1x7x7xbf16>) -> tensor<1x8x9x9xbf16> {
  // CHECK: linalg.depthwise_conv_2d_nhwc_hwc {{.*}} outs({{.*}} : tensor<1x9x9x8xf32>)
  // CHECK: arith.truncf
  %0 = aten.convolution %x, %w {stride = array<i64: 1, 1>, padding = array<i64: 3, 3>, dilation = array<i64: 1, 1>,
    transposed = false, output_padding = array<i64: 0, 0>, groups = 8 : i64}
    : (tensor<1x8x9x9xbf16>, tensor<8x1x7x7xbf16>) -> tensor<1x8x9x9xbf16>
  return %0 : tensor<1x8x9x9xbf16>
}

// Groups of several channels have a loop of their own; one spatial dim is two.
// CHECK-LABEL: @grouped
func.func @grouped(%x: tensor<1x8x9xf32>, %w: tensor<6x4x3xf32>) -> tensor<1x6x4xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[IN]], #{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
  %0 = aten.convolution %x, %w {stride = array<i64: 2>, padding = array<i64: 0>, dilation = array<i64: 1>,
    transposed = false, output_padding = array<i64: 0>, groups = 2 : i64}
    : (tensor<1x8x9xf32>, tensor<6x4x3xf32>) -> tensor<1x6x4xf32>
  return %0 : tensor<1x6x4xf32>
}

// A transposed convolution stays.
// CHECK-LABEL: @transposed
// CHECK: aten.convolution {{.*}}aten.not_lowered
func.func @transposed(%x: tensor<1x8x4x4xf32>, %w: tensor<8x4x2x2xf32>) -> tensor<1x4x8x8xf32> {
  %0 = aten.convolution %x, %w {stride = array<i64: 2, 2>, padding = array<i64: 0, 0>, dilation = array<i64: 1, 1>,
    transposed = true, output_padding = array<i64: 0, 0>, groups = 1 : i64}
    : (tensor<1x8x4x4xf32>, tensor<8x4x2x2xf32>) -> tensor<1x4x8x8xf32>
  return %0 : tensor<1x4x8x8xf32>
}
