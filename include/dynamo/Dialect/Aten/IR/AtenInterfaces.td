//===- AtenInterfaces.td - what the operations of aten implement --------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_ATENINTERFACES_TD
#define DYNAMO_DIALECT_ATEN_IR_ATENINTERFACES_TD

include "mlir/IR/OpBase.td"

def Aten_ShapeInference : OpInterface<"ShapeInference"> {
  let cppNamespace = "::dynamo::aten";
  let description = [{
    The shapes of the results, from operands and attributes.  The verifier runs
    it and compares (C1), so that one function per operation is both its shape
    rule and the check of its operands' sizes.  upstream's
    InferShapedTypeOpInterface also wants element types, which aten's operations
    cannot tell: a dtype argument is the result type here.
  }];
  let methods = [InterfaceMethod<[{
      Appends one shape per result.  A dimension that is not known is
      `ShapedType::kDynamic`.  Fails, with a diagnostic on the operation, where
      sizes or attributes contradict each other.
    }], "::llvm::LogicalResult", "inferShapes",
    (ins "::llvm::SmallVectorImpl<::dynamo::aten::Shape> &":$shapes)>];
  let verify = [{ return ::dynamo::aten::detail::verifyShapes($_op); }];
}

#endif
