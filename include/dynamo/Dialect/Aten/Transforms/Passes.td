//===- Passes.td - Aten passes ------------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_TRANSFORMS_PASSES_TD
#define DYNAMO_DIALECT_ATEN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AtenInferShapesPass : Pass<"aten-infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "Refine unknown sizes of results from operands and attributes";
  let description = [{
    *Input*: a function of aten operations, in whose result types sizes may be
    unknown (`?`).

    *Output*: the same with every size that the operations' shape rules tell;
    the function's result types follow.  A user outside of the dialect sees the
    old type through a `tensor.cast`.

    *Does not*: make a known size unknown, change ranks or element types, or
    look into what `aten.extern` computes.

    Example: `test/Dialect/Aten/infer-shapes.mlir`.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def AtenVerifyContractPass : Pass<"verify-aten", "::mlir::ModuleOp"> {
  let summary = "Check the contract of phase P1 (functional aten on values)";
  let description = [{
    *Input*: a module of phase P1.

    *Output*: the same module; fails unless (C1) it holds one function,
    `@main`, and nothing else but `py.func`s; (C2) that function is one block; (C3) its
    operations are aten's, `arith.constant` and `func.return`; (C4) values are
    ranked tensors without an encoding or builtin numbers (f64, i64, i1), with
    the element types of P1 unless only `aten.extern` makes and reads them.

    *Does not*: check what the operations' own verifiers do.

    Example: `test/Dialect/Aten/verify-aten.mlir`.
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
