// RUN: dynamo-opt %s --convert-aten-to-linalg | FileCheck %s

// CHECK-DAG: #[[TWICE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d5)>

// A small window is the maximum of slices of the input padded with -inf.
// CHECK-LABEL: @max
func.func @max(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> {
  // CHECK: %[[LOWEST:.*]] = arith.constant 0xFF800000 : f32
  // CHECK: %[[P:.*]] = tensor.pad {{.*}} low[0, 1, 1, 0] high[0, 0, 0, 0]
  // CHECK: tensor.extract_slice %[[P]][0, 0, 0, 0] [1, 4, 4, 4] [1, 2, 2, 1]
  // CHECK: tensor.extract_slice %[[P]][0, 2, 2, 0] [1, 4, 4, 4] [1, 2, 2, 1]
  // CHECK-COUNT-8: arith.maximumf
  %0, %1 = aten.max_pool2d_with_indices %x {kernel_size = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>}
    : (tensor<1x4x8x8xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xi64>)
  return %0 : tensor<1x4x4x4xf32>
}

// A larger window is a named pooling.
// CHECK-LABEL: @large
func.func @large(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) {
  // CHECK: linalg.pooling_nhwc_max
  %0, %1 = aten.max_pool2d_with_indices %x {kernel_size = array<i64: 4, 4>}
    : (tensor<1x4x8x8xf32>) -> (tensor<1x4x2x2xf32>, tensor<1x4x2x2xi64>)
  // CHECK: linalg.pooling_nhwc_sum
  %2 = aten.avg_pool2d %x {kernel_size = array<i64: 4, 4>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x2x2xf32>
  return %0, %2 : tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>
}

// With indices one generic makes both; a nan is larger than all.
// CHECK-LABEL: @indices
func.func @indices(%x: tensor<4x8x8xf32>) -> (tensor<4x4x4xf32>, tensor<4x4x4xi64>) {
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
  // CHECK: arith.cmpf ogt
  // CHECK: arith.cmpf
  // CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i64
  %0, %1 = aten.max_pool2d_with_indices %x {kernel_size = array<i64: 2, 2>}
    : (tensor<4x8x8xf32>) -> (tensor<4x4x4xf32>, tensor<4x4x4xi64>)
  return %0, %1 : tensor<4x4x4xf32>, tensor<4x4x4xi64>
}

// A divisor that differs at the border is counted; else it is a constant.
// CHECK-LABEL: @mean
func.func @mean(%x: tensor<1x4x8x8xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  // CHECK: linalg.generic
  // CHECK-NOT: linalg.index
  // CHECK: arith.divf
  %0 = aten.avg_pool2d %x {kernel_size = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>}
    : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  // CHECK: linalg.generic
  // CHECK: linalg.index
  // CHECK: arith.divf
  %1 = aten.avg_pool2d %x {kernel_size = array<i64: 3, 3>, stride = array<i64: 2, 2>, padding = array<i64: 1, 1>, count_include_pad = false}
    : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  return %0, %1 : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}

// The mean of a whole plane is a reduction.
// CHECK-LABEL: @global
func.func @global(%x: tensor<2x4x7x7xf32>) -> tensor<2x4x1x1xf32> {
  // CHECK-NOT: linalg.transpose
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  // CHECK: tensor.expand_shape {{.*}} into tensor<2x4x1x1xf32>
  %0 = aten.adaptive_avg_pool2d %x {output_size = array<i64: 1, 1>} : (tensor<2x4x7x7xf32>) -> tensor<2x4x1x1xf32>
  return %0 : tensor<2x4x1x1xf32>
}

// Whole factors repeat pixels through a map.
// CHECK-LABEL: @nearest
func.func @nearest(%x: tensor<1x4x3x3xf32>) -> tensor<1x4x6x9xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[TWICE]],
  // CHECK-NOT: tensor.extract
  %0 = aten.upsample_nearest2d %x {output_size = array<i64: 6, 9>} : (tensor<1x4x3x3xf32>) -> tensor<1x4x6x9xf32>
  return %0 : tensor<1x4x6x9xf32>
}
