//===- LowerVectors.cpp - Vectors of any rank to one dimension ------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// First pass after phase P4.  The order of the pattern sets matters: transfers
// turn into plain loads and stores only when their permutations are gone.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "codegen-lower-vectors"

namespace dynamo::codegen {
#define GEN_PASS_DEF_LOWERVECTORSPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;

namespace {
struct LowerVectors
    : dynamo::codegen::impl::LowerVectorsPassBase<LowerVectors> {
  LogicalResult initialize(MLIRContext *context) override {
    {
      RewritePatternSet set(context);
      vector::populateVectorContractLoweringPatterns(
          set, vector::VectorContractLowering::OuterProduct);
      vector::populateVectorOuterProductLoweringPatterns(set);
      vector::populateVectorMultiReductionLoweringPatterns(
          set, vector::VectorMultiReductionLowering::InnerReduction);
      vector::populateVectorTransposeLoweringPatterns(
          set, vector::VectorTransposeLowering::EltWise);
      arithmetic = FrozenRewritePatternSet(std::move(set));
    }
    RewritePatternSet set(context);
    // Makes transpositions of its own.
    vector::populateVectorTransferPermutationMapLoweringPatterns(set);
    vector::populateVectorTransposeLoweringPatterns(
        set, vector::VectorTransposeLowering::EltWise);
    vector::populateVectorTransferLoweringPatterns(set, /*maxTransferRank=*/1);
    vector::populateVectorBroadcastLoweringPatterns(set);
    vector::populateVectorShapeCastLoweringPatterns(set);
    vector::populateVectorGatherLoweringPatterns(set);
    vector::populateVectorMaskOpLoweringPatterns(set);
    VectorTransferToSCFOptions options;
    options.enableFullUnroll();
    populateVectorToSCFConversionPatterns(set, options);
    memref::populateFoldMemRefAliasOpPatterns(set);
    memory = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    // Nothing of more than one dimension and no transfer: nothing to do.
    bool needed = false;
    getOperation().walk([&](Operation *op) {
      needed |= isa<VectorTransferOpInterface, vector::MultiDimReductionOp,
                    vector::ContractionOp, vector::TransposeOp,
                    vector::GatherOp, vector::ShapeCastOp>(op);
      for (Type type : op->getResultTypes())
        if (auto vector = dyn_cast<VectorType>(type))
          needed |= vector.getRank() != 1;
    });
    if (!needed)
      return;
    if (failed(applyPatternsGreedily(getOperation(), arithmetic)) ||
        failed(applyPatternsGreedily(getOperation(), memory)))
      signalPassFailure();
  }

  FrozenRewritePatternSet arithmetic, memory;
};
} // namespace
