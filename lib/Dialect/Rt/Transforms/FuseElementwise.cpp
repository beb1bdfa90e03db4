//===- FuseElementwise.cpp - Fewer, larger linalg operations --------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The clean-up before dispatch formation.  It brings operations that belong
// together into the same iteration space (dims of size 1 go, reshapes move past
// elementwise operations) and merges elementwise ones.  What is left for the
// groups to decide is what can't be one loop nest.
//
// Elementwise operations are not merged into reductions: code generation wants
// to see the combiner alone, and a rows kernel keeps the value in registers
// anyway.
//
//===----------------------------------------------------------------------===//

#include "AttentionLayout.h"

#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <utility>

#define DEBUG_TYPE "rt-fuse-elementwise"

namespace dynamo::rt {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;

static bool readsMemory(linalg::GenericOp op) {
  return op
      .walk([](Operation *nested) {
        return isa<tensor::ExtractOp>(nested) ? WalkResult::interrupt()
                                              : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool isElementwise(linalg::GenericOp op) {
  return op.getNumParallelLoops() == op.getNumLoops();
}

/// Operations of the body, a math function or division counting as eight.
static int64_t bodyCost(linalg::GenericOp op) {
  int64_t cost = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    bool isSlow = isa<math::MathDialect>(inner.getDialect()) ||
                  isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp,
                      arith::RemFOp, arith::RemSIOp>(inner);
    cost += isSlow ? 8 : 1;
  }
  return cost;
}

/// Elements that the operation reads from tensors of its own size.
static int64_t fullSizeInputs(linalg::GenericOp op) {
  int64_t count = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    count +=
        op.getMatchingIndexingMap(input).getNumResults() == op.getNumLoops();
  return count;
}

/// Whether to compute the producer of `operand` inside its reader.
static bool isWorthFusing(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || !isElementwise(producer) ||
      !isElementwise(consumer) || readsMemory(producer))
    return false;
  // Bounds the live values of one loop body.
  if (producer.getNumDpsInputs() + consumer.getNumDpsInputs() > 16)
    return false;
  int64_t cost = bodyCost(producer);
  // Read by broadcast it would be computed again for each element.
  bool isBroadcast = consumer.getMatchingIndexingMap(operand).getNumResults() <
                     consumer.getNumLoops();
  if (isBroadcast)
    return cost <= 1;
  if (operand->get().hasOneUse())
    return true;
  // Twice computed but never stored: masks, positions, casts of little data.
  return cost <= 6 && fullSizeInputs(producer) == 0;
}

/// Whether the operation reads every other element of a tensor (a pooling
/// window): in place, which is only possible in the dims of that tensor.
static bool readsStridedSlice(linalg::GenericOp op) {
  return llvm::any_of(op.getInputs(), [](Value input) {
    auto slice = input.getDefiningOp<tensor::ExtractSliceOp>();
    return slice && !slice.hasUnitStride();
  });
}

/// Whether a reshape at `operand` may move past the generic that reads or makes
/// it.  Contractions keep their dims, which their schedule chooses by.
static bool isWorthReshaping(OpOperand *operand) {
  auto movable = [](Operation *op) {
    auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
    return !generic || (!readsMemory(generic) && !readsStridedSlice(generic) &&
                        !linalg::isaContractionOpInterface(generic));
  };
  return movable(operand->getOwner()) &&
         movable(operand->get().getDefiningOp());
}

static bool isSmallConstant(OpOperand *operand) {
  auto type = dyn_cast<RankedTensorType>(operand->get().getType());
  return type && type.hasStaticShape() && type.getNumElements() <= 65536;
}

/// Whether `op` multiplies what it reads through windows.
static bool isConvolution(linalg::LinalgOp op) {
  return linalg::isaConvolutionOpInterface(op) && op.getNumDpsInputs() == 2 &&
         llvm::any_of(*op.getBlock(),
                      llvm::IsaPred<arith::MulFOp, arith::MulIOp>);
}

namespace {
/// A slice that loses dims of size 1 behind it: one rank-reducing slice.
struct DropUnitDimsOfSlice : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp op,
                                PatternRewriter &rewriter) const override {
    auto slice = op.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice)
      return rewriter.notifyMatchFailure(op, "not of a slice");
    ArrayRef<int64_t> shape = slice.getType().getShape();
    for (const ReassociationIndices &joined : op.getReassociationIndices())
      if (llvm::count_if(joined, [&](int64_t dim) { return shape[dim] != 1; }) >
          1)
        return rewriter.notifyMatchFailure(op, "joins dims");
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
        op, op.getResultType(), slice.getSource(), slice.getMixedOffsets(),
        slice.getMixedSizes(), slice.getMixedStrides());
    return success();
  }
};

/// A slice with dims of size 1 is a rank-reducing slice and a reshape, so that
/// the reshape can cancel with those behind it and the slice, which kernels
/// read in place, stays.
struct ReduceRankOfSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    SmallVector<int64_t> shape;
    SmallVector<ReassociationIndices> reassociation;
    ReassociationIndices joined;
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      joined.push_back(i);
      if (size == 1)
        continue;
      shape.push_back(size);
      reassociation.push_back(std::exchange(joined, {}));
    }
    if (!type.hasStaticShape() || shape.empty() ||
        int64_t(shape.size()) == type.getRank())
      return rewriter.notifyMatchFailure(op, "no dims of size 1 to drop");
    llvm::append_range(reassociation.back(), joined); // trailing ones
    auto reduced = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(),
        RankedTensorType::get(shape, type.getElementType()), op.getSource(),
        op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides());
    rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, type, reduced,
                                                       reassociation);
    return success();
  }
};

/// A convolution reads its filter as it lies in memory: code generation packs
/// the block it works on anyway, so a transposed copy would be for nothing.
struct ReadFilterInPlace : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isConvolution(op))
      return rewriter.notifyMatchFailure(op, "not a convolution");
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      auto copy = input->get().getDefiningOp<linalg::GenericOp>();
      if (!map.isProjectedPermutation() || !copy ||
          copy.getNumDpsInputs() != 1 || copy.getNumResults() != 1 ||
          !isElementwise(copy))
        continue;
      Block *body = copy.getBody();
      AffineMap read = copy.getIndexingMapsArray()[0],
                written = copy.getIndexingMapsArray()[1];
      if (body->getOperations().size() != 1 || !read.isPermutation() ||
          !written.isPermutation() ||
          body->getTerminator()->getOperand(0) != body->getArgument(0))
        continue;
      unsigned i = input->getOperandNumber();
      maps[i] = read.compose(inversePermutation(written)).compose(map);
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(i, copy.getInputs()[0]);
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "its filter is not a permuted copy");
  }
};

/// A reduction over one element is elementwise once the dim of size 1 is gone,
/// but still starts from what its result's operand holds. Fused into a reader
/// with more loops it would do so in each of them: what it starts from becomes
/// an input.
struct ReadInitAsInput : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isElementwise(op))
      return failure();
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (!op.payloadUsesValueFromOperand(&init) ||
          !cast<RankedTensorType>(init.get().getType()).hasStaticShape())
        continue;
      auto type = cast<RankedTensorType>(init.get().getType());
      SmallVector<Value> inputs(op.getInputs()), inits(op.getOutputs());
      SmallVector<AffineMap> maps = op.getIndexingMapsArray();
      int64_t at = inputs.size();
      int64_t number = init.getOperandNumber() - at;
      inputs.push_back(init.get());
      maps.insert(maps.begin() + at, op.getMatchingIndexingMap(&init));
      inits[number] = tensor::EmptyOp::create(
          rewriter, op.getLoc(), type.getShape(), type.getElementType());
      auto made = linalg::GenericOp::create(rewriter, op.getLoc(),
                                            op.getResultTypes(), inputs, inits,
                                            maps, op.getIteratorTypesArray());
      rewriter.inlineRegionBefore(op.getRegion(), made.getRegion(),
                                  made.getRegion().begin());
      Block *body = made.getBody();
      BlockArgument input =
          body->insertArgument(at, type.getElementType(), op.getLoc());
      body->getArgument(at + 1 + number).replaceAllUsesWith(input);
      rewriter.replaceOp(op, made);
      return success();
    }
    return failure();
  }
};

struct FuseElementwise
    : dynamo::rt::impl::FuseElementwisePassBase<FuseElementwise> {
  /// Named operations become generics, but for fills, pooling and what goes
  /// into an attention.
  void generalizeNamedOps() {
    SmallVector<linalg::LinalgOp> named;
    getOperation().walk([&](linalg::LinalgOp op) {
      bool isPooling = isa<linalg::ConvolutionOpInterface>(op.getOperation()) &&
                       !isConvolution(op);
      bool isLayout =
          dynamo::rt::feedsAttention(op) || dynamo::rt::followsAttention(op);
      if (!isa<linalg::GenericOp, linalg::FillOp>(op) && !isPooling &&
          !isLayout)
        named.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op); // or it stays, as loops
    }
  }

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true);
    auto canonicalize = [&](RewritePatternSet &patterns) {
      linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
      linalg::FillOp::getCanonicalizationPatterns(patterns, context);
      tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
      tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
      tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
      context->getLoadedDialect<linalg::LinalgDialect>()
          ->getCanonicalizationPatterns(patterns);
      tensor::populateFoldTensorEmptyPatterns(patterns);
      patterns.add<DropUnitDimsOfSlice, ReduceRankOfSlice>(context);
    };
    auto run = [&](RewritePatternSet &&patterns) {
      canonicalize(patterns);
      // Not reaching the fixpoint is no error: the code is right at any time.
      (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
    };

    generalizeNamedOps();
    RewritePatternSet slices(context);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(slices);
    (void)applyPatternsGreedily(getOperation(), std::move(slices), config);

    RewritePatternSet filters(context);
    filters.add<ReadFilterInPlace>(context);
    run(std::move(filters));

    RewritePatternSet units(context);
    linalg::ControlDropUnitDims control;
    control.controlFn = [](Operation *op) {
      auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
      if (!generic)
        return SmallVector<unsigned>();
      return llvm::to_vector(llvm::seq<unsigned>(0, generic.getNumLoops()));
    };
    linalg::populateFoldUnitExtentDimsPatterns(units, control);
    run(std::move(units));

    RewritePatternSet starts(context);
    starts.add<ReadInitAsInput>(context);
    run(std::move(starts));

    RewritePatternSet fuse(context);
    linalg::populateElementwiseOpsFusionPatterns(fuse, isWorthFusing);
    linalg::populateFoldReshapeOpsByCollapsingPatterns(fuse, isWorthReshaping);
    linalg::populateConstantFoldLinalgOperations(fuse, isSmallConstant);
    run(std::move(fuse));
  }
};
} // namespace
