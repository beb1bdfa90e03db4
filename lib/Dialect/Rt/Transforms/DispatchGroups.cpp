//===- DispatchGroups.cpp - Which operations share a kernel ---------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DispatchGroups.h"

#include "AttentionLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

#include <queue>

using namespace mlir;
using namespace dynamo::rt;

static bool makesTensor(Operation *op) {
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
}

/// Whether `op` joins dims of a slice that lie one behind the other in memory,
/// so that a kernel can read it in place.
static bool isCollapsedSlice(tensor::CollapseShapeOp op) {
  auto slice = op.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || !slice.getSourceType().hasStaticShape())
    return false;
  RankedTensorType type = slice.getSourceType();
  MemRefType view = memref::SubViewOp::inferRankReducedResultType(
      slice.getType().getShape(),
      MemRefType::get(type.getShape(), type.getElementType()),
      slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides());
  return memref::CollapseShapeOp::isGuaranteedCollapsible(
      view, op.getReassociationIndices());
}

OpRole DispatchGroups::role(Operation *op) const {
  if (forcedRoots.contains(op))
    return OpRole::Root;
  if (op->hasTrait<OpTrait::ConstantLike>() ||
      isa<tensor::EmptyOp, tensor::ExtractSliceOp, linalg::FillOp>(op))
    return OpRole::Cheap;
  // An expanded slice is a slice; a collapsed one may need a copy first.
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    Operation *source = expand.getSrc().getDefiningOp();
    return source && role(source) == OpRole::Cheap ? OpRole::Cheap
                                                   : OpRole::Host;
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    auto slice = collapse.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
    Operation *source = slice ? slice.getSource().getDefiningOp() : nullptr;
    // What is sliced lies in memory as it is, it is no slice itself.
    bool isBuffer = slice && (!source || role(source) != OpRole::Cheap);
    return isBuffer && isCollapsedSlice(collapse) ? OpRole::Cheap
                                                  : OpRole::Host;
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return OpRole::Host;
  if (feedsAttention(op))
    return OpRole::Cheap;
  // Scalar arithmetic goes where it is used.
  if (isPure(op) && !makesTensor(op))
    return OpRole::Cheap;
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "aten" || (dialect == "rt" && !isPure(op)) || !makesTensor(op))
    return OpRole::Host;
  return OpRole::Root;
}

SmallVector<Value> DispatchGroups::operandsOf(Operation *op) const {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}

Operation *DispatchGroups::topLevel(Operation *op) const {
  return block.findAncestorOpInBlock(*op);
}

/// Whether `value` is a slice that leaves out elements between others, perhaps
/// reshaped.
static bool isStridedSlice(Value value) {
  while (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>())
    value = expand.getSrc();
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  return slice && !slice.hasUnitStride();
}

/// The host hands buffers on; what is cheap has none yet.  The tiles of a
/// contraction are read many times over, so what is scattered is copied once.
void DispatchGroups::materialiseForHost(RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  llvm::DenseMap<Value, Value> made;
  auto make = [&](Value value) -> Value {
    Location loc = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    Operation *def = value.getDefiningOp();
    rewriter.setInsertionPointAfter(def);
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    DenseElementsAttr constant;
    bool isConstant = matchPattern(value, m_Constant(&constant));
    Value scalar;
    if (auto fill = dyn_cast<linalg::FillOp>(def))
      scalar = fill.value();
    else if (isConstant && constant.isSplat())
      scalar = arith::ConstantOp::create(rewriter, loc,
                                         constant.getSplatValue<TypedAttr>());
    else if (isa<tensor::EmptyOp>(def)) // torch.empty: any value is right
      scalar = arith::ConstantOp::create(
          rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
    Operation *root;
    if (scalar) {
      root = linalg::FillOp::create(rewriter, loc, scalar, empty);
    } else {
      AffineMap id = rewriter.getMultiDimIdentityMap(type.getRank());
      SmallVector<utils::IteratorType> parallel(type.getRank(),
                                                utils::IteratorType::parallel);
      root = linalg::GenericOp::create(
          rewriter, loc, type, value, empty, ArrayRef<AffineMap>{id, id},
          parallel, [](OpBuilder &b, Location l, ValueRange args) {
            linalg::YieldOp::create(b, l, args[0]);
          });
    }
    forcedRoots.insert(root);
    return root->getResult(0);
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    bool isContraction =
        linalgOp && linalg::isaContractionOpInterface(linalgOp);
    if (role(&op) != OpRole::Host && !isContraction)
      continue;
    for (OpOperand &operand : op.getOpOperands()) {
      Operation *def = operand.get().getDefiningOp();
      if (!def || role(def) != OpRole::Cheap ||
          !isa<RankedTensorType>(operand.get().getType()) ||
          (isContraction && !isStridedSlice(operand.get())))
        continue;
      Value &copy = made[operand.get()];
      if (!copy)
        copy = make(operand.get());
      operand.set(copy);
    }
  }
}

DispatchGroups::DispatchGroups(Block &block, RewriterBase &rewriter)
    : block(block) {
  materialiseForHost(rewriter);
  int64_t next = 0;
  for (Operation &op : block)
    positions[&op] = next++;
  for (Operation &op : block) {
    OpRole kind = role(&op);
    if (kind == OpRole::Cheap)
      continue;
    llvm::SetVector<Operation *> found, cheap;
    auto visit = [&](Operation *user) {
      for (Value value : operandsOf(user))
        if (Operation *def = value.getDefiningOp())
          (role(def) == OpRole::Cheap ? cheap : found).insert(def);
    };
    visit(&op);
    for (size_t i = 0; i < cheap.size(); ++i)
      visit(cheap[i]);
    for (Operation *def : found)
      succs[def].push_back(&op);
    preds[&op] = llvm::to_vector(found);
    order.push_back(&op);
    if (kind == OpRole::Root) {
      storage.push_back(std::make_unique<Group>());
      storage.back()->ops.push_back(&op);
      owner[&op] = storage.back().get();
    }
  }
}

SmallVector<Group *> DispatchGroups::groups() const {
  SmallVector<Group *> result;
  for (const std::unique_ptr<Group> &group : storage)
    if (!group->ops.empty())
      result.push_back(group.get());
  llvm::sort(result, [&](Group *a, Group *b) {
    return position(a->ops.front()) < position(b->ops.front());
  });
  return result;
}

SmallVector<Operation *> DispatchGroups::readers(Value value) const {
  llvm::SetVector<Operation *> seen;
  SmallVector<Operation *> result;
  auto visit = [&](Value v) {
    for (Operation *user : v.getUsers())
      seen.insert(topLevel(user));
  };
  visit(value);
  for (size_t i = 0; i < seen.size(); ++i) {
    if (role(seen[i]) != OpRole::Cheap)
      result.push_back(seen[i]);
    else
      for (Value v : seen[i]->getResults())
        visit(v);
  }
  return result;
}

ArrayRef<Operation *> DispatchGroups::sources(Operation *op) const {
  auto it = preds.find(op);
  return it == preds.end() ? ArrayRef<Operation *>() : it->second;
}

bool DispatchGroups::reachesThroughCheap(Operation *op, Group *group) const {
  for (Value value : operandsOf(op)) {
    Operation *def = value.getDefiningOp();
    if (!def)
      continue;
    if (role(def) == OpRole::Cheap ? reachesThroughCheap(def, group)
                                   : groupOf(def) == group)
      return true;
  }
  return false;
}

bool DispatchGroups::mergeMakesCycle(Group *a, Group *b) const {
  // A path from one to the other through a third unit.
  SmallVector<Operation *> stack;
  llvm::DenseSet<void *> seen;
  auto inside = [&](Operation *op) {
    Group *group = groupOf(op);
    return group && (group == a || group == b);
  };
  auto push = [&](Operation *op, bool fromInside) -> bool {
    auto it = succs.find(op);
    if (it == succs.end())
      return false;
    for (Operation *user : it->second) {
      if (inside(user)) {
        if (!fromInside)
          return true;
        continue;
      }
      Group *group = groupOf(user);
      if (!seen.insert(group ? (void *)group : (void *)user).second)
        continue;
      if (group)
        stack.append(group->ops.begin(), group->ops.end());
      else
        stack.push_back(user);
    }
    return false;
  };
  for (Group *group : {a, b})
    for (Operation *op : group->ops)
      push(op, /*fromInside=*/true);
  while (!stack.empty())
    if (push(stack.pop_back_val(), /*fromInside=*/false))
      return true;
  return false;
}

void DispatchGroups::merge(Group *into, Group *from) {
  for (Operation *op : from->ops)
    owner[op] = into;
  into->ops.append(from->ops);
  from->ops.clear();
  llvm::sort(into->ops, [&](Operation *a, Operation *b) {
    return position(a) < position(b);
  });
}

/// Makes the dispatch before the block's terminator; its sources are there.
void DispatchGroups::emit(Group &group, RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(block.getTerminator());
  SmallVector<Value> results;
  for (Operation *op : group.ops)
    for (Value result : op->getResults())
      if (llvm::any_of(readers(result), [&](Operation *reader) {
            return groupOf(reader) != &group;
          }))
        results.push_back(result);

  SmallVector<Location> locs;
  for (Operation *op : group.ops)
    locs.push_back(op->getLoc());
  auto dispatch = DispatchOp::create(
      rewriter, rewriter.getFusedLoc(locs),
      llvm::map_to_vector(results, [](Value v) { return v.getType(); }),
      group.strategy);
  Block *body = rewriter.createBlock(&dispatch.getBody());

  IRMapping clones;
  std::function<void(Operation *)> cloneCheapOperands = [&](Operation *op) {
    for (Value value : operandsOf(op)) {
      Operation *def = value.getDefiningOp();
      if (!def || role(def) != OpRole::Cheap || clones.contains(value))
        continue;
      cloneCheapOperands(def);
      rewriter.clone(*def, clones);
    }
  };
  for (Operation *op : group.ops) {
    rewriter.setInsertionPointToEnd(body);
    cloneCheapOperands(op);
    op->moveBefore(body, body->end());
    op->walk([&](Operation *nested) {
      for (OpOperand &operand : nested->getOpOperands())
        operand.set(clones.lookupOrDefault(operand.get()));
    });
  }
  rewriter.setInsertionPointToEnd(body);
  YieldOp::create(rewriter, dispatch.getLoc(), results);
  for (auto [inner, outer] : llvm::zip_equal(results, dispatch.getResults()))
    rewriter.replaceUsesWithIf(inner, outer, [&](OpOperand &use) {
      return !dispatch->isProperAncestor(use.getOwner());
    });
  if (results.empty()) // nobody reads it
    rewriter.eraseOp(dispatch);
}

void DispatchGroups::materialise(RewriterBase &rewriter) {
  // Kahn's algorithm over groups and host operations; ties by program order.
  struct Unit {
    Group *group = nullptr;
    Operation *host = nullptr;
    int64_t position = 0;
    int64_t waits = 0;
    SmallVector<Unit *> next;
  };
  std::vector<std::unique_ptr<Unit>> units;
  llvm::DenseMap<Operation *, Unit *> unitOf;
  llvm::DenseMap<Group *, Unit *> unitOfGroup;
  for (Operation &op : block.without_terminator()) {
    OpRole kind = role(&op);
    if (kind == OpRole::Cheap)
      continue;
    Group *group = groupOf(&op);
    Unit *unit = group ? unitOfGroup.lookup(group) : nullptr;
    if (!unit) {
      units.push_back(std::make_unique<Unit>());
      unit = units.back().get();
      unit->group = group;
      unit->host = group ? nullptr : &op;
      unit->position = position(&op);
      if (group)
        unitOfGroup[group] = unit;
    }
    unitOf[&op] = unit;
  }
  // Operations with effects (extern calls) keep their order, and come after
  // the conditions under which they are not reached.
  Unit *lastEffect = nullptr;
  SmallVector<Unit *> conditions;
  auto depend = [](Unit *before, Unit *after) {
    if (before == after || llvm::is_contained(before->next, after))
      return;
    before->next.push_back(after);
    ++after->waits;
  };
  for (Operation &op : block.without_terminator()) {
    Unit *unit = unitOf.lookup(&op);
    if (!unit)
      continue;
    for (Operation *source : sources(&op))
      depend(unitOf.lookup(source), unit);
    if (isa<RefuseIfOp>(op)) {
      conditions.push_back(unit);
    } else if (unit->host && !isPure(&op)) {
      if (lastEffect)
        depend(lastEffect, unit);
      for (Unit *condition : conditions)
        depend(condition, unit);
      conditions.clear();
      lastEffect = unit;
    }
  }
  auto later = [](Unit *a, Unit *b) { return a->position > b->position; };
  std::priority_queue<Unit *, std::vector<Unit *>, decltype(later)> ready(
      later);
  for (const std::unique_ptr<Unit> &unit : units)
    if (unit->waits == 0)
      ready.push(unit.get());
  while (!ready.empty()) {
    Unit *unit = ready.top();
    ready.pop();
    if (unit->group)
      emit(*unit->group, rewriter);
    else
      unit->host->moveBefore(block.getTerminator());
    for (Unit *next : unit->next)
      if (--next->waits == 0)
        ready.push(next);
  }
  // The originals of what was copied, last first.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (role(&op) == OpRole::Cheap && op.use_empty())
      rewriter.eraseOp(&op);
}
