//===- Attention.cpp - scaled dot product attention
//----------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ATen's fused attention is one op of P2 too, rt.attention: a kernel that never
// holds the score matrix can't be found again in a decomposed form.  Its
// gradient is five contractions on the recomputed softmax.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Structure.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Rt/IR/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

namespace {

/// 1 / sqrt(head size) unless given.
template <typename OpT> double scaleOf(OpT op) {
  if (auto scale = op.getScale())
    return scale->convertToDouble();
  return 1.0 / std::sqrt(double(cast<RankedTensorType>(op.getQuery().getType())
                                    .getShape()
                                    .back()));
}

/// The mask with rank 4 and dtype `dtype`; null for none.
Operand maskOf(Lowering &b, Operand mask, Type dtype) {
  if (!mask)
    return {};
  Value value = convertTensor(b, mask, dtype);
  SmallVector<int64_t> leading =
      llvm::to_vector(llvm::seq<int64_t>(0, 4 - mask.rank()));
  return Operand(expandDims(b, value, leading), dtype);
}

LogicalResult lowerAttention(aten::ScaledDotProductFlashAttentionForCpuOp op,
                             Lowering &b) {
  if (op.getDropoutP().convertToDouble() != 0)
    return b.fail(op, "attention with dropout draws random numbers");
  Operand q = b.operand(op.getQuery()), mask = b.operand(op.getAttnMask());
  Value k = b.get(op.getKey()), v = b.get(op.getValue());
  if (!isStatic(q.value) || !isStatic(k) || !isStatic(v) || q.rank() != 4)
    return b.fail(op, "attention of dynamic sizes");
  if (mask && (isBool(mask.dtype) || mask.rank() > 4))
    return b.fail(op, "a mask that is not additive");
  SmallVector<Type> types = {convertType(op.getOutput().getType()),
                             convertType(op.getLogsumexp().getType())};
  auto attention = rt::AttentionOp::create(
      b, types, q.value, k, v, maskOf(b, mask, q.dtype).value,
      op.getIsCausal() ? b.getUnitAttr() : UnitAttr(),
      b.getF64FloatAttr(scaleOf(op)));
  return b.replace(op, attention.getResults());
}

/// With P = exp(scale * Q K^T + mask - lse):
///   dV = P^T dO,  dP = dO V^T,  dS = scale * P * (dP - rowsum(dO * O)),
///   dQ = dS K,  dK = dS^T Q.
/// Everything is f32 (f64) until the last rounding.
LogicalResult
lowerAttentionBackward(aten::ScaledDotProductFlashAttentionForCpuBackwardOp op,
                       Lowering &b) {
  if (op.getDropoutP().convertToDouble() != 0)
    return b.fail(op, "attention with dropout draws random numbers");
  Operand q = b.operand(op.getQuery()), k = b.operand(op.getKey()),
          v = b.operand(op.getValue());
  Operand grad = b.operand(op.getGradOut()), out = b.operand(op.getOut());
  Operand lse = b.operand(op.getLogsumexp()),
          mask = b.operand(op.getAttnMask());
  if (!isStatic(q.value) || !isStatic(k.value) || !isStatic(v.value) ||
      q.rank() != 4)
    return b.fail(op, "attention of dynamic sizes");
  if (mask && (isBool(mask.dtype) || mask.rank() > 4))
    return b.fail(op, "a mask that is not additive");
  if (q.shape()[1] != k.shape()[1])
    return b.fail(op, "query heads that share keys");
  Type acc = accumulatorType(q.dtype);
  auto size = [&](int64_t n) { return OpFoldResult(b.getIndexAttr(n)); };
  auto sizes = [&](int64_t rows, int64_t columns) -> SmallVector<OpFoldResult> {
    return {size(q.shape()[0]), size(q.shape()[1]), size(rows), size(columns)};
  };
  int64_t l = q.shape()[2], s = k.shape()[2], d = q.shape()[3],
          e = v.shape()[3];
  // Loops are (batch, head, m, n, k).
  SmallVector<int64_t> mk = {0, 1, 2, 4}, nk = {0, 1, 3, 4}, kn = {0, 1, 4, 3},
                       km = {0, 1, 4, 2};
  double scale = scaleOf(op);
  AffineMap full = b.getMultiDimIdentityMap(4);
  AffineMap row = keptDimsMap(b.getContext(), 4, {0, 1, 2});

  Operand scores(contract(b, {q, mk}, {k, nk}, sizes(l, s)), acc);
  SmallVector<Input> inputs = {{scores, full}, {lse, row}};
  if (mask) {
    Operand wide = maskOf(b, mask, mask.dtype);
    SmallVector<int64_t> shape = {q.shape()[0], q.shape()[1], l, s};
    inputs.push_back({wide, broadcastMap(b.getContext(), wide.shape(), shape)});
  }
  Value weights =
      parallel(b, inputs, sizes(l, s), acc,
               [&](ArrayRef<Value> in) -> SmallVector<Value> {
                 Value x =
                     mulScalar(b, acc, in[0], floatConstant(b, acc, scale));
                 if (mask)
                   x = addScalar(b, acc, x,
                                 convertScalar(b, in[2], mask.dtype, acc));
                 x = math::ExpOp::create(
                     b, subScalar(b, acc, x,
                                  convertScalar(b, in[1], lse.dtype, acc)));
                 if (op.getIsCausal()) {
                   Value later =
                       arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                             linalg::IndexOp::create(b, 3),
                                             linalg::IndexOp::create(b, 2));
                   x = arith::SelectOp::create(b, later,
                                               floatConstant(b, acc, 0), x);
                 }
                 return {x};
               })
          .front();
  Operand p(weights, acc);
  Operand dp(contract(b, {grad, mk}, {v, nk}, sizes(l, s)), acc);
  // rowsum(dO * O).
  Value delta =
      reduce(
          b, {{grad, full}, {out, full}}, sizes(l, e), 3,
          floatConstant(b, acc, 0), acc,
          [&](ArrayRef<Value> in, ArrayRef<Value> sum) -> SmallVector<Value> {
            Value product =
                mulScalar(b, acc, convertScalar(b, in[0], grad.dtype, acc),
                          convertScalar(b, in[1], out.dtype, acc));
            return {addScalar(b, acc, sum[0], product)};
          })
          .front();
  Operand ds(
      parallel(b, {{p, full}, {dp, full}, {Operand(delta, acc), row}},
               sizes(l, s), acc,
               [&](ArrayRef<Value> in) -> SmallVector<Value> {
                 Value x =
                     mulScalar(b, acc, in[0], subScalar(b, acc, in[1], in[2]));
                 return {mulScalar(b, acc, x, floatConstant(b, acc, scale))};
               })
          .front(),
      acc);
  Value dq = contract(b, {ds, mk}, {k, kn}, sizes(l, d));
  Value dk = contract(b, {ds, km}, {q, kn}, sizes(s, d));
  Value dv = contract(b, {p, km}, {grad, kn}, sizes(s, e));
  SmallVector<Value> results;
  for (Value x : {dq, dk, dv})
    results.push_back(convertTensor(b, Operand(x, acc), q.dtype));
  return b.replace(op, results);
}

} // namespace

void lowering::populateAttentionLowerings(LoweringTable &table) {
  table.add<aten::ScaledDotProductFlashAttentionForCpuOp>(lowerAttention);
  table.add<aten::ScaledDotProductFlashAttentionForCpuBackwardOp>(
      lowerAttentionBackward);
}
