//===- UnaryOps.td - elementwise operations of one tensor ----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_UNARYOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_UNARYOPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_AbsOp : Aten_UnaryOp<"abs"> {
  let summary = "absolute value; the smallest integer stays itself";
  let overloads = ["aten.abs.default"];
}

def Aten_AcosOp : Aten_UnaryOp<"acos", Aten_FloatTensor> {
  let summary = "arc cosine; nan outside [-1, 1]";
  let overloads = ["aten.acos.default"];
}

def Aten_AcoshOp : Aten_UnaryOp<"acosh", Aten_FloatTensor> {
  let summary = "area hyperbolic cosine; nan below 1";
  let overloads = ["aten.acosh.default"];
}

def Aten_AsinOp : Aten_UnaryOp<"asin", Aten_FloatTensor> {
  let summary = "arc sine; nan outside [-1, 1]";
  let overloads = ["aten.asin.default"];
}

def Aten_AsinhOp : Aten_UnaryOp<"asinh", Aten_FloatTensor> {
  let summary = "area hyperbolic sine";
  let overloads = ["aten.asinh.default"];
}

def Aten_AtanOp : Aten_UnaryOp<"atan", Aten_FloatTensor> {
  let summary = "arc tangent";
  let overloads = ["aten.atan.default"];
}

def Aten_AtanhOp : Aten_UnaryOp<"atanh", Aten_FloatTensor> {
  let summary = "area hyperbolic tangent; nan outside [-1, 1]";
  let overloads = ["aten.atanh.default"];
}

def Aten_CeilOp : Aten_UnaryOp<"ceil"> {
  let summary = "smallest whole number not below self; identity on integers";
  let overloads = ["aten.ceil.default"];
}

def Aten_CosOp : Aten_UnaryOp<"cos", Aten_FloatTensor> {
  let summary = "cosine";
  let overloads = ["aten.cos.default"];
}

def Aten_CoshOp : Aten_UnaryOp<"cosh", Aten_FloatTensor> {
  let summary = "hyperbolic cosine";
  let overloads = ["aten.cosh.default"];
}

def Aten_ErfOp : Aten_UnaryOp<"erf", Aten_FloatTensor> {
  let summary = "error function";
  let overloads = ["aten.erf.default"];
}

def Aten_ErfcOp : Aten_UnaryOp<"erfc", Aten_FloatTensor> {
  let summary = "1 - erf(self), without cancellation for large self";
  let overloads = ["aten.erfc.default"];
}

def Aten_ExpOp : Aten_UnaryOp<"exp", Aten_FloatTensor> {
  let summary = "e to the power self";
  let overloads = ["aten.exp.default"];
}

def Aten_Exp2Op : Aten_UnaryOp<"exp2", Aten_FloatTensor> {
  let summary = "2 to the power self";
  let overloads = ["aten.exp2.default"];
}

def Aten_Expm1Op : Aten_UnaryOp<"expm1", Aten_FloatTensor> {
  let summary = "exp(self) - 1, exact near 0";
  let overloads = ["aten.expm1.default"];
}

def Aten_FloorOp : Aten_UnaryOp<"floor"> {
  let summary = "largest whole number not above self; identity on integers";
  let overloads = ["aten.floor.default"];
}

def Aten_FracOp : Aten_UnaryOp<"frac", Aten_FloatTensor> {
  let summary = "self - trunc(self), with self's sign";
  let overloads = ["aten.frac.default"];
}

def Aten_LogOp : Aten_UnaryOp<"log", Aten_FloatTensor> {
  let summary = "natural logarithm; -inf at 0, nan below";
  let overloads = ["aten.log.default"];
}

def Aten_Log10Op : Aten_UnaryOp<"log10", Aten_FloatTensor> {
  let summary = "decimal logarithm";
  let overloads = ["aten.log10.default"];
}

def Aten_Log1pOp : Aten_UnaryOp<"log1p", Aten_FloatTensor> {
  let summary = "log(1 + self), exact near 0";
  let overloads = ["aten.log1p.default"];
}

def Aten_Log2Op : Aten_UnaryOp<"log2", Aten_FloatTensor> {
  let summary = "binary logarithm";
  let overloads = ["aten.log2.default"];
}

def Aten_NegOp : Aten_UnaryOp<"neg"> {
  let summary = "-self; integers wrap";
  let overloads = ["aten.neg.default"];
}

def Aten_ReciprocalOp : Aten_UnaryOp<"reciprocal", Aten_FloatTensor> {
  let summary = "1 / self";
  let overloads = ["aten.reciprocal.default"];
}

def Aten_RsqrtOp : Aten_UnaryOp<"rsqrt", Aten_FloatTensor> {
  let summary = "1 / sqrt(self)";
  let overloads = ["aten.rsqrt.default"];
}

def Aten_SigmoidOp : Aten_UnaryOp<"sigmoid", Aten_FloatTensor> {
  let summary = "1 / (1 + exp(-self))";
  let overloads = ["aten.sigmoid.default"];
}

def Aten_SignOp : Aten_UnaryOp<"sign"> {
  let summary = "-1, 0 or 1; 0 for nan, as eager";
  let overloads = ["aten.sign.default", "aten.sgn.default"];
}

def Aten_SinOp : Aten_UnaryOp<"sin", Aten_FloatTensor> {
  let summary = "sine";
  let overloads = ["aten.sin.default"];
}

def Aten_SinhOp : Aten_UnaryOp<"sinh", Aten_FloatTensor> {
  let summary = "hyperbolic sine";
  let overloads = ["aten.sinh.default"];
}

def Aten_SqrtOp : Aten_UnaryOp<"sqrt", Aten_FloatTensor> {
  let summary = "square root; nan below 0";
  let overloads = ["aten.sqrt.default"];
}

def Aten_TanOp : Aten_UnaryOp<"tan", Aten_FloatTensor> {
  let summary = "tangent";
  let overloads = ["aten.tan.default"];
}

def Aten_TanhOp : Aten_UnaryOp<"tanh", Aten_FloatTensor> {
  let summary = "hyperbolic tangent";
  let overloads = ["aten.tanh.default"];
}

def Aten_TruncOp : Aten_UnaryOp<"trunc"> {
  let summary = "self rounded towards 0; identity on integers";
  let overloads = ["aten.trunc.default"];
}

def Aten_RoundOp : Aten_ElementwiseOp<"round"> {
  let summary = "self rounded to `decimals` places, halves to even";
  let overloads = ["aten.round.default", "aten.round.decimals"];
  let arguments = (ins Aten_Tensor:$self,
                       DefaultValuedAttr<I64Attr, "0">:$decimals);
  let results = (outs Aten_Tensor:$result);
}

def Aten_BitwiseNotOp : Aten_UnaryOp<"bitwise_not"> {
  let summary = "every bit flipped; logical negation for bool";
  let overloads = ["aten.bitwise_not.default"];
}

def Aten_LogicalNotOp : Aten_UnaryOp<"logical_not", Aten_BoolTensor> {
  let summary = "true where self is zero";
  let overloads = ["aten.logical_not.default"];
}

def Aten_IsnanOp : Aten_UnaryOp<"isnan", Aten_BoolTensor> {
  let summary = "true where self is nan";
  let overloads = ["aten.isnan.default"];
}

def Aten_IsinfOp : Aten_UnaryOp<"isinf", Aten_BoolTensor> {
  let summary = "true where self is inf or -inf";
  let overloads = ["aten.isinf.default"];
}

def Aten_IsfiniteOp : Aten_UnaryOp<"isfinite", Aten_BoolTensor> {
  let summary = "true where self is neither nan nor infinite";
  let overloads = ["aten.isfinite.default"];
}

def Aten_NanToNumOp : Aten_ElementwiseOp<"nan_to_num"> {
  let summary = "nan, inf and -inf replaced by numbers";
  let description = [{
    An absent `nan` is 0, absent `posinf` and `neginf` are the largest and the
    lowest finite number of the type.
  }];
  let overloads = ["aten.nan_to_num.default"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<F64Attr>:$nan,
                       OptionalAttr<F64Attr>:$posinf,
                       OptionalAttr<F64Attr>:$neginf);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ToCopyOp : Aten_ElementwiseOp<"to_copy"> {
  let summary = "self converted to the element type of the result";
  let description = [{
    Floats to integers truncate towards 0, anything to bool compares with 0.
  }];
  let overloads = ["aten._to_copy.default"];
  let arguments = (ins Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_AliasOp : Aten_MoveOp<"alias"> {
  let summary = "self; values have no identity, so clone, detach and alias are all this op";
  let description = [{
    The result has self's shape and element type; it always folds away.
  }];
  let shapes = "inferLikeFirst";
  let overloads = ["aten.alias.default", "aten.clone.default",
                   "aten.detach.default", "aten.lift_fresh_copy.default",
                   "aten.lift_fresh.default"];
  let arguments = (ins Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_CopyOp : Aten_Op<"copy"> {
  let summary = "src broadcast to self's shape and converted to its element type";
  let overloads = ["aten.copy.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$src);
  let results = (outs Aten_Tensor:$result);
}

def Aten_FillOp : Aten_Op<"fill"> {
  let summary = "value everywhere, in self's shape and element type";
  let shapes = "inferLikeFirst";
  let overloads = ["aten.fill.Scalar", "aten.fill.Tensor"];
  let arguments = (ins Aten_Tensor:$self, Aten_TensorOrNumber:$value);
  let results = (outs Aten_Tensor:$result);
}

#endif
