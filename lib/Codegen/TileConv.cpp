//===- TileConv.cpp - Direct convolution in registers ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles a convolution kernel (channels last) and its elementwise epilogue into
// a register tile of a few output pixels by 16 output channels.  The weight
// block of the 16 channels is packed on the stack once per parallel tile: a
// copy kept over calls could go stale.  The loop over the window stays a loop:
// unrolled, its overlapping input broadcasts are merged and spill.  A filter
// that would leave L1 between pixels is used in blocks of input channels, whose
// sums go through memory.
//
//===----------------------------------------------------------------------===//

#include "ConvSchedule.h"
#include "Kernel.h"
#include "TileEmitter.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "codegen-tile-conv"

namespace dynamo::codegen {
#define GEN_PASS_DEF_TILECONVPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

namespace {

/// Marks the convolution and the weight packing between the steps of this pass.
constexpr StringLiteral kConv = "codegen.conv";
constexpr StringLiteral kPack = "codegen.pack";

/// What the loops of a convolution stand for, from its indexing maps.
struct ConvLoops {
  unsigned lane = 0;              ///< the innermost output dim: vector lanes
  unsigned width = 0;             ///< the last spatial dim: rows of a tile
  SmallVector<unsigned> outer;    ///< other spatial dims
  SmallVector<unsigned> single;   ///< images and groups
  SmallVector<unsigned> window;   ///< reductions over the window
  SmallVector<unsigned> channels; ///< reductions over channels
  bool depthwise = false;         ///< the lane is a channel of the input
};

/// out += in * filter, on one float type.
bool isMultiplyAdd(linalg::GenericOp op) {
  Block *body = op.getBody();
  auto add =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || body->getOperations().size() != 3)
    return false;
  auto mul = add.getRhs().getDefiningOp<arith::MulFOp>();
  Value acc = add.getLhs();
  if (!mul) {
    mul = add.getLhs().getDefiningOp<arith::MulFOp>();
    acc = add.getRhs();
  }
  return mul && acc == body->getArgument(2);
}

/// Reads the loops of `op`; operand 0 must be the input, 1 the filter.
FailureOr<ConvLoops> inferLoops(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap in = maps[0], filter = maps[1], out = maps[2];
  if (!filter.isProjectedPermutation() || !out.isProjectedPermutation())
    return failure();
  ConvLoops loops;
  loops.lane = out.getDimPosition(out.getNumResults() - 1);
  SmallVector<unsigned> spatial;
  for (unsigned d = 0; d < op.getNumLoops(); ++d) {
    bool inFilter = filter.isFunctionOfDim(d), inInput = in.isFunctionOfDim(d);
    bool alone = llvm::is_contained(in.getResults(),
                                    getAffineDimExpr(d, op.getContext()));
    if (out.isFunctionOfDim(d)) {
      if (d == loops.lane) {
        if (!inFilter)
          return failure();
        loops.depthwise = inInput;
      } else if (inInput && !inFilter && !alone) {
        spatial.push_back(d);
      } else if (inInput && alone) {
        loops.single.push_back(d);
      } else {
        return failure();
      }
    } else if (!inFilter || !inInput) {
      return failure();
    } else {
      (alone ? loops.channels : loops.window).push_back(d);
    }
  }
  if (spatial.empty() || loops.channels.size() > 1)
    return failure();
  loops.width = spatial.pop_back_val();
  loops.outer = spatial;
  return loops;
}

/// An elementwise copy of `value` into a fresh tensor.
Value makeCopy(RewriterBase &rw, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Value empty = tensor::EmptyOp::create(rw, value.getLoc(), type.getShape(),
                                        type.getElementType());
  AffineMap id = rw.getMultiDimIdentityMap(type.getRank());
  return linalg::GenericOp::create(
             rw, value.getLoc(), TypeRange{type}, ValueRange{value},
             ValueRange{empty}, ArrayRef<AffineMap>{id, id},
             SmallVector<utils::IteratorType>(type.getRank(),
                                              utils::IteratorType::parallel),
             [](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, args[0]);
             })
      .getResult(0);
}

/// The filter with dim `lane` moved to the end.
linalg::GenericOp makePack(RewriterBase &rw, Location loc, Value filter,
                           unsigned lane) {
  auto type = cast<RankedTensorType>(filter.getType());
  unsigned rank = type.getRank();
  SmallVector<unsigned> order; // packed dim -> filter dim
  for (unsigned i = 0; i < rank; ++i)
    if (i != lane)
      order.push_back(i);
  order.push_back(lane);
  SmallVector<int64_t> shape;
  for (unsigned i : order)
    shape.push_back(type.getDimSize(i));
  Value empty = tensor::EmptyOp::create(rw, loc, shape, type.getElementType());
  MLIRContext *ctx = rw.getContext();
  AffineMap read = inversePermutation(AffineMap::getPermutationMap(order, ctx));
  auto pack = linalg::GenericOp::create(
      rw, loc, TypeRange{empty.getType()}, ValueRange{filter},
      ValueRange{empty},
      ArrayRef<AffineMap>{read, AffineMap::getMultiDimIdentityMap(rank, ctx)},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](OpBuilder &b, Location l, ValueRange args) {
        linalg::YieldOp::create(b, l, args[0]);
      });
  pack->setAttr(kPack, rw.getUnitAttr());
  return pack;
}

/// Follows the convolution's result through its elementwise readers to the last
/// one; `dims` (loops of the convolution) become loops of that op. Null if a
/// reader does not read or write it by a permutation.
linalg::LinalgOp findRoot(linalg::LinalgOp conv,
                          SmallVectorImpl<unsigned> &dims) {
  linalg::LinalgOp op = conv;
  while (true) {
    linalg::LinalgOp reader;
    OpOperand *use = nullptr;
    for (OpOperand &u : op->getResult(0).getUses()) {
      auto l = dyn_cast<linalg::LinalgOp>(u.getOwner());
      if (!l)
        continue;
      if (!reader || reader->isBeforeInBlock(l))
        reader = l, use = &u;
    }
    if (!reader)
      return op;
    if (reader.getNumReductionLoops() || op->getNumResults() != 1)
      return {};
    AffineMap written = op.getIndexingMapsArray().back();
    AffineMap read = reader.getMatchingIndexingMap(use);
    if (!read.isPermutation() || !written.isProjectedPermutation() ||
        read.getNumDims() != written.getNumResults())
      return {};
    for (unsigned &dim : dims)
      dim = read.getDimPosition(
          *written.getResultPosition(getAffineDimExpr(dim, op.getContext())));
    op = reader;
  }
}

/// Fuses, again and again, the producer that comes last in the block into
/// `loops`; producers also read behind the loop are yielded by it.
LogicalResult fuseProducers(RewriterBase &rw,
                            SmallVector<LoopLikeOpInterface> &loops,
                            function_ref<bool(Operation *)> want) {
  auto func = loops.front()->getParentOfType<func::FuncOp>();
  while (true) {
    DominanceInfo dominance(func);
    bool changed;
    eliminateCommonSubExpressions(rw, dominance, func, &changed);
    Operation *outer = loops.front();
    tensor::ExtractSliceOp slice;
    Operation *producer = nullptr;
    outer->walk([&](tensor::ExtractSliceOp s) {
      Operation *p = s.getSource().getDefiningOp();
      if (!isa_and_nonnull<linalg::LinalgOp>(p) ||
          p->getBlock() != outer->getBlock() || !want(p))
        return;
      if (!producer || producer->isBeforeInBlock(p))
        slice = s, producer = p;
    });
    if (!producer)
      return success();
    bool readBehind = llvm::any_of(producer->getUses(), [&](OpOperand &u) {
      return !outer->isProperAncestor(u.getOwner());
    });
    rw.setInsertionPoint(slice);
    auto fused = scf::tileAndFuseProducerOfSlice(rw, slice, loops);
    if (!fused)
      return producer->emitError("cannot be fused into the tile loop");
    if (readBehind) {
      if (failed(
              scf::yieldReplacementForFusedProducer(rw, slice, *fused, loops)))
        return producer->emitError("cannot be yielded from the tile loop");
      Operation *loop = loops.front();
      unsigned n = producer->getNumResults(), all = loop->getNumResults();
      for (unsigned i = 0; i < n; ++i)
        rw.replaceUsesWithIf(producer->getResult(i),
                             loop->getResult(all - n + i), [&](OpOperand &u) {
                               // A use may be in the region that ends an outer
                               // parallel loop.
                               Operation *user =
                                   loop->getBlock()->findAncestorOpInBlock(
                                       *u.getOwner());
                               return user && loop->isBeforeInBlock(user);
                             });
    }
    if (slice->use_empty())
      rw.eraseOp(slice);
    if (producer->use_empty())
      rw.eraseOp(producer);
  }
}

class ConvKernel {
public:
  ConvKernel(func::FuncOp func) : func(func), rw(func.getContext()) {}
  LogicalResult run();

private:
  LogicalResult normalise();
  FailureOr<scf::SCFTilingResult>
  tile(linalg::LinalgOp op, ArrayRef<OpFoldResult> sizes,
       scf::SCFTilingOptions::LoopType loopType =
           scf::SCFTilingOptions::LoopType::ForOp);
  void peel(ArrayRef<LoopLikeOpInterface> tileLoops);
  LogicalResult tileParallel();
  LogicalResult tilePixels();
  int64_t chooseChannelBlock(linalg::GenericOp tile);
  LogicalResult blockChannels(linalg::GenericOp sums, int64_t block);
  LogicalResult lowerConv(linalg::GenericOp tile);
  LogicalResult lowerPack(linalg::GenericOp tile);
  void simplify();
  void dropUnitDims();

  func::FuncOp func;
  IRRewriter rw;
  linalg::GenericOp conv;
  ConvLoops loops;
  int64_t packedBytesPerChannel = 0;
  /// Loops of the root: lane, width, then `loops.outer`, then `loops.single`.
  SmallVector<unsigned> rootDims;
};

LogicalResult ConvKernel::normalise() {
  linalg::LinalgOp found;
  for (Operation &op : func.getBody().front()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || !linalgOp.getNumReductionLoops())
      continue;
    if (found)
      return op.emitError("a second reduction in a convolution kernel");
    found = linalgOp;
  }
  if (!found || found.getNumDpsInputs() != 2)
    return func.emitError("no convolution in the kernel");
  if (!isa<linalg::GenericOp>(found.getOperation())) {
    rw.setInsertionPoint(found);
    auto generic = linalg::generalizeNamedOp(rw, found);
    if (failed(generic))
      return found.emitError("has no generic form");
    found = cast<linalg::LinalgOp>(generic->getOperation());
  }
  auto op = cast<linalg::GenericOp>(found.getOperation());
  if (llvm::any_of(op->getOperandTypes(), [](Type type) {
        return !cast<ShapedType>(type).hasStaticShape();
      }))
    return op.emitError("needs static shapes");
  if (!isMultiplyAdd(op))
    return op.emitError("needs products of one float type");

  // Operand 0 becomes the input, the one that is read through windows.
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Value in = op.getInputs()[0], filter = op.getInputs()[1];
  if (maps[0].isProjectedPermutation() && !maps[1].isProjectedPermutation()) {
    std::swap(maps[0], maps[1]);
    std::swap(in, filter);
  }
  rw.setInsertionPoint(op);
  auto build = [&](Value f) {
    auto generic = linalg::GenericOp::create(
        rw, op.getLoc(), op.getResultTypes(), ValueRange{in, f},
        op.getOutputs(), maps, op.getIteratorTypesArray(),
        [](OpBuilder &b, Location loc, ValueRange args) {
          Value mul = arith::MulFOp::create(b, loc, args[0], args[1]);
          Value sum = arith::AddFOp::create(b, loc, args[2], mul);
          linalg::YieldOp::create(b, loc, sum);
        });
    generic->setAttr(kConv, rw.getUnitAttr());
    return generic;
  };
  conv = build(filter);
  FailureOr<ConvLoops> inferred = inferLoops(conv);
  if (failed(inferred))
    return op.emitError("is not a convolution with its channels last");
  loops = *inferred;
  unsigned lane =
      *maps[1].getResultPosition(getAffineDimExpr(loops.lane, op.getContext()));
  if (lane + 1 != maps[1].getNumResults()) {
    rw.eraseOp(conv);
    auto type = cast<RankedTensorType>(filter.getType());
    packedBytesPerChannel = type.getNumElements() / type.getDimSize(lane) *
                            type.getElementTypeBitWidth() / 8;
    filter = makePack(rw, op.getLoc(), filter, lane)->getResult(0);
    SmallVector<AffineExpr> results(maps[1].getResults());
    std::rotate(results.begin() + lane, results.begin() + lane + 1,
                results.end());
    maps[1] = AffineMap::get(maps[1].getNumDims(), 0, results, op.getContext());
    conv = build(filter);
  }
  // Tiling fuses producers of operands, not of the destination: a reader that
  // only copies lets the fill move into the tiles.
  bool isRead = llvm::any_of(op->getUsers(), llvm::IsaPred<linalg::LinalgOp>);
  rw.replaceOp(op,
               isRead ? conv->getResult(0) : makeCopy(rw, conv->getResult(0)));
  return success();
}

FailureOr<scf::SCFTilingResult>
ConvKernel::tile(linalg::LinalgOp op, ArrayRef<OpFoldResult> sizes,
                 scf::SCFTilingOptions::LoopType loopType) {
  scf::SCFTilingOptions options;
  options.setTileSizes(sizes);
  options.setLoopType(loopType);
  rw.setInsertionPoint(op);
  auto tiled =
      scf::tileUsingSCF(rw, cast<TilingInterface>(op.getOperation()), options);
  if (failed(tiled))
    return op.emitError("cannot be tiled");
  rw.replaceOp(op, tiled->replacements);
  return *tiled;
}

/// A ragged loop is peeled so that every tile is static.
void ConvKernel::peel(ArrayRef<LoopLikeOpInterface> tileLoops) {
  for (LoopLikeOpInterface loop : tileLoops) {
    scf::ForOp rest;
    if (auto forOp = dyn_cast<scf::ForOp>(loop.getOperation()))
      (void)scf::peelForLoopAndSimplifyBounds(rw, forOp, rest);
  }
}

LogicalResult ConvKernel::tileParallel() {
  rootDims = {loops.lane, loops.width};
  rootDims.append(loops.outer);
  rootDims.append(loops.single);
  linalg::LinalgOp root =
      findRoot(cast<linalg::LinalgOp>(conv.getOperation()), rootDims);
  if (!root)
    return conv.emitError("its readers do not keep the convolution's space");
  SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  SmallVector<OpFoldResult> sizes(root.getNumLoops(), rw.getIndexAttr(0));
  for (size_t i = 2 + loops.outer.size(); i < rootDims.size(); ++i)
    sizes[rootDims[i]] = rw.getIndexAttr(1);
  int64_t lanes = ranges[rootDims[0]];
  if (loops.depthwise && !loops.outer.empty()) {
    int64_t images = 1;
    for (size_t i = 2 + loops.outer.size(); i < rootDims.size(); ++i)
      images *= ranges[rootDims[i]];
    auto [channels, rows] =
        chooseDepthwiseTile(lanes, ranges[rootDims[2]], images);
    sizes[rootDims[0]] = rw.getIndexAttr(channels);
    sizes[rootDims[2]] = rw.getIndexAttr(rows);
  } else {
    int64_t block = chooseChannels(lanes);
    while (block > 4 && block % 2 == 0 &&
           packedBytesPerChannel * block > kMaxPackedBytes)
      block /= 2;
    sizes[rootDims[0]] = rw.getIndexAttr(block);
    // Few channel blocks: rows in halves, so that several threads have work.
    // Each half packs the filter again, which costs little on long columns.
    if (!loops.outer.empty() && lanes / block < 8) {
      int64_t rows = ranges[rootDims[2]];
      while (rows % 2 == 0 && rows > 14 && ranges[rootDims[2]] / rows < 4)
        rows /= 2;
      if (rows < ranges[rootDims[2]])
        sizes[rootDims[2]] = rw.getIndexAttr(rows);
    }
    // One long row is cut, so that the sums of a part stay near.
    if (loops.outer.empty()) {
      int64_t width = ranges[rootDims[1]], part = std::min(width, kMaxRow);
      while (width % part)
        --part;
      if (part < width && part >= kMinPixels)
        sizes[rootDims[1]] = rw.getIndexAttr(part);
    }
  }
  auto tiled = tile(root, sizes, scf::SCFTilingOptions::LoopType::ForallOp);
  if (failed(tiled))
    return failure();
  SmallVector<LoopLikeOpInterface> tileLoops = tiled->loops;
  if (failed(fuseProducers(rw, tileLoops, [](Operation *) { return true; })))
    return failure();
  simplify();
  return success();
}

/// Input channels at a time, 0 for all.
int64_t ConvKernel::chooseChannelBlock(linalg::GenericOp tile) {
  SmallVector<int64_t> ranges = tile.getStaticLoopRanges();
  if (loops.depthwise || loops.channels.empty() ||
      ShapedType::isDynamicShape(ranges))
    return 0;
  Type type = getElementTypeOrSelf(tile.getResult(0).getType());
  int64_t element = type.getIntOrFloatBitWidth() / 8;
  int64_t pixels = ranges[loops.width];
  for (unsigned d : loops.outer)
    pixels *= ranges[d];
  int64_t perChannel = ranges[loops.lane] * element;
  int64_t sums = pixels * perChannel;
  for (unsigned d : loops.window)
    perChannel *= ranges[d];
  int64_t channels = ranges[loops.channels.front()];
  if (perChannel * channels <= kFarBytes || pixels < kMinPixels ||
      sums > kMaxSumBytes)
    return 0;
  for (int64_t block : {64, 32, 16, 8})
    if (block < channels && channels % block == 0 &&
        perChannel * block <= kNearBytes)
      return block;
  return 0;
}

/// Makes the tile's sums in loops over blocks of input channels and, in those,
/// over pixels.
LogicalResult ConvKernel::blockChannels(linalg::GenericOp sums, int64_t block) {
  SmallVector<int64_t> ranges = sums.getStaticLoopRanges();
  SmallVector<OpFoldResult> blocks(sums.getNumLoops(), rw.getIndexAttr(0)),
      pixels = blocks;
  blocks[loops.channels.front()] = rw.getIndexAttr(block);
  pixels[loops.width] = rw.getIndexAttr(chooseWidth(ranges[loops.width], 6));
  for (unsigned d : loops.outer)
    pixels[d] = rw.getIndexAttr(1);
  // Scratch of its own: zeros in any tensor do not depend on the tile and would
  // leave the parallel loop, which then needs what is outside of it.
  if (auto fill = sums.getOutputs()[0].getDefiningOp<linalg::FillOp>()) {
    rw.setInsertionPoint(fill);
    TileEmitter e(rw, fill.getLoc(), &func.front());
    auto type = cast<RankedTensorType>(fill.getResult(0).getType());
    fill.getOutputsMutable().assign(
        e.scratch(type.getShape(), type.getElementType()));
  }
  auto outer = tile(sums, blocks);
  if (failed(outer))
    return failure();
  auto inner = tile(cast<linalg::LinalgOp>(outer->tiledOps.front()), pixels);
  if (failed(inner))
    return failure();
  peel(inner->loops);
  return success();
}

/// The last linalg op of each forall body is the tile's root.
LogicalResult ConvKernel::tilePixels() {
  SmallVector<linalg::LinalgOp> roots;
  func.walk([&](scf::ForallOp forall) {
    linalg::LinalgOp last;
    for (Operation &op : *forall.getBody())
      if (auto l = dyn_cast<linalg::LinalgOp>(op))
        last = l;
    if (last)
      roots.push_back(last);
  });
  for (linalg::LinalgOp root : roots) {
    SmallVector<int64_t> ranges = root.getStaticLoopRanges();
    if (ranges.size() <= *llvm::max_element(rootDims) ||
        ShapedType::isDynamicShape(ranges))
      return root.emitError("tile is not static");
    for (auto sums :
         llvm::to_vector(root->getBlock()->getOps<linalg::GenericOp>()))
      if (sums->hasAttr(kConv))
        if (int64_t block = chooseChannelBlock(sums))
          if (failed(blockChannels(sums, block)))
            return failure();
    SmallVector<OpFoldResult> sizes(root.getNumLoops(), rw.getIndexAttr(0));
    sizes[rootDims[1]] = rw.getIndexAttr(chooseWidth(ranges[rootDims[1]], 6));
    for (size_t i = 0; i < loops.outer.size(); ++i)
      sizes[rootDims[2 + i]] = rw.getIndexAttr(1);
    if (loops.depthwise)
      sizes[rootDims[0]] = rw.getIndexAttr(chooseChannels(ranges[rootDims[0]]));
    auto tiled = tile(root, sizes);
    if (failed(tiled))
      return failure();
    SmallVector<LoopLikeOpInterface> tileLoops = tiled->loops;
    if (failed(fuseProducers(
            rw, tileLoops, [](Operation *op) { return !op->hasAttr(kPack); })))
      return failure();
    peel(tileLoops);
  }
  simplify();
  return success();
}

/// A tile of the convolution becomes loops over the window and the channels
/// that carry one vector of channels per pixel.
LogicalResult ConvKernel::lowerConv(linalg::GenericOp tile) {
  Location loc = tile.getLoc();
  rw.setInsertionPoint(tile);
  SmallVector<int64_t> ranges = tile.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(ranges))
    return tile.emitError("convolution tile is not static");
  for (ArrayRef<unsigned> dims :
       {ArrayRef(loops.outer), ArrayRef(loops.single)})
    for (unsigned d : dims)
      if (ranges[d] != 1)
        return tile.emitError("convolution tile is more than one row");
  SmallVector<AffineMap> maps = tile.getIndexingMapsArray();
  Value in = tile.getInputs()[0], filter = tile.getInputs()[1],
        init = tile.getOutputs()[0];
  Type elem = getElementTypeOrSelf(init.getType());
  int64_t width = ranges[loops.width], lanes = ranges[loops.lane];
  auto vecType = VectorType::get({lanes}, elem);
  TileEmitter e(rw, loc, &func.front());

  // Where loop i of the convolution stands.
  SmallVector<OpFoldResult> at(tile.getNumLoops(), rw.getIndexAttr(0));
  auto indices = [&](AffineMap map) {
    SmallVector<Value> result;
    for (AffineExpr expr : map.getResults())
      result.push_back(getValueOrCreateConstantIndexOp(
          rw, loc,
          affine::makeComposedFoldedAffineApply(
              rw, loc, AffineMap::get(map.getNumDims(), 0, expr), at)));
    return result;
  };
  auto pixel = [&](int64_t w) { at[loops.width] = rw.getIndexAttr(w); };

  TileEmitter::Values acc;
  auto fill = init.getDefiningOp<linalg::FillOp>();
  for (int64_t w = 0; w < width; ++w) {
    pixel(w);
    acc.push_back(fill ? e.broadcast(fill.value(), lanes)
                       : e.read(vecType, init, indices(maps[2])));
  }

  SmallVector<unsigned> order(loops.window);
  order.append(loops.channels);
  auto multiply = [&](ValueRange carried, int64_t channels) {
    TileEmitter::Values sums(carried.begin(), carried.end());
    unsigned channel = loops.channels.empty() ? 0 : loops.channels.front();
    OpFoldResult first = at[channel];
    for (int64_t c = 0; c < channels; ++c) {
      if (c)
        at[channel] = affine::makeComposedFoldedAffineApply(
            rw, loc, rw.getAffineDimExpr(0) + c, {first});
      pixel(0);
      Value weights = e.read(vecType, filter, indices(maps[1]));
      for (int64_t w = 0; w < width; ++w) {
        pixel(w);
        SmallVector<Value> where = indices(maps[0]);
        Value x = loops.depthwise ? e.read(vecType, in, where)
                                  : e.broadcast(e.extract(in, where), lanes);
        sums[w] = e.multiplyAdd(x, weights, sums[w]);
      }
    }
    at[channel] = first;
    return sums;
  };
  std::function<TileEmitter::Values(size_t, ValueRange)> nest =
      [&](size_t depth, ValueRange carried) -> TileEmitter::Values {
    if (depth == order.size())
      return multiply(carried, 1);
    unsigned d = order[depth];
    bool isChannel = llvm::is_contained(loops.channels, d);
    int64_t step = isChannel && ranges[d] % 4 == 0 ? 4 : 1;
    OpFoldResult outside = at[d];
    auto result = e.loop(
        e.index(ranges[d]), step, carried, [&](Value iv, ValueRange inner) {
          at[d] = iv;
          return isChannel ? multiply(inner, step) : nest(depth + 1, inner);
        });
    at[d] = outside;
    return result;
  };
  acc = nest(0, acc);

  // A reader of the tile loads the rows back; LLVM forwards them in registers.
  Value out = e.empty(cast<RankedTensorType>(init.getType()).getShape(), elem);
  for (int64_t w = 0; w < width; ++w) {
    pixel(w);
    out = e.write(acc[w], out, indices(maps[2]));
  }
  rw.replaceOp(tile, out);
  return success();
}

/// Packing one block of channels is the transposition of a (channels x rest)
/// matrix, done in squares of 8.
LogicalResult ConvKernel::lowerPack(linalg::GenericOp tile) {
  Location loc = tile.getLoc();
  auto in = cast<RankedTensorType>(tile.getInputs()[0].getType());
  auto out = cast<RankedTensorType>(tile->getResult(0).getType());
  AffineMap read = tile.getIndexingMapsArray()[0];
  int64_t rank = in.getRank();
  // The lane is read where the last loop is.
  unsigned lane =
      *read.getResultPosition(getAffineDimExpr(rank - 1, tile.getContext()));
  if (!in.hasStaticShape())
    return tile.emitError("filter block is not static");
  for (unsigned i = 0; i < lane; ++i)
    if (in.getDimSize(i) != 1)
      return tile.emitError("filter block of several groups");
  rw.setInsertionPoint(tile);
  int64_t features = in.getDimSize(lane), k = in.getNumElements() / features;
  Type elem = in.getElementType();
  SmallVector<ReassociationIndices> inGroups(2), outGroups(2);
  for (int64_t i = 0; i < rank; ++i) {
    inGroups[i > lane].push_back(i);
    outGroups[i == rank - 1].push_back(i);
  }
  Value flat = tensor::CollapseShapeOp::create(
      rw, loc, RankedTensorType::get({features, k}, elem), tile.getInputs()[0],
      inGroups);
  TileEmitter e(rw, loc, &func.front());
  auto vecType = [&](int64_t n) { return VectorType::get({n}, elem); };
  Value empty = e.empty({k, features}, elem);
  // Loops rather than long chains of writes, which bufferisation is slow on.
  using Values = TileEmitter::Values;
  int64_t wide = features % 8 == 0 ? k / 8 * 8 : 0;
  auto transposed = [&](Value iv, Value f, Value result) {
    Values rows;
    for (int64_t r = 0; r < 8; ++r)
      rows.push_back(e.read(vecType(8), flat, {e.add(f, r), iv}));
    for (auto [c, column] : llvm::enumerate(e.transpose8x8(rows)))
      result = e.write(column, result, {e.add(iv, c), f});
    return Values{result};
  };
  Value packed = e.loop(e.index(wide), 8, empty, [&](Value iv, ValueRange o) {
    return e.loop(e.index(features), 8, o, [&](Value f, ValueRange carried) {
      return transposed(iv, f, carried[0]);
    });
  })[0];
  // The rest one column at a time.
  int64_t chunk = features % 8 == 0 ? 8 : features % 4 == 0 ? 4 : 1;
  auto gathered = [&](Value iv, Value f, Value result) {
    Values lanes;
    for (int64_t r = 0; r < chunk; ++r)
      lanes.push_back(e.extract(flat, {e.add(f, r), iv}));
    Value column =
        vector::FromElementsOp::create(rw, loc, vecType(chunk), lanes);
    return Values{e.write(column, result, {iv, f})};
  };
  packed =
      e.loop(e.index(wide), e.index(k), 1, packed, [&](Value iv, ValueRange o) {
        return e.loop(e.index(features), chunk, o,
                      [&](Value f, ValueRange carried) {
                        return gathered(iv, f, carried[0]);
                      });
      })[0];
  rw.replaceOp(tile,
               tensor::ExpandShapeOp::create(rw, loc, out, packed, outGroups));
  return success();
}

/// Makes tiles static, and lets a fused producer write into a tensor of its
/// own: a slice of the full-size one would keep that in memory.
void ConvKernel::simplify() {
  MLIRContext *ctx = func.getContext();
  RewritePatternSet patterns(ctx);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  ctx->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(
      patterns);
  affine::AffineMinOp::getCanonicalizationPatterns(patterns, ctx);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns, ctx);
  tensor::CastOp::getCanonicalizationPatterns(patterns, ctx);
  tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, ctx);
  tensor::InsertSliceOp::getCanonicalizationPatterns(patterns, ctx);
  scf::ForOp::getCanonicalizationPatterns(patterns, ctx);
  linalg::FillOp::getCanonicalizationPatterns(patterns, ctx);
  (void)applyPatternsGreedily(func, std::move(patterns));
}

/// The readers' tiles become pixels x channels, as the contraction's are, so
/// that the accumulators pass to them in registers.
void ConvKernel::dropUnitDims() {
  MLIRContext *ctx = func.getContext();
  RewritePatternSet patterns(ctx);
  linalg::ControlDropUnitDims options;
  options.rankReductionStrategy =
      linalg::ControlDropUnitDims::RankReductionStrategy::ExtractInsertSlice;
  linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
  tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
  tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, ctx);
  tensor::InsertSliceOp::getCanonicalizationPatterns(patterns, ctx);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  ctx->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(
      patterns);
  linalg::FillOp::getCanonicalizationPatterns(patterns, ctx);
  (void)applyPatternsGreedily(func, std::move(patterns));
}

LogicalResult ConvKernel::run() {
  if (failed(normalise()) || failed(tileParallel()) || failed(tilePixels()))
    return failure();
  SmallVector<linalg::GenericOp> convs, packs;
  func.walk([&](linalg::GenericOp op) {
    if (op->hasAttr(kConv))
      convs.push_back(op);
    if (op->hasAttr(kPack))
      packs.push_back(op);
  });
  for (linalg::GenericOp op : packs)
    if (failed(lowerPack(op)))
      return failure();
  for (linalg::GenericOp op : convs)
    if (failed(lowerConv(op)))
      return failure();
  dropUnitDims();
  return success();
}

struct TileConv : dynamo::codegen::impl::TileConvPassBase<TileConv> {
  void runOnOperation() override {
    if (failed(tileKernels(getOperation(), "conv", [](func::FuncOp func) {
          return ConvKernel(func).run();
        })))
      signalPassFailure();
  }
};

} // namespace
