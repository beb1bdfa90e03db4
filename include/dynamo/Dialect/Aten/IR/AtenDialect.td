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
}

class Aten_Op<string mnemonic, list<Trait> traits = []>
    : Op<Aten_Dialect, mnemonic, traits>;

#endif
