//===- TileMatmul.cpp - Schedule a matmul kernel --------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The strategy pass of `matmul` kernels: reads the kernel (Contraction),
// decides (MatmulSchedule) and writes the loops (MatmulEmitter).  The loops are
// written out rather than derived by tiling the linalg operation, because a
// matmul needs what generic tiling does not give: panels in scratch, partial
// sums over blocks of k, static register tiles at ragged edges without a copy
// of the whole nest, and few enough operations to compile fast.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "MatmulEmitter.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define DEBUG_TYPE "codegen-tile-matmul"

namespace dynamo::codegen {
#define GEN_PASS_DEF_TILEMATMULPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

/// Named operations (linalg.matmul, linalg.add, ...) become generics.
static void generalize(func::FuncOp func) {
  SmallVector<linalg::LinalgOp> named;
  func.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op))
      named.push_back(op);
  });
  IRRewriter rewriter(func.getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

static LogicalResult tileKernel(func::FuncOp func,
                                const dynamo::target::MachineModel &machine) {
  generalize(func);
  std::string why;
  FailureOr<Contraction> contraction = analyzeContraction(func, why);
  if (failed(contraction))
    return func.emitError("cannot schedule a matmul kernel: ") << why;
  MatmulSchedule schedule = scheduleMatmul(*contraction, machine);

  Block &entry = func.getBody().front();
  Operation *ret = entry.getTerminator();
  OpBuilder builder(ret);
  SmallVector<Value> results =
      MatmulEmitter(builder, &entry, *contraction, schedule).emit();
  ret->setOperands(results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

namespace {
struct TileMatmul : dynamo::codegen::impl::TileMatmulPassBase<TileMatmul> {
  using TileMatmulPassBase::TileMatmulPassBase;

  void runOnOperation() override {
    auto machine = dynamo::target::getMachineModel(target);
    if (!machine) {
      getOperation().emitError(dynamo::target::describeUnknownTarget(target));
      return signalPassFailure();
    }
    if (failed(tileKernels(getOperation(), "matmul", [&](func::FuncOp func) {
          return tileKernel(func, *machine);
        })))
      signalPassFailure();
  }
};
} // namespace
