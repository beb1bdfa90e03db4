//===- VerifyRecorded.cpp - Check the contract of phase P0
//--------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a recorder owes to everything behind it.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/Transforms/Passes.h"

#define DEBUG_TYPE "verify-py-recorded"

namespace dynamo::py {
#define GEN_PASS_DEF_PYVERIFYRECORDEDPASS
#include "dynamo/Dialect/Py/Transforms/Passes.h.inc"
} // namespace dynamo::py

using namespace mlir;
using namespace dynamo::py;

/// C4.
static LogicalResult checkUnwrap(UnwrapOp op) {
  for (Operation *user : op.getObject().getUsers())
    if (auto guard = dyn_cast<GuardTensorOp>(user))
      if (guard.getSpec().getTensor() == op.getType())
        return success();
  return op.emitOpError(
      "C4: no py.guard.tensor of this type guards the object");
}

/// The effect before `source` that has written what it reads, by SSA names;
/// null if there is none.
static Operation *findWriter(Operation *source) {
  auto writes = [&](Operation *user) {
    if (auto set = dyn_cast<SetAttrOp>(user))
      if (auto attr = dyn_cast<AttrOp>(source))
        return set.getName() == attr.getName();
    if (auto del = dyn_cast<DelAttrOp>(user))
      if (auto attr = dyn_cast<AttrOp>(source))
        return del.getName() == attr.getName();
    if (auto set = dyn_cast<SetItemOp>(user))
      if (auto item = dyn_cast<DictItemOp>(source))
        return getConstant(set.getKey()) == item.getKey();
    if (auto del = dyn_cast<DelItemOp>(user))
      if (auto item = dyn_cast<DictItemOp>(source))
        return getConstant(del.getKey()) == item.getKey();
    if (isa<SetItemOp, DelItemOp>(user))
      return isa<ItemOp, DequeItemOp>(source);
    if (isa<MutateOp>(user))
      return isa<ItemOp, DequeItemOp, DictItemOp>(source);
    return isa<SetCellOp>(user) && isa<CellOp>(source);
  };
  for (OpOperand &use : source->getOperand(0).getUses()) {
    Operation *user = use.getOwner();
    bool isTarget = use.getOperandNumber() == 0;
    if (isTarget && user->getBlock() == source->getBlock() &&
        user->isBeforeInBlock(source) && writes(user))
      return user;
  }
  return nullptr;
}

namespace {
struct VerifyRecorded
    : dynamo::py::impl::PyVerifyRecordedPassBase<VerifyRecorded> {
  void runOnOperation() override {
    FuncOp segment;
    for (Operation &op : *getOperation().getBody()) {
      auto function = dyn_cast<FuncOp>(op);
      bool isSegment = function && function.isSegment();
      bool isUnit = function && function.getKind() == FunctionKind::Unit;
      if ((!isSegment && !isUnit) || (isSegment && segment)) {
        op.emitOpError("C1: a module of phase P0 holds one py.func segment and "
                       "units");
        return signalPassFailure();
      }
      if (isSegment)
        segment = function;
      if (failed(check(function)))
        return signalPassFailure();
    }
    if (!segment) {
      getOperation().emitOpError("C1: there is no py.func segment");
      signalPassFailure();
    }
  }

  LogicalResult check(FuncOp function) {
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      if (!isa_and_present<PyDialect, arith::ArithDialect>(op->getDialect()))
        return op->emitOpError(
            "C2: is neither an operation of py nor of arith");
      for (Type type :
           llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                    llvm::to_vector(op->getResultTypes())))
        if (isa<ShapedType>(type))
          return op->emitOpError("C3: has a value of type ")
                 << type << ", tensors are references";
      auto unwrap = dyn_cast<UnwrapOp>(op);
      if (unwrap && function.isSegment())
        return checkUnwrap(unwrap);
      if (isa<SourceOpInterface>(op) && op->getNumOperands() == 1)
        if (Operation *writer = findWriter(op)) {
          InFlightDiagnostic diag =
              op->emitOpError("C5: reads what the segment itself has written");
          diag.attachNote(writer->getLoc()) << "here";
          return diag;
        }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
