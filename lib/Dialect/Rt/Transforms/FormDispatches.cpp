//===- FormDispatches.cpp - Group the operations that share a kernel ------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From phase P2 to P3: the fusion decision.  Groups grow by merging; what is
// cheap to compute again is copied into each group that reads it.
//
//===----------------------------------------------------------------------===//

#include "MergeGroups.h"

#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#define DEBUG_TYPE "rt-form-dispatches"

namespace dynamo::rt {
#define GEN_PASS_DEF_FORMDISPATCHESPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;
using namespace dynamo::rt;

namespace {
struct FormDispatches
    : dynamo::rt::impl::FormDispatchesPassBase<FormDispatches> {
  using FormDispatchesPassBase::FormDispatchesPassBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() ||
        func->getParentOfType<ModuleOp>()->hasAttr(kKernelAttr))
      return;
    if (!func.getBody().hasOneBlock()) {
      func.emitError(
          "the host function has control flow, one block is accepted");
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    DispatchGroups groups(func.getBody().front(), rewriter);
    chooseStrategies(groups);
    mergeInsertChains(groups);
    if (fuse) {
      mergeEpilogues(groups);
      mergeRows(groups);
      mergeSiblings(groups);
    }
    groups.materialise(rewriter);
  }
};
} // namespace
