//===- Vectorize.cpp - Tiles of static shape become vector code -----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the strategy passes, which leave linalg operations on tiles inside
// loops.  An operation that is too big or of a kind that cannot be vectorised
// stays and becomes loops: slow but right.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "codegen-vectorize"

namespace dynamo::codegen {
#define GEN_PASS_DEF_VECTORIZEPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

/// Iterations of the largest operation that becomes vectors. Beyond, the code
/// grows to thousands of instructions and seconds of compile time.
static constexpr int64_t kMaxIterations = 2048;

static bool isTile(linalg::LinalgOp op) {
  if (!op->getParentOfType<LoopLikeOpInterface>())
    return false;
  int64_t iterations = 1;
  for (int64_t size : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(size) || size == 0)
      return false;
    iterations *= size;
    if (iterations > kMaxIterations)
      return false;
  }
  return true;
}

namespace {
/// A broadcasting read of the one element just written. Upstream leaves a way
/// through memory for every row statistic.
struct ForwardBroadcast : OpRewritePattern<vector::TransferReadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::TransferReadOp read,
                                PatternRewriter &rewriter) const override {
    auto write = read.getBase().getDefiningOp<vector::TransferWriteOp>();
    auto type = dyn_cast<RankedTensorType>(read.getBase().getType());
    if (!write || !type || !type.hasStaticShape() ||
        type.getNumElements() != 1 ||
        write.getVectorType().getNumElements() != 1 || read.getMask() ||
        write.getMask() || read.hasOutOfBoundsDim() ||
        write.hasOutOfBoundsDim())
      return failure();
    Value element = vector::ExtractOp::create(
        rewriter, read.getLoc(), write.getVector(),
        SmallVector<int64_t>(write.getVectorType().getRank(), 0));
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(read, read.getVectorType(),
                                                     element);
    return success();
  }
};

struct Vectorize : dynamo::codegen::impl::VectorizePassBase<Vectorize> {
  LogicalResult initialize(MLIRContext *context) override {
    {
      RewritePatternSet set(context);
      vector::TransferReadOp::getCanonicalizationPatterns(set, context);
      vector::TransferWriteOp::getCanonicalizationPatterns(set, context);
      tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(set);
      vector::populateCastAwayVectorLeadingOneDimPatterns(set);
      set.add<ForwardBroadcast>(context);
      transfers = FrozenRewritePatternSet(std::move(set));
    }
    {
      RewritePatternSet set(context);
      vector::populateVectorTransferPermutationMapLoweringPatterns(set);
      vector::TransferReadOp::getCanonicalizationPatterns(set, context);
      permutations = FrozenRewritePatternSet(std::move(set));
    }
    RewritePatternSet set(context);
    vector::populateVectorReductionToContractPatterns(set);
    vector::populateCastAwayVectorLeadingOneDimPatterns(set);
    vector::ContractionOp::getCanonicalizationPatterns(set, context);
    vector::BroadcastOp::getCanonicalizationPatterns(set, context);
    vector::TransposeOp::getCanonicalizationPatterns(set, context);
    vector::ShapeCastOp::getCanonicalizationPatterns(set, context);
    contractions = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> tiles;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (isTile(op) && op.hasPureTensorSemantics())
        tiles.push_back(op);
    });
    if (tiles.empty())
      return;
    IRRewriter rewriter(&getContext());
    bool contracts = false;
    for (linalg::LinalgOp op : tiles) {
      rewriter.setInsertionPoint(op);
      bool contraction = linalg::isaContractionOpInterface(op);
      FailureOr<linalg::VectorizationResult> result =
          linalg::vectorize(rewriter, op, {}, {}, /*vectorizeNDExtract=*/false,
                            /*flatten1DDepthwiseConv=*/false,
                            /*assumeDynamicDimsMatchVecSizes=*/false,
                            /*createNamedContraction=*/contraction);
      if (failed(result))
        continue;
      contracts |= contraction;
      rewriter.replaceOp(op, result->replacements);
    }
    if (failed(applyPatternsGreedily(getOperation(), transfers)))
      return signalPassFailure();
    // In this order: operands that vectorisation broadcast to the whole
    // iteration space lose that first, else the contraction is a sum of
    // products.
    if (contracts &&
        (failed(applyPatternsGreedily(getOperation(), permutations)) ||
         failed(applyPatternsGreedily(getOperation(), contractions))))
      return signalPassFailure();
  }

  FrozenRewritePatternSet transfers, permutations, contractions;
};
} // namespace
