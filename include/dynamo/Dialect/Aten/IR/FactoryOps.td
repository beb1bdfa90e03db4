//===- FactoryOps.td - tensors made from numbers -------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %n = arith.constant 0.5 : f64
//   %r = aten.full %n {size = array<i64: 4, 8>} : (f64) -> tensor<4x8xf32>
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_FACTORYOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_FACTORYOPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_FullOp : Aten_Op<"full"> {
  let summary = "fill_value everywhere";
  let overloads = ["aten.full.default", "aten.new_full.default"];
  let ignored = ["self"];
  let arguments = (ins DenseI64ArrayAttr:$size, Aten_Number<>:$fill_value);
  let results = (outs Aten_Tensor:$result);
}

def Aten_FullLikeOp : Aten_Op<"full_like"> {
  let summary = "fill_value everywhere, in self's shape";
  let shapes = "inferLikeFirst";
  let overloads = ["aten.full_like.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Number<>:$fill_value);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ZerosOp : Aten_Op<"zeros"> {
  let summary = "zeros";
  let overloads = ["aten.zeros.default", "aten.new_zeros.default"];
  let ignored = ["self"];
  let arguments = (ins DenseI64ArrayAttr:$size);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ZerosLikeOp : Aten_Op<"zeros_like"> {
  let summary = "zeros in self's shape";
  let shapes = "inferLikeFirst";
  let overloads = ["aten.zeros_like.default"];
  let arguments = (ins Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
}

def Aten_OnesOp : Aten_Op<"ones"> {
  let summary = "ones";
  let overloads = ["aten.ones.default", "aten.new_ones.default"];
  let ignored = ["self"];
  let arguments = (ins DenseI64ArrayAttr:$size);
  let results = (outs Aten_Tensor:$result);
}

def Aten_OnesLikeOp : Aten_Op<"ones_like"> {
  let summary = "ones in self's shape";
  let shapes = "inferLikeFirst";
  let overloads = ["aten.ones_like.default"];
  let arguments = (ins Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
}

def Aten_EmptyOp : Aten_Op<"empty"> {
  let summary = "a tensor of no particular content";
  let overloads = ["aten.empty.memory_format", "aten.new_empty.default"];
  let ignored = ["self"];
  let arguments = (ins DenseI64ArrayAttr:$size);
  let results = (outs Aten_Tensor:$result);
}

def Aten_EmptyLikeOp : Aten_Op<"empty_like"> {
  let summary = "a tensor of no particular content, in self's shape";
  let shapes = "inferLikeFirst";
  let overloads = ["aten.empty_like.default"];
  let arguments = (ins Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ArangeOp : Aten_Op<"arange"> {
  let summary = "start, start + step, ... below end";
  let overloads = ["aten.arange.start_step", "aten.arange.start",
                   "aten.arange.default"];
  let arguments = (ins Aten_Number<"0">:$start, Aten_Number<>:$end,
                       Aten_Number<"1">:$step);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ScalarTensorOp : Aten_Op<"scalar_tensor"> {
  let summary = "a number as a tensor of rank 0";
  let overloads = ["aten.scalar_tensor.default"];
  let arguments = (ins Aten_Number<>:$s);
  let results = (outs Aten_Tensor:$result);
}

def Aten_EyeOp : Aten_Op<"eye"> {
  let summary = "ones on the diagonal of an n x m matrix, zeros elsewhere";
  let overloads = ["aten.eye.default", "aten.eye.m"];
  let arguments = (ins I64Attr:$n, OptionalAttr<I64Attr>:$m);
  let results = (outs Aten_Tensor:$result);
}

def Aten_LinspaceOp : Aten_Op<"linspace"> {
  let summary = "steps numbers from start to end, both included";
  let overloads = ["aten.linspace.default"];
  let arguments = (ins Aten_Number<>:$start, Aten_Number<>:$end,
                       I64Attr:$steps);
  let results = (outs Aten_Tensor:$result);
}

#endif
