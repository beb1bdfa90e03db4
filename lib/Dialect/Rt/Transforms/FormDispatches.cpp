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

#include "DispatchGroups.h"

#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#define DEBUG_TYPE "rt-form-dispatches"

namespace dynamo::rt {
#define GEN_PASS_DEF_FORMDISPATCHESPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;
using namespace dynamo::rt;

/// Whether rows code generation takes the operation: a generic whose operands
/// are read by projected permutations and that reads no memory by itself.
static bool isRowsOp(Operation *op) {
  if (isa<linalg::FillOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !generic.hasPureTensorSemantics())
    return false;
  for (AffineMap map : generic.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return false;
  return generic
             .walk([](Operation *nested) {
               return isa<tensor::ExtractOp>(nested) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
             })
             .wasInterrupted() == false;
}

/// A contraction that has rows or columns to share; a dot product per row is
/// a reduction like others.
static bool isMatmul(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalg::isaContractionOpInterface(linalgOp))
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(linalgOp);
  return succeeded(dims) && (!dims->m.empty() || !dims->n.empty());
}

static bool isConv(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalg::isaConvolutionOpInterface(linalgOp) ||
      linalgOp.getNumDpsInputs() != 2)
    return false;
  // Pooling has the same interface; its window is an operand without data.
  return llvm::any_of(*linalgOp.getBlock(),
                      llvm::IsaPred<arith::MulFOp, arith::MulIOp>);
}

/// The strategy of a kernel of this one operation.
static StringRef strategyOf(Operation *op) {
  if (isa<AttentionOp>(op))
    return "attention";
  if (isConv(op))
    return "conv";
  if (isMatmul(op))
    return "matmul";
  return isRowsOp(op) ? "rows" : "loops";
}

/// Chains of insert_slice fill one tensor in place: one kernel.
static void mergeInsertChains(DispatchGroups &groups) {
  for (Group *group : groups.groups()) {
    if (group->ops.size() != 1)
      continue;
    auto insert = dyn_cast<tensor::InsertSliceOp>(group->ops.front());
    if (!insert || !insert.getResult().hasOneUse())
      continue;
    auto next =
        dyn_cast<tensor::InsertSliceOp>(*insert.getResult().user_begin());
    if (!next || next.getDest() != insert.getResult())
      continue;
    Group *into = groups.groupOf(next);
    if (into != group && !groups.mergeMakesCycle(into, group))
      groups.merge(into, group);
  }
}

namespace {
struct FormDispatches
    : dynamo::rt::impl::FormDispatchesPassBase<FormDispatches> {
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
    for (Group *group : groups.groups())
      group->strategy = strategyOf(group->ops.front());
    mergeInsertChains(groups);
    groups.materialise(rewriter);
  }
};
} // namespace
