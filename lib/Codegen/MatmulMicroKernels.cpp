//===- MatmulMicroKernels.cpp - Between registers and scratch -------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three ways to fill a tile of C:
// - packed: for each block of k, for each `nr` columns: copy B into a panel
//   [k][nr] on the stack, then for each `mr` rows keep mr x nr accumulators in
//   registers over the block.  The panel is made anew on every run: weights
//   may change unseen, and at 128 rows it costs 3-6 %.
// - dot: few rows, both operands along k in memory: dot products of `mr` rows
//   with `nr` columns, vectors along k.
// - rows: few rows, B along n in memory: eight rows of B at a time are added
//   to the tile of C, which is small enough for L1.
// The last two read B once, at the speed of memory.
//
//===----------------------------------------------------------------------===//

#include "MatmulEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dynamo::codegen;
using Values = MatmulEmitter::Values;

/// Rows of B that the `rows` kernel adds at a time.
static constexpr int64_t rowsUnroll = 8;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The elements [absolute(rowLoop), + rows) x [base k, + depth) of an operand,
/// at the current position of all other loops.
MatmulEmitter::View MatmulEmitter::view(const ContractionOperand &operand,
                                        std::optional<unsigned> rowLoop,
                                        Value rows, Value depth) {
  View view;
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> shape;
  for (AffineExpr expr : operand.map.getResults()) {
    OpFoldResult offset = e.b.getIndexAttr(0), size = e.b.getIndexAttr(1);
    auto keep = [&](Value extent, int &position) {
      position = shape.size();
      size = getAsOpFoldResult(extent);
      shape.push_back(constantIndex(extent).value_or(ShapedType::kDynamic));
    };
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      unsigned loop = dim.getPosition();
      offset = getAsOpFoldResult(loop == c.k ? base[loop] : absolute(loop));
      if (loop == rowLoop)
        keep(rows, view.rowPos);
      else if (loop == c.k)
        keep(depth, view.kPos);
    }
    offsets.push_back(offset);
    sizes.push_back(size);
    strides.push_back(e.b.getIndexAttr(1));
  }
  Type element = getElementTypeOrSelf(operand.tensor);
  view.tensor = tensor::ExtractSliceOp::create(
      e.b, e.loc, RankedTensorType::get(shape, element), operand.tensor,
      offsets, sizes, strides);
  return view;
}

Values MatmulEmitter::at(const View &view, Value row, Value k) {
  if (view.rowPos < 0)
    return {k};
  if (view.rowPos < view.kPos)
    return {row, k};
  return {k, row};
}

Values MatmulEmitter::inTile(int64_t m, int64_t n) {
  Values indices;
  auto push = [&](unsigned d) {
    Value position = rel[d];
    if (d == c.m)
      position = e.add(position, m);
    if (d == c.n)
      position = e.add(position, n);
    indices.push_back(position);
  };
  if (s.direct) {
    for (AffineExpr expr : c.resultMap.getResults())
      push(cast<AffineDimExpr>(expr).getPosition());
    return indices;
  }
  for (unsigned d : c.mOuter)
    push(d);
  if (c.m)
    push(*c.m);
  push(c.n);
  return indices;
}

/// Zeroes the tile, with its padding.
Value MatmulEmitter::emitZero(Value tile) {
  Value zero = e.zero(VectorType::get({s.nr}, c.accType));
  return walk(c.mOuter, {tile}, [&](Values outer) {
    return walkInSteps(c.m, 1, outer, [&](int64_t, Values row) {
      return walkInSteps(c.n, s.nr, row, [&](int64_t, Values carried) {
        return Values{e.write(zero, carried[0], inTile(0, 0))};
      });
    });
  })[0];
}

//===----------------------------------------------------------------------===//
// Packed
//===----------------------------------------------------------------------===//

Value MatmulEmitter::emitPacked(Value tile) {
  bool partialSums = s.kBlock != c.extents[c.k] || !c.kOuter.empty();
  if (partialSums)
    tile = emitZero(tile);
  return walkK({tile}, [&](Values block) {
    Value packedA = s.packA ? packA() : Value();
    return walkInSteps(c.n, s.nr, block, [&](int64_t width, Values columns) {
      int64_t padded = std::max<int64_t>(8, llvm::PowerOf2Ceil(width));
      Value panel = packB(width, padded);
      return walk(c.mOuter, columns, [&](Values outer) {
        return walkInSteps(c.m, s.mr, outer, [&](int64_t rows, Values carried) {
          return Values{emitRegisterTile(packedA, panel, carried[0], rows,
                                         width, padded)};
        });
      });
    });
  })[0];
}

/// Copies `width` columns of B at the current position into a panel
/// [kBlock][columns]; what lies past `width` is any finite junk or zero.
Value MatmulEmitter::packB(int64_t width, int64_t columns) {
  View b = view(c.b, c.n, e.index(width), kSize);
  Value panel = e.scratch({s.kBlock, columns}, c.accType);
  Type element = getElementTypeOrSelf(c.b.tensor);
  auto gatherRow = [&](Value k, ValueRange carried) {
    Values elements;
    for (int64_t n = 0; n < columns; ++n)
      elements.push_back(
          n < width ? e.applyCasts(e.extract(b.tensor, at(b, e.index(n), k)),
                                   c.b.casts)
                    : elements.back());
    Value row = vector::FromElementsOp::create(
        e.b, e.loc, VectorType::get({columns}, c.accType), elements);
    return Values{e.write(row, carried[0], {k, e.index(0)})};
  };

  if (c.b.innermostLoop() == c.k) {
    // Along k in memory: transpose squares of 8 x 8.
    Value full = e.roundDown(kSize, 8);
    auto type = VectorType::get({8}, element);
    panel = e.loop(full, 8, panel, [&](Value k, ValueRange carried) {
      Value panel = carried[0];
      for (int64_t n = 0; n < columns; n += 8) {
        Values square;
        for (int64_t i = n; i < n + 8; ++i)
          square.push_back(
              i < width || square.empty()
                  ? e.applyCasts(
                        e.read(type, b.tensor,
                               at(b, e.index(std::min(i, width - 1)), k)),
                        c.b.casts)
                  : square.back());
        square = e.transpose8x8(square);
        for (int64_t i = 0; i < 8; ++i)
          panel = e.write(square[i], panel, {e.add(k, i), e.index(n)});
      }
      return Values{panel};
    })[0];
    return e.loop(full, kSize, 1, panel, gatherRow)[0];
  }
  if (c.b.innermostLoop() != c.n)
    return e.loop(kSize, 1, panel, gatherRow)[0];

  // Along n in memory: copy rows.
  auto copyRow = [&](Value k, ValueRange carried) {
    Value row = e.applyCasts(e.read(VectorType::get({width}, element), b.tensor,
                                    at(b, e.index(0), k)),
                             c.b.casts);
    if (width != columns)
      row = vector::InsertStridedSliceOp::create(
          e.b, e.loc, row, e.zero(VectorType::get({columns}, c.accType)),
          ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
    return Values{e.write(row, carried[0], {k, e.index(0)})};
  };
  Value full = e.roundDown(kSize, 4);
  panel = e.loop(full, 4, panel, [&](Value k, ValueRange carried) {
    Values panel(carried);
    for (int64_t i = 0; i < 4; ++i)
      panel = copyRow(e.add(k, i), panel);
    return panel;
  })[0];
  return e.loop(full, kSize, 1, panel, copyRow)[0];
}

/// Copies the rows of the tile of A at the current block of k into scratch
/// [mOuter..., rows, k] or [mOuter..., k, rows], as they lie in memory.
Value MatmulEmitter::packA() {
  bool alongK = !c.a.innermostLoop() || c.a.innermostLoop() == c.k;
  SmallVector<int64_t> shape;
  for (unsigned d : c.mOuter)
    shape.push_back(s.tile[d]);
  int64_t rows = c.m ? s.tile[*c.m] : 1;
  shape.append(alongK ? std::initializer_list<int64_t>{rows, s.kBlock}
                      : std::initializer_list<int64_t>{s.kBlock, rows});
  Value packed = e.scratch(shape, c.accType);
  Type element = getElementTypeOrSelf(c.a.tensor);
  rel[c.n] = e.index(0);

  return walk(c.mOuter, {packed}, [&](Values outer) {
    Value rowCount = c.m ? tileSize(*c.m) : e.index(1);
    if (c.m)
      rel[*c.m] = e.index(0);
    View a = view(c.a, c.m, rowCount, kSize);
    Value slow = alongK ? rowCount : kSize, fast = alongK ? kSize : rowCount;
    return e.loop(slow, 1, outer, [&](Value i, ValueRange line) {
      auto copy = [&](int64_t width) {
        return [&, width](Value j, ValueRange carried) {
          Value row = alongK ? i : j, k = alongK ? j : i;
          Value moved =
              width == 1
                  ? e.applyCasts(e.extract(a.tensor, at(a, row, k)), c.a.casts)
                  : e.applyCasts(e.read(VectorType::get({width}, element),
                                        a.tensor, at(a, row, k)),
                                 c.a.casts);
          Values indices;
          for (unsigned d : c.mOuter)
            indices.push_back(rel[d]);
          indices.append({i, j});
          if (width == 1)
            return Values{tensor::InsertOp::create(e.b, e.loc, moved,
                                                   carried[0], indices)};
          return Values{e.write(moved, carried[0], indices)};
        };
      };
      int64_t width = c.a.innermostLoop() == (alongK ? c.k : c.m) ? 8 : 1;
      Value full = e.roundDown(fast, width);
      Values whole = e.loop(full, width, line, copy(width));
      return e.loop(full, fast, 1, whole, copy(1));
    });
  })[0];
}

/// rows x columns accumulators over the block of k, then into the tile.
Value MatmulEmitter::emitRegisterTile(Value packedA, Value panel, Value tile,
                                      int64_t rows, int64_t width,
                                      int64_t columns) {
  auto type = VectorType::get({columns}, c.accType);
  View a;
  if (!packedA) {
    a = view(c.a, c.m, e.index(rows), kSize);
  } else {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    for (unsigned d : c.mOuter) {
      offsets.push_back(getAsOpFoldResult(rel[d]));
      sizes.push_back(e.b.getIndexAttr(1));
    }
    OpFoldResult row =
        c.m ? getAsOpFoldResult(rel[*c.m]) : OpFoldResult(e.b.getIndexAttr(0));
    bool alongK = !c.a.innermostLoop() || c.a.innermostLoop() == c.k;
    a.rowPos = alongK ? 0 : 1;
    a.kPos = 1 - a.rowPos;
    OpFoldResult zero = e.b.getIndexAttr(0), count = e.b.getIndexAttr(rows),
                 depth = e.b.getIndexAttr(s.kBlock);
    offsets.append({alongK ? row : zero, alongK ? zero : row});
    sizes.append({alongK ? count : depth, alongK ? depth : count});
    strides.assign(offsets.size(), e.b.getIndexAttr(1));
    int64_t shape[] = {alongK ? rows : s.kBlock, alongK ? s.kBlock : rows};
    a.tensor = tensor::ExtractSliceOp::create(
        e.b, e.loc, RankedTensorType::get(shape, c.accType), packedA, offsets,
        sizes, strides);
  }

  auto step = [&](Value k, ValueRange sums) {
    Values acc(sums);
    Value b = e.read(type, panel, {k, e.index(0)});
    for (int64_t i = 0; i < rows; ++i) {
      Value x = e.extract(a.tensor, at(a, e.index(i), k));
      acc[i] = e.multiplyAdd(e.broadcast(x, columns), b, acc[i]);
    }
    return acc;
  };
  Values acc(rows, e.zero(type));
  acc = e.unrolledLoop(kSize, acc, step);

  bool partialSums = s.kBlock != c.extents[c.k] || !c.kOuter.empty();
  for (int64_t i = 0; i < rows; ++i) {
    Values position = inTile(i, 0);
    if (partialSums)
      acc[i] = e.sum(e.read(type, tile, position), acc[i]);
    tile =
        e.write(s.direct ? e.part(acc[i], 0, width) : acc[i], tile, position);
  }
  return tile;
}

//===----------------------------------------------------------------------===//
// Few rows
//===----------------------------------------------------------------------===//

Value MatmulEmitter::emitDot(Value tile) {
  base[c.k] = e.index(0);
  kSize = e.index(c.extents[c.k]);
  return walkInSteps(c.n, s.nr, {tile}, [&](int64_t columns, Values outer) {
    return walk(c.mOuter, outer, [&](Values inner) {
      return walkInSteps(c.m, s.mr, inner, [&](int64_t rows, Values carried) {
        return Values{emitDotTile(carried[0], rows, columns)};
      });
    });
  })[0];
}

Value MatmulEmitter::emitDotTile(Value tile, int64_t rows, int64_t columns) {
  View a = view(c.a, c.m, e.index(rows), kSize);
  View b = view(c.b, c.n, e.index(columns), kSize);
  auto aType = VectorType::get({s.lanes}, getElementTypeOrSelf(a.tensor));
  auto bType = VectorType::get({s.lanes}, getElementTypeOrSelf(b.tensor));
  int64_t products = rows * columns;
  // Enough accumulators to hide the latency of the additions.
  int64_t unroll = products <= 2 ? 4 : products <= 4 ? 2 : 1;

  Values acc(products * unroll, e.zero(VectorType::get({s.lanes}, c.accType)));
  Value full = e.roundDown(kSize, s.lanes * unroll);
  acc = e.loop(full, s.lanes * unroll, acc, [&](Value k0, ValueRange carried) {
    Values acc(carried);
    for (int64_t u = 0; u < unroll; ++u) {
      Value k = e.add(k0, u * s.lanes);
      Values bs;
      for (int64_t j = 0; j < columns; ++j)
        bs.push_back(e.applyCasts(e.read(bType, b.tensor, at(b, e.index(j), k)),
                                  c.b.casts));
      for (int64_t i = 0; i < rows; ++i) {
        Value x = e.applyCasts(e.read(aType, a.tensor, at(a, e.index(i), k)),
                               c.a.casts);
        for (int64_t j = 0; j < columns; ++j) {
          Value &sum = acc[(u * rows + i) * columns + j];
          sum = e.multiplyAdd(x, bs[j], sum);
        }
      }
    }
    return acc;
  });

  Values sums;
  for (int64_t p = 0; p < products; ++p) {
    Value sum = acc[p];
    for (int64_t u = 1; u < unroll; ++u)
      sum = e.sum(sum, acc[u * products + p]);
    sums.push_back(e.reduceAdd(sum));
  }
  sums = e.loop(full, kSize, 1, sums, [&](Value k, ValueRange carried) {
    Values sums(carried);
    Values bs;
    for (int64_t j = 0; j < columns; ++j)
      bs.push_back(
          e.applyCasts(e.extract(b.tensor, at(b, e.index(j), k)), c.b.casts));
    for (int64_t i = 0; i < rows; ++i) {
      Value x =
          e.applyCasts(e.extract(a.tensor, at(a, e.index(i), k)), c.a.casts);
      for (int64_t j = 0; j < columns; ++j)
        sums[i * columns + j] = e.multiplyAdd(x, bs[j], sums[i * columns + j]);
    }
    return sums;
  });
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      tile = tensor::InsertOp::create(e.b, e.loc, sums[i * columns + j], tile,
                                      inTile(i, j));
  return tile;
}

Value MatmulEmitter::emitRows(Value tile) {
  base[c.k] = e.index(0);
  kSize = e.index(c.extents[c.k]);
  tile = emitZero(tile);
  Value full = e.roundDown(kSize, rowsUnroll);
  tile = e.loop(full, rowsUnroll, tile, [&](Value k, ValueRange carried) {
    return Values{emitRowsStep(carried[0], k, rowsUnroll)};
  })[0];
  return e.loop(full, kSize, 1, tile, [&](Value k, ValueRange carried) {
    return Values{emitRowsStep(carried[0], k, 1)};
  })[0];
}

/// Adds rows [k, k + kCount) of B, times their elements of A, to the tile.
Value MatmulEmitter::emitRowsStep(Value tile, Value k, int64_t kCount) {
  auto scalarsOfA = [&] {
    if (c.m)
      rel[*c.m] = rel[*c.m] ? rel[*c.m] : e.index(0);
    View a = view(c.a, c.m, e.index(1), kSize);
    Values scalars;
    for (int64_t u = 0; u < kCount; ++u)
      scalars.push_back(e.applyCasts(
          e.extract(a.tensor, at(a, e.index(0), e.add(k, u))), c.a.casts));
    return scalars;
  };
  bool oneRow = c.mOuter.empty() && !c.m;
  Values fixed;
  if (oneRow)
    fixed = scalarsOfA();
  return walkInSteps(c.n, s.nr, {tile}, [&](int64_t width, Values columns) {
    View b = view(c.b, c.n, e.index(width), kSize);
    auto type = VectorType::get({width}, getElementTypeOrSelf(b.tensor));
    Values rowsOfB;
    for (int64_t u = 0; u < kCount; ++u)
      rowsOfB.push_back(e.applyCasts(
          e.read(type, b.tensor, at(b, e.index(0), e.add(k, u))), c.b.casts));
    auto accType = VectorType::get({width}, c.accType);
    return walk(c.mOuter, columns, [&](Values outer) {
      return walkInSteps(c.m, 1, outer, [&](int64_t, Values carried) {
        Values scalars = oneRow ? fixed : scalarsOfA();
        Value sum = e.read(accType, carried[0], inTile(0, 0));
        for (int64_t u = 0; u < kCount; ++u)
          sum = e.multiplyAdd(e.broadcast(scalars[u], width), rowsOfB[u], sum);
        return Values{e.write(sum, carried[0], inTile(0, 0))};
      });
    });
  })[0];
}
