//===- VerifySplit.cpp - Check the Python side of phase P1
//--------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/Transforms/Passes.h"

#define DEBUG_TYPE "verify-py-split"

namespace dynamo::py {
#define GEN_PASS_DEF_PYVERIFYSPLITPASS
#include "dynamo/Dialect/Py/Transforms/Passes.h.inc"
} // namespace dynamo::py

using namespace mlir;
using namespace dynamo::py;

/// C2.
static LogicalResult checkGuard(FuncOp guard) {
  for (Operation &op : guard.getBody().front())
    if (!isa<SourceOpInterface, GuardOpInterface, UnboxOp, ReturnOp>(op) &&
        !isa_and_present<arith::ArithDialect>(op.getDialect()))
      return op.emitOpError("C2: a guard function holds sources, guards and "
                            "numbers only");
  return success();
}

/// C5.
static LogicalResult checkExit(FuncOp exit) {
  for (Operation &op : exit.getBody().front()) {
    if (isa<GuardOpInterface>(op))
      return op.emitOpError("C5: an exit has no guards");
    auto call = dyn_cast<TorchCallOp>(op);
    if (call && call.getWrites())
      return op.emitOpError("C5: an exit writes by py.copy_tensor only");
  }
  return success();
}

/// C6.
static LogicalResult checkMain(func::FuncOp main) {
  auto isOurs = [](Type type) { return isa<PyDialect>(type.getDialect()); };
  WalkResult result = main.walk([&](Operation *op) -> WalkResult {
    if (isa_and_present<PyDialect>(op->getDialect()) ||
        llvm::any_of(op->getOperandTypes(), isOurs) ||
        llvm::any_of(op->getResultTypes(), isOurs))
      return op->emitOpError("C6: the tensor function knows no Python");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifySplit : dynamo::py::impl::PyVerifySplitPassBase<VerifySplit> {
  void runOnOperation() override {
    if (failed(check()))
      signalPassFailure();
  }

  LogicalResult check() {
    FuncOp guard, exit;
    for (auto function : getOperation().getOps<FuncOp>()) {
      FuncOp &place = function.getKind() == FunctionKind::Guard ? guard : exit;
      if ((function.getKind() != FunctionKind::Guard &&
           function.getKind() != FunctionKind::Exit) ||
          place)
        return function.emitOpError(
            "C1: a module of phase P1 has one guard and one exit function");
      place = function;
    }
    if (!guard && !exit)
      return success();
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!guard || !exit || !main)
      return getOperation().emitOpError("C1: guard, tensor and exit function "
                                        "belong together, one is not there");
    if (failed(checkGuard(guard)) || failed(checkExit(exit)) ||
        failed(checkMain(main)))
      return failure();
    if (*guard.getInputs() != main.getNumArguments())
      return guard.emitOpError("C3: hands ")
             << *guard.getInputs() << " inputs to @main, which takes "
             << main.getNumArguments();
    SmallVector<Type> taken(guard.getResultTypes());
    llvm::append_range(taken, main.getResultTypes());
    if (TypeRange(exit.getArgumentTypes()) != TypeRange(taken))
      return exit.emitOpError("C4: does not take what the guard function and "
                              "@main hand over");
    return success();
  }
};
} // namespace
