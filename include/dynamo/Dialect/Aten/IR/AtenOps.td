//===- AtenOps.td - operations of the aten dialect ----------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_ATENOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_ATENOPS_TD

include "dynamo/Dialect/Aten/IR/AtenDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A Scalar argument of ATen that is a value, not a parameter: a tensor or a
// builtin number (f64 for a Python float, i64 for an int, i1 for a bool).
def Aten_TensorOrNumber
    : AnyTypeOf<[AnyRankedTensor, F64, I64, I1], "tensor or number">;

def Aten_ReluOp : Aten_Op<"relu", [Pure]> {
  let summary = "max(self, 0), elementwise; nan stays nan";
  let arguments = (ins AnyRankedTensor:$self);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Aten_AddOp : Aten_Op<"add", [Pure]> {
  let summary = "self + alpha * other, broadcast; operands promoted to the result type";
  let arguments = (ins Aten_TensorOrNumber:$self, Aten_TensorOrNumber:$other,
                       Aten_TensorOrNumber:$alpha);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

#endif
