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
struct PrepareKernel
    : dynamo::codegen::impl::PrepareKernelPassBase<PrepareKernel> {
  using PrepareKernelPassBase::PrepareKernelPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp func = getKernelFunction(module);
    if (!func) {
      module.emitError("expected a kernel module with one public function");
      return signalPassFailure();
    }
    MLIRContext *context = &getContext();
    OpBuilder builder(context);
    if (!func->hasAttr(kWorkAttr))
      func->setAttr(kWorkAttr, builder.getI64IntegerAttr(estimateWork(func)));

    RewritePatternSet patterns(context);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    linalg::populateDecomposePadPatterns(patterns);
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
