// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the shape family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @view(
func.func @view(%a0: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.view {{.*}}-> tensor<6x4xf32>
  %r = aten.view %a0 {size = array<i64: 6, -1>} : (tensor<2x3x4xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @permute(
func.func @permute(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.permute {{.*}}-> tensor<4x2x3xf32>
  %r = aten.permute %a0 {dims = array<i64: 2, 0, -2>} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @transpose(
func.func @transpose(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.transpose {{.*}}-> tensor<4x3x2xf32>
  %r = aten.transpose %a0 {dim0 = 0 : i64, dim1 = -1 : i64} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @t(
func.func @t(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.t {{.*}}-> tensor<3x2xf32>
  %r = aten.t %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @unsqueeze(
func.func @unsqueeze(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.unsqueeze {{.*}}-> tensor<2x3x4x1xf32>
  %r = aten.unsqueeze %a0 {dim = -1 : i64} : (tensor<2x3x4xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @squeeze(
func.func @squeeze(%a0: tensor<1x3x1xf32>) -> tensor<?xf32> {
  // CHECK: aten.squeeze {{.*}}-> tensor<3xf32>
  %r = aten.squeeze %a0 : (tensor<1x3x1xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @squeeze_dim(
func.func @squeeze_dim(%a0: tensor<1x3x1xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.squeeze {{.*}}-> tensor<1x3xf32>
  %r = aten.squeeze %a0 {dim = array<i64: -1>} : (tensor<1x3x1xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @squeeze_dims(
func.func @squeeze_dims(%a0: tensor<1x3x1xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.squeeze {{.*}}-> tensor<3x1xf32>
  %r = aten.squeeze %a0 {dim = array<i64: 0, 1>} : (tensor<1x3x1xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @expand(
func.func @expand(%a0: tensor<3x1xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.expand {{.*}}-> tensor<2x3x4xf32>
  %r = aten.expand %a0 {size = array<i64: 2, -1, 4>} : (tensor<3x1xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @slice(
func.func @slice(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.slice {{.*}}-> tensor<2x2x4xf32>
  %r = aten.slice %a0 {dim = 1 : i64, end = 100 : i64, start = -2 : i64} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @slice_Tensor_2(
func.func @slice_Tensor_2(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.slice {{.*}}-> tensor<2x3x2xf32>
  %r = aten.slice %a0 {dim = 2 : i64, end = 9223372036854775807 : i64, start = 0 : i64, step = 3 : i64} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @select(
func.func @select(%a0: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.select {{.*}}-> tensor<2x4xf32>
  %r = aten.select %a0 {dim = 1 : i64, index = -1 : i64} : (tensor<2x3x4xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @split(
func.func @split(%a0: tensor<5x3xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  // CHECK: aten.split {{.*}}-> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>)
  %r:3 = aten.split %a0 {split_size = 2 : i64} : (tensor<5x3xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: @split_with_sizes(
func.func @split_with_sizes(%a0: tensor<5x3xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  // CHECK: aten.split_with_sizes {{.*}}-> (tensor<4x3xf32>, tensor<1x3xf32>)
  %r:2 = aten.split_with_sizes %a0 {split_sizes = array<i64: 4, 1>} : (tensor<5x3xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: @unbind(
func.func @unbind(%a0: tensor<2x3xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: aten.unbind {{.*}}-> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  %r:3 = aten.unbind %a0 {dim = 1 : i64} : (tensor<2x3xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @cat(
func.func @cat(%a0: tensor<2x3xf32>, %a1: tensor<4x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.cat {{.*}}-> tensor<6x3xf32>
  %r = aten.cat %a0, %a1 : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @cat_default_2(
func.func @cat_default_2(%a0: tensor<0xf32>, %a1: tensor<2x3xf32>, %a2: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.cat {{.*}}-> tensor<2x6xf32>
  %r = aten.cat %a0, %a1, %a2 {dim = -1 : i64} : (tensor<0xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @stack(
func.func @stack(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.stack {{.*}}-> tensor<2x3x2xf32>
  %r = aten.stack %a0, %a1 {dim = -1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @repeat(
func.func @repeat(%a0: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.repeat {{.*}}-> tensor<2x2x9xf32>
  %r = aten.repeat %a0 {repeats = array<i64: 2, 1, 3>} : (tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @flip(
func.func @flip(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.flip {{.*}}-> tensor<2x3xf32>
  %r = aten.flip %a0 {dims = array<i64: 0, -1>} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @roll(
func.func @roll(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.roll {{.*}}-> tensor<2x3xf32>
  %r = aten.roll %a0 {dims = array<i64: 0>, shifts = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @constant_pad_nd(
func.func @constant_pad_nd(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 0.5 : f64
  // CHECK: aten.constant_pad_nd {{.*}}-> tensor<1x6xf32>
  %r = aten.constant_pad_nd %a0, %n0 {pad = array<i64: 1, 2, -1, 0>} : (tensor<2x3xf32>, f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @reflection_pad1d(
func.func @reflection_pad1d(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.reflection_pad1d {{.*}}-> tensor<2x6xf32>
  %r = aten.reflection_pad1d %a0 {padding = array<i64: 1, 2>} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @reflection_pad2d(
func.func @reflection_pad2d(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.reflection_pad2d {{.*}}-> tensor<2x5x7xf32>
  %r = aten.reflection_pad2d %a0 {padding = array<i64: 1, 2, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @tril(
func.func @tril(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.tril {{.*}}-> tensor<2x3xf32>
  %r = aten.tril %a0 {diagonal = -1 : i64} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @triu(
func.func @triu(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.triu {{.*}}-> tensor<2x3xf32>
  %r = aten.triu %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @diagonal(
func.func @diagonal(%a0: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.diagonal {{.*}}-> tensor<3x2xf32>
  %r = aten.diagonal %a0 {dim2 = -1 : i64, offset = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @unfold(
func.func @unfold(%a0: tensor<7x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.unfold {{.*}}-> tensor<3x3x3xf32>
  %r = aten.unfold %a0 {dimension = 0 : i64, size = 3 : i64, step = 2 : i64} : (tensor<7x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @pixel_shuffle(
func.func @pixel_shuffle(%a0: tensor<2x8x3x4xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.pixel_shuffle {{.*}}-> tensor<2x2x6x8xf32>
  %r = aten.pixel_shuffle %a0 {upscale_factor = 2 : i64} : (tensor<2x8x3x4xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @as_strided(
func.func @as_strided(%a0: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.as_strided {{.*}}-> tensor<2x3xf32>
  %r = aten.as_strided %a0 {size = array<i64: 2, 3>, storage_offset = 1 : i64, stride = array<i64: 1, 4>} : (tensor<2x3x4xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @slice_scatter(
func.func @slice_scatter(%a0: tensor<2x3xf32>, %a1: tensor<1x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.slice_scatter {{.*}}-> tensor<2x3xf32>
  %r = aten.slice_scatter %a0, %a1 {end = 2 : i64, start = 1 : i64} : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @select_scatter(
func.func @select_scatter(%a0: tensor<2x3x4xf32>, %a1: tensor<2x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.select_scatter {{.*}}-> tensor<2x3x4xf32>
  %r = aten.select_scatter %a0, %a1 {dim = 1 : i64, index = 0 : i64} : (tensor<2x3x4xf32>, tensor<2x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @slice_backward(
func.func @slice_backward(%a0: tensor<2x1x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.slice_backward {{.*}}-> tensor<2x3x4xf32>
  %r = aten.slice_backward %a0 {dim = 1 : i64, end = 2 : i64, input_sizes = array<i64: 2, 3, 4>, start = 1 : i64, step = 1 : i64} : (tensor<2x1x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @select_backward(
func.func @select_backward(%a0: tensor<2x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.select_backward {{.*}}-> tensor<2x3x4xf32>
  %r = aten.select_backward %a0 {dim = 1 : i64, index = 0 : i64, input_sizes = array<i64: 2, 3, 4>} : (tensor<2x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
