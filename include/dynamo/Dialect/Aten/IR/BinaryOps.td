//===- BinaryOps.td - elementwise operations of two or more tensors ------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_BINARYOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_BINARYOPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_SubOp : Aten_ElementwiseOp<"sub"> {
  let summary = "self - alpha * other";
  let overloads = ["aten.sub.Tensor", "aten.sub.Scalar"];
  let arguments = (ins Aten_Tensor:$self, Aten_TensorOrNumber:$other,
                       Aten_Number<"1">:$alpha);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_RsubOp : Aten_ElementwiseOp<"rsub"> {
  let summary = "other - alpha * self";
  let overloads = ["aten.rsub.Tensor", "aten.rsub.Scalar"];
  let arguments = (ins Aten_Tensor:$self, Aten_TensorOrNumber:$other,
                       Aten_Number<"1">:$alpha);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AddOp : Aten_ElementwiseOp<"add"> {
  let summary = "self + alpha * other; a logical or for bool";
  let overloads = ["aten.add.Tensor", "aten.add.Scalar"];
  let arguments = (ins Aten_Tensor:$self, Aten_TensorOrNumber:$other,
                       Aten_Number<"1">:$alpha);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_MulOp : Aten_BinaryOp<"mul"> {
  let summary = "self * other; a logical and for bool";
  let overloads = ["aten.mul.Tensor", "aten.mul.Scalar"];
  let hasFolder = 1;
}

def Aten_Atan2Op : Aten_BinaryOp<"atan2"> {
  let summary = "angle of the point (other, self) in (-pi, pi]";
  let overloads = ["aten.atan2.default"];
}

def Aten_FmaxOp : Aten_BinaryOp<"fmax"> {
  let summary = "larger of both; a number wins over nan";
  let overloads = ["aten.fmax.default"];
}

def Aten_FminOp : Aten_BinaryOp<"fmin"> {
  let summary = "smaller of both; a number wins over nan";
  let overloads = ["aten.fmin.default"];
}

def Aten_MaximumOp : Aten_BinaryOp<"maximum"> {
  let summary = "larger of both; nan if either is nan";
  let overloads = ["aten.maximum.default", "aten.max.other"];
}

def Aten_MinimumOp : Aten_BinaryOp<"minimum"> {
  let summary = "smaller of both; nan if either is nan";
  let overloads = ["aten.minimum.default", "aten.min.other"];
}

def Aten_FmodOp : Aten_BinaryOp<"fmod"> {
  let summary = "remainder of the division rounded towards 0; it has the sign of self";
  let overloads = ["aten.fmod.Tensor", "aten.fmod.Scalar"];
}

def Aten_RemainderOp : Aten_BinaryOp<"remainder"> {
  let summary = "remainder of the floor division; it has the sign of other";
  let overloads = ["aten.remainder.Tensor", "aten.remainder.Scalar",
                   "aten.remainder.Scalar_Tensor"];
}

def Aten_FloorDivideOp : Aten_BinaryOp<"floor_divide"> {
  let summary = "quotient rounded down";
  let overloads = ["aten.floor_divide.default", "aten.floor_divide.Scalar"];
}

def Aten_LogaddexpOp : Aten_BinaryOp<"logaddexp"> {
  let summary = "log(exp(self) + exp(other)) without overflow";
  let overloads = ["aten.logaddexp.default"];
}

def Aten_XlogyOp : Aten_BinaryOp<"xlogy"> {
  let summary = "self * log(other), 0 where self is 0; nan where other is nan";
  let overloads = ["aten.xlogy.Tensor", "aten.xlogy.Scalar_Other",
                   "aten.xlogy.Scalar_Self"];
}

def Aten_BitwiseAndOp : Aten_BinaryOp<"bitwise_and"> {
  let summary = "bitwise and; logical for bool";
  let overloads = ["aten.bitwise_and.Tensor", "aten.bitwise_and.Scalar",
                   "aten.bitwise_and.Scalar_Tensor", "aten.__and__.Tensor",
                   "aten.__and__.Scalar"];
}

def Aten_BitwiseOrOp : Aten_BinaryOp<"bitwise_or"> {
  let summary = "bitwise or; logical for bool";
  let overloads = ["aten.bitwise_or.Tensor", "aten.bitwise_or.Scalar",
                   "aten.bitwise_or.Scalar_Tensor", "aten.__or__.Tensor",
                   "aten.__or__.Scalar"];
}

def Aten_BitwiseXorOp : Aten_BinaryOp<"bitwise_xor"> {
  let summary = "bitwise exclusive or; logical for bool";
  let overloads = ["aten.bitwise_xor.Tensor", "aten.bitwise_xor.Scalar",
                   "aten.bitwise_xor.Scalar_Tensor", "aten.__xor__.Tensor",
                   "aten.__xor__.Scalar"];
}

def Aten_BitwiseLeftShiftOp : Aten_BinaryOp<"bitwise_left_shift"> {
  let summary = "self * 2^other; 0 where other is negative or not below the width";
  let overloads = ["aten.bitwise_left_shift.Tensor",
                   "aten.bitwise_left_shift.Tensor_Scalar",
                   "aten.bitwise_left_shift.Scalar_Tensor",
                   "aten.__lshift__.Tensor", "aten.__lshift__.Scalar"];
}

def Aten_BitwiseRightShiftOp : Aten_BinaryOp<"bitwise_right_shift"> {
  let summary = "arithmetic shift to the right; the sign fills where other is out of range";
  let overloads = ["aten.bitwise_right_shift.Tensor",
                   "aten.bitwise_right_shift.Tensor_Scalar",
                   "aten.bitwise_right_shift.Scalar_Tensor",
                   "aten.__rshift__.Tensor", "aten.__rshift__.Scalar"];
}

def Aten_PowOp : Aten_ElementwiseOp<"pow"> {
  let summary = "self to the power exponent";
  let overloads = ["aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar",
                   "aten.pow.Scalar"];
  let arguments = (ins Aten_TensorOrNumber:$self,
                       Aten_TensorOrNumber:$exponent);
  let results = (outs Aten_Tensor:$result);
}

def Aten_DivOp : Aten_ElementwiseOp<"div"> {
  let summary = "self / other, rounded as `rounding_mode` says";
  let description = [{
    Absent: true division, the result is a float. `"trunc"` rounds towards 0,
    `"floor"` downwards.
  }];
  let overloads = ["aten.div.Tensor", "aten.div.Scalar", "aten.div.Tensor_mode",
                   "aten.div.Scalar_mode"];
  let arguments = (ins Aten_Tensor:$self, Aten_TensorOrNumber:$other,
                       OptionalAttr<StrAttr>:$rounding_mode);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_EqOp : Aten_CompareOp<"eq"> {
  let summary = "self == other; false if either is nan";
  let overloads = ["aten.eq.Tensor", "aten.eq.Scalar"];
}

def Aten_NeOp : Aten_CompareOp<"ne"> {
  let summary = "self != other; true if either is nan";
  let overloads = ["aten.ne.Tensor", "aten.ne.Scalar"];
}

def Aten_LtOp : Aten_CompareOp<"lt"> {
  let summary = "self < other";
  let overloads = ["aten.lt.Tensor", "aten.lt.Scalar"];
}

def Aten_LeOp : Aten_CompareOp<"le"> {
  let summary = "self <= other";
  let overloads = ["aten.le.Tensor", "aten.le.Scalar"];
}

def Aten_GtOp : Aten_CompareOp<"gt"> {
  let summary = "self > other";
  let overloads = ["aten.gt.Tensor", "aten.gt.Scalar"];
}

def Aten_GeOp : Aten_CompareOp<"ge"> {
  let summary = "self >= other";
  let overloads = ["aten.ge.Tensor", "aten.ge.Scalar"];
}

def Aten_LogicalAndOp : Aten_CompareOp<"logical_and"> {
  let summary = "logical and of both operands compared with 0";
  let overloads = ["aten.logical_and.default"];
}

def Aten_LogicalOrOp : Aten_CompareOp<"logical_or"> {
  let summary = "logical or of both operands compared with 0";
  let overloads = ["aten.logical_or.default"];
}

def Aten_LogicalXorOp : Aten_CompareOp<"logical_xor"> {
  let summary = "logical exclusive or of both operands compared with 0";
  let overloads = ["aten.logical_xor.default"];
}

def Aten_WhereOp : Aten_ElementwiseOp<"where"> {
  let summary = "self where condition is true, other elsewhere";
  let overloads = ["aten.where.self", "aten.where.ScalarSelf",
                   "aten.where.ScalarOther", "aten.where.Scalar"];
  let arguments = (ins Aten_BoolTensor:$condition, Aten_TensorOrNumber:$self,
                       Aten_TensorOrNumber:$other);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ClampOp : Aten_ElementwiseOp<"clamp", [AttrSizedOperandSegments]> {
  let summary = "min(max(self, min), max); an absent bound does not bound";
  let description = [{
    nan in self stays nan. Where min is above max the result is max.
  }];
  let overloads = ["aten.clamp.default", "aten.clamp.Tensor"];
  let arguments = (ins Aten_Tensor:$self, Optional<Aten_TensorOrNumber>:$min,
                       Optional<Aten_TensorOrNumber>:$max);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ClampMinOp : Aten_ElementwiseOp<"clamp_min"> {
  let summary = "max(self, min); nan stays nan";
  let overloads = ["aten.clamp_min.default", "aten.clamp_min.Tensor"];
  let arguments = (ins Aten_Tensor:$self, Aten_TensorOrNumber:$min);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ClampMaxOp : Aten_ElementwiseOp<"clamp_max"> {
  let summary = "min(self, max); nan stays nan";
  let overloads = ["aten.clamp_max.default", "aten.clamp_max.Tensor"];
  let arguments = (ins Aten_Tensor:$self, Aten_TensorOrNumber:$max);
  let results = (outs Aten_Tensor:$result);
}

def Aten_LerpOp : Aten_ElementwiseOp<"lerp"> {
  let summary = "self + weight * (end - self)";
  let description = [{
    Where |weight| is at least 0.5 it is end - (end - self) * (1 - weight), so
    that weight 1 gives end.
  }];
  let overloads = ["aten.lerp.Scalar", "aten.lerp.Tensor"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$end,
                       Aten_TensorOrNumber:$weight);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AddcmulOp : Aten_ElementwiseOp<"addcmul"> {
  let summary = "self + value * tensor1 * tensor2";
  let overloads = ["aten.addcmul.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$tensor1,
                       Aten_Tensor:$tensor2, Aten_Number<"1">:$value);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AddcdivOp : Aten_ElementwiseOp<"addcdiv"> {
  let summary = "self + value * tensor1 / tensor2";
  let overloads = ["aten.addcdiv.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$tensor1,
                       Aten_Tensor:$tensor2, Aten_Number<"1">:$value);
  let results = (outs Aten_Tensor:$result);
}

def Aten_MaskedFillOp : Aten_ElementwiseOp<"masked_fill"> {
  let summary = "value where mask is true, self elsewhere";
  let overloads = ["aten.masked_fill.Scalar", "aten.masked_fill.Tensor"];
  let arguments = (ins Aten_Tensor:$self, Aten_BoolTensor:$mask,
                       Aten_TensorOrNumber:$value);
  let results = (outs Aten_Tensor:$result);
}

#endif
