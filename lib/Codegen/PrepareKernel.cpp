//===- PrepareKernel.cpp - Estimate a kernel's work, reduce its forms -----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First pass of the kernel pipeline. The work is counted here, where an
// operation's iteration space is still in one place; the runtime decides by it
// whether threads are worth their start.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "codegen-prepare-kernel"

namespace dynamo::codegen {
#define GEN_PASS_DEF_PREPAREKERNELPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

/// Rough cost of one iteration: an operation 1, a transcendental 10.
static int64_t bodyCost(linalg::LinalgOp op) {
  int64_t cost = 1;
  op.getBlock()->walk([&](Operation *inner) {
    if (isa<linalg::YieldOp>(inner))
      return;
    bool cheap = isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::FloorOp,
                     math::CeilOp, math::CopySignOp>(inner);
    cost += isa_and_nonnull<math::MathDialect>(inner->getDialect()) && !cheap
                ? 10
                : 1;
  });
  return cost;
}

static int64_t estimateWork(func::FuncOp func) {
  double work = 0;
  func.walk([&](linalg::LinalgOp op) {
    double points = 1;
    for (int64_t size : op.getStaticLoopRanges())
      points *= ShapedType::isDynamic(size) ? 1 : size;
    work += points * bodyCost(op);
  });
  return work < 9e18 ? static_cast<int64_t>(work) : INT64_MAX;
}

/// Elementwise operations overwrite an operand that nobody else reads, where
/// they would write to a new tensor. Where nothing is tiled this saves scratch
/// of full size.
static void computeInPlace(func::FuncOp func) {
  func.walk([](linalg::GenericOp op) {
    if (op.getNumReductionLoops() != 0 || op.getNumResults() != 1 ||
        !op.hasPureTensorSemantics())
      return;
    OpOperand *init = op.getDpsInitOperand(0);
    if (!init->get().getDefiningOp<tensor::EmptyOp>() ||
        op.payloadUsesValueFromOperand(init))
      return;
    for (OpOperand *input : op.getDpsInputOperands()) {
      if (input->get().getType() != init->get().getType() ||
          !input->get().hasOneUse() ||
          !input->get().getDefiningOp<linalg::LinalgOp>() ||
          op.getMatchingIndexingMap(input) != op.getMatchingIndexingMap(init))
        continue;
      init->set(input->get());
      return;
    }
  });
}

namespace {
/// A padded copy is written in parts that do not meet: a border at either end
/// of each dim, and the source. A fill of everything under the source would
/// touch most elements twice, and keep threads from sharing the copy.
struct PadInParts : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    Value padding = op.getConstantPaddingValue();
    auto type = cast<RankedTensorType>(op.getType());
    ArrayRef<int64_t> low = op.getStaticLow(), high = op.getStaticHigh();
    ArrayRef<int64_t> source = op.getSourceType().getShape();
    auto isWidth = [](int64_t width) { return width >= 0; };
    if (!padding || !type.hasStaticShape() ||
        !op.getSourceType().hasStaticShape() || !llvm::all_of(low, isWidth) ||
        !llvm::all_of(high, isWidth))
      return rewriter.notifyMatchFailure(op, "is not a static constant border");
    Location loc = op.getLoc();
    Value result = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                           type.getElementType());
    // What is left to write: in the dims so far the source, in the others all.
    int64_t rank = type.getRank();
    SmallVector<int64_t> offset(rank, 0), size(type.getShape());
    auto attrs = [&](ArrayRef<int64_t> values) {
      return getAsIndexOpFoldResult(rewriter.getContext(), values);
    };
    SmallVector<OpFoldResult> ones(rank, rewriter.getIndexAttr(1));
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t end = low[dim] + source[dim];
      for (auto [at, width] :
           {std::pair(int64_t(0), low[dim]), std::pair(end, high[dim])}) {
        if (width == 0)
          continue;
        offset[dim] = at;
        size[dim] = width;
        Value part =
            tensor::EmptyOp::create(rewriter, loc, size, type.getElementType());
        part =
            linalg::FillOp::create(rewriter, loc, padding, part).getResult(0);
        result = tensor::InsertSliceOp::create(
            rewriter, loc, part, result, attrs(offset), attrs(size), ones);
      }
      offset[dim] = low[dim];
      size[dim] = source[dim];
    }
    rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
        op, op.getSource(), result, attrs(offset), attrs(size), ones);
    return success();
  }
};

struct PrepareKernel
    : dynamo::codegen::impl::PrepareKernelPassBase<PrepareKernel> {
  using PrepareKernelPassBase::PrepareKernelPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp func = requireKernelFunction(module);
    if (!func)
      return signalPassFailure();
    MLIRContext *context = &getContext();
    OpBuilder builder(context);
    if (!func->hasAttr(kWorkAttr))
      func->setAttr(kWorkAttr, builder.getI64IntegerAttr(estimateWork(func)));

    RewritePatternSet patterns(context);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    linalg::populateDecomposePadPatterns(patterns);
    patterns.add<PadInParts>(context, /*benefit=*/2);
    StringRef strategy = getStrategy(module);
    bool loops = fallback || strategy == "loops" || strategy.empty();
    if (loops) {
      linalg::populateElementwiseOpsFusionPatterns(
          patterns,
          [](OpOperand *operand) { return operand->get().hasOneUse(); });
    }
    if (failed(applyPatternsGreedily(func, std::move(patterns))))
      return signalPassFailure();
    if (fallback)
      computeInPlace(func);
  }
};
} // namespace
