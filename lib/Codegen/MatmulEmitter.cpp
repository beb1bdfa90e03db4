//===- MatmulEmitter.cpp - The outer loops and the epilogue ---------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   scf.forall tiles of (outer, mOuter, m, n) {
//     for outer in tile {
//       tile of C := inner kernel
//       for rows, columns of the tile { epilogue; insert into the results }
//     }
//   }
//
// The epilogue reads the tile of C back from L1 instead of running on the
// accumulators: that costs 1-3 % of the time and keeps one copy of the
// epilogue where there would be up to four (full and rest in m and n), each
// unrolled over the register tile.
//
//===----------------------------------------------------------------------===//

#include "MatmulEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dynamo::codegen;
using Values = MatmulEmitter::Values;

MatmulEmitter::MatmulEmitter(OpBuilder &builder, Block *entry,
                             const Contraction &c, const MatmulSchedule &s)
    : c(c), s(s), e(builder, c.op->getLoc(), entry) {
  base.assign(c.extents.size(), e.index(0));
  rel = base;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

MatmulEmitter::Steps MatmulEmitter::stepsOf(unsigned loop, int64_t step) {
  int64_t extent = c.extents[loop], tile = s.tile[loop];
  int64_t last = extent % tile;
  auto fixed = [&](int64_t size) {
    return Steps{e.index(size), e.index(size - size % step), size % step, {}};
  };
  if (last == 0)
    return fixed(tile);
  assert(tile % step == 0 && "only the last tile may have a rest");
  Value isLast = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::uge,
                                       base[loop], e.index(extent - last));
  auto choose = [&](int64_t x, int64_t y) -> Value {
    return arith::SelectOp::create(e.b, e.loc, isLast, e.index(x), e.index(y));
  };
  return {choose(last, tile), choose(last - last % step, tile), last % step,
          isLast};
}

/// Visits every position of `loops` within the tile.
Values MatmulEmitter::walk(ArrayRef<unsigned> loops, Values carried,
                           Carry body) {
  if (loops.empty())
    return body(carried);
  unsigned loop = loops.front();
  return e.loop(tileSize(loop), 1, carried, [&](Value iv, ValueRange args) {
    rel[loop] = iv;
    return walk(loops.drop_front(), Values(args), body);
  });
}

Values MatmulEmitter::walkInSteps(std::optional<unsigned> loop, int64_t step,
                                  Values carried, StepBody body) {
  if (!loop)
    return body(1, carried);
  Steps steps = stepsOf(*loop, step);
  carried = e.loop(steps.full, step, carried, [&](Value iv, ValueRange args) {
    rel[*loop] = iv;
    return body(step, Values(args));
  });
  if (steps.rest == 0)
    return carried;
  return e.when(steps.restCond, carried, [&] {
    rel[*loop] = steps.full;
    return body(steps.rest, carried);
  });
}

/// Visits the blocks of k.
Values MatmulEmitter::walkK(Values carried, Carry body) {
  return walk(c.kOuter, carried, [&](Values outer) {
    int64_t extent = c.extents[c.k], last = extent % s.kBlock;
    return e.loop(
        e.index(extent), s.kBlock, outer, [&](Value iv, ValueRange args) {
          base[c.k] = iv;
          kSize = e.index(s.kBlock);
          if (last != 0) {
            Value isLast =
                arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::uge, iv,
                                      e.index(extent - last));
            kSize = arith::SelectOp::create(e.b, e.loc, isLast, e.index(last),
                                            kSize);
          }
          return body(Values(args));
        });
  });
}

//===----------------------------------------------------------------------===//
// Parallel tiles
//===----------------------------------------------------------------------===//

Values MatmulEmitter::emit() {
  // Rows last but n: neighbouring tiles share a block of A.
  SmallVector<unsigned> parallel(c.outer);
  llvm::append_range(parallel, c.mOuter);
  if (c.m)
    parallel.push_back(*c.m);
  llvm::erase_if(parallel,
                 [&](unsigned d) { return s.tile[d] == c.extents[d]; });
  parallel.push_back(c.n);

  OpBuilder &b = e.b;
  SmallVector<OpFoldResult> lbs, ubs, steps;
  for (unsigned d : parallel) {
    lbs.push_back(b.getIndexAttr(0));
    ubs.push_back(b.getIndexAttr(c.extents[d]));
    steps.push_back(b.getIndexAttr(s.tile[d]));
  }
  Values destinations;
  for (Value result : c.results) {
    auto type = cast<RankedTensorType>(result.getType());
    destinations.push_back(e.empty(type.getShape(), type.getElementType()));
  }
  auto forall = scf::ForallOp::create(b, e.loc, lbs, ubs, steps, destinations,
                                      /*mapping=*/std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forall.getBody());
  for (auto [d, iv] : llvm::zip(parallel, forall.getInductionVars()))
    base[d] = iv;
  Values results = emitTile(forall.getRegionIterArgs());

  for (auto [result, tile, destination] :
       llvm::zip(c.results, results, forall.getRegionIterArgs())) {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    b.setInsertionPoint(forall.getTerminator());
    for (unsigned d : c.valueLoops.lookup(result)) {
      offsets.push_back(getAsOpFoldResult(base[d]));
      sizes.push_back(getAsOpFoldResult(tileSize(d)));
      strides.push_back(b.getIndexAttr(1));
    }
    b.setInsertionPointToEnd(forall.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(b, e.loc, tile, destination, offsets,
                                          sizes, strides);
  }
  return Values(forall.getResults());
}

Values MatmulEmitter::emitTile(ValueRange destinations) {
  Values slices;
  for (auto [result, destination] : llvm::zip(c.results, destinations)) {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    for (unsigned d : c.valueLoops.lookup(result)) {
      offsets.push_back(getAsOpFoldResult(base[d]));
      sizes.push_back(getAsOpFoldResult(tileSize(d)));
      strides.push_back(e.b.getIndexAttr(1));
    }
    slices.push_back(tensor::ExtractSliceOp::create(e.b, e.loc, destination,
                                                    offsets, sizes, strides));
  }
  return walk(c.outer, slices,
              [&](Values carried) { return emitMatrix(std::move(carried)); });
}

Values MatmulEmitter::emitMatrix(Values destinations) {
  Value tile;
  if (s.direct) {
    tile = destinations.front();
  } else {
    SmallVector<int64_t> shape;
    for (unsigned d : c.mOuter)
      shape.push_back(s.tile[d]);
    if (c.m)
      shape.push_back(s.tile[*c.m]);
    shape.push_back(llvm::alignTo(s.tile[c.n], s.nr));
    tile = e.scratch(shape, c.accType);
  }
  switch (s.kind) {
  case MatmulSchedule::Packed:
    tile = emitPacked(tile);
    break;
  case MatmulSchedule::Dot:
    tile = emitDot(tile);
    break;
  case MatmulSchedule::Rows:
    tile = emitRows(tile);
    break;
  }
  return s.direct ? Values{tile} : emitEpilogue(tile, std::move(destinations));
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

Values MatmulEmitter::emitEpilogue(Value tile, Values destinations) {
  return walk(c.mOuter, destinations, [&](Values outer) {
    return walkInSteps(c.m, 1, outer, [&](int64_t, Values row) {
      return walkInSteps(
          c.n, s.epilogueCols, row, [&](int64_t width, Values carried) {
            return emitEpilogueSteps(tile, width, std::move(carried));
          });
    });
  });
}

/// The part of `tensor` that a row of `width` elements along n needs: a 1-D
/// tensor, or a number where the tensor is the same along n.
Value MatmulEmitter::sliceForEpilogue(Value tensor, AffineMap map,
                                      ArrayRef<unsigned> loops, int64_t width) {
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    return fill.value();
  Values position;
  SmallVector<OpFoldResult> sizes(map.getNumResults(), e.b.getIndexAttr(1));
  bool alongN = false;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    position.push_back(e.index(0));
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      continue;
    unsigned loop = loops[dim.getPosition()];
    position.back() = absolute(loop);
    if (loop == c.n) {
      alongN = true;
      sizes[i] = e.b.getIndexAttr(width);
    }
  }
  if (!alongN)
    return e.extract(tensor, position);
  SmallVector<OpFoldResult> strides(sizes.size(), e.b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(
      e.b, e.loc, RankedTensorType::get({width}, getElementTypeOrSelf(tensor)),
      tensor, getAsOpFoldResult(position), sizes, strides);
}

/// `epilogue` on one row of `width` elements; `tiles` maps values of the
/// kernel to their rows.
linalg::GenericOp MatmulEmitter::cloneForTile(const EpilogueOp &epilogue,
                                              int64_t width, IRMapping &tiles) {
  linalg::GenericOp op = epilogue.op;
  OpBuilder &b = e.b;
  AffineMap row = b.getDimIdentityMap(),
            scalar = AffineMap::get(1, 0, b.getContext());
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types;
  for (OpOperand &operand : op->getOpOperands()) {
    Value tile = tiles.lookupOrNull(operand.get());
    if (!tile && op.isDpsInit(&operand) &&
        !op.payloadUsesValueFromOperand(&operand))
      tile = e.empty({width}, getElementTypeOrSelf(operand.get()));
    if (!tile)
      tile =
          sliceForEpilogue(operand.get(), op.getMatchingIndexingMap(&operand),
                           epilogue.loops, width);
    maps.push_back(isa<RankedTensorType>(tile.getType()) ? row : scalar);
    if (op.isDpsInit(&operand)) {
      inits.push_back(tile);
      types.push_back(tile.getType());
    } else {
      inputs.push_back(tile);
    }
  }
  auto clone = linalg::GenericOp::create(
      b, op.getLoc(), types, inputs, inits, maps,
      SmallVector<utils::IteratorType>{utils::IteratorType::parallel});
  IRMapping mapping;
  op.getRegion().cloneInto(&clone.getRegion(), mapping);
  for (auto index :
       llvm::make_early_inc_range(clone.getBody()->getOps<linalg::IndexOp>())) {
    unsigned loop = epilogue.loops[index.getDim()];
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(index);
    Value position = absolute(loop);
    if (loop == c.n)
      position =
          arith::AddIOp::create(b, index.getLoc(), position,
                                linalg::IndexOp::create(b, index.getLoc(), 0));
    index.replaceAllUsesWith(position);
    index.erase();
  }
  return clone;
}

/// A row of `width` elements in pieces of a power of two (odd vectors compile
/// to poor code) and less than 8 at the end.
Values MatmulEmitter::emitEpilogueSteps(Value tile, int64_t width,
                                        Values destinations) {
  Value start = rel[c.n];
  for (int64_t done = 0; done < width;) {
    int64_t left = width - done;
    int64_t piece = left < 8 ? left : llvm::bit_floor<uint64_t>(left);
    rel[c.n] = e.add(start, done);
    destinations = emitEpilogueStep(tile, piece, std::move(destinations));
    done += piece;
  }
  rel[c.n] = start;
  return destinations;
}

Values MatmulEmitter::emitEpilogueStep(Value tile, int64_t width,
                                       Values destinations) {
  OpBuilder &b = e.b;
  IRMapping tiles;
  {
    Values position = inTile(0, 0);
    SmallVector<OpFoldResult> offsets = getAsOpFoldResult(position);
    SmallVector<OpFoldResult> sizes(offsets.size(), b.getIndexAttr(1));
    SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
    sizes.back() = b.getIndexAttr(width);
    tiles.map(c.op->getResult(0),
              tensor::ExtractSliceOp::create(
                  b, e.loc, RankedTensorType::get({width}, c.accType), tile,
                  offsets, sizes, strides)
                  .getResult());
  }
  for (const EpilogueOp &epilogue : c.epilogue) {
    auto clone = cloneForTile(epilogue, width, tiles);
    for (auto [from, to] :
         llvm::zip(epilogue.op->getResults(), clone->getResults()))
      tiles.map(from, to);
  }
  for (auto [result, destination] : llvm::zip(c.results, destinations)) {
    Value row = tiles.lookup(result);
    SmallVector<OpFoldResult> offsets, sizes, strides;
    Values position;
    ArrayRef<unsigned> loops = c.valueLoops.find(result)->second;
    for (unsigned d : loops) {
      position.push_back(rel[d]);
      offsets.push_back(getAsOpFoldResult(rel[d]));
      sizes.push_back(b.getIndexAttr(d == c.n ? width : 1));
      strides.push_back(b.getIndexAttr(1));
    }
    if (result == c.op->getResult(0) && loops.back() == c.n) {
      // An insertion of an extracted slice would become a memref.copy.
      auto type = VectorType::get({width}, c.accType);
      destination =
          e.write(e.read(type, row, e.index(0)), destination, position);
    } else {
      destination = tensor::InsertSliceOp::create(b, e.loc, row, destination,
                                                  offsets, sizes, strides);
    }
  }
  return destinations;
}
