//===- Passes.td - Aten passes ------------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_TRANSFORMS_PASSES_TD
#define DYNAMO_DIALECT_ATEN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AtenVerifyContractPass : Pass<"verify-aten", "::mlir::ModuleOp"> {
  let summary = "Check the contract of phase P1 (functional aten on values)";
  let description = [{
    *Input*: TODO

    *Output*: TODO

    *Does not*: TODO

    Example: `TODO`.
  }];
}

#endif
