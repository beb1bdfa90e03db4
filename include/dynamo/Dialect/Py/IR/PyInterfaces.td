//===- PyInterfaces.td - what sources and guards implement --------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_IR_PYINTERFACES_TD
#define DYNAMO_DIALECT_PY_IR_PYINTERFACES_TD

include "mlir/IR/OpBase.td"

def Py_SourceOpInterface : OpInterface<"SourceOpInterface"> {
  let cppNamespace = "::dynamo::py";
  let description = [{
    A place outside of the segment, with one result: the object there. The first
    operand, if there is one, is the object from which a step leads there.
  }];
  let methods = [
    InterfaceMethod<"Whether there may be nothing at the place.", "bool", "mayBeAbsent">,
  ];
}

def Py_GuardOpInterface : OpInterface<"GuardOpInterface"> {
  let cppNamespace = "::dynamo::py";
  let description = [{
    A condition on the world at the segment's start. Two guards of equal
    operands and attributes are one.
  }];
  let methods = [
    InterfaceMethod<"What a check costs, in loads and compares, roughly.", "unsigned", "getCost">,
  ];
}

#endif
