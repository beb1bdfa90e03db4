//===- AttentionEmitter.cpp - The loops of an attention kernel ------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   scf.forall (batch, head, block of queries) {
//     for blocks of keys {                      // causal: up to the diagonal
//       pack the keys as columns
//       for some of the queries {
//         scores = query . keys                 // register tiles
//         scale, mask, maximum; weights = exp(scores - maximum); sums
//         out = out * exp(old - new maximum) + weights . values
//       }
//     }
//     out / sum
//   }
//
// Keys are packed per block of queries, not per head: the scratch does not grow
// with the number of keys, and it costs 3 % at 128 queries.
//
//===----------------------------------------------------------------------===//

#include "AttentionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace dynamo::codegen;
using Values = AttentionEmitter::Values;

static constexpr double lowest = -std::numeric_limits<double>::infinity();

AttentionEmitter::AttentionEmitter(OpBuilder &builder, Block *entry,
                                   const AttentionKernel &kernel,
                                   const target::MachineModel &machine)
    : kernel(kernel), op(kernel.op), e(builder, op.getLoc(), entry) {
  auto q = cast<RankedTensorType>(op.getQuery().getType());
  auto k = cast<RankedTensorType>(op.getKey().getType());
  auto v = cast<RankedTensorType>(op.getValue().getType());
  element = q.getElementType();
  type = element.isF64() ? element : Type(builder.getF32Type());
  batch = q.getDimSize(0);
  heads = q.getDimSize(1);
  queries = q.getDimSize(2);
  features = q.getDimSize(3);
  groups = k.getDimSize(1);
  keyCount = k.getDimSize(2);
  outFeatures = v.getDimSize(3);

  int64_t lanes = machine.lanes(type.getIntOrFloatBitWidth());
  nr = std::max<int64_t>(8, 2 * lanes);
  int64_t perRow = nr / lanes;
  mr = llvm::bit_floor<uint64_t>(
      std::max<int64_t>(1, (machine.vectorRegisters - perRow - 1) / perRow));
  qBlock = std::min<int64_t>(queries, 128);
  if (batch * heads * llvm::divideCeil(queries, qBlock) < 16)
    qBlock = std::min<int64_t>(queries, 64);
  rowBlock = std::min<int64_t>(qBlock, 64);
  keyBlock = std::min<int64_t>(64, llvm::alignTo(keyCount, nr));
  few = queries <= mr;
}

//===----------------------------------------------------------------------===//
// Small pieces
//===----------------------------------------------------------------------===//

Value AttentionEmitter::splat(double value, Type t) {
  OpBuilder::InsertionGuard guard(e.b);
  TypedAttr attr = e.b.getFloatAttr(type, value);
  if (auto vector = dyn_cast<VectorType>(t))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(e.b, e.loc, attr);
}

/// To the compute type.
Value AttentionEmitter::widen(Value value) {
  if (element == type)
    return value;
  Type t = type;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    t = vector.clone(type);
  return arith::ExtFOp::create(e.b, e.loc, t, value);
}

Value AttentionEmitter::exp(Value value) {
  return math::ExpOp::create(e.b, e.loc, value);
}

/// A row without any key has no maximum; any number serves in its place, as
/// every weight is exp(-inf).
Value AttentionEmitter::zeroIfLowest(Value value) {
  Value isLowest = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ,
                                         value, splat(lowest, value.getType()));
  return arith::SelectOp::create(e.b, e.loc, isLowest,
                                 splat(0.0, value.getType()), value);
}

Value AttentionEmitter::min(Value x, Value y) {
  if (x == y)
    return x;
  auto cx = constantIndex(x), cy = constantIndex(y);
  if (cx && cy)
    return e.index(std::min(*cx, *cy));
  return arith::MinUIOp::create(e.b, e.loc, x, y);
}

/// Sets every element of a scratch tensor whose last dim is a multiple of 8.
Value AttentionEmitter::fill(Value tensor, double value) {
  auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
  Value filler = splat(value, vectorOf(8));
  if (shape.size() == 1)
    return e.loop(e.index(shape[0]), 8, tensor, [&](Value i, ValueRange t) {
      return Values{e.write(filler, t[0], i)};
    })[0];
  return e.loop(e.index(shape[0]), 1, tensor, [&](Value i, ValueRange row) {
    return e.loop(e.index(shape[1]), 8, row, [&](Value j, ValueRange t) {
      return Values{e.write(filler, t[0], {i, j})};
    });
  })[0];
}

Values AttentionEmitter::walkRows(const Rows &rows, Values carried,
                                  RowsBody body) {
  Value full = e.roundDown(rows.count, mr);
  carried = e.loop(full, mr, carried, [&](Value row, ValueRange args) {
    return body(row, mr, Values(args));
  });
  int64_t rest = queries % mr;
  if (rest == 0)
    return carried;
  // Every block but the last is a multiple of mr.
  auto constant = constantIndex(rows.count);
  if (constant && *constant % mr == 0)
    return carried;
  Value cond;
  if (!constant)
    cond = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, full,
                                 rows.count);
  return e.when(cond, carried, [&] { return body(full, rest, carried); });
}

/// Rows [start, start + count) of a head, [count][width].
Value AttentionEmitter::slice(const AttentionTensor &source, Value head,
                              Value start, Value count, int64_t width) {
  SmallVector<OpFoldResult> offsets, sizes, strides(4, e.b.getIndexAttr(1));
  for (unsigned dim : source.order) {
    Value offset = dim == 0   ? batchIndex
                   : dim == 1 ? head
                   : dim == 2 ? start
                              : e.index(0);
    Value size = dim == 2 ? count : dim == 3 ? e.index(width) : e.index(1);
    offsets.push_back(getAsOpFoldResult(offset));
    sizes.push_back(getAsOpFoldResult(size));
  }
  int64_t shape[] = {constantIndex(count).value_or(ShapedType::kDynamic),
                     width};
  return tensor::ExtractSliceOp::create(
      e.b, e.loc,
      RankedTensorType::get(shape, getElementTypeOrSelf(source.tensor)),
      source.tensor, offsets, sizes, strides);
}

/// The same in the compute type: a copy in scratch for half types.
Value AttentionEmitter::copyRows(const AttentionTensor &source, Value head,
                                 Value start, Value count, int64_t maxCount,
                                 int64_t width) {
  Value rows = slice(source, head, start, count, width);
  if (element == type)
    return rows;
  Value copy = e.scratch({maxCount, width}, type);
  return e.loop(count, 1, copy, [&](Value i, ValueRange row) {
    Values part(row);
    for (int64_t step : {8, 1}) {
      int64_t from = step == 1 ? width / 8 * 8 : 0;
      part = e.loop(e.index(from), e.index(width / step * step), step, part,
                    [&](Value j, ValueRange t) {
                      Value x = e.read(VectorType::get({step}, element), rows,
                                       {i, j});
                      return Values{e.write(widen(x), t[0], {i, j})};
                    });
    }
    return part;
  })[0];
}

//===----------------------------------------------------------------------===//
// Parallel tiles
//===----------------------------------------------------------------------===//

Values AttentionEmitter::emit() {
  OpBuilder &b = e.b;
  auto attrs = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(b.getContext(), values);
  };
  auto outType = cast<RankedTensorType>(kernel.out.tensor.getType());
  Values destinations = {e.empty(outType.getShape(), outType.getElementType())};
  if (kernel.needsLogsumexp)
    destinations.push_back(e.empty({batch, heads, queries}, type));

  auto forall = scf::ForallOp::create(
      b, e.loc, attrs({0, 0, 0}), attrs({batch, heads, queries}),
      attrs({1, 1, qBlock}), destinations, /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  batchIndex = forall.getInductionVar(0);
  head = forall.getInductionVar(1);
  queryStart = forall.getInductionVar(2);
  keyHead = groups == heads ? head
                            : Value(arith::DivUIOp::create(
                                  b, e.loc, head, e.index(heads / groups)));
  queryCount = queries % qBlock == 0
                   ? e.index(qBlock)
                   : min(e.index(qBlock), e.sub(e.index(queries), queryStart));

  // Where the tile goes in each destination.
  SmallVector<SmallVector<OpFoldResult>> offsets(2), sizes(2), strides(2);
  Values slices;
  for (auto [i, destination] : llvm::enumerate(forall.getRegionIterArgs())) {
    SmallVector<unsigned> order = kernel.out.order;
    if (i == 1)
      order = {0, 1, 2};
    for (unsigned dim : order) {
      Value offset[] = {batchIndex, head, queryStart, e.index(0)};
      Value size[] = {e.index(1), e.index(1), queryCount, e.index(outFeatures)};
      offsets[i].push_back(getAsOpFoldResult(offset[dim]));
      sizes[i].push_back(getAsOpFoldResult(size[dim]));
      strides[i].push_back(b.getIndexAttr(1));
    }
    int64_t count = constantIndex(queryCount).value_or(ShapedType::kDynamic);
    SmallVector<int64_t> shape = {count};
    if (i == 0)
      shape.push_back(outFeatures);
    slices.push_back(tensor::ExtractSliceOp::create(
        b, e.loc,
        RankedTensorType::get(shape, getElementTypeOrSelf(destination)),
        destination, offsets[i], sizes[i], strides[i]));
  }
  Values results = emitTile(slices);
  b.setInsertionPointToEnd(forall.getTerminator().getBody());
  for (auto [i, destination] : llvm::enumerate(forall.getRegionIterArgs()))
    tensor::ParallelInsertSliceOp::create(b, e.loc, results[i], destination,
                                          offsets[i], sizes[i], strides[i]);
  return Values(forall.getResults());
}

Values AttentionEmitter::emitTile(ValueRange destinations) {
  // Longer than any other vector of rows: a write of a whole one over them
  // would fold into it, and what is carried would change its buffer.
  int64_t rows = llvm::alignTo(qBlock, 8) + 8;
  State state(
      {fill(e.scratch({rows}, type), lowest),
       fill(e.scratch({rows}, type), 0.0),
       fill(e.scratch({rows, (int64_t)llvm::alignTo(outFeatures, nr)}, type),
            0.0)});
  Value query =
      copyRows(kernel.query, head, queryStart, queryCount, qBlock, features);
  Value end = e.index(keyCount);
  if (op.getCausal())
    end = min(end, e.add(queryStart, queryCount));
  state = State(
      e.loop(end, keyBlock, state.all(), [&](Value start, ValueRange carried) {
        return emitKeyBlock(query, start, State(carried)).all();
      }));
  return writeResults(state, Values(destinations));
}

AttentionEmitter::State AttentionEmitter::emitKeyBlock(Value query, Value start,
                                                       State state) {
  int64_t tail = keyCount % keyBlock;
  Value count = e.index(std::min(keyBlock, keyCount)), isTail;
  if (tail != 0 && keyCount > keyBlock) {
    isTail = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::uge, start,
                                   e.index(keyCount - tail));
    count = arith::SelectOp::create(e.b, e.loc, isTail, e.index(tail), count);
  }
  Value keys = few ? Value() : packKeys(start);
  Value values =
      copyRows(kernel.value, keyHead, start, count, keyBlock, outFeatures);

  return State(e.loop(
      queryCount, rowBlock, state.all(), [&](Value first, ValueRange args) {
        Rows rows{first, rowBlock == qBlock ? queryCount
                                            : min(e.index(rowBlock),
                                                  e.sub(queryCount, first))};
        auto body = [&] {
          State s(args);
          Value weights = few ? scoresByDots(query, rows, start, count)
                              : scores(query, keys, rows, start);
          // Scale, mask and the new maxima. Both ways write the same scratch:
          // with one each, no one could tell which buffer is read behind.
          Value maxima = e.scratch({(int64_t)llvm::alignTo(rowBlock, 8)}, type);
          Values masked;
          if (isTail) {
            auto choose = scf::IfOp::create(
                e.b, e.loc, isTail,
                [&](OpBuilder &, Location) {
                  scf::YieldOp::create(
                      e.b, e.loc,
                      maskScores(weights, s.top, maxima, rows, start, tail));
                },
                [&](OpBuilder &, Location) {
                  scf::YieldOp::create(e.b, e.loc,
                                       maskScores(weights, s.top, maxima, rows,
                                                  start, keyBlock));
                });
            masked = Values(choose.getResults());
          } else {
            masked = maskScores(weights, s.top, maxima, rows, start,
                                std::min(keyBlock, keyCount));
          }
          weights = masked[0];
          Value newTop = masked[1];

          // How much what was added so far shrinks, eight rows at a time.
          Value factors =
              e.scratch({(int64_t)llvm::alignTo(rowBlock, 8)}, type);
          Values shrunk = e.loop(
              rows.count, 8, {factors, s.top}, [&](Value r, ValueRange t) {
                Value at = e.add(first, r);
                Value top = e.read(vectorOf(8), newTop, r);
                Value old = e.read(vectorOf(8), t[1], at);
                Value factor = exp(
                    arith::SubFOp::create(e.b, e.loc, old, zeroIfLowest(top)));
                return Values{e.write(factor, t[0], r), e.write(top, t[1], at)};
              });
          factors = shrunk[0];
          s.top = shrunk[1];

          Values summed = e.loop(
              rows.count, 1, {weights, s.sum}, [&](Value r, ValueRange t) {
                Value top = zeroIfLowest(e.extract(newTop, r));
                Value x = e.read(vectorOf(keyBlock), t[0], {r, e.index(0)});
                x = exp(arith::SubFOp::create(e.b, e.loc, x,
                                              e.broadcast(top, keyBlock)));
                Value at = e.add(first, r);
                Value sum = e.multiplyAdd(
                    e.extract(t[1], at), e.extract(factors, r), e.reduceAdd(x));
                return Values{
                    e.write(x, t[0], {r, e.index(0)}),
                    tensor::InsertOp::create(e.b, e.loc, sum, t[1], at)};
              });
          weights = summed[0];
          s.sum = summed[1];
          s.out = addValues(weights, values, factors, s.out, rows, count);
          return s.all();
        };
        if (!op.getCausal() || rowBlock == qBlock)
          return body();
        // All of these queries may come before this block of keys.
        Value end = e.add(queryStart, e.add(first, rows.count));
        Value any = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ult,
                                          start, end);
        return e.when(any, args, body);
      }));
}

/// out / sum, and the logarithm of the sum. Rows without a key are 0.
Values AttentionEmitter::writeResults(State state, Values destinations) {
  Value out =
      e.loop(queryCount, 1, destinations[0], [&](Value r, ValueRange row) {
        Value sum = e.extract(state.sum, r);
        Value none = arith::CmpFOp::create(
            e.b, e.loc, arith::CmpFPredicate::OEQ, sum, splat(0.0, type));
        Value scale = arith::SelectOp::create(
            e.b, e.loc, none, splat(0.0, type),
            arith::DivFOp::create(e.b, e.loc, splat(1.0, type), sum));
        Values part(row);
        for (int64_t step : {32, 8, 1}) {
          int64_t from = step == 32  ? 0
                         : step == 8 ? outFeatures / 32 * 32
                                     : outFeatures / 8 * 8;
          part =
              e.loop(e.index(from), e.index(outFeatures / step * step), step,
                     part, [&](Value j, ValueRange t) {
                       Value x = e.read(vectorOf(step), state.out, {r, j});
                       x = arith::MulFOp::create(e.b, e.loc, x,
                                                 e.broadcast(scale, step));
                       if (element != type)
                         x = arith::TruncFOp::create(
                             e.b, e.loc, VectorType::get({step}, element), x);
                       return Values{e.write(x, t[0], {r, j})};
                     });
        }
        return part;
      })[0];
  if (!kernel.needsLogsumexp)
    return {out};

  Value logs = e.scratch({(int64_t)llvm::alignTo(qBlock, 8)}, type);
  logs = e.loop(queryCount, 8, logs, [&](Value r, ValueRange t) {
    Value top = e.read(vectorOf(8), state.top, r);
    Value sum = e.read(vectorOf(8), state.sum, r);
    Value zero = splat(0.0, vectorOf(8));
    Value none =
        arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OEQ, sum, zero);
    Value log = arith::AddFOp::create(e.b, e.loc, top,
                                      math::LogOp::create(e.b, e.loc, sum));
    log = arith::SelectOp::create(e.b, e.loc, none, zero, log);
    return Values{e.write(log, t[0], r)};
  })[0];
  Value lse =
      e.loop(queryCount, 1, destinations[1], [&](Value r, ValueRange t) {
        return Values{
            tensor::InsertOp::create(e.b, e.loc, e.extract(logs, r), t[0], r)};
      })[0];
  return {out, lse};
}
