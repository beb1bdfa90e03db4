//===- DecomposeAttention.cpp - rt.attention in terms of linalg
//----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference form of attention: scores, softmax, weighted sum, with the
// whole score matrix in memory.  It is what runs where no attention kernel
// applies, and what the attention kernel is tested against.
//
// The softmax is not normalised before the second contraction: dividing its
// result by the row sum costs head-size instead of key-count divisions a row.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

#define DEBUG_TYPE "rt-decompose-attention"

namespace dynamo::rt {
#define GEN_PASS_DEF_RTDECOMPOSEATTENTIONPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;
using namespace dynamo;

using utils::IteratorType;

namespace {

/// Builds the linalg form of one attention.
///
/// Loops are named by position: the batch dims first (batch and head; batch,
/// key head and query head in it where several query heads share a key head),
/// then query l, then key j or feature e, then the contracted one.
class Decomposition {
public:
  Decomposition(rt::AttentionOp op) : op(op), b(op.getLoc(), op) {
    element = cast<RankedTensorType>(op.getQuery().getType()).getElementType();
    compute = element.isF64() ? element : Type(b.getF32Type());
  }

  LogicalResult run() {
    auto qType = cast<RankedTensorType>(op.getQuery().getType());
    auto kType = cast<RankedTensorType>(op.getKey().getType());
    auto vType = cast<RankedTensorType>(op.getValue().getType());
    if (!qType.hasStaticShape() || !kType.hasStaticShape() ||
        !vType.hasStaticShape() ||
        (op.getMask() &&
         !cast<RankedTensorType>(op.getMask().getType()).hasStaticShape()))
      return op.emitError(
          "attention of dynamic sizes is not supported, give all sizes");
    int64_t heads = qType.getDimSize(1);
    groups = kType.getDimSize(1);
    shared = groups && heads != groups ? heads / groups : 1;
    int64_t l = qType.getDimSize(2), j = kType.getDimSize(2),
            e = vType.getDimSize(3);

    batch = {qType.getDimSize(0), groups};
    if (shared > 1)
      batch.push_back(shared);
    unsigned n = batch.size();
    Value q = splitHeads(op.getQuery());

    // Scores: q . k over the features, then scale, mask and cut.
    Value scores = contract(q, op.getKey(), {l, j, qType.getDimSize(3)},
                            /*lhs=*/{n, n + 2}, /*rhs=*/{n + 1, n + 2});
    scores = cut(scores, l, j);

    Value lowest = constant(-std::numeric_limits<double>::infinity());
    Value zero = constant(0.0);
    Value top = reduceRow(scores, l, j, lowest, [&](Value s, Value acc) {
      return arith::MaximumFOp::create(b, acc, s).getResult();
    });
    // A row without keys has no maximum; any number serves, as every exp is 0.
    top = rowwise({top}, l, {}, compute, [&](ValueRange x) {
      Value none =
          arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x[0], lowest);
      return arith::SelectOp::create(b, none, zero, x[0]).getResult();
    });
    Value weights = rowwise({scores, top}, l, j, compute, [&](ValueRange x) {
      return math::ExpOp::create(b, arith::SubFOp::create(b, x[0], x[1]))
          .getResult();
    });
    Value sum = reduceRow(weights, l, j, zero, [&](Value s, Value acc) {
      return arith::AddFOp::create(b, acc, s).getResult();
    });
    if (element != compute)
      weights = rowwise({weights}, l, j, element, [&](ValueRange x) {
        return arith::TruncFOp::create(b, element, x[0]).getResult();
      });

    Value out = contract(weights, op.getValue(), {l, e, j}, /*lhs=*/{n, n + 2},
                         /*rhs=*/{n + 2, n + 1});
    out = rowwise({out, sum}, l, e, element, [&](ValueRange x) {
      Value none =
          arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x[1], zero);
      Value mean = arith::DivFOp::create(b, x[0], x[1]);
      Value result = arith::SelectOp::create(b, none, zero, mean);
      if (element != compute)
        result = arith::TruncFOp::create(b, element, result);
      return result;
    });
    op.getOut().replaceAllUsesWith(joinHeads(out, op.getOut().getType()));

    if (!op.getLogsumexp().use_empty()) {
      Value lse = rowwise({top, sum}, l, {}, compute, [&](ValueRange x) {
        Value none =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x[1], zero);
        Value log =
            arith::AddFOp::create(b, x[0], math::LogOp::create(b, x[1]));
        return arith::SelectOp::create(b, none, zero, log).getResult();
      });
      op.getLogsumexp().replaceAllUsesWith(
          joinHeads(lse, op.getLogsumexp().getType()));
    }
    op.erase();
    return success();
  }

private:
  Value constant(double value) {
    return arith::ConstantOp::create(b, b.getFloatAttr(compute, value));
  }

  /// [B, H, ...] as [B, G, H/G, ...] where query heads share keys.  A head dim
  /// of 1 (of a mask) becomes 1, 1.
  Value splitHeads(Value x) {
    if (shared == 1)
      return x;
    auto type = cast<RankedTensorType>(x.getType());
    SmallVector<int64_t> shape(type.getShape());
    bool broadcast = shape[1] == 1;
    shape[1] = broadcast ? 1 : groups;
    shape.insert(shape.begin() + 2, broadcast ? 1 : shared);
    return tensor::ExpandShapeOp::create(b, type.clone(shape), x,
                                         headGroups(shape.size()));
  }

  Value joinHeads(Value x, Type type) {
    if (shared == 1)
      return x;
    int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
    return tensor::CollapseShapeOp::create(b, type, x, headGroups(rank));
  }

  static SmallVector<ReassociationIndices> headGroups(int64_t rank) {
    SmallVector<ReassociationIndices> groups = {{0}, {1, 2}};
    for (int64_t dim = 3; dim < rank; ++dim)
      groups.push_back({dim});
    return groups;
  }

  /// The map of loops (batch dims, then `extra` more) to the batch dims and
  /// then `dims`.
  AffineMap mapOf(unsigned extra, unsigned batchDims, ArrayRef<unsigned> dims) {
    SmallVector<AffineExpr> exprs;
    for (unsigned dim = 0; dim < batchDims; ++dim)
      exprs.push_back(b.getAffineDimExpr(dim));
    for (unsigned dim : dims)
      exprs.push_back(b.getAffineDimExpr(dim));
    return AffineMap::get(batch.size() + extra, 0, exprs, b.getContext());
  }

  Value empty(ArrayRef<int64_t> tail, Type type) {
    SmallVector<int64_t> shape(batch);
    shape.append(tail.begin(), tail.end());
    return tensor::EmptyOp::create(b, shape, type);
  }

  Value filled(ArrayRef<int64_t> tail, Value scalar) {
    return linalg::FillOp::create(b, scalar, empty(tail, compute)).getResult(0);
  }

  Value extend(Value x) {
    return x.getType() == compute ? x
                                  : Value(arith::ExtFOp::create(b, compute, x));
  }

  /// sum over the last loop of lhs * rhs; `sizes` are those of (m, n, k).
  /// The right side has no dim for the query heads that share it.
  Value contract(Value lhs, Value rhs, ArrayRef<int64_t> sizes,
                 ArrayRef<unsigned> lhsDims, ArrayRef<unsigned> rhsDims) {
    unsigned n = batch.size();
    SmallVector<IteratorType> iterators(n + 2, IteratorType::parallel);
    iterators.push_back(IteratorType::reduction);
    Value init = filled(sizes.take_front(2), constant(0.0));
    auto generic = linalg::GenericOp::create(
        b, init.getType(), ValueRange{lhs, rhs}, init,
        {mapOf(3, n, lhsDims), mapOf(3, 2, rhsDims), mapOf(3, n, {n, n + 1})},
        iterators, [&](OpBuilder &, Location, ValueRange args) {
          Value product =
              arith::MulFOp::create(b, extend(args[0]), extend(args[1]));
          linalg::YieldOp::create(
              b, ValueRange{arith::AddFOp::create(b, args[2], product)});
        });
    return generic.getResult(0);
  }

  /// Elementwise over rows of `width` elements (over one element a row without
  /// it); operands have the rows' shape or are one element a row.
  Value rowwise(ValueRange operands, int64_t rows, std::optional<int64_t> width,
                Type type, llvm::function_ref<Value(ValueRange)> body) {
    unsigned n = batch.size(), extra = width ? 2 : 1;
    AffineMap row = mapOf(extra, n, {n});
    AffineMap full = width ? mapOf(extra, n, {n, n + 1}) : row;
    SmallVector<AffineMap> maps;
    for (Value operand : operands)
      maps.push_back(
          cast<RankedTensorType>(operand.getType()).getRank() == n + 1 ? row
                                                                       : full);
    maps.push_back(full);
    SmallVector<int64_t> tail = {rows};
    if (width)
      tail.push_back(*width);
    Value init = empty(tail, type);
    return linalg::GenericOp::create(
               b, init.getType(), operands, init, maps,
               SmallVector<IteratorType>(n + extra, IteratorType::parallel),
               [&](OpBuilder &, Location, ValueRange args) {
                 linalg::YieldOp::create(b, ValueRange{body(args.drop_back())});
               })
        .getResult(0);
  }

  Value reduceRow(Value x, int64_t rows, int64_t width, Value init,
                  llvm::function_ref<Value(Value, Value)> combine) {
    unsigned n = batch.size();
    SmallVector<IteratorType> iterators(n + 1, IteratorType::parallel);
    iterators.push_back(IteratorType::reduction);
    Value start = filled({rows}, init);
    return linalg::GenericOp::create(
               b, start.getType(), x, start,
               {mapOf(2, n, {n, n + 1}), mapOf(2, n, {n})}, iterators,
               [&](OpBuilder &, Location, ValueRange args) {
                 linalg::YieldOp::create(b,
                                         ValueRange{combine(args[0], args[1])});
               })
        .getResult(0);
  }

  /// scale * scores + mask, -inf where the causal cut hides the key.
  Value cut(Value scores, int64_t rows, int64_t width) {
    unsigned n = batch.size();
    AffineMap full = mapOf(2, n, {n, n + 1});
    SmallVector<Value> inputs = {scores};
    SmallVector<AffineMap> maps = {full};
    if (op.getMask()) {
      Value mask = splitHeads(op.getMask());
      SmallVector<AffineExpr> exprs(full.getResults());
      for (auto [dim, size] :
           llvm::enumerate(cast<RankedTensorType>(mask.getType()).getShape()))
        if (size == 1)
          exprs[dim] = b.getAffineConstantExpr(0);
      inputs.push_back(mask);
      maps.push_back(AffineMap::get(n + 2, 0, exprs, b.getContext()));
    }
    maps.push_back(full);
    Value scale = constant(op.getScale().convertToDouble());
    Value hidden = constant(-std::numeric_limits<double>::infinity());
    Value init = empty({rows, width}, compute);
    return linalg::GenericOp::create(
               b, init.getType(), inputs, init, maps,
               SmallVector<IteratorType>(n + 2, IteratorType::parallel),
               [&](OpBuilder &, Location, ValueRange args) {
                 Value s = arith::MulFOp::create(b, args[0], scale);
                 if (op.getMask())
                   s = arith::AddFOp::create(b, s, extend(args[1]));
                 if (op.getCausal()) {
                   Value row = linalg::IndexOp::create(b, n);
                   Value key = linalg::IndexOp::create(b, n + 1);
                   Value later = arith::CmpIOp::create(
                       b, arith::CmpIPredicate::sgt, key, row);
                   s = arith::SelectOp::create(b, later, hidden, s);
                 }
                 linalg::YieldOp::create(b, ValueRange{s});
               })
        .getResult(0);
  }

  rt::AttentionOp op;
  ImplicitLocOpBuilder b;
  Type element, compute;
  SmallVector<int64_t> batch;
  int64_t groups = 1, shared = 1;
};

struct RtDecomposeAttention
    : dynamo::rt::impl::RtDecomposeAttentionPassBase<RtDecomposeAttention> {
  using RtDecomposeAttentionPassBase::RtDecomposeAttentionPassBase;

  /// Whether `codegen-tile-attention` takes the operation: static sizes, and
  /// rows that leave room in 512 KiB of scratch.
  static bool hasKernel(rt::AttentionOp op) {
    for (Type type : op->getOperandTypes()) {
      auto tensor = cast<RankedTensorType>(type);
      if (!tensor.hasStaticShape() || tensor.getNumElements() == 0)
        return false;
    }
    auto query = cast<RankedTensorType>(op.getQuery().getType());
    auto value = cast<RankedTensorType>(op.getValue().getType());
    int64_t limit = query.getElementType().isF64() ? 128 : 256;
    return query.getDimSize(3) <= limit && value.getDimSize(3) <= limit;
  }

  void runOnOperation() override {
    SmallVector<rt::AttentionOp> ops;
    getOperation()->walk([&](rt::AttentionOp op) {
      if (!keepKernels || !hasKernel(op))
        ops.push_back(op);
    });
    for (rt::AttentionOp op : ops)
      if (failed(Decomposition(op).run()))
        return signalPassFailure();
  }
};

} // namespace
