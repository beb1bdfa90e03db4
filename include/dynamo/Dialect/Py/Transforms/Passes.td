//===- Passes.td - Py passes --------------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_TRANSFORMS_PASSES_TD
#define DYNAMO_DIALECT_PY_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PyVerifyRecordedPass : Pass<"verify-py-recorded", "::mlir::ModuleOp"> {
  let summary = "Check the contract of phase P0 (a recorded segment)";
  let description = [{
    *Input*: a module of phase P0, as a recorder emits it.

    *Output*: the same module; fails unless (C1) it holds one `py.func segment`,
    and else only units; (C2) their operations are those of py and arith;
    (C3) tensors are references; (C4) a segment's `py.unwrap` reads an object
    whose looks `py.guard.tensor` guards with the same type; (C5) no source reads
    an attribute, item or cell that an effect before it has written, since sources
    see the segment's start.

    *Does not*: prove C5 where the same place has two names.

    Example: `test/Dialect/Py/verify-py-recorded.mlir`.
  }];
}

def PyInlineUnitsPass : Pass<"py-inline-units", "::mlir::ModuleOp"> {
  let summary = "Inline the units that a segment invokes";
  let description = [{
    *Input*: phase P0.

    *Output*: segments without py.invoke; units are gone.

    *Does not*: inline a unit that reaches itself: that is an error, since a
    recording has a call of its own for each time round.

    Example: `test/Dialect/Py/inline-units.mlir`.
  }];
}

def PySimplifyGuardsPass : Pass<"py-simplify-guards", "::dynamo::py::FuncOp"> {
  let summary = "Prove, merge, hoist and order guards";
  let description = [{
    All guards of a segment are one conjunction over the world at its start, so
    what one says holds for all others, wherever they stand.

    - An object whose identity is guarded is a constant to every other reader, so
      that places reached through two paths become one.
    - Of `py.guard.same x, y` the later one is replaced by the earlier one.
    - Dropped is what follows from other guards: presence from any look, length from
      keys, distinctness from two identities, a fixed type from identity or value.
      A class that may change keeps its guard, but its version is compared once.
    - Items and guards of one dict that only a change of the dict can change become
      one `py.guard.dict_version`.
    - Guards come as early as their objects, cheap ones first.

    *Input*: a segment without py.invoke, or a guard function; others are left.

    *Output*: the same, sources and guards in front of everything else. Two guards
    that contradict each other are an error.

    *Does not*: drop what only the values of the process could prove.

    Example: `test/Dialect/Py/simplify-guards.mlir`.
  }];
  let options = [
    Option<"dictGroup", "dict-group", "unsigned", "2",
           "items of one dict from which on they are grouped; 0: never">
  ];
  let statistics = [
    Statistic<"numDropped", "dropped", "guards dropped">,
    Statistic<"numGroups", "groups", "dicts behind one comparison of their version">
  ];
}

def PyFunctionalizePass : Pass<"py-functionalize", "::mlir::ModuleOp"> {
  let summary = "Turn operators on tensor references into aten on values";
  let description = [{
    Memory that references share is one value with a history: a view is computed
    from it when it is read, a write into a view makes a new value of the whole.

    *Input*: a segment without py.invoke whose tensor work is `py.torch_call`.

    *Output*: `aten` operations (`aten.extern` for operators without one) on
    builtin tensors; outside tensors that were written get their last value by
    `py.copy_tensor` in front of all effects. What leaves the segment as a view of
    something stays one: the viewing operators are `py.torch_call` on the reference
    of what they view, behind the tensor work. Containers and effects have moved
    there too. A tensor that is permuted but dense enters and leaves in the order
    of its memory.

    *Does not*: guess whether inputs overlap: a written one needs
    `py.guard.no_alias` with each other one; or write through a view that has no
    inverse (expand, as_strided, unfold).

    Example: `test/Dialect/Py/functionalize.mlir`.
  }];
  let dependentDialects = ["::dynamo::aten::AtenDialect", "::mlir::arith::ArithDialect"];
}

def PySplitPass : Pass<"py-split", "::mlir::ModuleOp"> {
  let summary = "Split a segment into guard, tensor and exit function";
  let description = [{
    *Input*: a functional segment @f.

    *Output*: `py.func guard @f.guard`, which returns the objects of the tensor
    inputs, then those that the exit needs; `func.func @main` on tensors; `py.func exit
    @f.exit`, which takes all of these objects and the tensor function's results.

    *Does not*: split a segment with py.side_exit, or whose tensor work takes
    numbers that vary.

    Example: `test/Dialect/Py/split.mlir`.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PyVerifySplitPass : Pass<"verify-py-split", "::mlir::ModuleOp"> {
  let summary = "Check the Python side of phase P1";
  let description = [{
    *Input*: a module of phase P1.

    *Output*: the same module; fails unless it holds no py.func at all, or (C1) one
    guard, one exit and no other one; (C2) the guard function holds sources, guards
    and numbers only, and no effect; (C3) its first `inputs` results are as many as
    @main has arguments; (C4) the exit takes the guard's results, then @main's;
    (C5) the exit holds no guard and no operator that writes; (C6) @main holds no
    operation and no type of py.

    *Does not*: check what `verify-aten` does.

    Example: `test/Dialect/Py/verify-py-split.mlir`.
  }];
}

#endif
