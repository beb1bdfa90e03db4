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

#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "rt-form-dispatches"

namespace dynamo::rt {
#define GEN_PASS_DEF_FORMDISPATCHESPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;
using namespace dynamo::rt;

/// The host has no numbers: those that an extern call reads become part of its
/// arguments.
static LogicalResult foldExternNumbers(dynamo::aten::ExternOp op) {
  auto isNumber = [](Value v) { return !isa<TensorType>(v.getType()); };
  if (llvm::none_of(op.getInputs(), isNumber))
    return success();
  SmallVector<Attribute> replacement; // of operand i
  SmallVector<Value> tensors;
  SmallVector<Attribute> dtypes;
  auto oldDtypes = op->getAttrOfType<ArrayAttr>(kDtypesAttr);
  MLIRContext *context = op.getContext();
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    if (!isNumber(input)) {
      replacement.push_back(
          dynamo::aten::OperandAttr::get(context, tensors.size()));
      tensors.push_back(input);
      if (oldDtypes)
        dtypes.push_back(oldDtypes[i]);
      continue;
    }
    Attribute constant;
    if (!matchPattern(input, m_Constant(&constant)))
      return op.emitError("operand ")
             << i << " is a number that is computed at run time, constants are "
             << "accepted";
    replacement.push_back(constant);
  }
  if (oldDtypes) {
    llvm::append_range(dtypes,
                       oldDtypes.getValue().drop_front(op.getInputs().size()));
    op->setAttr(kDtypesAttr, ArrayAttr::get(context, dtypes));
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](dynamo::aten::OperandAttr attr)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        return std::pair(replacement[attr.getIndex()], WalkResult::skip());
      });
  op.setArgsAttr(cast<ArrayAttr>(replacer.replace(op.getArgs())));
  op.setKwargsAttr(cast<DictionaryAttr>(replacer.replace(op.getKwargs())));
  op.getInputsMutable().assign(tensors);
  return success();
}

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
    WalkResult externs = func.walk([](dynamo::aten::ExternOp op) {
      return WalkResult(foldExternNumbers(op));
    });
    if (externs.wasInterrupted())
      return signalPassFailure();
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
