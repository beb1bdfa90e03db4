//===- MergeGroups.cpp - The fusion decisions -----------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which groups become one kernel.  Merging saves a trip through memory for each
// value between them; it is bounded by what code generation can keep close: the
// tile of a contraction's result, or one row.
//
//===----------------------------------------------------------------------===//

#include "MergeGroups.h"

#include "AttentionLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dynamo::rt;

/// What one row of intermediate values may take: half of an L2 cache's share.
static constexpr int64_t kMaxRowBytes = 64 * 1024;
/// Bounds the compile time of one kernel.
static constexpr size_t kMaxOps = 48;

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
  return !generic
              .walk([](Operation *nested) {
                return isa<tensor::ExtractOp>(nested) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
              })
              .wasInterrupted();
}

/// A contraction whose operands each have a dim that the other lacks. A dot
/// product per row, or rows times one vector (layer norm's backward has these),
/// is a reduction like others and merges with its rows.
static bool isMatmul(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalg::isaContractionOpInterface(linalgOp))
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(linalgOp);
  return succeeded(dims) && !dims->m.empty() && !dims->n.empty();
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

void dynamo::rt::chooseStrategies(DispatchGroups &groups) {
  for (Group *group : groups.groups())
    group->strategy = strategyOf(group->ops.front());
}

void dynamo::rt::mergeInsertChains(DispatchGroups &groups) {
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

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// Elementwise into results in loop order, every element written.
static bool isPlainElementwise(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !isRowsOp(op) ||
      generic.getNumParallelLoops() != generic.getNumLoops())
    return false;
  for (OpOperand &init : generic.getDpsInitsMutable())
    if (!generic.getMatchingIndexingMap(&init).isIdentity() ||
        generic.payloadUsesValueFromOperand(&init))
      return false;
  return true;
}

/// Whether `op` reads results of the group only element by element of the same
/// space, so that it can run on a tile of them.
static bool fitsEpilogue(linalg::GenericOp op, Group *group,
                         DispatchGroups &groups) {
  bool reads = false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Operation *def = input->get().getDefiningOp();
    if (def && groups.role(def) == OpRole::Cheap) {
      // A slice of the group's own result is not at hand in a tile.
      if (groups.reachesThroughCheap(def, group))
        return false;
      continue;
    }
    if (!def || groups.groupOf(def) != group)
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() != op.getNumLoops() ||
        !(group->strategy == "conv" ? map.isIdentity() : map.isPermutation()))
      return false;
    reads = true;
  }
  return reads;
}

/// An attention writes its result transposed where a transpose follows.
static void mergeTranspose(Group *group, DispatchGroups &groups) {
  Value out = cast<AttentionOp>(group->ops.front()).getOut();
  for (Operation *reader : groups.readers(out)) {
    Group *other = groups.groupOf(reader);
    if (followsAttention(reader) && other && other->ops.size() == 1 &&
        !groups.mergeMakesCycle(group, other))
      groups.merge(group, other);
  }
}

void dynamo::rt::mergeEpilogues(DispatchGroups &groups) {
  for (Group *group : groups.groups()) {
    if (group->strategy == "attention")
      mergeTranspose(group, groups);
    if (group->strategy != "matmul" && group->strategy != "conv")
      continue;
    // The list grows as operations join; their readers are candidates too.
    for (size_t i = 0; i < group->ops.size() && group->ops.size() < kMaxOps;
         ++i) {
      SmallVector<Operation *> readers;
      for (Value result : group->ops[i]->getResults())
        llvm::append_range(readers, groups.readers(result));
      bool merged = false;
      for (Operation *reader : readers) {
        Group *other = groups.groupOf(reader);
        if (!other || other == group || other->ops.size() != 1 ||
            !isPlainElementwise(reader) ||
            !fitsEpilogue(cast<linalg::GenericOp>(reader), group, groups) ||
            groups.mergeMakesCycle(group, other))
          continue;
        groups.merge(group, other);
        merged = true;
      }
      if (merged) // the order of the list changed
        i = -1;
    }
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// What a rows group has in common.
struct RowsInfo {
  int64_t dims = 0; ///< leading parallel dims shared by all operations
  bool hasReduction = false;
  bool isScalar = false; ///< full reductions and what is done with them
};

class RowsMerger {
public:
  explicit RowsMerger(DispatchGroups &groups) : groups(groups) {
    for (Group *group : groups.groups())
      if (group->strategy == "rows")
        info[group] = infoOf(group->ops.front());
  }
  bool tryMerge(Group *producer, Group *consumer);
  bool tryMergeSiblings(Group *a, Group *b);

private:
  static RowsInfo infoOf(Operation *op);
  static int64_t leadingParallel(linalg::LinalgOp op);
  static int64_t sharedPrefix(OpOperand &use);
  int64_t rowBytes(ArrayRef<Operation *> ops, int64_t dims) const;
  bool mergeAs(Group *into, Group *from, RowsInfo merged);

  DispatchGroups &groups;
  llvm::DenseMap<Group *, RowsInfo> info;
};
} // namespace

int64_t RowsMerger::leadingParallel(linalg::LinalgOp op) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  return llvm::find_if_not(iterators, linalg::isParallelIterator) -
         iterators.begin();
}

RowsInfo RowsMerger::infoOf(Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  RowsInfo result;
  result.dims = leadingParallel(linalgOp);
  result.hasReduction = linalgOp.getNumReductionLoops() != 0;
  result.isScalar = linalgOp.getNumParallelLoops() == 0;
  return result;
}

/// The leading dims that index a value alike where it is made and read.
int64_t RowsMerger::sharedPrefix(OpOperand &use) {
  auto consumer = cast<linalg::LinalgOp>(use.getOwner());
  auto producer = cast<linalg::LinalgOp>(use.get().getDefiningOp());
  AffineMap made =
      producer.getIndexingMapMatchingResult(cast<OpResult>(use.get()));
  AffineMap read = consumer.getMatchingIndexingMap(&use);
  int64_t limit =
      std::min(leadingParallel(producer), leadingParallel(consumer));
  int64_t n = 0;
  while (n < limit && n < int64_t(made.getNumResults()) &&
         made.isFunctionOfDim(n) && made.getDimPosition(n) == n &&
         read.getDimPosition(n) == n)
    ++n;
  return n;
}

/// Bytes of the values that operations of `ops` hand to each other, per row.
int64_t RowsMerger::rowBytes(ArrayRef<Operation *> ops, int64_t dims) const {
  llvm::SmallPtrSet<Operation *, 8> members(ops.begin(), ops.end());
  int64_t bytes = 0;
  for (Operation *op : ops)
    for (Value result : op->getResults()) {
      if (llvm::none_of(result.getUsers(), [&](Operation *user) {
            return members.contains(user);
          }))
        continue;
      auto type = cast<RankedTensorType>(result.getType());
      if (!type.hasStaticShape())
        return kMaxRowBytes + 1;
      int64_t elements = 1;
      for (int64_t i = dims; i < type.getRank(); ++i)
        elements *= type.getDimSize(i);
      bytes += elements * llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    }
  return bytes;
}

bool RowsMerger::mergeAs(Group *into, Group *from, RowsInfo merged) {
  if (into->ops.size() + from->ops.size() > kMaxOps ||
      groups.mergeMakesCycle(into, from))
    return false;
  groups.merge(into, from);
  info.erase(from);
  info[into] = merged;
  return true;
}

bool RowsMerger::tryMerge(Group *producer, Group *consumer) {
  auto p = info.find(producer), c = info.find(consumer);
  if (producer == consumer || p == info.end() || c == info.end())
    return false;
  RowsInfo merged;
  merged.dims = std::min(p->second.dims, c->second.dims);
  merged.hasReduction = p->second.hasReduction || c->second.hasReduction;
  merged.isScalar = c->second.isScalar;

  bool isLinked = false, isIdentity = true;
  for (Operation *op : consumer->ops)
    for (OpOperand &use : op->getOpOperands()) {
      Operation *def = use.get().getDefiningOp();
      if (!def)
        continue;
      if (groups.role(def) == OpRole::Cheap) {
        if (groups.reachesThroughCheap(def, producer))
          return false; // a slice of a row: not the row
        continue;
      }
      if (groups.groupOf(def) != producer)
        continue;
      auto linalgOp = cast<linalg::LinalgOp>(op);
      if (linalgOp.isDpsInit(&use) || !isa<linalg::LinalgOp>(def))
        return false;
      isLinked = true;
      merged.dims = std::min(merged.dims, sharedPrefix(use));
      isIdentity &= linalgOp.getMatchingIndexingMap(&use).isIdentity();
    }
  if (!isLinked)
    return false;

  if (merged.isScalar) {
    // Elementwise operations and the full reduction of their result, or what
    // is done with its single value.
    bool isChain =
        consumer->ops.size() == 1 && isIdentity && !p->second.hasReduction;
    if (!isChain && !p->second.isScalar)
      return false;
    return mergeAs(consumer, producer, merged);
  }
  if (merged.dims == 0)
    return false;
  if (merged.hasReduction) {
    SmallVector<Operation *> ops(producer->ops);
    ops.append(consumer->ops);
    if (rowBytes(ops, merged.dims) > kMaxRowBytes)
      return false;
  }
  return mergeAs(consumer, producer, merged);
}

bool RowsMerger::tryMergeSiblings(Group *a, Group *b) {
  auto x = info.find(a), y = info.find(b);
  if (a == b || x == info.end() || y == info.end() || x->second.hasReduction ||
      y->second.hasReduction)
    return false;
  SmallVector<int64_t> extents =
      cast<linalg::LinalgOp>(a->ops.front()).getStaticLoopRanges();
  for (Group *group : {a, b})
    for (Operation *op : group->ops)
      if (cast<linalg::LinalgOp>(op).getStaticLoopRanges() != extents)
        return false;
  RowsInfo merged;
  merged.dims = std::min(x->second.dims, y->second.dims);
  return merged.dims > 0 && mergeAs(a, b, merged);
}

void dynamo::rt::mergeRows(DispatchGroups &groups) {
  RowsMerger merger(groups);
  // A merge can make another possible, once or twice.
  bool changed = true;
  for (int round = 0; changed && round < 4; ++round) {
    changed = false;
    for (Operation *op : groups.operations())
      for (Operation *source : groups.sources(op)) {
        Group *producer = groups.groupOf(source);
        Group *consumer = groups.groupOf(op);
        if (producer && consumer && merger.tryMerge(producer, consumer))
          changed = true;
      }
  }
}

void dynamo::rt::mergeSiblings(DispatchGroups &groups) {
  RowsMerger merger(groups);
  SmallVector<Value> values;
  for (Operation *op : groups.operations()) {
    auto linalgOp = dyn_cast<linalg::GenericOp>(op);
    if (!linalgOp || !groups.groupOf(op))
      continue;
    for (OpOperand *input : linalgOp.getDpsInputOperands()) {
      // Tensors of the space of the operation only: what is worth sharing.
      if (!linalgOp.getMatchingIndexingMap(input).isIdentity())
        continue;
      for (Operation *other : groups.readers(input->get())) {
        auto sibling = dyn_cast<linalg::GenericOp>(other);
        if (sibling && groups.groupOf(sibling) &&
            llvm::any_of(sibling.getDpsInputOperands(), [&](OpOperand *use) {
              return use->get() == input->get() &&
                     sibling.getMatchingIndexingMap(use).isIdentity();
            }))
          merger.tryMergeSiblings(groups.groupOf(op), groups.groupOf(sibling));
      }
    }
  }
}
