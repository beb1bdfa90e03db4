// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the convolution family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @convolution(
func.func @convolution(%a0: tensor<2x6x9x8xf32>, %a1: tensor<4x3x3x2xf32>, %a2: tensor<4xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.convolution {{.*}}-> tensor<2x4x5x6xf32>
  %r = aten.convolution %a0, %a1, %a2 {dilation = array<i64: 1, 2>, groups = 2 : i64, output_padding = array<i64: 0, 0>, padding = array<i64: 1, 0>, stride = array<i64: 2, 1>, transposed = false} : (tensor<2x6x9x8xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @convolution_default_2(
func.func @convolution_default_2(%a0: tensor<2x6x9xf32>, %a1: tensor<6x2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.convolution {{.*}}-> tensor<2x4x18xf32>
  %r = aten.convolution %a0, %a1 {dilation = array<i64: 1>, groups = 2 : i64, output_padding = array<i64: 1>, padding = array<i64: 1>, stride = array<i64: 2>, transposed = true} : (tensor<2x6x9xf32>, tensor<6x2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @convolution_backward(
func.func @convolution_backward(%a0: tensor<2x4x5x6xf32>, %a1: tensor<2x6x9x8xf32>, %a2: tensor<4x3x3x2xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>) {
  // CHECK: aten.convolution_backward {{.*}}-> (tensor<2x6x9x8xf32>, tensor<4xf32>)
  %r:2 = aten.convolution_backward %a0, %a1, %a2 {dilation = array<i64: 1, 2>, groups = 2 : i64, output_mask = array<i1: true, false, true>, output_padding = array<i64: 0, 0>, padding = array<i64: 1, 0>, resultSegmentSizes = array<i32: 1, 0, 1>, stride = array<i64: 2, 1>, transposed = false} : (tensor<2x4x5x6xf32>, tensor<2x6x9x8xf32>, tensor<4x3x3x2xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?x?x?x?xf32>, tensor<?xf32>
}
