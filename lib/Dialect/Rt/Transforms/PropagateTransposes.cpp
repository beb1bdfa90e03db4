//===- PropagateTransposes.cpp - Move transposes until they vanish
//-------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversion from aten writes each operation in the layout its kernel wants
// (convolutions channels-last) between two transposes.  Here transposes sink
// through what does not care about the order of dims until they meet their
// inverse; those that are left are absorbed by readers that can read through an
// indexing map.  A convolutional network keeps one transpose in and one out.
//
// Sinking is preferred to absorbing, so it runs first, to a fixpoint: absorbing
// makes one reader pay for a strided access, sinking makes nobody pay.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "linalg-propagate-transposes"

namespace dynamo::rt {
#define GEN_PASS_DEF_LINALGPROPAGATETRANSPOSESPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;

namespace {

/// `source` with its dims in the order of `perm` (result dim i is source dim
/// perm[i]).
Value transpose(OpBuilder &b, Location loc, Value source,
                ArrayRef<int64_t> perm) {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<OpFoldResult> sizes = applyPermutation(
      ArrayRef<OpFoldResult>(tensor::getMixedSizes(b, loc, source)), perm);
  Value init = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  return linalg::TransposeOp::create(b, loc, source, init, perm).getResult()[0];
}

/// The transpose that made `v`, if one did.
linalg::TransposeOp transposeOf(Value v) {
  return v.getDefiningOp<linalg::TransposeOp>();
}

/// Whether reading `v` in any order costs nothing that matters: every element
/// is the same, or it is a constant that is laid out at compile time.
bool isUniform(Value v) {
  if (matchPattern(v, m_Constant()))
    return true;
  return v.getDefiningOp<linalg::FillOp>() ||
         v.getDefiningOp<tensor::SplatOp>() ||
         v.getDefiningOp<tensor::EmptyOp>();
}

/// Whether the generic is elementwise into results in loop order, and writes
/// all of them.
bool isPlainElementwise(linalg::GenericOp op) {
  if (op.getNumParallelLoops() != op.getNumLoops() ||
      !op.hasPureTensorSemantics())
    return false;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!op.getMatchingIndexingMap(&init).isIdentity() ||
        op.payloadUsesValueFromOperand(&init))
      return false;
  return true;
}

/// `op` again, with other inputs, maps and inits; the body is kept, and a
/// `linalg.index i` becomes one of `loopOf[i]`.
linalg::GenericOp rebuild(PatternRewriter &rewriter, linalg::GenericOp op,
                          ValueRange inputs, ValueRange inits,
                          ArrayRef<AffineMap> maps,
                          ArrayRef<utils::IteratorType> iterators,
                          ArrayRef<int64_t> loopOf) {
  auto result = linalg::GenericOp::create(
      rewriter, op.getLoc(), inits.getTypes(), inputs, inits, maps, iterators);
  for (NamedAttribute attr : op->getDiscardableAttrs())
    result->setDiscardableAttr(attr.getName(), attr.getValue());
  rewriter.cloneRegionBefore(op.getRegion(), result.getRegion(),
                             result.getRegion().end());
  if (!loopOf.empty())
    result.walk(
        [&](linalg::IndexOp index) { index.setDim(loopOf[index.getDim()]); });
  return result;
}

//===----------------------------------------------------------------------===//
// Sinking
//===----------------------------------------------------------------------===//

/// transpose(transpose(x)) is one transpose; the identity is none.
struct ComposeTransposes : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "is on buffers");
    if (isIdentityPermutation(op.getPermutation())) {
      rewriter.replaceOp(op, op.getInput());
      return success();
    }
    auto producer = transposeOf(op.getInput());
    if (!producer)
      return rewriter.notifyMatchFailure(op, "its input is not a transpose");
    SmallVector<int64_t> perm =
        applyPermutation(producer.getPermutation(), op.getPermutation());
    rewriter.replaceOp(
        op, transpose(rewriter, op.getLoc(), producer.getInput(), perm));
    return success();
  }
};

/// A transpose that only moves dims of size 1 is a reshape.
struct UnitTransposeToReshape : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto source = dyn_cast<RankedTensorType>(op.getInput().getType());
    if (!source || !source.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "has dynamic sizes");
    int64_t last = -1;
    for (int64_t from : op.getPermutation()) {
      if (source.getDimSize(from) == 1)
        continue;
      if (from < last)
        return rewriter.notifyMatchFailure(op, "moves data");
      last = from;
    }
    if (isIdentityPermutation(op.getPermutation()))
      return failure();
    Value flat = dropUnitDims(rewriter, op.getLoc(), op.getInput());
    rewriter.replaceOp(
        op, addUnitDims(rewriter, op.getLoc(), flat,
                        cast<RankedTensorType>(op.getResult()[0].getType())));
    return success();
  }

  /// `v` without its dims of size 1.
  static Value dropUnitDims(OpBuilder &b, Location loc, Value v) {
    auto type = cast<RankedTensorType>(v.getType());
    SmallVector<int64_t> shape;
    for (int64_t size : type.getShape())
      if (size != 1)
        shape.push_back(size);
    if (static_cast<int64_t>(shape.size()) == type.getRank())
      return v;
    return tensor::CollapseShapeOp::create(b, loc, type.clone(shape), v,
                                           groupUnitDims(type.getShape()));
  }

  /// `v`, which has no dim of size 1, as `type`, which is the same with some.
  static Value addUnitDims(OpBuilder &b, Location loc, Value v,
                           RankedTensorType type) {
    if (v.getType() == type)
      return v;
    return tensor::ExpandShapeOp::create(b, loc, type, v,
                                         groupUnitDims(type.getShape()));
  }

  /// One group per dim of size other than 1; dims of size 1 join the group
  /// before them, leading ones the first.
  static SmallVector<ReassociationIndices>
  groupUnitDims(ArrayRef<int64_t> shape) {
    SmallVector<ReassociationIndices> groups;
    ReassociationIndices leading;
    for (auto [dim, size] : llvm::enumerate(shape)) {
      if (size != 1) {
        groups.push_back(leading);
        leading.clear();
        groups.back().push_back(dim);
      } else if (groups.empty()) {
        leading.push_back(dim);
      } else {
        groups.back().push_back(dim);
      }
    }
    return groups;
  }
};

/// An elementwise generic whose full-rank inputs are all the same transpose, or
/// do not care (constants, fills, operands that are broadcast): compute in the
/// order of the source and transpose the results.
struct SinkThroughElementwise : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isPlainElementwise(op))
      return rewriter.notifyMatchFailure(op, "is not elementwise");
    SmallVector<int64_t> perm;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      // A scalar or an operand broadcast along some loop is small: any order
      // will do.
      if (map.getNumResults() < map.getNumDims() || !map.isPermutation())
        continue;
      if (isUniform(input->get()))
        continue;
      auto source = transposeOf(input->get());
      if (!source || !map.isIdentity())
        return rewriter.notifyMatchFailure(op, "an input is not transposed");
      if (perm.empty())
        perm.assign(source.getPermutation().begin(),
                    source.getPermutation().end());
      else if (ArrayRef<int64_t>(perm) != source.getPermutation())
        return rewriter.notifyMatchFailure(op,
                                           "inputs are transposed differently");
    }
    if (perm.empty())
      return rewriter.notifyMatchFailure(op, "no input is transposed");

    // Loop i of the old order is loop perm[i] of the source's order.
    MLIRContext *context = op.getContext();
    SmallVector<AffineExpr> newLoop;
    for (int64_t dim : perm)
      newLoop.push_back(getAffineDimExpr(dim, context));
    SmallVector<Value> inputs, inits;
    SmallVector<AffineMap> maps;
    unsigned loops = op.getNumLoops();
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      auto source = transposeOf(input->get());
      if (source && map.isIdentity()) {
        inputs.push_back(source.getInput());
        maps.push_back(AffineMap::getMultiDimIdentityMap(loops, context));
        continue;
      }
      inputs.push_back(input->get());
      maps.push_back(map.replaceDimsAndSymbols(newLoop, {}, loops, 0));
    }
    SmallVector<int64_t> inverse = invertPermutationVector(perm);
    for (OpOperand &init : op.getDpsInitsMutable()) {
      auto sizes =
          applyPermutation(ArrayRef<OpFoldResult>(tensor::getMixedSizes(
                               rewriter, op.getLoc(), init.get())),
                           inverse);
      inits.push_back(
          tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                  getElementTypeOrSelf(init.get().getType())));
      maps.push_back(AffineMap::getMultiDimIdentityMap(loops, context));
    }
    auto moved = rebuild(rewriter, op, inputs, inits, maps,
                         op.getIteratorTypesArray(), perm);
    SmallVector<Value> results;
    for (Value result : moved.getResults())
      results.push_back(transpose(rewriter, op.getLoc(), result, perm));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// pad(transpose(x)) is transpose(pad(x)) when the padding is one value.
struct SinkThroughPad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    auto source = transposeOf(op.getSource());
    Value padding = op.getConstantPaddingValue();
    if (!source || !padding)
      return rewriter.notifyMatchFailure(
          op, "is not a constant padding of a transpose");
    SmallVector<int64_t> inverse =
        invertPermutationVector(source.getPermutation());
    auto low =
        applyPermutation(ArrayRef<OpFoldResult>(op.getMixedLowPad()), inverse);
    auto high =
        applyPermutation(ArrayRef<OpFoldResult>(op.getMixedHighPad()), inverse);
    auto type = cast<RankedTensorType>(op.getType());
    auto padded = tensor::PadOp::create(
        rewriter, op.getLoc(),
        type.clone(applyPermutation(type.getShape(), inverse)),
        source.getInput(), low, high, padding, op.getNofold());
    rewriter.replaceOp(
        op, transpose(rewriter, op.getLoc(), padded, source.getPermutation()));
    return success();
  }
};

/// A slice of a transpose is the transpose of a slice (rank kept).
struct SinkThroughSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    auto source = transposeOf(op.getSource());
    if (!source || op.getType().getRank() != op.getSourceType().getRank())
      return rewriter.notifyMatchFailure(
          op, "is not a slice of full rank of a transpose");
    SmallVector<int64_t> inverse =
        invertPermutationVector(source.getPermutation());
    auto offsets =
        applyPermutation(ArrayRef<OpFoldResult>(op.getMixedOffsets()), inverse);
    auto sizes =
        applyPermutation(ArrayRef<OpFoldResult>(op.getMixedSizes()), inverse);
    auto strides =
        applyPermutation(ArrayRef<OpFoldResult>(op.getMixedStrides()), inverse);
    Value slice = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), source.getInput(), offsets, sizes, strides);
    rewriter.replaceOp(
        op, transpose(rewriter, op.getLoc(), slice, source.getPermutation()));
    return success();
  }
};

/// A concatenation of like transposes is the transpose of a concatenation.
struct SinkThroughConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> sources;
    ArrayRef<int64_t> perm;
    for (Value input : op.getInputs()) {
      auto source = transposeOf(input);
      if (!source || (!perm.empty() && perm != source.getPermutation()))
        return rewriter.notifyMatchFailure(op,
                                           "inputs are not transposed alike");
      perm = source.getPermutation();
      sources.push_back(source.getInput());
    }
    Value joined = tensor::ConcatOp::create(rewriter, op.getLoc(),
                                            perm[op.getDim()], sources);
    rewriter.replaceOp(op, transpose(rewriter, op.getLoc(), joined, perm));
    return success();
  }
};

/// collapse(transpose(x)) is transpose(collapse(x)) when each group's dims lie
/// together, in order, in x.  Dims of size 1 lie anywhere.
struct SinkThroughCollapse : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto source = transposeOf(op.getSrc());
    auto srcType = op.getSrcType();
    if (!source || !srcType.hasStaticShape())
      return rewriter.notifyMatchFailure(
          op, "does not collapse a static transpose");
    // Number the dims of x that are not 1; each group must be a run of numbers.
    ArrayRef<int64_t> perm = source.getPermutation();
    auto xType = cast<RankedTensorType>(source.getInput().getType());
    SmallVector<int64_t> number(xType.getRank(), -1);
    int64_t count = 0;
    for (int64_t dim = 0; dim < xType.getRank(); ++dim)
      if (xType.getDimSize(dim) != 1)
        number[dim] = count++;
    struct Run {
      int64_t first, length;
    };
    SmallVector<Run> runs;
    for (const ReassociationIndices &group : op.getReassociationIndices()) {
      Run run{-1, 0};
      for (int64_t dim : group) {
        int64_t n = number[perm[dim]];
        if (n < 0)
          continue;
        if (run.length == 0)
          run.first = n;
        else if (n != run.first + run.length)
          return rewriter.notifyMatchFailure(
              op, "a group is scattered in the source");
        ++run.length;
      }
      if (run.length)
        runs.push_back(run);
    }
    if (runs.empty())
      return rewriter.notifyMatchFailure(op, "has one element");
    Location loc = op.getLoc();
    Value flat =
        UnitTransposeToReshape::dropUnitDims(rewriter, loc, source.getInput());
    // The runs in the order of the source, and where each goes.
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::seq<int64_t>(0, runs.size()));
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return runs[a].first < runs[b].first;
    });
    auto flatType = cast<RankedTensorType>(flat.getType());
    SmallVector<ReassociationIndices> groups;
    SmallVector<int64_t> shape;
    for (int64_t r : order) {
      ReassociationIndices group;
      int64_t size = 1;
      for (int64_t n = runs[r].first; n < runs[r].first + runs[r].length; ++n) {
        group.push_back(n);
        size *= flatType.getDimSize(n);
      }
      groups.push_back(group);
      shape.push_back(size);
    }
    if (groups.size() != static_cast<size_t>(flatType.getRank()))
      flat = tensor::CollapseShapeOp::create(
          rewriter, loc, flatType.clone(shape), flat, groups);
    Value moved =
        transpose(rewriter, loc, flat, invertPermutationVector(order));
    rewriter.replaceOp(
        op, UnitTransposeToReshape::addUnitDims(
                rewriter, loc, moved, cast<RankedTensorType>(op.getType())));
    return success();
  }
};

/// expand(transpose(x)) is transpose(expand(x)).
struct SinkThroughExpand : OpRewritePattern<tensor::ExpandShapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExpandShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto source = transposeOf(op.getSrc());
    auto type = cast<RankedTensorType>(op.getType());
    if (!source || !type.hasStaticShape())
      return rewriter.notifyMatchFailure(op,
                                         "does not expand a static transpose");
    ArrayRef<int64_t> perm = source.getPermutation();
    SmallVector<int64_t> inverse = invertPermutationVector(perm);
    SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
    // Lay the groups out in the source's order; `place[d]` is where result dim
    // d goes.
    SmallVector<ReassociationIndices> newGroups;
    SmallVector<int64_t> shape, place(type.getRank());
    for (int64_t dim : inverse) {
      ReassociationIndices group;
      for (int64_t d : groups[dim]) {
        place[d] = shape.size();
        group.push_back(shape.size());
        shape.push_back(type.getDimSize(d));
      }
      newGroups.push_back(group);
    }
    Value expanded = tensor::ExpandShapeOp::create(
        rewriter, op.getLoc(), type.clone(shape), source.getInput(), newGroups);
    rewriter.replaceOp(op, transpose(rewriter, op.getLoc(), expanded, place));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Absorbing
//===----------------------------------------------------------------------===//

/// What a value is a rearranged copy of: element `i` of the value is element
/// `map(i)` of `source`.
struct Rearranged {
  Value source;
  AffineMap map;
};

/// Sees a transpose, a broadcast, a copying generic or an expansion by dims of
/// size 1.
std::optional<Rearranged> rearrangementOf(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<linalg::TransposeOp, linalg::BroadcastOp>(op)) {
    auto linalgOp = cast<linalg::LinalgOp>(op);
    if (!linalgOp.hasPureTensorSemantics())
      return std::nullopt;
    AffineMap in = linalgOp.getIndexingMapsArray()[0],
              out = linalgOp.getIndexingMapsArray()[1];
    return Rearranged{op->getOperand(0), in.compose(inversePermutation(out))};
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    if (generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
        !isPlainElementwise(generic))
      return std::nullopt;
    auto yield = cast<linalg::YieldOp>(generic.getBody()->getTerminator());
    if (yield.getOperand(0) != generic.getBody()->getArgument(0) ||
        !isa<RankedTensorType>(generic.getInputs()[0].getType()))
      return std::nullopt;
    AffineMap map = generic.getIndexingMapsArray()[0];
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return std::nullopt;
    return Rearranged{generic.getInputs()[0], map};
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    // Only what inserts dims of size 1: each group has at most one other dim.
    auto type = cast<RankedTensorType>(expand.getType());
    SmallVector<AffineExpr> exprs;
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      int64_t kept = -1;
      for (int64_t dim : group)
        if (type.getDimSize(dim) != 1) {
          if (kept >= 0)
            return std::nullopt;
          kept = dim;
        }
      exprs.push_back(kept < 0 ? getAffineConstantExpr(0, op->getContext())
                               : getAffineDimExpr(kept, op->getContext()));
    }
    return Rearranged{expand.getSrc(), AffineMap::get(type.getRank(), 0, exprs,
                                                      op->getContext())};
  }
  return std::nullopt;
}

/// A generic that reads a rearranged copy reads the original through its map.
struct AbsorbIntoReader : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "is on buffers");
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Value> inputs(op.getInputs());
    bool changed = false;
    for (auto [index, input] : llvm::enumerate(inputs)) {
      std::optional<Rearranged> seen = rearrangementOf(input);
      // Other than projected permutations (a convolution's window) would be
      // right too, but no strategy reads them.
      if (!seen ||
          !maps[index].isProjectedPermutation(/*allowZeroInResults=*/true))
        continue;
      AffineMap before = maps[index];
      maps[index] = seen->map.compose(before);
      // Each loop's length must still be some operand's dim.
      if (!inversePermutation(concatAffineMaps(maps, op.getContext()))) {
        maps[index] = before;
        continue;
      }
      input = seen->source;
      changed = true;
    }
    if (!changed)
      return rewriter.notifyMatchFailure(op, "reads nothing rearranged");
    auto reader = rebuild(rewriter, op, inputs, op.getOutputs(), maps,
                          op.getIteratorTypesArray(), {});
    rewriter.replaceOp(op, reader.getResults());
    return success();
  }
};

struct LinalgPropagateTransposes
    : dynamo::rt::impl::LinalgPropagateTransposesPassBase<
          LinalgPropagateTransposes> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto apply = [&](auto populate) {
      RewritePatternSet patterns(context);
      populate(patterns);
      tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
      tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
      return applyPatternsGreedily(getOperation(), std::move(patterns));
    };
    if (failed(apply([&](RewritePatternSet &patterns) {
          patterns
              .add<ComposeTransposes, UnitTransposeToReshape,
                   SinkThroughElementwise, SinkThroughPad, SinkThroughSlice,
                   SinkThroughConcat, SinkThroughCollapse, SinkThroughExpand>(
                  context);
        })) ||
        failed(apply([&](RewritePatternSet &patterns) {
          patterns.add<ComposeTransposes, AbsorbIntoReader>(context);
        })))
      return signalPassFailure();
  }
};

} // namespace
