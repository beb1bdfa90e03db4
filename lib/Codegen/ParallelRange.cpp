//===- ParallelRange.cpp - Turn a kernel's parallel loops into its range --===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads call a kernel with parts of its range [0, rt.range).  Whatever stands
// at the top level outside of a parallel loop runs in each such call, so it
// may only prepare private scratch; else the kernel runs in one piece.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#define DEBUG_TYPE "codegen-parallel-range"

namespace dynamo::codegen {
#define GEN_PASS_DEF_PARALLELRANGEPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

/// A linalg loop nest is cut into about this many tiles, unless they would be
/// of fewer operations than the next number. The range takes whole outer loops
/// and blocks of the next; the rest stay ordinary loops, whose indices need no
/// division and which LLVM vectorises.
static constexpr int64_t kEnoughTiles = 512;
static constexpr int64_t kMinTileWork = 1024;

//===----------------------------------------------------------------------===//
// Who touches what
//===----------------------------------------------------------------------===//

/// The alloca, global or argument behind a view, or null. `window` becomes the
/// view taken directly of it, if any.
static Value getBase(Value buffer, memref::SubViewOp &window) {
  while (Operation *def = buffer.getDefiningOp()) {
    if (isa<memref::AllocaOp, memref::GetGlobalOp>(def))
      return buffer;
    window = dyn_cast<memref::SubViewOp>(def);
    if (auto view = dyn_cast<ViewLikeOpInterface>(def))
      buffer = view.getViewSource();
    else
      return nullptr;
  }
  auto arg = cast<BlockArgument>(buffer);
  return isa<func::FuncOp>(arg.getOwner()->getParentOp()) ? buffer : nullptr;
}

namespace {
/// The buffers that an operation reads and writes; of those that it writes, the
/// window that all its writes go through, or null.
struct Accesses {
  llvm::SmallDenseSet<Value> reads;
  llvm::SmallDenseMap<Value, memref::SubViewOp> writes;
  bool known = true;

  bool touches(Value base) const {
    return reads.contains(base) || writes.contains(base);
  }
};
} // namespace

static Accesses collectAccesses(Operation *root) {
  Accesses accesses;
  root->walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        op->hasTrait<OpTrait::IsTerminator>())
      return;
    auto effecting = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effecting) {
      accesses.known = false;
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> effects;
    effecting.getEffects(effects);
    for (auto &effect : effects) {
      if (isa<MemoryEffects::Allocate, MemoryEffects::Free>(effect.getEffect()))
        continue;
      memref::SubViewOp window;
      Value buffer = effect.getValue();
      Value base = buffer && isa<BaseMemRefType>(buffer.getType())
                       ? getBase(buffer, window)
                       : Value();
      if (!base) {
        accesses.known = false;
      } else if (isa<MemoryEffects::Read>(effect.getEffect())) {
        accesses.reads.insert(base);
      } else {
        auto [it, isNew] = accesses.writes.try_emplace(base, window);
        if (!isNew && it->second != window)
          it->second = nullptr;
      }
    }
  });
  return accesses;
}

/// Whether two windows of one buffer have no element in common.
static bool areDisjoint(memref::SubViewOp a, memref::SubViewOp b) {
  if (!a || !b)
    return false;
  auto ones = [](int64_t stride) { return stride == 1; };
  if (!llvm::all_of(a.getStaticStrides(), ones) ||
      !llvm::all_of(b.getStaticStrides(), ones))
    return false;
  for (auto [ao, as, bo, bs] :
       llvm::zip_equal(a.getStaticOffsets(), a.getStaticSizes(),
                       b.getStaticOffsets(), b.getStaticSizes())) {
    if (ShapedType::isDynamic(ao) || ShapedType::isDynamic(as) ||
        ShapedType::isDynamic(bo) || ShapedType::isDynamic(bs))
      continue;
    if (ao + as <= bo || bo + bs <= ao)
      return true;
  }
  return false;
}

static bool isParallelLoop(Operation *op) {
  return isa<scf::ForallOp, scf::ParallelOp>(op) && op->getNumResults() == 0;
}

/// Whether each top-level parallel loop may run in parts, in any order. What a
/// loop writes must be its own; all else runs in every call and may write
/// private scratch only.
static bool areIndependent(Block &entry) {
  SmallVector<std::pair<Operation *, Accesses>> all;
  for (Operation &op : entry.without_terminator()) {
    if (isMemoryEffectFree(&op) || isa<memref::AllocaOp>(op))
      continue;
    all.push_back({&op, collectAccesses(&op)});
    if (!all.back().second.known)
      return false;
  }
  for (auto &[op, accesses] : all) {
    for (auto [base, window] : accesses.writes) {
      if (!isParallelLoop(op)) {
        if (!base.getDefiningOp<memref::AllocaOp>())
          return false;
        continue;
      }
      for (auto &[other, others] : all) {
        if (other == op || !others.touches(base))
          continue;
        // Parts of one output, as a concatenation writes them.
        auto it = others.writes.find(base);
        bool apart = isParallelLoop(other) && it != others.writes.end() &&
                     !others.reads.contains(base) &&
                     !accesses.reads.contains(base) &&
                     areDisjoint(window, it->second);
        if (!apart)
          return false;
      }
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Bounds of a parallel loop of constant bounds, dimension by dimension.
namespace {
struct StaticBounds {
  SmallVector<int64_t> lower, step, count;
};
} // namespace

static std::optional<StaticBounds> getStaticBounds(Operation *op) {
  StaticBounds bounds;
  auto loop = cast<LoopLikeOpInterface>(op);
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds(),
       steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return std::nullopt;
  for (auto [l, u, s] : llvm::zip_equal(*lower, *upper, *steps)) {
    auto lc = getConstantIntValue(l), uc = getConstantIntValue(u),
         sc = getConstantIntValue(s);
    if (!lc || !uc || !sc || *sc <= 0)
      return std::nullopt;
    bounds.lower.push_back(*lc);
    bounds.step.push_back(*sc);
    bounds.count.push_back(
        std::max<int64_t>(0, llvm::divideCeilSigned(*uc - *lc, *sc)));
  }
  return bounds;
}

/// Replaces a parallel loop's body dims by `ivs` at the builder's place.
static void inlineBody(RewriterBase &rewriter, Operation *op, ValueRange ivs) {
  Block &body = op->getRegion(0).front();
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, rewriter.getInsertionBlock(),
                             rewriter.getInsertionPoint(), ivs);
  rewriter.eraseOp(op);
}

/// A parallel loop inside another one, or one that cannot be split.
static void toSequential(RewriterBase &rewriter, Operation *op) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  auto loop = cast<LoopLikeOpInterface>(op);
  SmallVector<Value> ivs;
  auto lower = *loop.getLoopLowerBounds(), upper = *loop.getLoopUpperBounds(),
       steps = *loop.getLoopSteps();
  for (auto [l, u, s] : llvm::zip_equal(lower, upper, steps)) {
    auto forOp = scf::ForOp::create(
        rewriter, loc, getValueOrCreateConstantIndexOp(rewriter, loc, l),
        getValueOrCreateConstantIndexOp(rewriter, loc, u),
        getValueOrCreateConstantIndexOp(rewriter, loc, s));
    ivs.push_back(forOp.getInductionVar());
    rewriter.setInsertionPointToStart(forOp.getBody());
  }
  inlineBody(rewriter, op, ivs);
}

/// The number of times that the innermost of the loops in `block` runs.
static int64_t countTrips(Block &block) {
  int64_t most = 1;
  for (Operation &op : block)
    if (auto loop = dyn_cast<scf::ForOp>(op))
      if (auto bounds = getStaticBounds(loop))
        most = std::max(most, bounds->count[0] * countTrips(*loop.getBody()));
  return most;
}

/// Iterations of each dimension that a tile of the range has. Those of a
/// strategy are tiles as they are.
static SmallVector<int64_t> chooseTile(Operation *op,
                                       const StaticBounds &bounds) {
  SmallVector<int64_t> tile(bounds.count.size(), 1);
  if (isa<scf::ForallOp>(op))
    return tile;
  int64_t inner = countTrips(op->getRegion(0).front()), all = inner;
  for (int64_t count : bounds.count)
    all *= count;
  int64_t wanted = std::max(kMinTileWork, all / kEnoughTiles);
  for (size_t d = tile.size(); d-- > 0;) {
    tile[d] = std::clamp<int64_t>(llvm::divideCeil(wanted, inner), 1,
                                  std::max<int64_t>(bounds.count[d], 1));
    inner *= tile[d];
    // The dimensions outside are whole, or as many of them as it takes.
    if (tile[d] < bounds.count[d])
      break;
  }
  return tile;
}

/// The loop's part of the range, which starts at `offset`, becomes a loop over
/// what [begin, end) has of it. Returns the number of its tiles.
static int64_t toRange(RewriterBase &rewriter, Operation *op,
                       const StaticBounds &bounds, Value begin, Value end,
                       int64_t offset, bool whole) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  auto constant = [&](int64_t v) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, v);
  };
  unsigned rank = bounds.count.size();
  SmallVector<int64_t> tile = chooseTile(op, bounds);
  SmallVector<int64_t> blocks;
  int64_t tiles = 1;
  for (auto [count, size] : llvm::zip_equal(bounds.count, tile)) {
    blocks.push_back(llvm::divideCeil(count, size));
    tiles *= blocks.back();
  }

  Value lo = begin, hi = end;
  if (!whole) {
    Value zero = constant(0), count = constant(tiles), base = constant(offset);
    auto clamp = [&](Value v) -> Value {
      v = arith::SubIOp::create(rewriter, loc, v, base);
      v = arith::MaxSIOp::create(rewriter, loc, v, zero);
      return arith::MinSIOp::create(rewriter, loc, v, count);
    };
    lo = clamp(begin);
    hi = clamp(end);
  }
  auto loop = scf::ForOp::create(rewriter, loc, lo, hi, constant(1));
  rewriter.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> ivs(rank);
  Value rest = loop.getInductionVar();
  auto isOuter = [&](unsigned d) { return blocks[d] != 1; };
  unsigned first = 0; // the outermost dim of the range, whose index is the rest
  while (first + 1 < rank && !isOuter(first))
    ++first;
  for (unsigned d = rank; d-- > 0;) {
    if (!isOuter(d)) {
      ivs[d] = constant(0);
      continue;
    }
    ivs[d] = rest;
    if (d == first)
      continue;
    Value size = constant(blocks[d]);
    ivs[d] = arith::RemUIOp::create(rewriter, loc, rest, size);
    rest = arith::DivUIOp::create(rewriter, loc, rest, size);
  }
  for (unsigned d = 0; d < rank; ++d) {
    int64_t lower = bounds.lower[d], step = bounds.step[d];
    if (tile[d] == 1) {
      // In the range, or a single iteration.
    } else if (!isOuter(d)) {
      auto inner = scf::ForOp::create(rewriter, loc, constant(0),
                                      constant(bounds.count[d]), constant(1));
      ivs[d] = inner.getInductionVar();
      rewriter.setInsertionPointToStart(inner.getBody());
    } else {
      Value from =
          arith::MulIOp::create(rewriter, loc, ivs[d], constant(tile[d]));
      Value to = arith::AddIOp::create(rewriter, loc, from, constant(tile[d]));
      if (bounds.count[d] % tile[d] != 0)
        to = arith::MinUIOp::create(rewriter, loc, to,
                                    constant(bounds.count[d]));
      auto inner = scf::ForOp::create(rewriter, loc, from, to, constant(1));
      ivs[d] = inner.getInductionVar();
      rewriter.setInsertionPointToStart(inner.getBody());
    }
    if (step != 1)
      ivs[d] = arith::MulIOp::create(rewriter, loc, ivs[d], constant(step));
    if (lower != 0)
      ivs[d] = arith::AddIOp::create(rewriter, loc, ivs[d], constant(lower));
  }
  inlineBody(rewriter, op, ivs);
  return tiles;
}

namespace {
struct ParallelRange
    : dynamo::codegen::impl::ParallelRangePassBase<ParallelRange> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp func = requireKernelFunction(module);
    if (!func)
      return signalPassFailure();
    if (!func->hasAttr(kRangeAttr) && failed(makeRange(func)))
      return signalPassFailure();
  }

  LogicalResult makeRange(func::FuncOp func) {
    IRRewriter rewriter(&getContext());
    if (failed(lowerLinalg(rewriter, func)))
      return failure();

    Block &entry = func.getBody().front();
    SmallVector<Operation *> loops;
    bool allStatic = true;
    for (Operation &op : entry) {
      if (!isParallelLoop(&op))
        continue;
      loops.push_back(&op);
      allStatic &= getStaticBounds(&op).has_value();
    }
    Type index = rewriter.getIndexType();
    Value begin = entry.addArgument(index, func.getLoc());
    Value end = entry.addArgument(index, func.getLoc());
    func.setFunctionType(FunctionType::get(
        &getContext(), entry.getArgumentTypes(), func.getResultTypes()));

    int64_t range = 1;
    bool independent = func->removeAttr(kIndependentAttr) != nullptr;
    if (allStatic && !loops.empty() && (independent || areIndependent(entry))) {
      range = 0;
      for (Operation *op : loops) {
        range += toRange(rewriter, op, *getStaticBounds(op), begin, end, range,
                         loops.size() == 1);
      }
    }
    func->setAttr(kRangeAttr, rewriter.getI64IntegerAttr(range));

    // Inner parallel loops, and all of them where the kernel runs in one piece.
    SmallVector<Operation *> rest;
    func.walk([&](Operation *op) {
      if (isParallelLoop(op))
        rest.push_back(op);
    });
    for (Operation *op : rest)
      toSequential(rewriter, op);
    return success();
  }

  /// Copies and linalg operations become loops; parallel ones at the top level.
  LogicalResult lowerLinalg(RewriterBase &rewriter, func::FuncOp func) {
    SmallVector<memref::CopyOp> copies;
    func.walk([&](memref::CopyOp op) { copies.push_back(op); });
    for (memref::CopyOp op : copies) {
      rewriter.setInsertionPoint(op);
      linalg::makeMemRefCopyOp(rewriter, op.getLoc(), op.getSource(),
                               op.getTarget());
      rewriter.eraseOp(op);
    }
    SmallVector<linalg::LinalgOp> ops;
    func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      if (!op.hasPureBufferSemantics())
        return op->emitError("expected operands in memory, found tensors");
      rewriter.setInsertionPoint(op);
      bool top = op->getBlock() == &func.getBody().front();
      auto loops = top ? linalg::linalgOpToParallelLoops(rewriter, op)
                       : linalg::linalgOpToLoops(rewriter, op);
      if (failed(loops))
        return op->emitError("cannot be lowered to loops");
      rewriter.eraseOp(op);
    }
    // An output that is not read makes a dead load, which would look like a
    // dependence.
    func.walk([&](memref::LoadOp load) {
      if (load->use_empty())
        rewriter.eraseOp(load);
    });
    return success();
  }
};
} // namespace
