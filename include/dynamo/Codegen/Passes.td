//===- Passes.td - Codegen passes ---------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CODEGEN_PASSES_TD
#define DYNAMO_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyKernelsPass : Pass<"verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Check the contract of phase P4 (no tensor types in kernels)";
  let description = [{
    *Input*: TODO

    *Output*: TODO

    *Does not*: TODO

    Example: `TODO`.
  }];
}

#endif
