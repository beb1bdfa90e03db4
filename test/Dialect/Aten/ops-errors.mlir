// RUN: dynamo-opt %s -split-input-file -verify-diagnostics

// The constraints of AtenBase.td, one kind after the other.

// C1: the declared shape contradicts the operands'.
func.func @declared_shape(%a: tensor<2x3xf32>) {
  // expected-error @below {{C1: result 0 has shape 2x4, but the operands imply 2x3}}
  %0 = aten.relu %a : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

// C1: so does the rank.
func.func @declared_rank(%a: tensor<2x3xf32>) {
  // expected-error @below {{C1: result 0 has shape scalar, but the operands imply 3}}
  %0 = aten.sum %a {dim = array<i64: 0>} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

// C2: sizes that neither equal nor are 1.
func.func @broadcast(%a: tensor<2x3xf32>, %b: tensor<4x1xf32>) {
  // expected-error @below {{C2: shapes 2x3 and 4x1 do not broadcast}}
  %0 = aten.mul %a, %b : (tensor<2x3xf32>, tensor<4x1xf32>) -> tensor<?x?xf32>
  return
}

// -----

// C2: an operand that may not widen the result.
func.func @broadcast_to(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error @below {{C2: shape 4x3 does not broadcast to 2x3}}
  %0 = aten.copy %a, %b : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// C3: a dimension out of range.
func.func @dim(%a: tensor<2x3xf32>) {
  // expected-error @below {{C3: dimension 2 is not in [-2, 1]}}
  %0 = aten.softmax %a {dim = 2 : i64, half_to_float = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// C3: a scalar counts as one dimension.
func.func @dim_scalar(%a: tensor<f32>) {
  // expected-error @below {{C3: dimension -2 is not in [-1, 0]}}
  %0 = aten.cumsum %a {dim = -2 : i64} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// C4: one dimension by both of its numbers.
func.func @dim_twice(%a: tensor<2x3xf32>) {
  // expected-error @below {{C4: dimension -1 is there twice}}
  %0 = aten.sum %a {dim = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

// C5: a matrix product of a vector.
func.func @rank(%a: tensor<3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @below {{C5: self has rank 1, expected 2}}
  %0 = aten.mm %a, %b : (tensor<3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

// C6: inner sizes of a product.
func.func @inner(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @below {{C6: inner sizes: 3 and 4 differ}}
  %0 = aten.mm %a, %b : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}

// -----

// C6: channels of a grouped convolution.
func.func @channels(%a: tensor<1x6x8x8xf32>, %b: tensor<4x6x3x3xf32>) {
  // expected-error @below {{C6: channels of weight and input: 12 and 6 differ}}
  %0 = aten.convolution %a, %b {dilation = array<i64: 1, 1>, groups = 2 : i64, output_padding = array<i64: 0, 0>, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>, transposed = false} : (tensor<1x6x8x8xf32>, tensor<4x6x3x3xf32>) -> tensor<1x4x6x6xf32>
  return
}

// -----

// C6: a view of another number of elements.
func.func @elements(%a: tensor<2x3xf32>) {
  // expected-error @below {{C6: self has 6 elements, the result 4}}
  %0 = aten.view %a {size = array<i64: 4, -1>} : (tensor<2x3xf32>) -> tensor<4x1xf32>
  return
}

// -----

// C7: a list that is not one per spatial dimension.
func.func @list(%a: tensor<1x6x8x8xf32>) {
  // expected-error @below {{C7: kernel_size has 3 elements, expected 2}}
  %0 = aten.avg_pool2d %a {kernel_size = array<i64: 2, 2, 2>} : (tensor<1x6x8x8xf32>) -> tensor<1x6x4x4xf32>
  return
}

// -----

// C7: fewer index tensors than indices_present says.
func.func @indices(%a: tensor<2x3xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{C7: indices_present says 2 index tensors, but there are 1}}
  %0 = aten.index %a, %i {indices_present = array<i1: true, true>} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4xf32>
  return
}

// -----

// C8: a window larger than the padded input.
func.func @window(%a: tensor<1x1x4x4xf32>, %b: tensor<1x1x5x5xf32>) {
  // expected-error @below {{C8: window of 5 does not fit into padded size 4}}
  %0 = aten.convolution %a, %b {dilation = array<i64: 1, 1>, groups = 1 : i64, output_padding = array<i64: 0, 0>, padding = array<i64: 0, 0>, stride = array<i64: 1, 1>, transposed = false} : (tensor<1x1x4x4xf32>, tensor<1x1x5x5xf32>) -> tensor<1x1x?x?xf32>
  return
}

// -----

// C8: a slice that runs backwards.
func.func @step(%a: tensor<4xf32>) {
  // expected-error @below {{C8: step -1 is not positive}}
  %0 = aten.slice %a {step = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// C8: an index out of range.
func.func @select_index(%a: tensor<4xf32>) {
  // expected-error @below {{C8: index 4 is not in [-4, 3]}}
  %0 = aten.select %a {dim = 0 : i64, index = 4 : i64} : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

// C8: an unknown reduction.
func.func @reduce(%a: tensor<4xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{C8: reduce is 'max', expected sum, prod, mean, amax or amin}}
  %0 = aten.scatter_reduce %a, %i, %a {dim = 0 : i64, reduce = "max"} : (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// C9: fewer results than pieces.
func.func @pieces(%a: tensor<5xf32>) {
  // expected-error @below {{C9: has 2 results, expected 3}}
  %0:2 = aten.split %a {split_size = 2 : i64} : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

// C9: a gradient that was not asked for.
func.func @mask(%a: tensor<2x3xf32>, %s: tensor<2x1xf32>) {
  // expected-error @below {{C9: result 0 is absent, but output_mask says otherwise}}
  %0 = aten.native_layer_norm_backward %a, %a, %s, %s {normalized_shape = array<i64: 3>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, output_mask = array<i1: true, false, false>, resultSegmentSizes = array<i32: 0, 1, 0>} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<3xf32>
  return
}

// -----

// Elements that are moved keep their type.
func.func @moved(%a: tensor<2x3xf32>) {
  // expected-error @below {{requires the same element type for all operands and results}}
  %0 = aten.permute %a {dims = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf64>
  return
}

// -----

// A complex tensor is for aten.extern only.
func.func @complex(%a: tensor<2xcomplex<f32>>) {
  // expected-error @below {{operand #0 must be tensor of}}
  %0 = aten.neg %a : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return
}

// -----

// aten.extern, C1: a name without a namespace.
func.func @extern_name(%a: tensor<4xf32>) {
  // expected-error @below {{C1: 'relu' is not namespace::name.overload}}
  aten.extern "relu"(%a) {args = [#aten.operand<0>]} : (tensor<4xf32>) -> ()
  return
}

// -----

// aten.extern, C2: a place beyond the operands, inside of a list.
func.func @extern_range(%a: tensor<4xf32>) {
  // expected-error @below {{C2: #aten.operand<1> is not one of 1 operands}}
  aten.extern "aten::cat"(%a) {args = [[#aten.operand<0>, #aten.operand<1>], 0 : i64]} : (tensor<4xf32>) -> ()
  return
}

// -----

// aten.extern, C3: an operand without a place.
func.func @extern_unused(%a: tensor<4xf32>) {
  // expected-error @below {{C3: operand 1 is not in args or kwargs}}
  aten.extern "aten::add.Tensor"(%a, %a) {args = [#aten.operand<0>], kwargs = {alpha = 1 : i64}} : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}
