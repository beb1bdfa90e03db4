//===- Loss.cpp - lower loss functions and their backward
//---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mse_loss and nll_loss. A target class is data that is an index: one outside
// of the classes refuses the run (Checks.h), and reads nothing elsewhere.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Checks.h"
#include "dynamo/Conversion/AtenToLinalg/Expr.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

namespace {
/// ATen's at::Reduction.
enum Reduction { kNone = 0, kMean = 1, kSum = 2 };
} // namespace

/// A formula over tensors of rank 0, computed in `compute`.
static Operand scalarFormula(Lowering &b, ArrayRef<Operand> operands,
                             Type compute,
                             function_ref<Expr(ArrayRef<Expr>)> formula) {
  return Operand(elementwise(b, operands, RankedTensorType::get({}, compute),
                             compute, [&](ArrayRef<Value> in) -> Value {
                               SmallVector<Expr> scalars;
                               for (Value scalar : in)
                                 scalars.push_back({b, compute, scalar});
                               return formula(scalars);
                             }));
}

//===----------------------------------------------------------------------===//
// mse_loss
//===----------------------------------------------------------------------===//

static LogicalResult lowerMseLoss(aten::MseLossOp op, Lowering &b) {
  Operand self = b.operand(op.getSelf()), target = b.operand(op.getTarget());
  Type dtype = dtypeOf(op.getResult()), compute = computeType(dtype);
  int64_t reduction = op.getReduction();
  if (!isFloat(dtype))
    return b.fail(op, "mse_loss of integers");
  // Differences and squares are operations of their own in half types.
  auto square = [&](Expr x, Expr y) {
    Expr difference = (x - y).rounded(dtype);
    return (difference * difference).rounded(dtype);
  };
  if (reduction == kNone)
    return lowerFormula(op, b, {self, target}, compute, [&](ArrayRef<Expr> in) {
      return square(in[0], in[1]);
    });
  if (self.type().getShape() != target.type().getShape())
    return b.fail(op, "mse_loss of different shapes");
  int64_t rank = self.rank();
  SmallVector<int64_t> dims = normalizeDims({}, rank);
  AffineMap all = b.getMultiDimIdentityMap(rank);
  SmallVector<Input> inputs = {{self, all}, {target, all}};
  if (rank > 1)
    if (SmallVector<int64_t> first = firstStepOf(b, self, dims); !first.empty())
      dims = first;
  Operand sum(reduce(b, inputs, sizesOf(b, self.value), dims,
                     numberConstant(b, compute, 0), compute,
                     [&](ArrayRef<Value> in,
                         ArrayRef<Value> out) -> SmallVector<Value> {
                       Expr x = Expr(b, self.dtype, in[0]).to(compute);
                       Expr y = Expr(b, target.dtype, in[1]).to(compute);
                       return {Expr(b, compute, out[0]) + square(x, y)};
                     })
                  .front());
  if (sum.rank() > 0)
    sum = Operand(sumOver(b, sum, normalizeDims({}, sum.rank()), compute));
  dims = normalizeDims({}, rank);
  if (reduction == kMean)
    sum = scalarFormula(b, {sum, countOf(b, self, dims, compute)}, compute,
                        [](ArrayRef<Expr> in) { return in[0] / in[1]; });
  return b.replace(op, convertTensor(b, sum, dtype));
}

static LogicalResult lowerMseLossBackward(aten::MseLossBackwardOp op,
                                          Lowering &b) {
  Operand grad = b.operand(op.getGradOutput());
  Operand self = b.operand(op.getSelf()), target = b.operand(op.getTarget());
  Type compute = computeType(dtypeOf(op.getResult()));
  if (!isFloat(compute))
    return b.fail(op, "mse_loss of integers");
  SmallVector<Operand> operands = {grad, self, target};
  bool isMean = op.getReduction() == kMean;
  if (isMean)
    operands.push_back(
        countOf(b, self, normalizeDims({}, self.rank()), compute));
  return lowerFormula(op, b, operands, compute, [&](ArrayRef<Expr> in) {
    Expr two = in[0].constant(2);
    Expr factor = isMean ? two / in[3] : two;
    return factor * (in[1] - in[2]) * in[0];
  });
}

//===----------------------------------------------------------------------===//
// nll_loss
//===----------------------------------------------------------------------===//

/// The target where it counts; class 0 where it is ignored. In range always.
static Expr safeClass(Expr target, int64_t ignoreIndex, int64_t numClasses) {
  Expr ignored = target.constant(double(ignoreIndex));
  Expr valid = where(target == ignored, target.constant(0), target);
  return max(target.constant(0),
             min(valid, target.constant(double(numClasses - 1))));
}

static Expr extractAt(Lowering &b, Operand tensor, ValueRange indices,
                      Type dtype) {
  Value element = tensor::ExtractOp::create(b, tensor.value, indices);
  return Expr(b, tensor.dtype, element).to(dtype);
}

static LogicalResult lowerNllLoss(aten::NllLossForwardOp op, Lowering &b) {
  Operand self = b.operand(op.getSelf()), target = b.operand(op.getTarget());
  Operand weight = b.operand(op.getWeight());
  Type dtype = dtypeOf(op.getOutput()), acc = computeType(dtype);
  int64_t rank = self.rank(), reduction = op.getReduction();
  int64_t numClasses = self.shape()[rank - 1];
  int64_t ignoreIndex = int64_t(op.getIgnoreIndex());
  if (!self.type().hasStaticShape() || numClasses == 0 || rank > 2 ||
      target.rank() != rank - 1)
    return b.fail(op, "nll_loss of dynamic or empty shape");
  checkRange(b, op.getTarget(), {0, numClasses - 1}, ignoreIndex);
  // One sample per step; without a batch there are no dims.
  auto weightOf = [&](Expr cls, Expr isCounted, Expr one) {
    Value index = arith::IndexCastOp::create(b, b.getIndexType(), cls.value());
    Expr w = weight ? extractAt(b, weight, index, acc) : one;
    return where(isCounted, w, one.constant(0));
  };
  auto sampleOf = [&](Value scalar) {
    Expr t(b, target.dtype, scalar);
    Expr cls = safeClass(t, ignoreIndex, numClasses);
    Expr isCounted = t != t.constant(double(ignoreIndex));
    return std::make_pair(cls, isCounted);
  };
  auto lossOf = [&](Value scalar) {
    auto [cls, isCounted] = sampleOf(scalar);
    SmallVector<Value> indices;
    if (rank == 2)
      indices.push_back(linalg::IndexOp::create(b, 0));
    indices.push_back(
        arith::IndexCastOp::create(b, b.getIndexType(), cls.value()));
    Expr x = extractAt(b, self, indices, acc);
    Expr loss = -x * weightOf(cls, isCounted, x.constant(1));
    // An ignored sample adds nothing, also when its score is nan.
    return where(isCounted, loss, x.constant(0));
  };
  Input samples{target, b.getMultiDimIdentityMap(target.rank())};
  SmallVector<OpFoldResult> sizes = sizesOf(b, target.value);
  Type totalDtype = dtypeOf(op.getTotalWeight());

  if (reduction == kNone) {
    Value losses = parallel(b, samples, sizes, dtype,
                            [&](ArrayRef<Value> in) -> SmallVector<Value> {
                              return {lossOf(in[0]).to(dtype)};
                            })
                       .front();
    Value total =
        filledTensor(b, {}, totalDtype, numberConstant(b, totalDtype, 0));
    return b.replace(op, {losses, total});
  }

  SmallVector<int64_t> dims = normalizeDims({}, target.rank());
  auto sumOf = [&](function_ref<Expr(Value)> term) {
    return Operand(reduce(b, samples, sizes, dims, numberConstant(b, acc, 0),
                          acc,
                          [&](ArrayRef<Value> in,
                              ArrayRef<Value> out) -> SmallVector<Value> {
                            return {Expr(b, acc, out[0]) + term(in[0])};
                          })
                       .front());
  };
  Operand total = sumOf([&](Value scalar) {
    auto [cls, isCounted] = sampleOf(scalar);
    return weightOf(cls, isCounted, Expr(b, acc, numberConstant(b, acc, 1)));
  });
  Operand sum = sumOf(lossOf);
  if (reduction == kMean)
    sum = scalarFormula(b, {sum, total}, acc,
                        [](ArrayRef<Expr> in) { return in[0] / in[1]; });
  return b.replace(
      op, {convertTensor(b, sum, dtype), convertTensor(b, total, totalDtype)});
}

static LogicalResult lowerNllLossBackward(aten::NllLossBackwardOp op,
                                          Lowering &b) {
  Operand grad = b.operand(op.getGradOutput());
  Operand self = b.operand(op.getSelf()), target = b.operand(op.getTarget());
  Operand weight = b.operand(op.getWeight());
  Operand total = b.operand(op.getTotalWeight());
  Type dtype = dtypeOf(op.getResult()), acc = computeType(dtype);
  int64_t rank = self.rank(), reduction = op.getReduction();
  if (rank > 2 || target.rank() != rank - 1)
    return b.fail(op, "nll_loss of a higher rank");
  int64_t ignoreIndex = int64_t(op.getIgnoreIndex());
  MLIRContext *context = b.getContext();
  AffineMap perSample = droppedDimsMap(context, rank, {rank - 1});
  AffineMap perClass = keptDimsMap(context, rank, {rank - 1});
  AffineMap once = keptDimsMap(context, rank, {});
  SmallVector<Input> inputs = {{target, perSample},
                               {grad, grad.rank() == 0 ? once : perSample}};
  if (weight)
    inputs.push_back({weight, perClass});
  if (reduction == kMean)
    inputs.push_back({total, once});
  return b.replace(
      op,
      parallel(b, inputs, sizesOf(b, self.value), dtype,
               [&](ArrayRef<Value> in) -> SmallVector<Value> {
                 Expr t(b, target.dtype, in[0]);
                 Value index = linalg::IndexOp::create(b, rank - 1);
                 Expr cls(b, target.dtype,
                          arith::IndexCastOp::create(
                              b, scalarType(target.dtype), index));
                 Expr g = Expr(b, grad.dtype, in[1]).to(acc);
                 if (reduction == kMean)
                   g = g / Expr(b, total.dtype, in.back()).to(acc);
                 Expr value = -g;
                 if (weight)
                   value = value * Expr(b, weight.dtype, in[2]).to(acc);
                 Expr ignored = t.constant(double(ignoreIndex));
                 Expr isTarget = (cls == t) & (t != ignored);
                 return {where(isTarget, value, value.constant(0)).to(dtype)};
               })
          .front());
}

void lowering::populateLossLowerings(LoweringTable &table) {
  using namespace dynamo::aten;
  table.add<MseLossOp>(lowerMseLoss);
  table.add<MseLossBackwardOp>(lowerMseLossBackward);
  table.add<NllLossForwardOp>(lowerNllLoss);
  table.add<NllLossBackwardOp>(lowerNllLossBackward);
}
