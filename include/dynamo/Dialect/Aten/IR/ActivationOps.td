//===- ActivationOps.td - activation functions and their backward --------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %r = aten.gelu %x {approximate = "tanh"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
//   %g = aten.gelu_backward %dy, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_ACTIVATIONOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_ACTIVATIONOPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_ReluOp : Aten_UnaryOp<"relu"> {
  let summary = "max(self, 0); nan stays nan";
  let overloads = ["aten.relu.default"];
}

def Aten_GeluOp : Aten_ElementwiseOp<"gelu"> {
  let summary = "self * Phi(self), Phi the normal distribution function";
  let description = [{
    `approximate` is `"none"` (through erf) or `"tanh"`.
  }];
  let overloads = ["aten.gelu.default"];
  let arguments = (ins Aten_Tensor:$self,
                       DefaultValuedAttr<StrAttr, "\"none\"">:$approximate);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SiluOp : Aten_UnaryOp<"silu", Aten_FloatTensor> {
  let summary = "self * sigmoid(self)";
  let overloads = ["aten.silu.default"];
}

def Aten_MishOp : Aten_UnaryOp<"mish", Aten_FloatTensor> {
  let summary = "self * tanh(log(1 + exp(self)))";
  let overloads = ["aten.mish.default"];
}

def Aten_HardtanhOp : Aten_ElementwiseOp<"hardtanh"> {
  let summary = "self clamped to [min_val, max_val]; relu6 is the range [0, 6]";
  let overloads = ["aten.hardtanh.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Number<"-1">:$min_val,
                       Aten_Number<"1">:$max_val);
  let results = (outs Aten_Tensor:$result);
}

def Aten_HardswishOp : Aten_UnaryOp<"hardswish", Aten_FloatTensor> {
  let summary = "self * clamp(self + 3, 0, 6) / 6";
  let overloads = ["aten.hardswish.default"];
}

def Aten_HardsigmoidOp : Aten_UnaryOp<"hardsigmoid", Aten_FloatTensor> {
  let summary = "clamp(self + 3, 0, 6) / 6";
  let overloads = ["aten.hardsigmoid.default"];
}

def Aten_LeakyReluOp : Aten_ElementwiseOp<"leaky_relu"> {
  let summary = "self where positive, negative_slope * self elsewhere";
  let overloads = ["aten.leaky_relu.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Number<"0.01">:$negative_slope);
  let results = (outs Aten_Tensor:$result);
}

def Aten_EluOp : Aten_ElementwiseOp<"elu"> {
  let summary = "scale * self where positive, scale * alpha * (exp(input_scale * self) - 1) elsewhere";
  let overloads = ["aten.elu.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Number<"1">:$alpha,
                       Aten_Number<"1">:$scale, Aten_Number<"1">:$input_scale);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SoftplusOp : Aten_ElementwiseOp<"softplus"> {
  let summary = "log(1 + exp(beta * self)) / beta; self where beta * self is above threshold";
  let overloads = ["aten.softplus.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Number<"1">:$beta,
                       Aten_Number<"20">:$threshold);
  let results = (outs Aten_Tensor:$result);
}

def Aten_GluOp : Aten_Op<"glu"> {
  let summary = "first half of dim times the sigmoid of the second half";
  let overloads = ["aten.glu.default"];
  let arguments = (ins Aten_Tensor:$self,
                       DefaultValuedAttr<I64Attr, "-1">:$dim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_LogSigmoidForwardOp : Aten_Op<"log_sigmoid_forward"> {
  let summary = "log(sigmoid(self)) and a buffer that the backward of CPU tensors reads";
  let description = [{
    `buffer` is exp(-|self|), the value that eager keeps for the backward.
  }];
  let shapes = "inferLikeFirst";
  let overloads = ["aten.log_sigmoid_forward.default"];
  let arguments = (ins Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$output, Aten_Tensor:$buffer);
}

def Aten_ThresholdBackwardOp : Aten_ElementwiseOp<"threshold_backward"> {
  let summary = "grad_output where self is above threshold, 0 elsewhere; relu's backward with threshold 0";
  let overloads = ["aten.threshold_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self,
                       Aten_Number<>:$threshold);
  let results = (outs Aten_Tensor:$result);
}

def Aten_GeluBackwardOp : Aten_ElementwiseOp<"gelu_backward"> {
  let summary = "grad_output times the derivative of gelu at self";
  let overloads = ["aten.gelu_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self,
                       DefaultValuedAttr<StrAttr, "\"none\"">:$approximate);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SiluBackwardOp : Aten_ElementwiseOp<"silu_backward"> {
  let summary = "grad_output times the derivative of silu at self";
  let overloads = ["aten.silu_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
}

def Aten_MishBackwardOp : Aten_ElementwiseOp<"mish_backward"> {
  let summary = "grad_output times the derivative of mish at self";
  let overloads = ["aten.mish_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SigmoidBackwardOp : Aten_ElementwiseOp<"sigmoid_backward"> {
  let summary = "grad_output * output * (1 - output)";
  let overloads = ["aten.sigmoid_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$output);
  let results = (outs Aten_Tensor:$result);
}

def Aten_TanhBackwardOp : Aten_ElementwiseOp<"tanh_backward"> {
  let summary = "grad_output * (1 - output * output)";
  let overloads = ["aten.tanh_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$output);
  let results = (outs Aten_Tensor:$result);
}

def Aten_HardtanhBackwardOp : Aten_ElementwiseOp<"hardtanh_backward"> {
  let summary = "grad_output inside ]min_val, max_val[, 0 elsewhere";
  let overloads = ["aten.hardtanh_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self,
                       Aten_Number<>:$min_val, Aten_Number<>:$max_val);
  let results = (outs Aten_Tensor:$result);
}

def Aten_HardswishBackwardOp : Aten_ElementwiseOp<"hardswish_backward"> {
  let summary = "grad_output times the derivative of hardswish at self";
  let overloads = ["aten.hardswish_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
}

def Aten_HardsigmoidBackwardOp : Aten_ElementwiseOp<"hardsigmoid_backward"> {
  let summary = "grad_output times the derivative of hardsigmoid at self: 1/6 inside ]-3, 3[";
  let overloads = ["aten.hardsigmoid_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
}

def Aten_LeakyReluBackwardOp : Aten_ElementwiseOp<"leaky_relu_backward"> {
  let summary = "grad_output times 1 where self is positive, negative_slope elsewhere";
  let overloads = ["aten.leaky_relu_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self,
                       Aten_Number<>:$negative_slope, BoolAttr:$self_is_result);
  let results = (outs Aten_Tensor:$result);
}

def Aten_EluBackwardOp : Aten_ElementwiseOp<"elu_backward"> {
  let summary = "grad_output times the derivative of elu at self_or_result, which is elu's result when `is_result`";
  let overloads = ["aten.elu_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Number<>:$alpha,
                       Aten_Number<>:$scale, Aten_Number<>:$input_scale,
                       BoolAttr:$is_result, Aten_Tensor:$self_or_result);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SoftplusBackwardOp : Aten_ElementwiseOp<"softplus_backward"> {
  let summary = "grad_output times the derivative of softplus at self";
  let overloads = ["aten.softplus_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self,
                       Aten_Number<>:$beta, Aten_Number<>:$threshold);
  let results = (outs Aten_Tensor:$result);
}

def Aten_LogSigmoidBackwardOp : Aten_ElementwiseOp<"log_sigmoid_backward"> {
  let summary = "grad_output times the derivative of log_sigmoid at self; `buffer` is of the forward";
  let overloads = ["aten.log_sigmoid_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self,
                       Aten_Tensor:$buffer);
  let results = (outs Aten_Tensor:$result);
}

#endif
