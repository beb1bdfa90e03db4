//===- InlineUnits.cpp - Inline the units that a segment invokes
//--------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recording has one unit per Python call, so there is nothing to weigh: every
// call is inlined.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/Transforms/Passes.h"

#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"

#define DEBUG_TYPE "py-inline-units"

namespace dynamo::py {
#define GEN_PASS_DEF_PYINLINEUNITSPASS
#include "dynamo/Dialect/Py/Transforms/Passes.h.inc"
} // namespace dynamo::py

using namespace mlir;
using namespace dynamo::py;

namespace {
struct InlineUnits : dynamo::py::impl::PyInlineUnitsPassBase<InlineUnits> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<FuncOp> units;
    for (auto function : getOperation().getOps<FuncOp>())
      if (function.getKind() == FunctionKind::Unit)
        units.push_back(function);
    SmallVector<FuncOp> active;
    for (auto function : getOperation().getOps<FuncOp>())
      if (function.isSegment() && failed(inlineInto(function, symbols, active)))
        return signalPassFailure();
    // Calls among units go with them.
    for (FuncOp unit : units)
      unit.erase();
  }

  /// Inlines all calls of `function`, those in the callees first. `active` is
  /// the chain of callers.
  LogicalResult inlineInto(FuncOp function, SymbolTable &symbols,
                           SmallVectorImpl<FuncOp> &active) {
    active.push_back(function);
    InlinerInterface interface(function.getContext());
    InlinerConfig config;
    for (auto call :
         llvm::make_early_inc_range(function.getBody().getOps<InvokeOp>())) {
      auto callee = symbols.lookup<FuncOp>(call.getCallee());
      if (llvm::is_contained(active, callee))
        return call.emitOpError("@")
               << call.getCallee()
               << " reaches itself, a recording has a unit for each call";
      if (failed(inlineInto(callee, symbols, active)))
        return failure();
      if (failed(inlineCall(interface, config.getCloneCallback(), call, callee,
                            &callee.getBody())))
        return call.emitOpError("@") << call.getCallee() << " can't be inlined";
      call.erase();
    }
    active.pop_back();
    return success();
  }
};
} // namespace
