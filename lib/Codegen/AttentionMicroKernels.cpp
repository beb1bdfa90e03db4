//===- AttentionMicroKernels.cpp - Scores, masks, weighted sums -----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pieces of AttentionEmitter that run between registers and scratch.  Both
// contractions use a register tile of 4 x 16 on AVX2: as fast as 6 x 16 here,
// and it divides the usual sizes.
//
//===----------------------------------------------------------------------===//

#include "AttentionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace dynamo::codegen;
using Values = AttentionEmitter::Values;

static constexpr double lowest = -std::numeric_limits<double>::infinity();

/// Keys [start, start + keyBlock) as columns: panels [panel][feature][nr].
/// Past the last key it is repeated; its scores are cut off later.
Value AttentionEmitter::packKeys(Value start) {
  Value panels = e.scratch({keyBlock / nr, features, nr}, type);
  Value all =
      slice(kernel.key, keyHead, e.index(0), e.index(keyCount), features);
  Value last = e.index(keyCount - 1);
  auto read8 = VectorType::get({8}, element);
  return e.loop(
      e.index(keyBlock / nr), 1, panels, [&](Value p, ValueRange panel) {
        Value base =
            e.add(start, arith::MulIOp::create(e.b, e.loc, p, e.index(nr)));
        return e.loop(
            e.index(nr), 8, panel, [&](Value column, ValueRange group) {
              Values rows;
              for (int64_t i = 0; i < 8; ++i) {
                Value row = e.add(e.add(base, column), i);
                rows.push_back(keyCount % keyBlock == 0 ? row : min(row, last));
              }
              Value full = e.index(features / 8 * 8);
              Values done = e.loop(full, 8, group, [&](Value d, ValueRange t) {
                Values square;
                for (Value row : rows)
                  square.push_back(widen(e.read(read8, all, {row, d})));
                square = e.transpose8x8(square);
                Value panel = t[0];
                for (int64_t i = 0; i < 8; ++i)
                  panel = e.write(square[i], panel, {p, e.add(d, i), column});
                return Values{panel};
              });
              return e.loop(
                  full, e.index(features), 1, done, [&](Value d, ValueRange t) {
                    Values elements;
                    for (Value row : rows)
                      elements.push_back(widen(e.extract(all, {row, d})));
                    Value line = vector::FromElementsOp::create(
                        e.b, e.loc, vectorOf(8), elements);
                    return Values{e.write(line, t[0], {p, d, column})};
                  });
            });
      })[0];
}

/// Dot products of the queries `rows` with the packed keys.
Value AttentionEmitter::scores(Value query, Value keys, const Rows &rows,
                               Value) {
  Value scores = e.scratch({rowBlock, keyBlock}, type);
  return e.loop(
      e.index(keyBlock / nr), 1, scores, [&](Value p, ValueRange panel) {
        Value column = arith::MulIOp::create(e.b, e.loc, p, e.index(nr));
        return walkRows(
            rows, Values(panel), [&](Value row, int64_t count, Values carried) {
              Value at = e.add(rows.first, row);
              auto step = [&](Value d, ValueRange sums) {
                Values acc(sums);
                Value k = e.read(vectorOf(nr), keys, {p, d, e.index(0)});
                for (int64_t i = 0; i < count; ++i)
                  acc[i] = e.multiplyAdd(
                      e.broadcast(e.extract(query, {e.add(at, i), d}), nr), k,
                      acc[i]);
                return acc;
              };
              Values acc(count, splat(0.0, vectorOf(nr)));
              acc = e.unrolledLoop(e.index(features), acc, step);
              for (int64_t i = 0; i < count; ++i)
                carried[0] =
                    e.write(acc[i], carried[0], {e.add(row, i), column});
              return carried;
            });
      })[0];
}

/// The same without packing, for a few queries: a key is read once, as it
/// lies in memory.
Value AttentionEmitter::scoresByDots(Value query, const Rows &rows, Value start,
                                     Value count) {
  Value scores = e.scratch({rowBlock, keyBlock}, type);
  Value keys = slice(kernel.key, keyHead, start, count, features);
  Value full = e.index(features / 8 * 8);
  return e.loop(count, 1, scores, [&](Value j, ValueRange carried) {
    Values acc(queries, splat(0.0, vectorOf(8)));
    acc = e.loop(full, 8, acc, [&](Value d, ValueRange args) {
      Values acc(args);
      Value k = widen(e.read(VectorType::get({8}, element), keys, {j, d}));
      for (int64_t i = 0; i < queries; ++i)
        acc[i] = e.multiplyAdd(e.read(vectorOf(8), query, {e.index(i), d}), k,
                               acc[i]);
      return acc;
    });
    Values sums;
    for (Value x : acc)
      sums.push_back(e.reduceAdd(x));
    sums =
        e.loop(full, e.index(features), 1, sums, [&](Value d, ValueRange args) {
          Values sums(args);
          Value k = widen(e.extract(keys, {j, d}));
          for (int64_t i = 0; i < queries; ++i)
            sums[i] =
                e.multiplyAdd(e.extract(query, {e.index(i), d}), k, sums[i]);
          return sums;
        });
    Value result = carried[0];
    for (int64_t i = 0; i < queries; ++i)
      result = tensor::InsertOp::create(e.b, e.loc, sums[i], result,
                                        ValueRange{e.index(i), j});
    return Values{result};
  })[0];
}

/// The mask at `width` keys from `start`, for the query `row` of the tile.
Value AttentionEmitter::maskVector(Value row, Value start, int64_t width) {
  Value mask = op.getMask();
  auto maskType = cast<RankedTensorType>(mask.getType());
  Value position[] = {batchIndex, head, e.add(queryStart, row), start};
  Values indices;
  for (auto [size, at] : llvm::zip_equal(maskType.getShape(), position))
    indices.push_back(size == 1 ? e.index(0) : at);
  if (maskType.getDimSize(3) == 1)
    return e.broadcast(widen(e.extract(mask, indices)), width);
  return widen(e.read(VectorType::get({width}, maskType.getElementType()), mask,
                      indices));
}

/// The larger one; x where either is NaN. One instruction on x86.
Value AttentionEmitter::max(Value x, Value y) {
  Value greater =
      arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OGT, y, x);
  return arith::SelectOp::create(e.b, e.loc, greater, y, x);
}

Values AttentionEmitter::maskScores(Value scores, Value top, Value newTop,
                                    const Rows &rows, Value start,
                                    int64_t count) {
  VectorType vector = vectorOf(keyBlock);
  Value scale = splat(op.getScale().convertToDouble(), vector);
  Value none = splat(lowest, vector);
  return e.loop(rows.count, 1, {scores, newTop}, [&](Value r, ValueRange t) {
    Value row = e.add(rows.first, r);
    Value x = e.read(vector, t[0], {r, e.index(0)});
    x = arith::MulFOp::create(e.b, e.loc, x, scale);
    if (op.getMask()) {
      Value mask = maskVector(row, start, count);
      if (count != keyBlock)
        mask = vector::InsertStridedSliceOp::create(
            e.b, e.loc, mask, splat(0.0, vector), ArrayRef<int64_t>{0},
            ArrayRef<int64_t>{1});
      x = arith::AddFOp::create(e.b, e.loc, x, mask);
    }
    if (op.getCausal()) {
      // Key start + i is seen while it is at most the query.
      Type i32 = e.b.getI32Type();
      auto order = llvm::to_vector(llvm::seq<int32_t>(0, keyBlock));
      Value steps = arith::ConstantOp::create(
          e.b, e.loc,
          DenseElementsAttr::get(VectorType::get({keyBlock}, i32),
                                 ArrayRef<int32_t>(order)));
      Value limit = arith::IndexCastOp::create(
          e.b, e.loc, i32, e.sub(e.add(queryStart, row), start));
      Value seen = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sle,
                                         steps, e.broadcast(limit, keyBlock));
      x = arith::SelectOp::create(e.b, e.loc, seen, x, none);
    }
    if (count != keyBlock) {
      SmallVector<bool> isKey(keyBlock, false);
      std::fill_n(isKey.begin(), count, true);
      Value real = arith::ConstantOp::create(
          e.b, e.loc,
          DenseElementsAttr::get(VectorType::get({keyBlock}, e.b.getI1Type()),
                                 ArrayRef<bool>(isKey)));
      x = arith::SelectOp::create(e.b, e.loc, real, x, none);
    }
    Value best = x;
    for (int64_t width = keyBlock; width > 8 && width % 2 == 0; width /= 2)
      best =
          max(e.part(best, 0, width / 2), e.part(best, width / 2, width / 2));
    best = vector::ReductionOp::create(e.b, e.loc,
                                       vector::CombiningKind::MAXNUMF, best);
    best = max(best, e.extract(top, row));
    return Values{e.write(x, t[0], {r, e.index(0)}),
                  tensor::InsertOp::create(e.b, e.loc, best, t[1], r)};
  });
}

/// out = out * factors + weights . values, for `rows` and `count` keys.
Value AttentionEmitter::addValues(Value weights, Value values, Value factors,
                                  Value out, const Rows &rows, Value count) {
  // A single query has registers for more columns.
  int64_t columns = few && queries <= 2 ? 2 * nr : nr;
  auto panel = [&](Value column, int64_t width, Values args) {
    VectorType vector = vectorOf(width);
    return walkRows(
        rows, args, [&](Value row, int64_t rowCount, Values carried) {
          auto step = [&](Value j, ValueRange sums) {
            Values acc(sums);
            Value v = e.read(vector, values, {j, column});
            for (int64_t i = 0; i < rowCount; ++i)
              acc[i] = e.multiplyAdd(
                  e.broadcast(e.extract(weights, {e.add(row, i), j}), width), v,
                  acc[i]);
            return acc;
          };
          Values acc(rowCount, splat(0.0, vector));
          acc = e.unrolledLoop(count, acc, step);
          for (int64_t i = 0; i < rowCount; ++i) {
            Value r = e.add(row, i);
            Value at[] = {e.add(rows.first, r), column};
            Value old = e.read(vector, carried[0], at);
            Value factor = e.broadcast(e.extract(factors, r), width);
            carried[0] =
                e.write(e.multiplyAdd(old, factor, acc[i]), carried[0], at);
          }
          return carried;
        });
  };
  Value full = e.index(outFeatures / columns * columns);
  Values done = e.loop(full, columns, out, [&](Value column, ValueRange t) {
    return panel(column, columns, Values(t));
  });
  // Ragged columns in powers of two: odd vectors compile to poor code.
  int64_t at = outFeatures / columns * columns;
  while (at < outFeatures) {
    int64_t width = llvm::bit_floor<uint64_t>(outFeatures - at);
    done = panel(e.index(at), width, done);
    at += width;
  }
  return done[0];
}
