//===- PoolOps.td - pooling and resizing of planes -----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %r, %i = aten.max_pool2d_with_indices %x {kernel_size = array<i64: 2, 2>}
//       : (tensor<1x3x8x8xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x3x4x4xi64>)
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_POOLOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_POOLOPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_MaxPool2dWithIndicesOp : Aten_Op<"max_pool2d_with_indices"> {
  let summary = "largest element of each window and its index into the input plane";
  let description = [{
    An empty `stride` means the window's size. Padding counts as -inf.
  }];
  let overloads = ["aten.max_pool2d_with_indices.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$kernel_size,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$stride,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0}">:$padding,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilation,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode);
  let results = (outs Aten_Tensor:$result, Aten_IntTensor:$indices);
}

def Aten_MaxPool2dWithIndicesBackwardOp :
    Aten_Op<"max_pool2d_with_indices_backward"> {
  let summary = "grad_output added at each window's largest element";
  let overloads = ["aten.max_pool2d_with_indices_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self,
                       DenseI64ArrayAttr:$kernel_size,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding,
                       DenseI64ArrayAttr:$dilation, BoolAttr:$ceil_mode,
                       Aten_IntTensor:$indices);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AvgPool1dOp : Aten_Op<"avg_pool1d"> {
  let summary = "mean of each window";
  let description = [{
    An empty `stride` means the window's size.
  }];
  let overloads = ["aten.avg_pool1d.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$kernel_size,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$stride,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{0}">:$padding,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<BoolAttr, "true">:$count_include_pad);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AvgPool2dOp : Aten_Op<"avg_pool2d"> {
  let summary = "mean of each window";
  let description = [{
    An empty `stride` means the window's size. The divisor is
    `divisor_override`, or the number of the window's elements, with the padding
    if `count_include_pad`.
  }];
  let overloads = ["aten.avg_pool2d.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$kernel_size,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$stride,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0}">:$padding,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<BoolAttr, "true">:$count_include_pad,
                       OptionalAttr<I64Attr>:$divisor_override);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AvgPool2dBackwardOp : Aten_Op<"avg_pool2d_backward"> {
  let summary = "grad_output spread over each window";
  let overloads = ["aten.avg_pool2d_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self,
                       DenseI64ArrayAttr:$kernel_size,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding,
                       BoolAttr:$ceil_mode, BoolAttr:$count_include_pad,
                       OptionalAttr<I64Attr>:$divisor_override);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AdaptiveAvgPool2dOp : Aten_Op<"adaptive_avg_pool2d"> {
  let summary = "mean of the windows that split each plane into output_size parts";
  let description = [{
    Window i of dimension d is [floor(i*in/out), ceil((i+1)*in/out)[.
  }];
  let overloads = ["aten._adaptive_avg_pool2d.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$output_size);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AdaptiveAvgPool2dBackwardOp : Aten_Op<"adaptive_avg_pool2d_backward"> {
  let summary = "grad_output spread over each adaptive window";
  let overloads = ["aten._adaptive_avg_pool2d_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
}

def Aten_UpsampleNearest2dOp : Aten_Op<"upsample_nearest2d"> {
  let summary = "plane resized, each element the nearest source element";
  let description = [{
    `scales_h` and `scales_w` give the ratio instead of the sizes when present.
  }];
  let overloads = ["aten.upsample_nearest2d.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$output_size,
                       OptionalAttr<F64Attr>:$scales_h,
                       OptionalAttr<F64Attr>:$scales_w);
  let results = (outs Aten_Tensor:$result);
}

def Aten_UpsampleBilinear2dOp : Aten_Op<"upsample_bilinear2d"> {
  let summary = "plane resized with linear interpolation in both directions";
  let description = [{
    `scales_h` and `scales_w` give the ratio instead of the sizes when present and
    `align_corners` is false.
  }];
  let overloads = ["aten.upsample_bilinear2d.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$output_size,
                       BoolAttr:$align_corners, OptionalAttr<F64Attr>:$scales_h,
                       OptionalAttr<F64Attr>:$scales_w);
  let results = (outs Aten_Tensor:$result);
}

def Aten_UpsampleNearest2dBackwardOp : Aten_Op<"upsample_nearest2d_backward"> {
  let summary = "gradient of upsample_nearest2d for its input";
  let overloads = ["aten.upsample_nearest2d_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, DenseI64ArrayAttr:$output_size,
                       DenseI64ArrayAttr:$input_size,
                       OptionalAttr<F64Attr>:$scales_h,
                       OptionalAttr<F64Attr>:$scales_w);
  let results = (outs Aten_Tensor:$result);
}

def Aten_UpsampleBilinear2dBackwardOp : Aten_Op<"upsample_bilinear2d_backward"> {
  let summary = "gradient of upsample_bilinear2d for its input";
  let overloads = ["aten.upsample_bilinear2d_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, DenseI64ArrayAttr:$output_size,
                       DenseI64ArrayAttr:$input_size, BoolAttr:$align_corners,
                       OptionalAttr<F64Attr>:$scales_h,
                       OptionalAttr<F64Attr>:$scales_w);
  let results = (outs Aten_Tensor:$result);
}

#endif
