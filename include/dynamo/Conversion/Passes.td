//===- Passes.td - Conversion passes ------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CONVERSION_PASSES_TD
#define DYNAMO_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertAtenToLinalgPass : Pass<"convert-aten-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower aten operations to linalg on tensors";
  let description = [{
    *Input*: TODO

    *Output*: TODO

    *Does not*: TODO

    Example: `TODO`.
  }];
}

#endif
