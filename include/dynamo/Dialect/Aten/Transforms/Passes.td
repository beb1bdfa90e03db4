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

def AtenToExternPass : Pass<"aten-to-extern", "::mlir::ModuleOp"> {
  let summary = "Make extern calls of the aten operations that are left";
  let description = [{
    What has no lowering runs through torch's dispatcher: the op becomes an
    `aten.extern` of its overload. The importer notes the overload and the
    names of the schema's arguments on every op (`aten.overload`,
    `aten.schema`). All arguments are given by name, in `kwargs`; absent
    optional ones are None, `dtype` is that of the result, and what the op has no
    word for is what `aten.ignored` says, else the schema's default.

    *Input*: phase P1, or what `convert-aten-to-linalg` leaves: then the
    extern takes and gives bytes where P2 stores bytes, and the casts go away.

    *Output*: no aten op but `aten.extern`; an op that does not know its
    overload is an error.

    *Does not*: choose which ops are worth a kernel.

    Example: `test/Dialect/Aten/aten-to-extern.mlir`.
  }];
}

#endif
