//===- SimplifyGuards.cpp - Prove, merge, hoist and order guards
//--------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Guards are one conjunction over the world at the segment's start, so every
// fact is known everywhere: no dominance, no order of effects.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/Transforms/Passes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <queue>

#define DEBUG_TYPE "py-simplify-guards"

namespace dynamo::py {
#define GEN_PASS_DEF_PYSIMPLIFYGUARDSPASS
#include "dynamo/Dialect/Py/Transforms/Passes.h.inc"
} // namespace dynamo::py

using namespace mlir;
using namespace dynamo::py;

/// Whether the guard looks at the object in its first operand, so that there is
/// one.
static bool looks(Operation *guard) {
  return isa<GuardOpInterface>(guard) && guard->getNumOperands() != 0 &&
         !isa<GuardPresentOp, GuardAbsentOp, GuardTrueOp>(guard);
}

/// The object from which a step leads to this one; null for others.
static Value parentOf(Value object) {
  Operation *op = object.getDefiningOp();
  bool isStep = isa_and_present<SourceOpInterface, GuardDictVersionOp>(op) &&
                op->getNumOperands() == 1;
  return isStep ? op->getOperand(0) : Value();
}

namespace {
struct SimplifyGuards
    : dynamo::py::impl::PySimplifyGuardsPassBase<SimplifyGuards> {
  using PySimplifyGuardsPassBase::PySimplifyGuardsPassBase;

  void runOnOperation() override {
    FuncOp function = getOperation();
    if (!function.isSegment() && function.getKind() != FunctionKind::Guard)
      return;
    block = &function.getBody().front();
    orderPairs();
    mergePlaces();
    if (failed(findContradictions()))
      return signalPassFailure();
    dropImplied();
    if (dictGroup != 0)
      groupDicts();
    schedule();
  }

private:
  void orderPairs();
  void mergePlaces();
  bool replaceKnown();
  bool mergeSources();
  LogicalResult findContradictions();
  void dropImplied();
  bool isImplied(Operation *guard);
  void compareVersionsOnce();
  void groupDicts();
  void schedule();
  Value constant(Attribute value);

  void drop(Operation *guard) {
    guard->erase();
    ++numDropped;
  }
  SmallVector<Operation *> guards() {
    SmallVector<Operation *> result;
    for (Operation &op : *block)
      if (isa<GuardOpInterface>(op))
        result.push_back(&op);
    return result;
  }

  Block *block = nullptr;
};
} // namespace

/// Symmetric guards name first what is first in the block.
void SimplifyGuards::orderPairs() {
  for (Operation *guard : guards()) {
    if (!isa<GuardSameOp, GuardDistinctOp, GuardNoAliasOp>(guard))
      continue;
    Operation *first = guard->getOperand(0).getDefiningOp(),
              *second = guard->getOperand(1).getDefiningOp();
    if (first && second && second->isBeforeInBlock(first))
      guard->setOperands({guard->getOperand(1), guard->getOperand(0)});
  }
}

Value SimplifyGuards::constant(Attribute value) {
  auto builder = OpBuilder::atBlockBegin(block);
  return ConstOp::create(builder, getOperation().getLoc(),
                         builder.getType<ObjectType>(), value);
}

/// What a guard says that an object is, others take it for.
bool SimplifyGuards::replaceKnown() {
  bool changed = false;
  for (Operation *guard : guards()) {
    if (auto is = dyn_cast<GuardIsOp>(guard)) {
      if (getConstant(is.getObject()))
        continue;
      auto isOther = [](OpOperand &use) {
        return !isa<GuardIsOp, GuardPresentOp>(use.getOwner());
      };
      if (llvm::none_of(is.getObject().getUses(), isOther))
        continue;
      is.getObject().replaceUsesWithIf(constant(is.getValue()), isOther);
      changed = true;
    } else if (auto equal = dyn_cast<GuardEqualOp>(guard)) {
      // Of a value only what it holds is the same, so objects stay themselves.
      auto isNumber = [](OpOperand &use) {
        return isa<UnboxOp>(use.getOwner());
      };
      if (getConstant(equal.getObject()) || isa<RefAttr>(equal.getValue()) ||
          llvm::none_of(equal.getObject().getUses(), isNumber))
        continue;
      equal.getObject().replaceUsesWithIf(constant(equal.getValue()), isNumber);
      changed = true;
    } else if (auto same = dyn_cast<GuardSameOp>(guard)) {
      auto isOther = [](OpOperand &use) {
        return !isa<GuardSameOp, GuardPresentOp>(use.getOwner());
      };
      if (same.getObject() == same.getOther() ||
          llvm::none_of(same.getOther().getUses(), isOther))
        continue;
      // What is left of a merged pair of guards may run the other way.
      Operation *first = same.getObject().getDefiningOp();
      for (OpOperand &use :
           llvm::make_early_inc_range(same.getOther().getUses()))
        if (isOther(use) && first && first->isBeforeInBlock(use.getOwner())) {
          use.set(same.getObject());
          changed = true;
        }
    }
  }
  return changed;
}

/// Equal places are one source; equal guards are one.
bool SimplifyGuards::mergeSources() {
  bool changed = false;
  llvm::DenseMap<Value, SmallVector<Operation *>> ofParent;
  SmallVector<Operation *> roots;
  for (Operation &op : llvm::make_early_inc_range(*block)) {
    if (!isa<SourceOpInterface>(op))
      continue;
    auto &known = op.getNumOperands() == 0 ? roots : ofParent[op.getOperand(0)];
    auto equal = llvm::find_if(known, [&](Operation *other) {
      return other->getName() == op.getName() &&
             other->getPropertiesAsAttribute() == op.getPropertiesAsAttribute();
    });
    if (equal == known.end()) {
      known.push_back(&op);
      continue;
    }
    op.replaceAllUsesWith(*equal);
    op.erase();
    changed = true;
  }
  SmallVector<Operation *> left = guards();
  llvm::DenseMap<Value, SmallVector<Operation *>> seen;
  for (Operation *guard : left) {
    Value key = guard->getNumOperands() ? guard->getOperand(0) : Value();
    auto &known = seen[key];
    if (isAlwaysTrue(guard) || llvm::any_of(known, [&](Operation *other) {
          return areSameGuard(other, guard);
        })) {
      drop(guard);
      changed = true;
    } else {
      known.push_back(guard);
    }
  }
  return changed;
}

void SimplifyGuards::mergePlaces() {
  bool changed = true;
  while (changed) {
    changed = mergeSources();
    changed |= replaceKnown();
  }
}

/// Guards that no world fulfils come from a broken recording.
LogicalResult SimplifyGuards::findContradictions() {
  llvm::DenseMap<Value, SmallVector<Operation *>> seen;
  auto contradicts = [](Operation *a, Operation *b) {
    if (auto x = dyn_cast<GuardIsOp>(a))
      if (auto y = dyn_cast<GuardIsOp>(b))
        return areDifferent(x.getValue(), y.getValue());
    if (auto x = dyn_cast<GuardEqualOp>(a))
      if (auto y = dyn_cast<GuardEqualOp>(b))
        return areDifferent(x.getValue(), y.getValue());
    if (auto x = dyn_cast<GuardTypeOp>(a))
      if (auto y = dyn_cast<GuardTypeOp>(b))
        return areDifferent(x.getCls(), y.getCls());
    if (auto x = dyn_cast<GuardLengthOp>(a))
      if (auto y = dyn_cast<GuardLengthOp>(b))
        return x.getLength() != y.getLength();
    if (auto x = dyn_cast<GuardTensorOp>(a))
      if (auto y = dyn_cast<GuardTensorOp>(b))
        return x.getSpec() != y.getSpec();
    if (auto x = dyn_cast<GuardKeysOp>(a))
      if (auto y = dyn_cast<GuardLengthOp>(b))
        return x.getKeys().size() != y.getLength();
    if (auto x = dyn_cast<GuardLengthOp>(a))
      if (auto y = dyn_cast<GuardKeysOp>(b))
        return y.getKeys().size() != x.getLength();
    return false;
  };
  for (Operation *guard : guards()) {
    if (guard->getNumOperands() == 0)
      continue;
    auto &others = seen[guard->getOperand(0)];
    for (Operation *other : others)
      if (contradicts(other, guard)) {
        InFlightDiagnostic diag =
            guard->emitOpError("contradicts another guard of the object");
        diag.attachNote(other->getLoc()) << "the other one";
        return diag;
      }
    others.push_back(guard);
  }
  return success();
}

/// Whether another guard says as much.
bool SimplifyGuards::isImplied(Operation *guard) {
  if (guard->getNumOperands() == 0)
    return false;
  Value object = guard->getOperand(0);
  Attribute known = getConstant(object);
  for (Operation *other : object.getUsers()) {
    if (other == guard || !isa<GuardOpInterface>(other) ||
        other->getOperand(0) != object)
      continue;
    if (isa<GuardPresentOp>(guard) && looks(other))
      return true;
    if (auto length = dyn_cast<GuardLengthOp>(guard)) {
      if (isa<GuardKeysOp>(other))
        return true;
      auto equal = dyn_cast<GuardEqualOp>(other);
      auto array = equal ? dyn_cast<ArrayAttr>(equal.getValue()) : ArrayAttr();
      if (array && array.size() == length.getLength())
        return true;
    }
    // A value has its type with it.
    if (auto type = dyn_cast<GuardTypeOp>(guard))
      if (auto equal = dyn_cast<GuardEqualOp>(other))
        if (!isa<RefAttr>(equal.getValue()) || type.getCls().getFixed())
          return true;
  }
  // An object keeps its class if neither can be changed.
  auto type = dyn_cast<GuardTypeOp>(guard);
  return type && known && type.getCls().getFixed();
}

/// The version of a class is the same for all of its instances.
void SimplifyGuards::compareVersionsOnce() {
  llvm::DenseMap<Attribute, GuardTypeOp> first;
  for (Operation *guard : guards()) {
    auto type = dyn_cast<GuardTypeOp>(guard);
    if (!type || !type.getVersion())
      continue;
    auto [entry, isNew] = first.try_emplace(type.getCls(), type);
    if (!isNew && entry->second.getVersionAttr() == type.getVersionAttr())
      type.removeVersionAttr();
  }
  // What is left says no more than py.guard.tensor does.
  for (Operation *guard : guards()) {
    auto type = dyn_cast<GuardTypeOp>(guard);
    if (!type || type.getVersion() ||
        !(type.getCls().getFixed() || first.contains(type.getCls())))
      continue;
    if (llvm::any_of(type.getObject().getUsers(), [&](Operation *user) {
          auto tensor = dyn_cast<GuardTensorOp>(user);
          return tensor && tensor.getSpec().getPythonType() == type.getCls();
        }))
      drop(type);
  }
}

void SimplifyGuards::dropImplied() {
  for (Operation *guard : guards())
    if (isImplied(guard))
      drop(guard);
  compareVersionsOnce();
  // Sources that nothing looks at any more.
  SmallVector<Operation *> all;
  for (Operation &op : block->without_terminator())
    all.push_back(&op);
  for (Operation *op : llvm::reverse(all))
    if (isOpTriviallyDead(op))
      op->erase();
}

/// Items of one dict and the guards on them that need the dict only.
void SimplifyGuards::groupDicts() {
  llvm::MapVector<Value, SmallVector<DictItemOp>> items;
  for (auto item : block->getOps<DictItemOp>())
    items[item.getObject()].push_back(item);
  for (auto &[dict, members] : items) {
    if (members.size() < dictGroup)
      continue;
    ++numGroups;
    auto belongs = [](Operation *user) {
      return isa<GuardIsOp, GuardEqualOp, GuardPresentOp, GuardAbsentOp>(user);
    };
    SmallVector<Operation *> body;
    SmallVector<Value> results;
    for (DictItemOp item : members) {
      body.push_back(item);
      // In the order of the block, not of the list of uses.
      SmallVector<Operation *> ofItem;
      for (Operation *user : item->getUsers())
        if (belongs(user))
          ofItem.push_back(user);
      llvm::sort(ofItem, [](Operation *a, Operation *b) {
        return a->isBeforeInBlock(b);
      });
      llvm::append_range(body, ofItem);
      if (!llvm::all_of(item->getUsers(), belongs))
        results.push_back(item);
    }
    for (Operation *user : dict.getUsers())
      if (user->getBlock() == block && isa<GuardKeysOp, GuardLengthOp>(user))
        body.insert(body.begin(), user);
    OpBuilder builder(members.front());
    SmallVector<Type> types(results.size(), builder.getType<ObjectType>());
    auto group = GuardDictVersionOp::create(builder, members.front().getLoc(),
                                            types, dict);
    Block &inner = group.getBody().emplaceBlock();
    for (auto [result, outer] : llvm::zip_equal(results, group.getResults()))
      result.replaceUsesWithIf(
          outer, [&](OpOperand &use) { return !belongs(use.getOwner()); });
    for (Operation *op : body)
      op->moveBefore(&inner, inner.end());
    builder.setInsertionPointToEnd(&inner);
    YieldOp::create(builder, group.getLoc(), results);
  }
}

/// Sources and guards first, each guard when its objects are known to be what
/// the steps to them need, the cheapest one of those.
void SimplifyGuards::schedule() {
  SmallVector<Operation *> all = guards();
  llvm::DenseMap<Operation *, unsigned> index;
  llvm::DenseMap<Value, SmallVector<unsigned>> ofObject;
  for (auto [i, guard] : llvm::enumerate(all)) {
    index[guard] = i;
    if (guard->getNumOperands() == 1 && !isa<GuardTrueOp>(guard))
      ofObject[guard->getOperand(0)].push_back(i);
  }
  // Guards that come before each one.
  std::vector<SmallVector<unsigned>> followers(all.size());
  std::vector<unsigned> waiting(all.size(), 0);
  for (auto [i, guard] : llvm::enumerate(all)) {
    llvm::SmallSetVector<unsigned, 8> before;
    auto addGuardsOf = [&, i = i](Value object, auto filter) {
      for (unsigned other : ofObject.lookup(object))
        if (other != i && filter(all[other]))
          before.insert(other);
    };
    // What lies behind a condition: the objects whose numbers it compares.
    llvm::SmallSetVector<Value, 8> objects;
    SmallVector<Value> open(guard->getOperands());
    while (!open.empty()) {
      Value value = open.pop_back_val();
      if (isa<ObjectType>(value.getType()))
        objects.insert(value);
      else if (Operation *op = value.getDefiningOp())
        llvm::append_range(open, op->getOperands());
    }
    bool cheap = isa<GuardTypeOp, GuardIsOp, GuardEqualOp, GuardPresentOp,
                     GuardAbsentOp>(guard);
    for (Value object : objects) {
      if (!cheap) // of these, what says more builds on what the object is
        addGuardsOf(object, [](Operation *other) {
          return isa<GuardTypeOp, GuardIsOp, GuardEqualOp, GuardPresentOp>(
              other);
        });
      for (Value at = object; at; at = parentOf(at)) {
        if (at != object)
          addGuardsOf(at, [](Operation *) { return true; });
        if (auto group = at.getDefiningOp<GuardDictVersionOp>())
          if (group != guard)
            before.insert(index.lookup(group));
      }
    }
    for (unsigned other : before) {
      followers[other].push_back(i);
      ++waiting[i];
    }
  }

  using Entry = std::pair<unsigned, unsigned>; // cost, place
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  auto cost = [&](unsigned i) {
    return cast<GuardOpInterface>(all[i]).getCost();
  };
  for (unsigned i = 0; i < all.size(); ++i)
    if (waiting[i] == 0)
      ready.push({cost(i), i});
  SmallVector<Operation *> order;
  llvm::DenseSet<Operation *> placed;
  // An operation behind what it reads.
  auto place = [&](auto &&self, Operation *op) -> void {
    if (!op || op->getBlock() != block || !placed.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      self(self, operand.getDefiningOp());
    order.push_back(op);
  };
  while (!ready.empty()) {
    unsigned i = ready.top().second;
    ready.pop();
    place(place, all[i]);
    for (unsigned follower : followers[i])
      if (--waiting[follower] == 0)
        ready.push({cost(follower), follower});
  }
  for (Operation &op : *block)
    if (isa<SourceOpInterface, GuardOpInterface>(op))
      place(place, &op);
  for (Operation *op : llvm::reverse(order))
    op->moveBefore(block, block->begin());
}
