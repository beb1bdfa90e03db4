//===- ConvOps.td - convolutions -----------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %r = aten.convolution %x, %w {dilation = array<i64: 1, 1>, groups = 1 : i64,
//       output_padding = array<i64: 0, 0>, padding = array<i64: 1, 1>, stride = array<i64: 2, 2>,
//       transposed = false} : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x4x4xf32>
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_CONVOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_CONVOPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_ConvolutionOp : Aten_Op<"convolution"> {
  let summary = "n-D convolution, grouped, dilated, or transposed";
  let description = [{
    `input` is [n, ic, spatial...]; `weight` is [oc, ic / groups, window...], or
    [ic, oc / groups, window...] when `transposed`.
  }];
  let overloads = ["aten.convolution.default"];
  let arguments = (ins Aten_Tensor:$input, Aten_Tensor:$weight,
                       Optional<Aten_Tensor>:$bias, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation,
                       BoolAttr:$transposed, DenseI64ArrayAttr:$output_padding,
                       I64Attr:$groups);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ConvolutionBackwardOp : Aten_Op<"convolution_backward",
    [AttrSizedResultSegments]> {
  let summary = "gradients of a convolution for input, weight and bias";
  let description = [{
    A gradient whose `output_mask` is false is not a result: results are those
    asked for, in order.
  }];
  let overloads = ["aten.convolution_backward.default"];
  let ignored = ["bias_sizes"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$input,
                       Aten_Tensor:$weight, DenseI64ArrayAttr:$stride,
                       DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation,
                       BoolAttr:$transposed, DenseI64ArrayAttr:$output_padding,
                       I64Attr:$groups, DenseBoolArrayAttr:$output_mask);
  let results = (outs Optional<Aten_Tensor>:$grad_input,
                      Optional<Aten_Tensor>:$grad_weight,
                      Optional<Aten_Tensor>:$grad_bias);
}

#endif
