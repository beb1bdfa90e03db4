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
// unrolled, its overlapping input broadcasts are merged and spill.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

namespace {

/// Marks the convolution and the weight packing between the steps of this pass.
constexpr StringLiteral kConv = "codegen.conv";
constexpr StringLiteral kPack = "codegen.pack";

/// Positions of a convolution's output dims in some iteration space.
struct OutputDims {
  unsigned n, h, w, c;
};

/// The convolution as a generic with loops (n, oh, ow, f, c, kh, kw), or
/// (n, oh, ow, c, kh, kw) for depthwise.
linalg::GenericOp makeConv(RewriterBase &rw, linalg::LinalgOp op, Value filter,
                           bool packed, ArrayRef<int64_t> strides,
                           ArrayRef<int64_t> dilations, bool depthwise) {
  MLIRContext *ctx = op.getContext();
  auto d = [&](unsigned i) { return getAffineDimExpr(i, ctx); };
  unsigned loops = depthwise ? 6 : 7, c = depthwise ? 3 : 4, kh = c + 1,
           kw = c + 2;
  auto map = [&](ArrayRef<AffineExpr> e) {
    return AffineMap::get(loops, 0, e, ctx);
  };
  AffineMap in = map({d(0), d(1) * strides[0] + d(kh) * dilations[0],
                      d(2) * strides[1] + d(kw) * dilations[1], d(c)});
  AffineMap weights = depthwise ? map({d(kh), d(kw), d(c)})
                      : packed  ? map({d(c), d(kh), d(kw), d(3)})
                                : map({d(kh), d(kw), d(c), d(3)});
  AffineMap out = map({d(0), d(1), d(2), d(3)});
  SmallVector<utils::IteratorType> its(4, utils::IteratorType::parallel);
  its.append(depthwise ? 2 : 3, utils::IteratorType::reduction);
  Value init = op.getDpsInits()[0];
  auto generic = linalg::GenericOp::create(
      rw, op.getLoc(), TypeRange{init.getType()},
      ValueRange{op.getDpsInputOperand(0)->get(), filter}, ValueRange{init},
      ArrayRef<AffineMap>{in, weights, out}, its,
      [](OpBuilder &b, Location loc, ValueRange args) {
        Value mul = arith::MulFOp::create(b, loc, args[0], args[1]);
        Value sum = arith::AddFOp::create(b, loc, args[2], mul);
        linalg::YieldOp::create(b, loc, sum);
      });
  generic->setAttr(kConv, rw.getUnitAttr());
  return generic;
}

/// If `filter` (HWCF) is a transposition of an FCHW tensor, returns that
/// tensor.
Value transposedFilterSource(Value filter) {
  auto op = filter.getDefiningOp<linalg::LinalgOp>();
  if (!op || op.getNumDpsInputs() != 1 || op.getNumParallelLoops() != 4 ||
      op.getNumLoops() != 4)
    return {};
  if (!isa<linalg::TransposeOp>(op.getOperation())) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic || !generic.getBody()->without_terminator().empty())
      return {};
    if (generic.getBody()->getTerminator()->getOperand(0) !=
        generic.getBody()->getArgument(0))
      return {};
  }
  AffineMap in = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!in.isPermutation() || !out.isPermutation())
    return {};
  // Where out dim i reads the input: want in(f, c, kh, kw), out(kh, kw, c, f).
  AffineMap outToIn = in.compose(inversePermutation(out));
  auto want = AffineMap::getPermutationMap(ArrayRef<unsigned>{3, 2, 0, 1},
                                           filter.getContext());
  return outToIn == want ? op.getDpsInputOperand(0)->get() : Value();
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

/// out[c, kh, kw, f] = filter[f, c, kh, kw].
linalg::GenericOp makePack(RewriterBase &rw, Location loc, Value fchw) {
  auto type = cast<RankedTensorType>(fchw.getType());
  ArrayRef<int64_t> s = type.getShape();
  MLIRContext *ctx = rw.getContext();
  Value empty = tensor::EmptyOp::create(
      rw, loc, ArrayRef<int64_t>{s[1], s[2], s[3], s[0]},
      type.getElementType());
  auto perm = AffineMap::getPermutationMap(ArrayRef<unsigned>{3, 0, 1, 2}, ctx);
  auto pack = linalg::GenericOp::create(
      rw, loc, TypeRange{empty.getType()}, ValueRange{fchw}, ValueRange{empty},
      ArrayRef<AffineMap>{perm, AffineMap::getMultiDimIdentityMap(4, ctx)},
      SmallVector<utils::IteratorType>(4, utils::IteratorType::parallel),
      [](OpBuilder &b, Location l, ValueRange args) {
        linalg::YieldOp::create(b, l, args[0]);
      });
  pack->setAttr(kPack, rw.getUnitAttr());
  return pack;
}

/// Follows the convolution's result through its elementwise readers to the last
/// one; `dims` become positions in that op's loops. Null if a reader does not
/// read or write it by a permutation.
linalg::LinalgOp findRoot(linalg::LinalgOp conv, OutputDims &dims) {
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
    if (!read.isPermutation() || read.getNumDims() != 4)
      return {};
    auto follow = [&](unsigned &dim) {
      unsigned resultPos =
          *written.getResultPosition(getAffineDimExpr(dim, op.getContext()));
      dim = read.getDimPosition(resultPos);
    };
    follow(dims.n), follow(dims.h), follow(dims.w), follow(dims.c);
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
        rw.replaceUsesWithIf(
            producer->getResult(i), loop->getResult(all - n + i),
            [&](OpOperand &u) { return loop->isBeforeInBlock(u.getOwner()); });
    }
    if (slice->use_empty())
      rw.eraseOp(slice);
    if (producer->use_empty())
      rw.eraseOp(producer);
  }
}

/// Pixels per register tile: at most `most`, chosen so that the whole tiles and
/// the remainder of a row together cost least. Narrow tiles do not cover the
/// latency of the multiply-adds (measured shares of the peak below).
int64_t chooseWidth(int64_t width, int64_t most) {
  auto share = [](int64_t w) {
    static constexpr double kShare[] = {1, 0.25, 0.5, 0.75, 0.95, 0.97, 1.0};
    return w > 6 ? 1.0 : kShare[w];
  };
  int64_t best = 1;
  double bestCost = 1e30;
  for (int64_t w = std::min(most, width); w >= 1; --w) {
    int64_t rest = width % w;
    // A second body for the rest must be worth its code.
    double cost = (width - rest) / share(w) +
                  (rest ? rest / share(rest) + 0.03 * width : 0);
    if (cost < bestCost - 1e-9)
      best = w, bestCost = cost;
  }
  return best;
}

/// The largest of 16, 8, 4 ... that divides the channels.
int64_t chooseChannels(int64_t channels) {
  for (int64_t t : {16, 8, 4, 2})
    if (channels % t == 0)
      return t;
  return channels <= 32 ? channels : 1;
}

class ConvKernel {
public:
  ConvKernel(func::FuncOp func) : func(func), rw(func.getContext()) {}
  LogicalResult run();

private:
  LogicalResult normalise();
  LogicalResult tileParallel();
  LogicalResult tilePixels();
  LogicalResult lowerConv(linalg::GenericOp tile);
  LogicalResult lowerPack(linalg::GenericOp tile);
  void simplify();
  void dropUnitDims();

  func::FuncOp func;
  IRRewriter rw;
  linalg::GenericOp conv;
  bool depthwise = false;
  SmallVector<int64_t> strides, dilations;
  OutputDims dims{0, 1, 2, 3};
};

LogicalResult ConvKernel::normalise() {
  linalg::LinalgOp found;
  for (Operation &op : func.getBody().front())
    if (isa<linalg::Conv2DNhwcHwcfOp, linalg::DepthwiseConv2DNhwcHwcOp>(op)) {
      if (found)
        return op.emitError("a second convolution in one kernel");
      found = cast<linalg::LinalgOp>(op);
    }
  if (!found)
    return func.emitError("no channels-last convolution in the kernel");
  auto out = cast<RankedTensorType>(found->getResult(0).getType());
  if (!out.hasStaticShape() || !isa<FloatType>(out.getElementType()) ||
      getElementTypeOrSelf(found.getDpsInputOperand(0)->get().getType()) !=
          out.getElementType())
    return found.emitError("needs static shapes and one float type");

  auto ints = [](DenseIntElementsAttr a) {
    return llvm::to_vector(a.getValues<int64_t>());
  };
  rw.setInsertionPoint(found);
  Value filter = found.getDpsInputOperand(1)->get();
  bool packed = false;
  if (auto op =
          dyn_cast<linalg::DepthwiseConv2DNhwcHwcOp>(found.getOperation())) {
    depthwise = true;
    strides = ints(op.getStrides());
    dilations = ints(op.getDilations());
  } else {
    auto full = cast<linalg::Conv2DNhwcHwcfOp>(found.getOperation());
    strides = ints(full.getStrides());
    dilations = ints(full.getDilations());
    if (Value raw = transposedFilterSource(filter)) {
      filter = makePack(rw, found.getLoc(), raw)->getResult(0);
      packed = true;
    }
  }
  conv = makeConv(rw, found, filter, packed, strides, dilations, depthwise);
  if (llvm::none_of(found->getUsers(), llvm::IsaPred<linalg::LinalgOp>)) {
    // Tiling fuses producers of operands, not of the destination: a reader that
    // only copies lets the fill move into the tiles.
    rw.replaceOp(found, makeCopy(rw, conv->getResult(0)));
    return success();
  }
  rw.replaceOp(found, conv->getResults());
  return success();
}

LogicalResult ConvKernel::tileParallel() {
  linalg::LinalgOp root =
      findRoot(cast<linalg::LinalgOp>(conv.getOperation()), dims);
  if (!root)
    return conv.emitError("its readers do not keep the convolution's space");
  auto type = cast<RankedTensorType>(conv->getResult(0).getType());
  SmallVector<OpFoldResult> sizes(root.getNumLoops(), rw.getIndexAttr(0));
  sizes[dims.n] = rw.getIndexAttr(1);
  if (depthwise)
    sizes[dims.h] = rw.getIndexAttr(1);
  else
    sizes[dims.c] = rw.getIndexAttr(chooseChannels(type.getDimSize(3)));
  scf::SCFTilingOptions options;
  options.setTileSizes(sizes);
  options.setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
  rw.setInsertionPoint(root);
  auto tiled = scf::tileUsingSCF(rw, cast<TilingInterface>(root.getOperation()),
                                 options);
  if (failed(tiled))
    return root.emitError("cannot be tiled");
  rw.replaceOp(root, tiled->replacements);
  SmallVector<LoopLikeOpInterface> loops = tiled->loops;
  if (failed(fuseProducers(rw, loops, [](Operation *) { return true; })))
    return failure();
  simplify();
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
    if (ranges.size() <= std::max({dims.n, dims.h, dims.w, dims.c}) ||
        ShapedType::isDynamicShape(ranges))
      return root.emitError("tile is not static");
    int64_t width = ranges[dims.w];
    SmallVector<OpFoldResult> sizes(root.getNumLoops(), rw.getIndexAttr(0));
    sizes[dims.h] = rw.getIndexAttr(1);
    sizes[dims.w] = rw.getIndexAttr(chooseWidth(width, 6));
    if (depthwise)
      sizes[dims.c] = rw.getIndexAttr(chooseChannels(ranges[dims.c]));
    scf::SCFTilingOptions options;
    options.setTileSizes(sizes);
    rw.setInsertionPoint(root);
    auto tiled = scf::tileUsingSCF(
        rw, cast<TilingInterface>(root.getOperation()), options);
    if (failed(tiled))
      return root.emitError("cannot be tiled");
    rw.replaceOp(root, tiled->replacements);
    SmallVector<LoopLikeOpInterface> loops = tiled->loops;
    if (failed(fuseProducers(
            rw, loops, [](Operation *op) { return !op->hasAttr(kPack); })))
      return failure();
    // A loop of one trip is folded away by the canonicaliser; a ragged one is
    // peeled so that every tile is static.
    for (LoopLikeOpInterface loop : loops) {
      scf::ForOp rest;
      if (auto forOp = dyn_cast<scf::ForOp>(loop.getOperation()))
        (void)scf::peelForLoopAndSimplifyBounds(rw, forOp, rest);
    }
  }
  simplify();
  return success();
}

/// A tile of the convolution becomes loops over the window and the channels
/// around a small contraction (or, depthwise, a multiply-add) of one row.
LogicalResult ConvKernel::lowerConv(linalg::GenericOp tile) {
  Location loc = tile.getLoc();
  rw.setInsertionPoint(tile);
  Value in = tile.getInputs()[0], filter = tile.getInputs()[1],
        init = tile.getOutputs()[0];
  SmallVector<int64_t> r = tile.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(r) || r[0] != 1 || r[1] != 1)
    return tile.emitError("convolution tile is not one static row");
  Type elem = getElementTypeOrSelf(init.getType());
  int64_t width = r[2], features = r[3];
  int64_t channels = depthwise ? features : r[4];
  int64_t kernelH = r[r.size() - 2], kernelW = r[r.size() - 1];
  int64_t step = depthwise ? features : (channels % 4 == 0 ? 4 : 1);
  bool packed =
      !depthwise && tile.getIndexingMapsArray()[1].getDimPosition(0) == 4;
  MLIRContext *ctx = rw.getContext();

  auto accType = RankedTensorType::get({width, features}, elem);
  auto index = [&](int64_t i) { return rw.getIndexAttr(i); };
  auto slice = [&](Value source, ArrayRef<OpFoldResult> offsets,
                   ArrayRef<int64_t> sizes, ArrayRef<int64_t> steps,
                   RankedTensorType type) -> Value {
    SmallVector<OpFoldResult> s, t;
    for (int64_t v : sizes)
      s.push_back(index(v));
    for (int64_t v : steps)
      t.push_back(index(v));
    return tensor::ExtractSliceOp::create(rw, loc, type, source, offsets, s, t);
  };
  SmallVector<OpFoldResult> zeros(4, index(0));
  Value acc;
  if (auto fill = init.getDefiningOp<linalg::FillOp>()) {
    Value empty = tensor::EmptyOp::create(rw, loc, accType.getShape(), elem);
    acc = linalg::FillOp::create(rw, loc, fill.getInputs(), ValueRange{empty})
              .getResult(0);
  } else {
    acc = slice(init, zeros, {1, 1, width, features}, {1, 1, 1, 1}, accType);
  }

  Value zero = arith::ConstantIndexOp::create(rw, loc, 0);
  Value one = arith::ConstantIndexOp::create(rw, loc, 1);
  // Innermost last: (c, kh, kw) in packed order reads the weights in sequence.
  SmallVector<int64_t> extents = {kernelH, kernelW};
  SmallVector<int64_t> steps = {1, 1};
  if (!depthwise)
    extents.push_back(channels), steps.push_back(step);
  SmallVector<Value> ivs;
  SmallVector<scf::ForOp> loops;
  Value carried = acc;
  for (auto [extent, s] : llvm::zip_equal(extents, steps)) {
    if (extent == s) {
      ivs.push_back(zero);
      continue;
    }
    Value ub = arith::ConstantIndexOp::create(rw, loc, extent);
    Value st =
        s == 1 ? one : arith::ConstantIndexOp::create(rw, loc, s).getResult();
    auto loop = scf::ForOp::create(rw, loc, zero, ub, st, ValueRange{carried});
    loops.push_back(loop);
    ivs.push_back(loop.getInductionVar());
    carried = loop.getRegionIterArg(0);
    rw.setInsertionPointToStart(loop.getBody());
  }
  auto scaled = [&](Value iv, int64_t by) -> OpFoldResult {
    if (by == 1)
      return iv;
    AffineExpr e = getAffineDimExpr(0, ctx) * by;
    return affine::makeComposedFoldedAffineApply(rw, loc, e,
                                                 {OpFoldResult(iv)});
  };
  OpFoldResult c = depthwise ? OpFoldResult(index(0)) : OpFoldResult(ivs[2]);
  Value row = slice(
      in,
      {index(0), scaled(ivs[0], dilations[0]), scaled(ivs[1], dilations[1]), c},
      {1, 1, width, step}, {1, 1, strides[1], 1},
      RankedTensorType::get({width, step}, elem));
  Value weights;
  if (depthwise)
    weights = slice(filter, {OpFoldResult(ivs[0]), OpFoldResult(ivs[1]), c},
                    {1, 1, features}, {1, 1, 1},
                    RankedTensorType::get({features}, elem));
  else if (packed)
    weights =
        slice(filter, {c, ivs[0], ivs[1], index(0)}, {step, 1, 1, features},
              {1, 1, 1, 1}, RankedTensorType::get({step, features}, elem));
  else
    weights =
        slice(filter, {ivs[0], ivs[1], c, index(0)}, {1, 1, step, features},
              {1, 1, 1, 1}, RankedTensorType::get({step, features}, elem));

  auto d = [&](unsigned i) { return getAffineDimExpr(i, ctx); };
  unsigned n = depthwise ? 2 : 3;
  auto map = [&](ArrayRef<AffineExpr> e) {
    return AffineMap::get(n, 0, e, ctx);
  };
  SmallVector<AffineMap> maps =
      depthwise ? SmallVector<AffineMap>{map({d(0), d(1)}), map({d(1)}),
                                         map({d(0), d(1)})}
                : SmallVector<AffineMap>{map({d(0), d(2)}), map({d(2), d(1)}),
                                         map({d(0), d(1)})};
  SmallVector<utils::IteratorType> its(2, utils::IteratorType::parallel);
  if (!depthwise)
    its.push_back(utils::IteratorType::reduction);
  auto micro = linalg::GenericOp::create(
      rw, loc, TypeRange{accType}, ValueRange{row, weights},
      ValueRange{carried}, maps, its,
      [](OpBuilder &b, Location l, ValueRange args) {
        Value mul = arith::MulFOp::create(b, l, args[0], args[1]);
        linalg::YieldOp::create(
            b, l, arith::AddFOp::create(b, l, args[2], mul).getResult());
      });
  Value result = micro->getResult(0);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    rw.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(rw, loc, result);
    result = loop->getResult(0);
  }
  rw.setInsertionPoint(tile);
  SmallVector<OpFoldResult> sizes = {index(1), index(1), index(width),
                                     index(features)};
  SmallVector<OpFoldResult> ones(4, index(1));
  Value empty = tensor::EmptyOp::create(
      rw, loc, cast<RankedTensorType>(init.getType()).getShape(), elem);
  Value whole =
      tensor::InsertSliceOp::create(rw, loc, result, empty, zeros, sizes, ones);
  rw.replaceOp(tile, whole);
  return success();
}

/// Packing one block of 16 channels is a transposition of a 16 x K matrix, done
/// in blocks of 8 columns.
LogicalResult ConvKernel::lowerPack(linalg::GenericOp tile) {
  Location loc = tile.getLoc();
  auto in = cast<RankedTensorType>(tile.getInputs()[0].getType());
  if (!in.hasStaticShape())
    return tile.emitError("weight block is not static");
  rw.setInsertionPoint(tile);
  int64_t features = in.getDimSize(0),
          k = in.getDimSize(1) * in.getDimSize(2) * in.getDimSize(3);
  Type elem = in.getElementType();
  SmallVector<ReassociationIndices> inGroups = {{0}, {1, 2, 3}},
                                    outGroups = {{0, 1, 2}, {3}};
  Value flat = tensor::CollapseShapeOp::create(
      rw, loc, RankedTensorType::get({features, k}, elem), tile.getInputs()[0],
      inGroups);
  Value empty =
      tensor::EmptyOp::create(rw, loc, ArrayRef<int64_t>{k, features}, elem);
  MLIRContext *ctx = rw.getContext();
  auto swap = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0}, ctx);
  auto transpose = linalg::GenericOp::create(
      rw, loc, TypeRange{empty.getType()}, ValueRange{flat}, ValueRange{empty},
      ArrayRef<AffineMap>{swap, AffineMap::getMultiDimIdentityMap(2, ctx)},
      SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel),
      [](OpBuilder &b, Location l, ValueRange args) {
        linalg::YieldOp::create(b, l, args[0]);
      });
  Value shaped = tensor::ExpandShapeOp::create(
      rw, loc, cast<RankedTensorType>(tile->getResult(0).getType()),
      transpose->getResult(0), outGroups);
  rw.replaceOp(tile, shaped);

  scf::SCFTilingOptions options;
  options.setTileSizes({rw.getIndexAttr(8), rw.getIndexAttr(0)});
  rw.setInsertionPoint(transpose);
  auto tiled = scf::tileUsingSCF(
      rw, cast<TilingInterface>(transpose.getOperation()), options);
  if (failed(tiled))
    return transpose.emitError("cannot be tiled");
  rw.replaceOp(transpose, tiled->replacements);
  for (LoopLikeOpInterface loop : tiled->loops) {
    scf::ForOp rest;
    (void)scf::peelForLoopAndSimplifyBounds(
        rw, cast<scf::ForOp>(loop.getOperation()), rest);
  }
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
  for (linalg::GenericOp op : convs)
    if (failed(lowerConv(op)))
      return failure();
  for (linalg::GenericOp op : packs)
    if (failed(lowerPack(op)))
      return failure();
  dropUnitDims();
  return success();
}

struct TileConv : dynamo::codegen::impl::TileConvPassBase<TileConv> {
  void runOnOperation() override {
    auto strategy = getOperation()->getAttrOfType<StringAttr>("rt.strategy");
    if (!strategy || strategy.getValue() != "conv")
      return;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(ConvKernel(func).run()))
        return signalPassFailure();
  }
};

} // namespace
