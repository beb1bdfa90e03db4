//===- Hoist.cpp - Accumulators and invariant code leave the loops --------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On tensors, before bufferisation: a tile that a loop reads, updates and
// writes back becomes a vector that the loop carries.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

#define DEBUG_TYPE "codegen-hoist"

namespace dynamo::codegen {
#define GEN_PASS_DEF_HOISTPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

namespace {
struct Hoist : dynamo::codegen::impl::HoistPassBase<Hoist> {
  void runOnOperation() override {
    getOperation().walk(
        [](LoopLikeOpInterface loop) { moveLoopInvariantCode(loop); });
    // The emitters of these carry their accumulators from the start; looking
    // for more among all their reads and writes took most of the pipeline.
    StringRef strategy = getStrategy(getOperation());
    if (strategy == "attention" || strategy == "matmul")
      return;
    IRRewriter rewriter(&getContext());
    SmallVector<LoopLikeOpInterface> loops; // inner ones first
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (LoopLikeOpInterface loop : loops)
      hoistLoopInvariantSubsets(rewriter, loop);
  }
};
} // namespace
