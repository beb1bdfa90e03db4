//===- OutlineDispatches.cpp - Make each dispatch a kernel module ---------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel is a module of its own, so that kernels compile in parallel, can be
// looked at alone, and can be found again by their text.  Arguments are in
// order of first use: equal layers of a model then give equal kernels.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"
#include "dynamo/Dialect/Rt/Transforms/Work.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#define DEBUG_TYPE "rt-outline-dispatches"

namespace dynamo::rt {
#define GEN_PASS_DEF_OUTLINEDISPATCHESPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;
using namespace dynamo::rt;

/// Copies the constants that the dispatch reads from outside into it.
static void sinkConstants(DispatchOp dispatch, RewriterBase &rewriter) {
  IRMapping clones;
  rewriter.setInsertionPointToStart(&dispatch.getBody().front());
  dispatch.getBody().walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *def = operand.get().getDefiningOp();
      if (!def || dispatch->isAncestor(def) ||
          !def->hasTrait<OpTrait::ConstantLike>())
        continue;
      if (!clones.contains(operand.get()))
        rewriter.clone(*def, clones);
      operand.set(clones.lookup(operand.get()));
    }
  });
}

static void outline(DispatchOp dispatch, ModuleOp module, StringRef name,
                    RewriterBase &rewriter) {
  Location loc = dispatch.getLoc();
  sinkConstants(dispatch, rewriter);

  llvm::SetVector<Value> captured;
  int64_t work = 0;
  for (Operation &op : dispatch.getBody().front()) {
    op.walk<WalkOrder::PreOrder>([&](Operation *nested) {
      for (Value value : nested->getOperands())
        if (!dispatch.getBody().isAncestor(value.getParentRegion()))
          captured.insert(value);
    });
    if (!isa<YieldOp>(op))
      work += estimateWork(&op);
  }

  rewriter.setInsertionPointToEnd(module.getBody());
  auto kernel = ModuleOp::create(rewriter, loc, name);
  kernel->setAttr(kKernelAttr, rewriter.getUnitAttr());
  kernel->setAttr(kStrategyAttr, dispatch.getStrategyAttr());
  rewriter.setInsertionPointToStart(kernel.getBody());
  SmallVector<Value> inputs = captured.takeVector();
  auto func = func::FuncOp::create(
      rewriter, loc, name,
      rewriter.getFunctionType(ValueRange(inputs).getTypes(),
                               dispatch.getResultTypes()));
  func->setAttr(kWorkAttr, rewriter.getI64IntegerAttr(work));
  func.getBody().takeBody(dispatch.getBody());
  Block *body = &func.getBody().front();
  for (Value input : inputs) {
    BlockArgument arg = body->addArgument(input.getType(), input.getLoc());
    rewriter.replaceUsesWithIf(input, arg, [&](OpOperand &use) {
      return func->isProperAncestor(use.getOwner());
    });
  }
  Operation *yield = body->getTerminator();
  rewriter.setInsertionPoint(yield);
  func::ReturnOp::create(rewriter, yield->getLoc(), yield->getOperands());
  rewriter.eraseOp(yield);

  rewriter.setInsertionPoint(dispatch);
  auto symbol =
      SymbolRefAttr::get(rewriter.getContext(), name,
                         {FlatSymbolRefAttr::get(rewriter.getContext(), name)});
  rewriter.replaceOpWithNewOp<LaunchOp>(dispatch, dispatch.getResultTypes(),
                                        symbol, inputs, ValueRange());
}

namespace {
struct OutlineDispatches
    : dynamo::rt::impl::OutlineDispatchesPassBase<OutlineDispatches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    IRRewriter rewriter(&getContext());
    SmallVector<DispatchOp> dispatches;
    for (auto func : module.getOps<func::FuncOp>())
      func.walk([&](DispatchOp op) { dispatches.push_back(op); });
    int64_t next = 0;
    for (DispatchOp dispatch : dispatches) {
      std::string name;
      do {
        name = "k" + std::to_string(next++);
      } while (symbols.lookup(name));
      outline(dispatch, module, name, rewriter);
    }
    // Constants that only dispatches read are in the kernels now.
    for (auto func : module.getOps<func::FuncOp>())
      func.walk([](Operation *op) {
        if (op->hasTrait<OpTrait::ConstantLike>() && op->use_empty())
          op->erase();
      });
  }
};
} // namespace
