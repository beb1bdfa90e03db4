//===- TileAttention.cpp - Schedule an attention kernel -------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The strategy pass of `attention` kernels.  Where it gives up,
// `rt-decompose-attention` is the other way.
//
//===----------------------------------------------------------------------===//

#include "AttentionEmitter.h"
#include "Kernel.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define DEBUG_TYPE "codegen-tile-attention"

namespace dynamo::codegen {
#define GEN_PASS_DEF_TILEATTENTIONPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo;
using namespace dynamo::codegen;

/// For an operation that only reorders dims: result dim i is input dim
/// `perm[i]`.
static std::optional<SmallVector<int64_t>> getPermutation(Operation *op) {
  auto linalgOp = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumDpsInputs() != 1 ||
      linalgOp.getNumDpsInits() != 1 || linalgOp.getNumReductionLoops() != 0)
    return std::nullopt;
  Block *body = linalgOp.getBlock();
  if (&body->front() != body->getTerminator() ||
      body->getTerminator()->getOperand(0) != body->getArgument(0))
    return std::nullopt;
  AffineMap in = linalgOp.getIndexingMapsArray()[0];
  AffineMap out = linalgOp.getIndexingMapsArray()[1];
  if (!in.isPermutation() || !out.isPermutation())
    return std::nullopt;
  AffineMap inputOfLoop = inversePermutation(in);
  SmallVector<int64_t> perm;
  for (unsigned i = 0; i < out.getNumResults(); ++i)
    perm.push_back(inputOfLoop.getDimPosition(out.getDimPosition(i)));
  return perm;
}

/// Looks through a permutation that makes an operand of the attention.
static AttentionTensor readThrough(Value value) {
  AttentionTensor result{value};
  if (auto perm = getPermutation(value.getDefiningOp())) {
    result.tensor = value.getDefiningOp()->getOperand(0);
    for (auto [i, p] : llvm::enumerate(*perm))
      result.order[p] = i;
  }
  return result;
}

static LogicalResult readKernel(func::FuncOp func, AttentionKernel &kernel,
                                std::string &why) {
  auto fail = [&](const char *reason) {
    why = reason;
    return failure();
  };
  for (Operation &op : func.getBody().front())
    if (auto attention = dyn_cast<rt::AttentionOp>(op)) {
      if (kernel.op)
        return fail("two attentions in one kernel");
      kernel.op = attention;
    }
  rt::AttentionOp op = kernel.op;
  if (!op)
    return fail("no attention in the kernel");
  for (Value v : op->getOperands()) {
    auto type = cast<RankedTensorType>(v.getType());
    if (!type.hasStaticShape())
      return fail("a dynamic shape");
    if (llvm::is_contained(type.getShape(), 0))
      return fail("an empty operand");
    if (auto slice = v.getDefiningOp<tensor::ExtractSliceOp>())
      if (!slice.hasUnitStride())
        return fail("a strided slice as operand");
  }
  kernel.query = readThrough(op.getQuery());
  kernel.key = readThrough(op.getKey());
  kernel.value = readThrough(op.getValue());
  kernel.out.tensor = op.getOut();
  if (op.getOut().hasOneUse()) {
    Operation *user = *op.getOut().user_begin();
    if (auto perm = getPermutation(user)) {
      kernel.out.tensor = user->getResult(0);
      for (auto [i, p] : llvm::enumerate(*perm))
        kernel.out.order[i] = p;
    }
  }
  for (const AttentionTensor *t :
       {&kernel.query, &kernel.key, &kernel.value, &kernel.out})
    if (t->order.back() != 3)
      return fail("features are not the innermost dim in memory");
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (Value v : ret.getOperands()) {
    if (v == op.getLogsumexp())
      kernel.needsLogsumexp = true;
    else if (v != kernel.out.tensor)
      return fail("the kernel returns more than attention");
  }
  return success();
}

static LogicalResult tileKernel(func::FuncOp func,
                                const target::MachineModel &machine) {
  if (!func.getBody().hasOneBlock())
    return func.emitError("an attention kernel with control flow");
  AttentionKernel kernel;
  std::string why;
  if (failed(readKernel(func, kernel, why)))
    return func.emitError("cannot schedule an attention kernel: ") << why;
  Block &entry = func.getBody().front();
  Operation *ret = entry.getTerminator();
  OpBuilder builder(ret);
  auto results = AttentionEmitter(builder, &entry, kernel, machine).emit();
  for (OpOperand &operand : ret->getOpOperands())
    operand.set(results[operand.get() == kernel.op.getLogsumexp() ? 1 : 0]);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

namespace {
struct TileAttention
    : dynamo::codegen::impl::TileAttentionPassBase<TileAttention> {
  using TileAttentionPassBase::TileAttentionPassBase;

  void runOnOperation() override {
    auto machine = target::getMachineModel(this->target);
    if (!machine) {
      getOperation().emitError(target::describeUnknownTarget(this->target));
      return signalPassFailure();
    }
    if (failed(tileKernels(getOperation(), "attention", [&](func::FuncOp func) {
          return tileKernel(func, *machine);
        })))
      signalPassFailure();
  }
};
} // namespace
