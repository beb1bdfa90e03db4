//===- TileEmitter.cpp - Loops and vectors on tensors ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dynamo::codegen;
using Values = TileEmitter::Values;

std::optional<int64_t> dynamo::codegen::constantIndex(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

Value TileEmitter::constant(TypedAttr attr) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry);
  return arith::ConstantOp::create(b, loc, attr);
}

Value TileEmitter::index(int64_t value) {
  Value &known = indexConstants[value];
  if (!known)
    known = constant(b.getIndexAttr(value));
  return known;
}

Value TileEmitter::add(Value x, Value y) {
  auto cx = constantIndex(x), cy = constantIndex(y);
  if (cx && cy)
    return index(*cx + *cy);
  if (cx == 0)
    return y;
  if (cy == 0)
    return x;
  return arith::AddIOp::create(b, loc, x, y);
}

Value TileEmitter::sub(Value x, Value y) {
  auto cx = constantIndex(x), cy = constantIndex(y);
  if (cx && cy)
    return index(*cx - *cy);
  if (cy == 0)
    return x;
  return arith::SubIOp::create(b, loc, x, y);
}

Value TileEmitter::roundDown(Value x, int64_t step) {
  if (step == 1)
    return x;
  if (auto cx = constantIndex(x))
    return index(*cx - *cx % step);
  Value rest = arith::RemUIOp::create(b, loc, x, index(step));
  return sub(x, rest);
}

Values TileEmitter::loop(Value lb, Value ub, int64_t step, ValueRange inits,
                         LoopBody body) {
  auto clb = constantIndex(lb), cub = constantIndex(ub);
  if (lb == ub || (clb && cub && *clb >= *cub))
    return Values(inits);
  if (clb && cub && *cub - *clb <= step)
    return body(lb, inits);
  auto loop = scf::ForOp::create(
      b, loc, lb, ub, index(step), inits,
      [&](OpBuilder &, Location, Value iv, ValueRange carried) {
        scf::YieldOp::create(b, loc, body(iv, carried));
      });
  return Values(loop.getResults());
}

Values TileEmitter::unrolledLoop(Value ub, ValueRange inits, LoopBody body) {
  static constexpr int64_t kUnroll = 4;
  Value full = roundDown(ub, kUnroll);
  Values done = loop(full, kUnroll, inits, [&](Value iv, ValueRange carried) {
    Values values(carried);
    for (int64_t i = 0; i < kUnroll; ++i)
      values = body(add(iv, i), values);
    return values;
  });
  return loop(full, ub, 1, done, body);
}

Values TileEmitter::when(Value cond, ValueRange inits,
                         function_ref<Values()> body) {
  if (!cond)
    return body();
  auto op = scf::IfOp::create(
      b, loc, cond,
      [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, body()); },
      [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, inits); });
  return Values(op.getResults());
}

Value TileEmitter::empty(ArrayRef<int64_t> shape, Type element) {
  return tensor::EmptyOp::create(b, loc, shape, element);
}

Value TileEmitter::scratch(ArrayRef<int64_t> shape, Type element) {
  return bufferization::AllocTensorOp::create(
      b, loc, RankedTensorType::get(shape, element), ValueRange());
}

Value TileEmitter::zero(Type type) {
  Value &known = zeros[type];
  if (!known)
    known = constant(cast<TypedAttr>(b.getZeroAttr(type)));
  return known;
}

Value TileEmitter::read(VectorType type, Value tensor, ValueRange indices) {
  SmallVector<bool> inBounds(type.getRank(), true);
  return vector::TransferReadOp::create(b, loc, type, tensor, indices,
                                        zero(type.getElementType()),
                                        ArrayRef<bool>(inBounds));
}

Value TileEmitter::write(Value vector, Value tensor, ValueRange indices) {
  SmallVector<bool> inBounds(cast<VectorType>(vector.getType()).getRank(),
                             true);
  return vector::TransferWriteOp::create(b, loc, vector, tensor, indices,
                                         ArrayRef<bool>(inBounds))
      ->getResult(0);
}

Value TileEmitter::extract(Value tensor, ValueRange indices) {
  return tensor::ExtractOp::create(b, loc, tensor, indices);
}

Value TileEmitter::shuffle(Value x, Value y, ArrayRef<int64_t> mask) {
  return vector::ShuffleOp::create(b, loc, x, y, mask);
}

Value TileEmitter::part(Value vector, int64_t offset, int64_t size) {
  if (size == cast<VectorType>(vector.getType()).getDimSize(0))
    return vector;
  return vector::ExtractStridedSliceOp::create(
      b, loc, vector, ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{size},
      ArrayRef<int64_t>{1});
}

Value TileEmitter::broadcast(Value scalar, int64_t width) {
  return vector::BroadcastOp::create(
      b, loc, VectorType::get({width}, scalar.getType()), scalar);
}

Value TileEmitter::multiplyAdd(Value x, Value y, Value acc) {
  if (isa<FloatType>(getElementTypeOrSelf(acc))) {
    if (isa<VectorType>(acc.getType()))
      return vector::FMAOp::create(b, loc, x, y, acc);
    return arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, x, y),
                                 acc);
  }
  return arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, x, y),
                               acc);
}

Value TileEmitter::sum(Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x)))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

Value TileEmitter::reduceAdd(Value vector) {
  auto flags = isa<FloatType>(getElementTypeOrSelf(vector))
                   ? arith::FastMathFlags::reassoc
                   : arith::FastMathFlags::none;
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, vector,
                                     flags);
}

Value TileEmitter::applyCasts(Value value, ArrayRef<Operation *> casts) {
  for (Operation *op : casts) {
    Type type = op->getResultTypes().front();
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      type = vector.clone(type);
    OperationState state(loc, op->getName(), value, type, op->getAttrs());
    value = b.create(state)->getResult(0);
  }
  return value;
}

// The usual network: interleave pairs of rows, then pairs of pairs, then
// halves.  Each shuffle is one instruction on AVX2 for 32-bit elements.
Values TileEmitter::transpose8x8(ValueRange r) {
  Values t(8), u(8), out(8);
  for (int i = 0; i < 8; i += 2) {
    t[i] = shuffle(r[i], r[i + 1], {0, 8, 1, 9, 4, 12, 5, 13});
    t[i + 1] = shuffle(r[i], r[i + 1], {2, 10, 3, 11, 6, 14, 7, 15});
  }
  for (int i = 0; i < 8; i += 4)
    for (int j = 0; j < 2; ++j) {
      u[i + 2 * j] =
          shuffle(t[i + j], t[i + j + 2], {0, 1, 8, 9, 4, 5, 12, 13});
      u[i + 2 * j + 1] =
          shuffle(t[i + j], t[i + j + 2], {2, 3, 10, 11, 6, 7, 14, 15});
    }
  for (int i = 0; i < 4; ++i) {
    out[i] = shuffle(u[i], u[i + 4], {0, 1, 2, 3, 8, 9, 10, 11});
    out[i + 4] = shuffle(u[i], u[i + 4], {4, 5, 6, 7, 12, 13, 14, 15});
  }
  return out;
}
