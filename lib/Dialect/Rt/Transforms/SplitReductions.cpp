//===- SplitReductions.cpp - Long sums in blocks --------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between phases P2 and P3.  A sum over the leading dims of a tensor (a bias'
// gradient, the statistics of a batch norm) adds thousands of numbers one after
// the other, so rounding errors pile up where eager, which adds in a tree, has
// hardly any; and as no loop outside of it is parallel, one thread does it.  In
// blocks, both are solved.  The blocks are fixed by the shapes alone, so the
// result is the same for any number of threads.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#define DEBUG_TYPE "linalg-split-reductions"

namespace dynamo::rt {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;
using utils::IteratorType;

namespace {
/// A sum of so many numbers in a row is left as it is.
constexpr int64_t kMaxLength = 256;
/// A block should have at least so many rows, to be worth its result.
constexpr int64_t kMinBlock = 16;

/// What the blocks of a sum are.
struct Split {
  /// Reduction loops that number the blocks.
  SmallVector<int64_t> outer;
  /// A loop of which the inner `block` iterations are summed in a block and the
  /// outer ones number the blocks; -1: none.
  int64_t loop = -1, block = 0;
};
} // namespace

/// Whether `op` adds up floats: one result, every operand read by a projected
/// permutation, the accumulator used in one addition.
static bool isSum(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 || op.getNumDpsInputs() == 0)
    return false;
  for (int64_t range : op.getStaticLoopRanges())
    if (ShapedType::isDynamic(range) || range == 0)
      return false;
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return false;
  Block *body = op.getBody();
  auto add =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  BlockArgument sum = body->getArguments().back();
  if (!add || !sum.hasOneUse() || !add->hasOneUse() ||
      *sum.user_begin() != add.getOperation() || add.getLhs() == add.getRhs())
    return false;
  // A matrix product is another strategy's.
  if (!linalg::isaContractionOpInterface(op))
    return true;
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return op.getMatchingIndexingMap(input).isPermutation();
  });
}

/// The divisor of `size` that is a good number of rows for a block of `inner`
/// each, or 0.
static int64_t blockOf(int64_t size, int64_t inner) {
  int64_t best = 0;
  for (int64_t block = 2; block * inner <= kMaxLength && block < size; ++block)
    if (size % block == 0 && block * inner >= kMinBlock)
      // Near the square root both sums are short.
      if (!best ||
          std::abs(block * block - size) <= std::abs(best * best - size))
        best = block;
  return best;
}

static std::optional<Split> findSplit(linalg::GenericOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<IteratorType> kinds = op.getIteratorTypesArray();
  int64_t numLoops = ranges.size(), next = numLoops - 1;
  auto isReduction = [&](int64_t loop) {
    return kinds[loop] == IteratorType::reduction;
  };
  // Rows are summed in the lanes of vectors and belong to kernels of rows.
  for (; next >= 0 && isReduction(next); --next)
    ;
  int64_t length = next == numLoops - 1 ? 1 : kMinBlock, total = length;
  for (int64_t loop = next; loop >= 0; --loop)
    if (isReduction(loop))
      total *= ranges[loop];
  if (total <= kMaxLength)
    return std::nullopt;

  Split split;
  for (; next >= 0; --next) {
    if (!isReduction(next))
      continue;
    if (split.outer.empty() && split.loop < 0) {
      if (length * ranges[next] <= kMaxLength) {
        length *= ranges[next];
        continue;
      }
      if (length < kMinBlock) {
        bool isRead =
            llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *in) {
              return op.getMatchingIndexingMap(in).isFunctionOfDim(next);
            });
        int64_t block = isRead && !op.hasIndexSemantics()
                            ? blockOf(ranges[next], length)
                            : 0;
        if (block) {
          split.loop = next;
          split.block = block;
          continue;
        }
        if (length == 1) // a prime number of rows, say
          return std::nullopt;
      }
    }
    split.outer.insert(split.outer.begin(), next);
  }
  if (split.outer.empty() && split.loop < 0)
    return std::nullopt;
  return split;
}

/// `operand` with dim `dim` as (count, block).
static Value expandDim(RewriterBase &rewriter, Location loc, Value operand,
                       int64_t dim, int64_t block) {
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0, at = 0; i < type.getRank(); ++i) {
    groups.push_back({at++});
    if (i == dim)
      groups.back().push_back(at++);
  }
  shape[dim] /= block;
  shape.insert(shape.begin() + dim + 1, block);
  return tensor::ExpandShapeOp::create(
      rewriter, loc, RankedTensorType::get(shape, type.getElementType()),
      operand, groups);
}

/// Replaces `op` by sums in blocks and their sum, which is returned.
static linalg::GenericOp apply(linalg::GenericOp op, const Split &split,
                               RewriterBase &rewriter) {
  MLIRContext *context = op.getContext();
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<int64_t> outer = split.outer;
  bool cuts = split.loop >= 0;
  if (cuts) {
    outer.push_back(split.loop);
    llvm::sort(outer);
    ranges[split.loop] /= split.block;
  }
  for (int64_t loop : outer)
    kinds[loop] = IteratorType::parallel;
  if (cuts) {
    kinds.insert(kinds.begin() + split.loop + 1, IteratorType::reduction);
    ranges.insert(ranges.begin() + split.loop + 1, split.block);
  }
  // Loops behind the one that is cut move up by one.
  auto loopNow = [&](int64_t loop) {
    return cuts && loop > split.loop ? loop + 1 : loop;
  };
  int64_t numLoops = kinds.size();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    SmallVector<AffineExpr> exprs;
    AffineMap map = op.getMatchingIndexingMap(input);
    for (unsigned i = 0, e = map.getNumResults(); i < e; ++i) {
      int64_t loop = map.getDimPosition(i);
      exprs.push_back(getAffineDimExpr(loopNow(loop), context));
      if (loop == split.loop) {
        value = expandDim(rewriter, loc, value, i, split.block);
        exprs.push_back(getAffineDimExpr(loop + 1, context));
      }
    }
    inputs.push_back(value);
    maps.push_back(AffineMap::get(numLoops, 0, exprs, context));
  }
  // The blocks' results, one behind the other.
  auto resultType = cast<RankedTensorType>(op.getResultTypes().front());
  SmallVector<AffineExpr> exprs;
  SmallVector<int64_t> shape;
  for (int64_t loop : outer) {
    exprs.push_back(getAffineDimExpr(loopNow(loop), context));
    shape.push_back(ranges[loopNow(loop)]);
  }
  AffineMap resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (unsigned i = 0, e = resultMap.getNumResults(); i < e; ++i)
    exprs.push_back(
        getAffineDimExpr(loopNow(resultMap.getDimPosition(i)), context));
  llvm::append_range(shape, resultType.getShape());
  maps.push_back(AffineMap::get(numLoops, 0, exprs, context));
  Type dtype = resultType.getElementType();
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(dtype));
  Value empty = tensor::EmptyOp::create(rewriter, loc, shape, dtype);
  Value fill = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  auto blocks = linalg::GenericOp::create(rewriter, loc, fill.getType(), inputs,
                                          fill, maps, kinds);
  IRMapping mapping;
  op.getRegion().cloneInto(&blocks.getRegion(), mapping);

  // Their sum.
  unsigned rank = shape.size(), numOuter = outer.size();
  SmallVector<IteratorType> sumKinds(rank, IteratorType::parallel);
  std::fill_n(sumKinds.begin(), numOuter, IteratorType::reduction);
  AffineMap all = rewriter.getMultiDimIdentityMap(rank);
  rewriter.setInsertionPoint(op);
  auto sum = rewriter.replaceOpWithNewOp<linalg::GenericOp>(
      op, resultType, blocks.getResult(0), op.getDpsInits().front(),
      ArrayRef<AffineMap>{all, all.getMinorSubMap(rank - numOuter)}, sumKinds,
      [](OpBuilder &b, Location l, ValueRange args) {
        Value added = arith::AddFOp::create(b, l, args[1], args[0]);
        linalg::YieldOp::create(b, l, added);
      });
  return sum;
}

namespace {
struct SplitReductions
    : dynamo::rt::impl::SplitReductionsPassBase<SplitReductions> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> work;
    for (Operation &op : getOperation().getOps())
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        work.push_back(generic);
    while (!work.empty()) {
      linalg::GenericOp op = work.pop_back_val();
      if (!isSum(op))
        continue;
      std::optional<Split> split = findSplit(op);
      if (!split)
        continue;
      ++numSplit;
      // The sum of the blocks may still be long.
      work.push_back(apply(op, *split, rewriter));
    }
  }
};
} // namespace
