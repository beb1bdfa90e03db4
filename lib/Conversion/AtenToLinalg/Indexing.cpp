//===- Indexing.cpp - indexing by tensors
//--------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads are generics whose body loads with tensor.extract.  Writes may meet in
// one element, where the order decides: they are sequential loops over the
// elements that are written, on a tensor that is carried along.
//
// Eager raises for an index out of range: a check (Checks.h) refuses the run
// then.  It may be made after the access, so reads take the nearest element in
// range and writes leave the tensor as it is: no other memory is touched.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Checks.h"
#include "dynamo/Conversion/AtenToLinalg/Structure.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

namespace {

Value index(Lowering &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

SmallVector<OpFoldResult> attrs(Lowering &b, ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> result;
  for (int64_t size : sizes)
    result.push_back(b.getIndexAttr(size));
  return result;
}

/// A position made from an element of an index tensor.
struct Position {
  /// In range, whatever the element was.
  Value clamped;
  /// Whether the element was in range (null unless asked for).
  Value valid;
};

/// Negative positions count from the end when `wraps`.  `size` is not 0.
Position position(Lowering &b, Value element, int64_t size, bool wraps,
                  bool wantsValid = false) {
  Value at = element;
  if (!at.getType().isIndex())
    at = arith::IndexCastOp::create(b, b.getIndexType(), at);
  Value zero = index(b, 0), last = index(b, size - 1);
  if (wraps) {
    Value negative =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, zero);
    Value wrapped = arith::AddIOp::create(b, at, index(b, size));
    at = arith::SelectOp::create(b, negative, wrapped, at);
  }
  Position result;
  if (wantsValid)
    result.valid =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at, index(b, size));
  at = arith::MaxSIOp::create(b, at, zero);
  result.clamped = arith::MinSIOp::create(b, at, last);
  return result;
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

LogicalResult lowerEmbedding(aten::EmbeddingOp op, Lowering &b) {
  Value weight = b.get(op.getWeight());
  Operand indices = b.operand(op.getIndices());
  if (!isStatic(weight) || !isStatic(indices.value) || rankOf(weight) != 2)
    return b.fail(op, "an embedding of dynamic sizes");
  int64_t rank = indices.rank(), rows = shapeOf(weight)[0];
  SmallVector<int64_t> shape(indices.shape());
  shape.push_back(shapeOf(weight)[1]);
  if (rows == 0)
    return b.fail(op, "an embedding without rows");
  checkIndices(b, op.getIndices(), rows, /*wraps=*/false);
  AffineMap map = b.getMultiDimIdentityMap(rank + 1).getMajorSubMap(rank);
  Value result =
      parallel(b, Input{indices, map}, attrs(b, shape),
               getElementTypeOrSelf(weight.getType()),
               [&](ArrayRef<Value> in) -> SmallVector<Value> {
                 Value row = position(b, in[0], rows, /*wraps=*/false).clamped;
                 Value column = linalg::IndexOp::create(b, rank);
                 return {tensor::ExtractOp::create(b, weight,
                                                   ValueRange{row, column})};
               })
          .front();
  return b.replace(op, result);
}

LogicalResult lowerIndexSelect(aten::IndexSelectOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  Operand indices = b.operand(op.getIndex());
  auto type = cast<RankedTensorType>(op.getType());
  if (!isStatic(x) || !type.hasStaticShape())
    return b.fail(op, "an index of dynamic sizes");
  if (rankOf(x) == 0)
    return b.replace(op, x);
  int64_t rank = rankOf(x), dim = normalizeDim(op.getDim(), rank);
  if (shapeOf(x)[dim] == 0)
    return b.fail(op, "an index of a dim without elements");
  checkIndices(b, op.getIndex(), shapeOf(x)[dim], /*wraps=*/false);
  SmallVector<int64_t> along;
  if (indices.rank() == 1)
    along.push_back(dim);
  Value result =
      parallel(b, Input{indices, keptDimsMap(b.getContext(), rank, along)},
               attrs(b, type.getShape()), getElementTypeOrSelf(x.getType()),
               [&](ArrayRef<Value> in) -> SmallVector<Value> {
                 SmallVector<Value> at;
                 for (int64_t i = 0; i < rank; ++i)
                   at.push_back(
                       i == dim
                           ? position(b, in[0], shapeOf(x)[dim], false).clamped
                           : Value(linalg::IndexOp::create(b, i)));
                 return {tensor::ExtractOp::create(b, x, at)};
               })
          .front();
  return b.replace(op, result);
}

LogicalResult lowerGather(aten::GatherOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  Operand indices = b.operand(op.getIndex());
  if (!isStatic(x) || !isStatic(indices.value))
    return b.fail(op, "a gather of dynamic sizes");
  int64_t rank = indices.rank(), dim = normalizeDim(op.getDim(), rank);
  if (rank == 0 || rankOf(x) != rank || shapeOf(x)[dim] == 0)
    return b.fail(op, "a gather of scalars or from no elements");
  checkIndices(b, op.getIndex(), shapeOf(x)[dim], /*wraps=*/false);
  Value result =
      parallel(b, Input{indices, b.getMultiDimIdentityMap(rank)},
               attrs(b, indices.shape()), getElementTypeOrSelf(x.getType()),
               [&](ArrayRef<Value> in) -> SmallVector<Value> {
                 SmallVector<Value> at;
                 for (int64_t i = 0; i < rank; ++i)
                   at.push_back(
                       i == dim
                           ? position(b, in[0], shapeOf(x)[dim], false).clamped
                           : Value(linalg::IndexOp::create(b, i)));
                 return {tensor::ExtractOp::create(b, x, at)};
               })
          .front();
  return b.replace(op, result);
}

/// How index tensors address a tensor, by NumPy's rules.
struct AdvancedIndex {
  /// The indexed dims of self, one per index tensor.
  SmallVector<int64_t> dims;
  SmallVector<Operand> indices;
  /// The common shape of the index tensors, and its first dim in the result.
  SmallVector<int64_t> broadcast;
  int64_t place = 0;
  /// The result's shape, and for each dim of self that is not indexed its dim
  /// there.
  SmallVector<int64_t> shape, plain;

  static FailureOr<AdvancedIndex> get(Lowering &b, ArrayRef<int64_t> self,
                                      mlir::OperandRange indices,
                                      ArrayRef<bool> present) {
    AdvancedIndex result;
    unsigned next = 0;
    for (auto [dim, isPresent] : llvm::enumerate(present)) {
      if (!isPresent)
        continue;
      Operand operand = b.operand(indices[next++]);
      if (dim >= self.size() || !isInt(operand.dtype) ||
          !isStatic(operand.value) || self[dim] == 0)
        return failure();
      result.dims.push_back(dim);
      result.indices.push_back(operand);
      size_t rank = std::max(result.broadcast.size(), operand.shape().size());
      result.broadcast.insert(result.broadcast.begin(),
                              rank - result.broadcast.size(), 1);
      for (int64_t i = 1, e = operand.rank(); i <= e; ++i) {
        int64_t size = operand.shape()[e - i];
        if (size != 1)
          result.broadcast[rank - i] = size;
      }
    }
    if (result.dims.empty())
      return failure();
    bool adjacent = result.dims.back() - result.dims.front() + 1 ==
                    int64_t(result.dims.size());
    result.place = adjacent ? result.dims.front() : 0;
    result.plain.assign(self.size(), -1);
    auto place = [&] { llvm::append_range(result.shape, result.broadcast); };
    if (result.place == 0)
      place();
    for (int64_t dim = 0, e = self.size(); dim < e; ++dim) {
      if (llvm::is_contained(result.dims, dim)) {
        if (adjacent && dim == result.dims.front() && dim != 0)
          place();
        continue;
      }
      result.plain[dim] = result.shape.size();
      result.shape.push_back(self[dim]);
    }
    return result;
  }

  /// Refuses what eager raises for. The unsafe overloads are those whose caller
  /// knows that the indices are right.
  void check(Lowering &b, Operation *op, ArrayRef<int64_t> self,
             mlir::OperandRange operands) const {
    auto overload = op->getAttrOfType<StringAttr>("aten.overload");
    if (overload && overload.getValue().contains("_unsafe_"))
      return;
    for (auto [dim, operand] : llvm::zip_equal(dims, operands))
      checkIndices(b, operand, self[dim], /*wraps=*/true);
  }

  /// How index tensor `i` is read from the dims of the result.
  AffineMap map(Lowering &b, size_t i) const {
    AffineMap local =
        broadcastMap(b.getContext(), indices[i].shape(), broadcast);
    return AffineMap::get(shape.size(), 0, local.shiftDims(place).getResults(),
                          b.getContext());
  }
};

LogicalResult lowerIndex(aten::IndexOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  if (!isStatic(x))
    return b.fail(op, "an index of dynamic sizes");
  FailureOr<AdvancedIndex> form = AdvancedIndex::get(
      b, shapeOf(x), op.getIndices(), op.getIndicesPresent());
  if (failed(form))
    return b.fail(op, "index tensors of dynamic sizes, or into no elements");
  form->check(b, op, shapeOf(x), op.getIndices());
  SmallVector<Input> inputs;
  for (size_t i = 0; i < form->indices.size(); ++i)
    inputs.push_back({form->indices[i], form->map(b, i)});
  Value result =
      parallel(b, inputs, attrs(b, form->shape),
               getElementTypeOrSelf(x.getType()),
               [&](ArrayRef<Value> in) -> SmallVector<Value> {
                 SmallVector<Value> at(rankOf(x));
                 for (auto [i, dim] : llvm::enumerate(form->dims))
                   at[dim] = position(b, in[i], shapeOf(x)[dim], true).clamped;
                 for (int64_t dim = 0; dim < rankOf(x); ++dim)
                   if (form->plain[dim] >= 0)
                     at[dim] = linalg::IndexOp::create(b, form->plain[dim]);
                 return {tensor::ExtractOp::create(b, x, at)};
               })
          .front();
  return b.replace(op, result);
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// Runs `body` for every element of `shape` in row-major order; it gets the
/// indices and the tensor as it is by then, and returns the tensor after.
Value forEach(Lowering &b, ArrayRef<int64_t> shape, Value tensor,
              llvm::function_ref<Value(ArrayRef<Value>, Value)> body) {
  SmallVector<Value> indices;
  std::function<Value(size_t, Value)> nest = [&](size_t dim,
                                                 Value carried) -> Value {
    if (dim == shape.size())
      return body(indices, carried);
    auto loop = scf::ForOp::create(b, index(b, 0), index(b, shape[dim]),
                                   index(b, 1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    indices.push_back(loop.getInductionVar());
    Value after = nest(dim + 1, loop.getRegionIterArg(0));
    indices.pop_back();
    scf::YieldOp::create(b, after);
    return loop.getResult(0);
  };
  return nest(0, tensor);
}

/// Replaces the element at `at` by `update(old)` where `valid` (null: always).
Value updateElement(Lowering &b, Value tensor, ArrayRef<Value> at, Value valid,
                    llvm::function_ref<Value(Value)> update) {
  Value old = tensor::ExtractOp::create(b, tensor, at);
  Value now = update(old);
  if (valid)
    now = arith::SelectOp::create(b, valid, now, old);
  return tensor::InsertOp::create(b, now, tensor, at);
}

/// a + b on stored elements of `dtype`.
Value addStored(Lowering &b, Type dtype, Value x, Value y) {
  return storeScalar(
      b, addScalar(b, dtype, loadScalar(b, x, dtype), loadScalar(b, y, dtype)),
      dtype);
}

/// The element of `operand` read at `at`, broadcast: size 1 reads index 0 and
/// leading dims may lack.
Value readBroadcast(Lowering &b, Value tensor, ArrayRef<Value> at) {
  SmallVector<Value> own;
  int64_t rank = rankOf(tensor), lead = int64_t(at.size()) - rank;
  for (int64_t i = 0; i < rank; ++i)
    own.push_back(shapeOf(tensor)[i] == 1 ? index(b, 0) : at[lead + i]);
  return tensor::ExtractOp::create(b, tensor, own);
}

LogicalResult lowerIndexPut(aten::IndexPutOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf()), values = b.operand(op.getValues());
  if (!isStatic(x.value) || !isStatic(values.value))
    return b.fail(op, "an index of dynamic sizes");
  FailureOr<AdvancedIndex> form =
      AdvancedIndex::get(b, x.shape(), op.getIndices(), op.getIndicesPresent());
  if (failed(form))
    return b.fail(op, "index tensors of dynamic sizes, or into no elements");
  form->check(b, op, x.shape(), op.getIndices());
  Value source = convertTensor(b, values, x.dtype);
  Value result = forEach(
      b, form->shape, x.value, [&](ArrayRef<Value> indices, Value tensor) {
        SmallVector<Value> at(x.rank());
        Value valid;
        ArrayRef<Value> common =
            indices.slice(form->place, form->broadcast.size());
        for (auto [i, dim] : llvm::enumerate(form->dims)) {
          Value element = readBroadcast(b, form->indices[i].value, common);
          Position to = position(b, element, x.shape()[dim], true, true);
          at[dim] = to.clamped;
          valid = valid ? Value(arith::AndIOp::create(b, valid, to.valid))
                        : to.valid;
        }
        for (int64_t dim = 0; dim < x.rank(); ++dim)
          if (form->plain[dim] >= 0)
            at[dim] = indices[form->plain[dim]];
        Value value = readBroadcast(b, source, indices);
        return updateElement(b, tensor, at, valid, [&](Value old) {
          return op.getAccumulate() ? addStored(b, x.dtype, old, value) : value;
        });
      });
  return b.replace(op, result);
}

/// scatter and scatter_add: `update` of the old element for each element of the
/// index tensor.
LogicalResult
scatterLike(Operation *op, Lowering &b, Operand x, int64_t dim, Value index,
            llvm::function_ref<Value(ArrayRef<Value>, Value)> update) {
  Operand indices = b.operand(index);
  if (!isStatic(x.value) || !isStatic(indices.value))
    return b.fail(op, "a scatter of dynamic sizes");
  int64_t rank = x.rank();
  if (rank == 0 || indices.rank() != rank ||
      x.shape()[normalizeDim(dim, rank)] == 0)
    return b.fail(op, "a scatter of scalars or into no elements");
  dim = normalizeDim(dim, rank);
  checkIndices(b, index, x.shape()[dim], /*wraps=*/false);
  Value result = forEach(
      b, indices.shape(), x.value, [&](ArrayRef<Value> at, Value tensor) {
        Value element = tensor::ExtractOp::create(b, indices.value, at);
        Position to = position(b, element, x.shape()[dim], false, true);
        SmallVector<Value> target(at);
        target[dim] = to.clamped;
        return updateElement(b, tensor, target, to.valid,
                             [&](Value old) { return update(at, old); });
      });
  return b.replace(op, result);
}

LogicalResult lowerScatter(aten::ScatterOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf());
  if (op.getSrc()) {
    Value source = convertTensor(b, b.operand(op.getSrc()), x.dtype);
    return scatterLike(op, b, x, op.getDim(), op.getIndex(),
                       [&](ArrayRef<Value> at, Value) -> Value {
                         return tensor::ExtractOp::create(b, source, at);
                       });
  }
  Operand number = b.operand(op.getValue());
  Value value = storeScalar(
      b, convertScalar(b, number.value, number.dtype, x.dtype), x.dtype);
  return scatterLike(op, b, x, op.getDim(), op.getIndex(),
                     [&](ArrayRef<Value>, Value) { return value; });
}

LogicalResult lowerScatterAdd(aten::ScatterAddOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf());
  Value source = convertTensor(b, b.operand(op.getSrc()), x.dtype);
  return scatterLike(
      op, b, x, op.getDim(), op.getIndex(), [&](ArrayRef<Value> at, Value old) {
        return addStored(b, x.dtype, old,
                         tensor::ExtractOp::create(b, source, at));
      });
}

LogicalResult lowerIndexAdd(aten::IndexAddOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf()), source = b.operand(op.getSource());
  Operand indices = b.operand(op.getIndex());
  std::optional<double> alpha = knownNumber(b.operand(op.getAlpha()));
  if (!isStatic(x.value) || !isStatic(source.value) || x.rank() == 0 ||
      !alpha || indices.rank() != 1)
    return b.fail(
        op,
        "index_add of dynamic sizes, scalars or an alpha that is not constant");
  int64_t dim = normalizeDim(op.getDim(), x.rank());
  if (x.shape()[dim] == 0)
    return b.fail(op, "an index into no elements");
  checkIndices(b, op.getIndex(), x.shape()[dim], /*wraps=*/false);
  Value result = forEach(
      b, source.shape(), x.value, [&](ArrayRef<Value> at, Value tensor) {
        Value element = tensor::ExtractOp::create(b, indices.value, at[dim]);
        Position to = position(b, element, x.shape()[dim], false, true);
        SmallVector<Value> target(at);
        target[dim] = to.clamped;
        return updateElement(b, tensor, target, to.valid, [&](Value old) {
          Value added = tensor::ExtractOp::create(b, source.value, at);
          if (*alpha != 1)
            added =
                storeScalar(b,
                            mulScalar(b, x.dtype, loadScalar(b, added, x.dtype),
                                      numberConstant(b, x.dtype, *alpha)),
                            x.dtype);
          return addStored(b, x.dtype, old, added);
        });
      });
  return b.replace(op, result);
}

/// Eager's kernel skips what is out of range, so nothing is checked.
LogicalResult lowerEmbeddingDenseBackward(aten::EmbeddingDenseBackwardOp op,
                                          Lowering &b) {
  Operand grad = b.operand(op.getGradOutput()),
          indices = b.operand(op.getIndices());
  if (!isStatic(grad.value) || !isStatic(indices.value))
    return b.fail(op, "an embedding of dynamic sizes");
  if (op.getScaleGradByFreq())
    return b.fail(op, "gradients scaled by frequency");
  int64_t rows = op.getNumWeights(), width = grad.shape().back();
  int64_t count = numElements(indices.shape());
  if (rows == 0)
    return b.fail(op, "an embedding without rows");
  // Sums are kept in the accumulator dtype and rounded once.
  Type acc = accumulatorType(grad.dtype);
  Value source = reshape(b, grad.value, {count, width});
  Value flat = reshape(b, indices.value, {count});
  Value zeros =
      filledTensor(b, attrs(b, {rows, width}), acc, numberConstant(b, acc, 0));
  Value sums =
      forEach(b, {count, width}, zeros, [&](ArrayRef<Value> at, Value tensor) {
        Value element = tensor::ExtractOp::create(b, flat, at[0]);
        Position to = position(b, element, rows, false, true);
        Value isKept =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ne, to.clamped,
                                  index(b, op.getPaddingIdx()));
        Value valid = arith::AndIOp::create(b, to.valid, isKept);
        return updateElement(
            b, tensor, {to.clamped, at[1]}, valid, [&](Value old) {
              Value added = convertScalar(
                  b, tensor::ExtractOp::create(b, source, at), grad.dtype, acc);
              return addScalar(b, acc, old, added);
            });
      });
  return b.replace(op, convertTensor(b, Operand(sums, acc), grad.dtype));
}

} // namespace

void lowering::populateIndexingLowerings(LoweringTable &table) {
  table.add<aten::EmbeddingOp>(lowerEmbedding);
  table.add<aten::IndexSelectOp>(lowerIndexSelect);
  table.add<aten::GatherOp>(lowerGather);
  table.add<aten::IndexOp>(lowerIndex);
  table.add<aten::IndexPutOp>(lowerIndexPut);
  table.add<aten::ScatterOp>(lowerScatter);
  table.add<aten::ScatterAddOp>(lowerScatterAdd);
  table.add<aten::IndexAddOp>(lowerIndexAdd);
  table.add<aten::EmbeddingDenseBackwardOp>(lowerEmbeddingDenseBackward);
}
