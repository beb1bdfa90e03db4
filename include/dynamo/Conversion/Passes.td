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
    Visits every function op by op and lowers aten ops to `linalg`, `tensor`,
    `arith` and `math` on tensors.

    *Input*: phase P1: `func.func`s of one block, aten ops on builtin tensors.

    *Output*: phase P2. `i1` and `ui8` tensors have become `i8`; arguments and
    results of functions then carry `rt.dtype` (i1, ui8), `aten.extern` carries
    `rt.dtypes`, one type per operand and result. An aten op that has no lowering (or not for these types)
    stays as it is, with `builtin.unrealized_conversion_cast` where types
    changed and the reason in `aten.not_lowered`; `aten-to-extern` takes it from
    there.

    *Does not*: fuse, fold transposes or remove common subexpressions.

    Example: `test/Conversion/AtenToLinalg/convert-aten-to-linalg.mlir`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::dynamo::rt::RtDialect"
  ];
}

def ConvertPyToLLVMPass : Pass<"convert-py-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower guard functions of py to the LLVM dialect";
  let description = [{
    A guard function becomes a function `(ptr frame) -> i32` that returns 0 if all
    guards hold, else the number of the first that does not. It reads objects
    through the functions of `include/dynamo/Runtime/GuardAbi.h`, which also says
    what the frame holds, and by loads where an option tells the offset.

    *Input*: a module with `py.func guard` functions, best after
    `py-simplify-guards`.

    *Output*: an `llvm.func` of the same name for each, with `py.guards` (what its guards
    are, by number), `py.inputs` and `py.memory_words`; the module has
    `py.constants` and `py.specs`: what the frame's tables must hold. Conditions on numbers
    stay in arith, for convert-arith-to-llvm.

    *Does not*: touch functions of other kinds.

    Example: `test/Conversion/PyToLLVM/convert-py-to-llvm.mlir`.
  }];
  let options = [
    Option<"typeOffset", "type-offset", "int64_t", "-1",
           "bytes from an object to its type (ob_type); -1: not known">,
    Option<"typeVersionOffset", "type-version-offset", "int64_t", "-1",
           "bytes from a class to its 32-bit version tag; -1: not known">,
    Option<"dictVersionOffset", "dict-version-offset", "int64_t", "-1",
           "bytes from a dict to its 64-bit version; -1: not known">,
    Option<"cellOffset", "cell-offset", "int64_t", "-1",
           "bytes from a cell to its contents; -1: not known">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def VerifyLinalgPass : Pass<"verify-linalg", "::mlir::ModuleOp"> {
  let summary = "Check the contract of phase P2 (linalg on tensors)";
  let description = [{
    *Input*: phase P2, after `convert-aten-to-linalg` and `aten-to-extern`.

    *Output*: unchanged; an error at each op that breaks the contract:

    - C1: functions hold `linalg`, `tensor`, `arith`, `math`, `func`,
      `rt.attention`, `rt.refuse_if` and `aten.extern` only; `py.func`s are left aside.
    - C2: no tensor holds `i1` or an unsigned integer.
    - C3: the result map of a reduction drops dims, none is a constant.
    - C4: `rt.dtypes` of an extern has one type per operand and result.

    *Does not*: check that an op has a kernel strategy.

    Example: `test/Conversion/AtenToLinalg/verify-linalg-errors.mlir`.
  }];
}

#endif
