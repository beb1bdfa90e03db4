//===- AtenDialect.td - the aten dialect --------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_ATENDIALECT_TD
#define DYNAMO_DIALECT_ATEN_IR_ATENDIALECT_TD

include "mlir/IR/OpBase.td"

def Aten_Dialect : Dialect {
  let name = "aten";
  let cppNamespace = "::dynamo::aten";
  let summary = "Tensor computation with ATen's semantics on SSA values.";
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// One per family of operations, so that no file instantiates all of them.
    void registerActivationOps();
    void registerBinaryOps();
    void registerConvOps();
    void registerExternOp();
    void registerFactoryOps();
    void registerIndexOps();
    void registerLinearOps();
    void registerNormOps();
    void registerPoolOps();
    void registerReductionOps();
    void registerShapeOps();
    void registerUnaryOps();
  }];
}

#endif
