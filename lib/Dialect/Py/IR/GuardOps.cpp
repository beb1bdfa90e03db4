//===- GuardOps.cpp - checks and canonical forms of guards
//--------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be seen at one guard: that it always holds, or that an equal one
// stands before it.  What follows from others is py-simplify-guards' part.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/IR/Py.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dynamo::py;

static bool mayBeAbsent(Value object) {
  auto source = object.getDefiningOp<SourceOpInterface>();
  return source && source.mayBeAbsent();
}

LogicalResult GuardPresentOp::verify() {
  if (!isa<BlockArgument>(getObject()) &&
      !isa_and_present<SourceOpInterface>(getObject().getDefiningOp()))
    return emitOpError("C1: looks at what is not a source");
  return success();
}

LogicalResult GuardAbsentOp::verify() {
  if (!mayBeAbsent(getObject()))
    return emitOpError("C1: looks at what is always there");
  for (Operation *user : getObject().getUsers())
    if (!isa<GuardAbsentOp>(user)) {
      InFlightDiagnostic diag =
          emitOpError("C2: says that nothing is there, but it is used");
      diag.attachNote(user->getLoc()) << "here";
      return diag;
    }
  return success();
}

LogicalResult GuardLengthOp::verify() {
  if (static_cast<int64_t>(getLength()) < 0)
    return emitOpError("C1: has length ")
           << static_cast<int64_t>(getLength()) << ", 0 or more is accepted";
  return success();
}

LogicalResult GuardDictVersionOp::verify() {
  auto isItem = [&](Value value) {
    auto item = value.getDefiningOp<DictItemOp>();
    return item && item->getBlock() == &getBody().front();
  };
  for (Operation &op : getBody().front()) {
    bool allowed = isa<YieldOp>(op);
    if (auto item = dyn_cast<DictItemOp>(op))
      allowed = item.getObject() == getObject();
    else if (isa<GuardKeysOp, GuardLengthOp>(op))
      allowed = op.getOperand(0) == getObject();
    else if (isa<GuardIsOp, GuardEqualOp, GuardPresentOp, GuardAbsentOp>(op))
      allowed = isItem(op.getOperand(0));
    if (!allowed) {
      InFlightDiagnostic diag = emitOpError(
          "C1: the body holds what not only a change of the dict can change");
      diag.attachNote(op.getLoc()) << "here";
      return diag;
    }
  }
  if (getBody().front().getTerminator()->getNumOperands() != getNumResults())
    return emitOpError("C2: has ")
           << getNumResults() << " results and yields "
           << getBody().front().getTerminator()->getNumOperands();
  return success();
}

//===----------------------------------------------------------------------===//
// Canonical forms
//===----------------------------------------------------------------------===//

bool dynamo::py::isAlwaysTrue(Operation *guard) {
  auto constant = [&](unsigned i) { return getConstant(guard->getOperand(i)); };
  return llvm::TypeSwitch<Operation *, bool>(guard)
      .Case([&](GuardIsOp op) { return constant(0) == op.getValue(); })
      .Case([&](GuardEqualOp op) { return constant(0) == op.getValue(); })
      .Case([&](GuardPresentOp op) {
        Operation *source = op.getObject().getDefiningOp();
        return source && !mayBeAbsent(op.getObject());
      })
      .Case([&](GuardLengthOp op) {
        auto array = dyn_cast_or_null<ArrayAttr>(constant(0));
        return array && array.size() == op.getLength();
      })
      .Case([&](GuardSameOp op) {
        return op.getObject() == op.getOther() ||
               (isa_and_present<RefAttr>(constant(0)) &&
                constant(0) == constant(1));
      })
      .Case([&](GuardDistinctOp op) {
        return constant(0) && constant(1) &&
               areDifferent(constant(0), constant(1));
      })
      .Case([&](GuardTrueOp op) {
        return matchPattern(op.getCondition(), m_One());
      })
      .Default(false);
}

bool dynamo::py::areSameGuard(Operation *a, Operation *b) {
  return a != b && a->getName() == b->getName() && a->getNumRegions() == 0 &&
         a->getOperands() == b->getOperands() &&
         a->getPropertiesAsAttribute() == b->getPropertiesAsAttribute();
}

namespace {
struct SimplifyGuard : OpInterfaceRewritePattern<GuardOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(GuardOpInterface guard,
                                PatternRewriter &rewriter) const override {
    if (guard->getNumRegions() != 0)
      return failure();
    if (isAlwaysTrue(guard) || isRepeated(guard)) {
      rewriter.eraseOp(guard);
      return success();
    }
    return rewriter.notifyMatchFailure(guard, "nothing proves it");
  }

  /// Whether an equal guard stands before it.
  static bool isRepeated(Operation *guard) {
    auto equals = [&](Operation &other) {
      return areSameGuard(&other, guard) &&
             other.getBlock() == guard->getBlock() &&
             other.isBeforeInBlock(guard);
    };
    if (guard->getNumOperands() == 0)
      return llvm::any_of(*guard->getBlock(), equals);
    return llvm::any_of(guard->getOperand(0).getUsers(),
                        [&](Operation *user) { return equals(*user); });
  }
};
} // namespace

void PyDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<SimplifyGuard>(patterns.getContext());
}
