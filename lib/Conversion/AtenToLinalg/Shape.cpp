//===- Shape.cpp - reshapes, slices, padding, and other moves of data
//----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What can be a view of memory is one (collapse_shape, expand_shape,
// extract_slice); what a reader can absorb is a transpose or a copying generic
// with a map; concatenations and scatters of slices are writes into one tensor;
// the rest (flip, diagonal, unfold ...) is a generic that computes where to
// read.
//
// Data is moved as it is stored: a bool is a byte here and no body looks at it.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Structure.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

namespace {

Type storedType(Value tensor) { return getElementTypeOrSelf(tensor.getType()); }

/// The P2 type of the op's result.
RankedTensorType resultType(Operation *op, unsigned index = 0) {
  return cast<RankedTensorType>(convertType(op->getResult(index).getType()));
}

Value index(Lowering &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

//===----------------------------------------------------------------------===//
// Views and permutations
//===----------------------------------------------------------------------===//

LogicalResult lowerView(aten::ViewOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  RankedTensorType type = resultType(op);
  if (x.getType() == type)
    return b.replace(op, x);
  if (!isStatic(x) || !type.hasStaticShape())
    return b.fail(op, "a view of dynamic sizes");
  return b.replace(op, reshape(b, x, type.getShape()));
}

LogicalResult lowerPermute(aten::PermuteOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  SmallVector<int64_t> perm;
  for (int64_t dim : op.getDims())
    perm.push_back(normalizeDim(dim, rankOf(x)));
  return b.replace(op, transpose(b, x, perm));
}

/// `x` with two dims swapped.
Value swapDims(Lowering &b, Value x, int64_t dim0, int64_t dim1) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
  if (!perm.empty())
    std::swap(perm[normalizeDim(dim0, perm.size())],
              perm[normalizeDim(dim1, perm.size())]);
  return transpose(b, x, perm);
}

LogicalResult lowerTranspose(aten::TransposeOp op, Lowering &b) {
  return b.replace(
      op, swapDims(b, b.get(op.getSelf()), op.getDim0(), op.getDim1()));
}

LogicalResult lowerT(aten::TOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  return b.replace(op, rankOf(x) < 2 ? x : swapDims(b, x, 0, 1));
}

LogicalResult lowerUnsqueeze(aten::UnsqueezeOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  return b.replace(op,
                   expandDims(b, x, normalizeDim(op.getDim(), rankOf(x) + 1)));
}

LogicalResult lowerSqueeze(aten::SqueezeOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  SmallVector<int64_t> asked =
      op.getDim() ? normalizeDims(*op.getDim(), rankOf(x), /*emptyIsAll=*/false)
                  : normalizeDims({}, rankOf(x));
  SmallVector<int64_t> dims;
  for (int64_t dim : asked) {
    if (ShapedType::isDynamic(shapeOf(x)[dim]))
      return b.fail(op, "whether a dynamic dim is 1 is not known");
    if (shapeOf(x)[dim] == 1)
      dims.push_back(dim);
  }
  return b.replace(op, dropDims(b, x, dims));
}

/// `x` broadcast (right-aligned) to `shape`.
Value broadcast(Lowering &b, Value x, ArrayRef<int64_t> shape) {
  if (shapeOf(x) == shape)
    return x;
  if (numElements(shapeOf(x)) == numElements(shape))
    return reshape(b, x, shape);
  return copyThrough(b, x, broadcastMap(b.getContext(), shapeOf(x), shape),
                     shape);
}

LogicalResult lowerExpand(aten::ExpandOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  RankedTensorType type = resultType(op);
  if (!isStatic(x) || !type.hasStaticShape())
    return b.fail(op, "an expansion of dynamic sizes");
  return b.replace(op, broadcast(b, x, type.getShape()));
}

LogicalResult lowerCopy(aten::CopyOp op, Lowering &b) {
  Operand source = b.operand(op.getSrc());
  RankedTensorType type = resultType(op);
  if (source.value.getType() != type &&
      (!isStatic(source.value) || !type.hasStaticShape()))
    return b.fail(op, "a copy of dynamic sizes");
  Value converted = convertTensor(b, source, dtypeOf(op.getResult()));
  return b.replace(op, broadcast(b, converted, type.getShape()));
}

LogicalResult lowerRepeat(aten::RepeatOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  if (!isStatic(x))
    return b.fail(op, "repetition of dynamic sizes");
  // Each dim n becomes (times, n), read without the first, and is collapsed.
  ArrayRef<int64_t> repeats = op.getRepeats();
  int64_t lead = int64_t(repeats.size()) - rankOf(x);
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  for (auto [i, times] : llvm::enumerate(repeats)) {
    if (times != 1)
      shape.push_back(times);
    if (int64_t(i) < lead)
      continue;
    exprs.push_back(b.getAffineDimExpr(shape.size()));
    shape.push_back(shapeOf(x)[i - lead]);
  }
  if (shape != shapeOf(x))
    x = copyThrough(
        b, x, AffineMap::get(shape.size(), 0, exprs, b.getContext()), shape);
  return b.replace(op, reshape(b, x, resultType(op).getShape()));
}

LogicalResult lowerPixelShuffle(aten::PixelShuffleOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  if (!isStatic(x))
    return b.fail(op, "pixel_shuffle of dynamic sizes");
  int64_t rank = rankOf(x), r = op.getUpscaleFactor();
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t outer = numElements(shape.drop_back(3)),
          channels = shape[rank - 3] / (r * r);
  int64_t h = shape[rank - 2], w = shape[rank - 1];
  x = reshape(b, x, {outer, channels, r, r, h, w});
  x = transpose(b, x, {0, 1, 4, 2, 5, 3});
  return b.replace(op, reshape(b, x, resultType(op).getShape()));
}

LogicalResult lowerAsStrided(aten::AsStridedOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  RankedTensorType type = resultType(op);
  if (!isStatic(x) || !type.hasStaticShape())
    return b.fail(op, "as_strided of dynamic sizes");
  int64_t elements = numElements(shapeOf(x)),
          offset = op.getStorageOffset().value_or(0);
  // A dense row-major block from the start is a reshape; else read by address.
  int64_t last = offset, dense = 1;
  bool isDense = offset == 0 && numElements(type.getShape()) == elements;
  for (auto [size, stride] :
       llvm::reverse(llvm::zip_equal(type.getShape(), op.getStride()))) {
    last += (size - 1) * stride;
    isDense &= size == 1 || stride == dense;
    dense *= size;
  }
  if (isDense)
    return b.replace(op, reshape(b, x, type.getShape()));
  if (numElements(type.getShape()) && (last >= elements || offset < 0))
    return b.fail(op, "as_strided beyond the elements of self");
  Value flat = reshape(b, x, {elements});
  Value result =
      generate(b, type.getShape(), storedType(x), [&](ArrayRef<Value> indices) {
        Value address = index(b, offset);
        for (auto [i, stride] : llvm::zip_equal(indices, op.getStride()))
          address = arith::AddIOp::create(
              b, address, arith::MulIOp::create(b, i, index(b, stride)));
        return tensor::ExtractOp::create(b, flat, address).getResult();
      });
  return b.replace(op, result);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// The elements that a Python slice takes of a dim of size `size`.
struct SliceRange {
  int64_t start, count;
};
SliceRange sliceRange(std::optional<int64_t> start, std::optional<int64_t> end,
                      int64_t step, int64_t size) {
  auto clamp = [&](int64_t position) {
    if (position < 0)
      position += size;
    return std::min(std::max<int64_t>(position, 0), size);
  };
  int64_t from = clamp(start.value_or(0)), to = end ? clamp(*end) : size;
  return {from, to > from ? (to - from + step - 1) / step : 0};
}

LogicalResult lowerSlice(aten::SliceOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  int64_t dim = normalizeDim(op.getDim(), rankOf(x)), size = shapeOf(x)[dim];
  if (ShapedType::isDynamic(size))
    return b.fail(op, "a slice of a dynamic dim");
  SliceRange range = sliceRange(op.getStart(), op.getEnd(), op.getStep(), size);
  return b.replace(op,
                   slice(b, x, dim, range.start, range.count, op.getStep()));
}

/// Index `i` of `dim`, which is dropped.
Value select(Lowering &b, Value x, int64_t dim, int64_t i) {
  return dropDims(b, slice(b, x, dim, i < 0 ? i + shapeOf(x)[dim] : i, 1), dim);
}

LogicalResult lowerSelect(aten::SelectOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  int64_t dim = normalizeDim(op.getDim(), rankOf(x));
  if (ShapedType::isDynamic(shapeOf(x)[dim]))
    return b.fail(op, "an index of a dynamic dim");
  return b.replace(op, select(b, x, dim, op.getIndex()));
}

/// Pieces of the results' sizes one after the other.
LogicalResult splitLike(Operation *op, Lowering &b, Value x, int64_t dim) {
  dim = normalizeDim(dim, rankOf(x));
  if (ShapedType::isDynamic(shapeOf(x)[dim]))
    return b.fail(op, "a split of a dynamic dim");
  SmallVector<Value> pieces;
  int64_t start = 0;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    int64_t size = resultType(op, i).getDimSize(dim);
    pieces.push_back(slice(b, x, dim, start, size));
    start += size;
  }
  return b.replace(op, pieces);
}

LogicalResult lowerSplit(aten::SplitOp op, Lowering &b) {
  return splitLike(op, b, b.get(op.getSelf()), op.getDim());
}

LogicalResult lowerSplitWithSizes(aten::SplitWithSizesOp op, Lowering &b) {
  return splitLike(op, b, b.get(op.getSelf()), op.getDim());
}

LogicalResult lowerUnbind(aten::UnbindOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  int64_t dim = normalizeDim(op.getDim(), rankOf(x));
  SmallVector<Value> pieces;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    pieces.push_back(select(b, x, dim, i));
  return b.replace(op, pieces);
}

/// `x` with `count` positions of `dim` from `start` in steps of `step` replaced
/// by `source`, which lacks that dim when `dropped`.
Value insertSlice(Lowering &b, Value x, Value source, int64_t dim,
                  int64_t start, int64_t count, int64_t step,
                  bool dropped = false) {
  SmallVector<OpFoldResult> sizes = sizesOf(b, x);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  offsets[dim] = b.getIndexAttr(start);
  sizes[dim] = b.getIndexAttr(count);
  strides[dim] = b.getIndexAttr(step);
  if (dropped)
    source = expandDims(b, source, dim);
  return tensor::InsertSliceOp::create(b, source, x, offsets, sizes, strides);
}

LogicalResult lowerSliceScatter(aten::SliceScatterOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf()), source = b.operand(op.getSrc());
  if (!isStatic(x.value) || !isStatic(source.value))
    return b.fail(op, "a slice of dynamic sizes");
  int64_t dim = normalizeDim(op.getDim(), x.rank());
  SliceRange range =
      sliceRange(op.getStart(), op.getEnd(), op.getStep(), x.shape()[dim]);
  if (range.count == 0)
    return b.replace(op, x.value);
  Value piece = convertTensor(b, source, x.dtype);
  SmallVector<int64_t> shape(x.shape());
  shape[dim] = range.count;
  piece = broadcast(b, piece, shape);
  return b.replace(op, insertSlice(b, x.value, piece, dim, range.start,
                                   range.count, op.getStep()));
}

LogicalResult lowerSelectScatter(aten::SelectScatterOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf()), source = b.operand(op.getSrc());
  if (!isStatic(x.value))
    return b.fail(op, "an index of dynamic sizes");
  int64_t dim = normalizeDim(op.getDim(), x.rank());
  int64_t i = op.getIndex();
  if (i < 0)
    i += x.shape()[dim];
  Value piece = convertTensor(b, source, x.dtype);
  return b.replace(
      op, insertSlice(b, x.value, piece, dim, i, 1, 1, /*dropped=*/true));
}

/// Zeros of the op's result.
Value zerosLike(Operation *op, Lowering &b) {
  RankedTensorType type = resultType(op);
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  return filledTensor(b, sizes, type.getElementType(),
                      numberConstant(b, type.getElementType(), 0));
}

LogicalResult lowerSliceBackward(aten::SliceBackwardOp op, Lowering &b) {
  RankedTensorType type = resultType(op);
  if (!type.hasStaticShape())
    return b.fail(op, "a slice of dynamic sizes");
  int64_t dim = normalizeDim(op.getDim(), type.getRank());
  SliceRange range = sliceRange(op.getStart(), op.getEnd(), op.getStep(),
                                type.getDimSize(dim));
  Value grad = b.get(op.getGradOutput()), zeros = zerosLike(op, b);
  if (range.count == 0)
    return b.replace(op, zeros);
  return b.replace(op, insertSlice(b, zeros, grad, dim, range.start,
                                   range.count, op.getStep()));
}

LogicalResult lowerSelectBackward(aten::SelectBackwardOp op, Lowering &b) {
  RankedTensorType type = resultType(op);
  if (!type.hasStaticShape())
    return b.fail(op, "an index of dynamic sizes");
  int64_t dim = normalizeDim(op.getDim(), type.getRank());
  int64_t i = op.getIndex();
  if (i < 0)
    i += type.getDimSize(dim);
  return b.replace(op, insertSlice(b, zerosLike(op, b),
                                   b.get(op.getGradOutput()), dim, i, 1, 1,
                                   /*dropped=*/true));
}

//===----------------------------------------------------------------------===//
// Joining and shifting
//===----------------------------------------------------------------------===//

LogicalResult lowerCat(aten::CatOp op, Lowering &b) {
  RankedTensorType type = resultType(op);
  if (!type.hasStaticShape())
    return b.fail(op, "a concatenation of dynamic sizes");
  Type dtype = dtypeOf(op.getResult());
  int64_t dim = normalizeDim(op.getDim(), type.getRank());
  SmallVector<Value> parts;
  for (Value tensor : op.getTensors()) {
    Operand x = b.operand(tensor);
    if (!isStatic(x.value))
      return b.fail(op, "a concatenation of dynamic sizes");
    // torch also accepts (and skips) a vector of no elements among the others.
    if (numElements(x.shape()) == 0)
      continue;
    parts.push_back(convertTensor(b, x, dtype));
  }
  if (parts.empty())
    return b.replace(op, zerosLike(op, b));
  return b.replace(op, concat(b, parts, dim));
}

LogicalResult lowerStack(aten::StackOp op, Lowering &b) {
  RankedTensorType type = resultType(op);
  if (!type.hasStaticShape())
    return b.fail(op, "a stack of dynamic sizes");
  int64_t dim = normalizeDim(op.getDim(), type.getRank());
  SmallVector<Value> parts;
  for (Value tensor : op.getTensors())
    parts.push_back(expandDims(
        b, convertTensor(b, b.operand(tensor), dtypeOf(op.getResult())), dim));
  return b.replace(op, concat(b, parts, dim));
}

LogicalResult lowerRoll(aten::RollOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  if (!isStatic(x))
    return b.fail(op, "a roll of dynamic sizes");
  RankedTensorType type = resultType(op);
  if (numElements(type.getShape()) == 0 || type.getRank() == 0)
    return b.replace(op, x);
  SmallVector<int64_t> dims(op.getDims());
  if (dims.empty()) {
    x = reshape(b, x, {numElements(type.getShape())});
    dims.push_back(0);
  }
  for (auto [dim, shift] : llvm::zip_equal(dims, op.getShifts())) {
    dim = normalizeDim(dim, rankOf(x));
    int64_t size = shapeOf(x)[dim], by = ((shift % size) + size) % size;
    if (by == 0)
      continue;
    Value tail = slice(b, x, dim, size - by, by),
          head = slice(b, x, dim, 0, size - by);
    x = concat(b, {tail, head}, dim);
  }
  return b.replace(op, reshape(b, x, type.getShape()));
}

LogicalResult lowerConstantPadNd(aten::ConstantPadNdOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf());
  if (!isStatic(x.value))
    return b.fail(op, "padding of dynamic sizes");
  std::optional<double> value = knownNumber(b.operand(op.getValue()));
  if (!value)
    return b.fail(op, "a padding value that is not constant");
  ArrayRef<int64_t> pads = op.getPad();
  Value result = x.value;
  SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
  for (size_t i = 0; i + 1 < pads.size(); i += 2) {
    int64_t dim = x.rank() - 1 - i / 2;
    low[dim] = pads[i];
    high[dim] = pads[i + 1];
  }
  // Negative padding crops first.
  for (int64_t dim = 0; dim < x.rank(); ++dim) {
    int64_t before = std::max<int64_t>(-low[dim], 0),
            after = std::max<int64_t>(-high[dim], 0);
    low[dim] = std::max<int64_t>(low[dim], 0);
    high[dim] = std::max<int64_t>(high[dim], 0);
    int64_t left = shapeOf(result)[dim] - before - after;
    if (left < 0) // More is cropped than there is: padding on the other side is
                  // cropped too.
      return b.fail(op, "cropping more than the dim has");
    result = slice(b, result, dim, before, left);
  }
  Operand number = b.operand(op.getValue());
  Value scalar = convertScalar(b, number.value, number.dtype, x.dtype);
  if (isFloat(x.dtype))
    scalar = floatConstant(b, x.dtype, *value);
  else if (isInt(x.dtype) && isFloat(number.dtype))
    scalar = intConstant(b, x.dtype, int64_t(*value));
  return b.replace(op,
                   pad(b, result, low, high, storeScalar(b, scalar, x.dtype)));
}

/// Mirrors the last `dims` dims around their edges; `pads` as in
/// constant_pad_nd.
LogicalResult reflect(Operation *op, Lowering &b, Value x,
                      ArrayRef<int64_t> pads) {
  RankedTensorType type = resultType(op);
  if (!isStatic(x) || !type.hasStaticShape())
    return b.fail(op, "padding of dynamic sizes");
  int64_t rank = rankOf(x);
  Value result =
      generate(b, type.getShape(), storedType(x), [&](ArrayRef<Value> indices) {
        SmallVector<Value> at(indices);
        for (size_t i = 0; i + 1 < pads.size(); i += 2) {
          int64_t dim = rank - 1 - i / 2;
          // |i - low|, then mirrored at the last element.
          Value from = arith::SubIOp::create(b, at[dim], index(b, pads[i]));
          Value minus = arith::SubIOp::create(b, index(b, 0), from);
          from = arith::MaxSIOp::create(b, from, minus);
          int64_t last = shapeOf(x)[dim] - 1;
          Value mirrored = arith::SubIOp::create(b, index(b, 2 * last), from);
          at[dim] = arith::MinSIOp::create(b, from, mirrored);
        }
        return tensor::ExtractOp::create(b, x, at).getResult();
      });
  return b.replace(op, result);
}

LogicalResult lowerReflectionPad1d(aten::ReflectionPad1dOp op, Lowering &b) {
  return reflect(op, b, b.get(op.getSelf()), op.getPadding());
}

LogicalResult lowerReflectionPad2d(aten::ReflectionPad2dOp op, Lowering &b) {
  return reflect(op, b, b.get(op.getSelf()), op.getPadding());
}

//===----------------------------------------------------------------------===//
// Computed reads
//===----------------------------------------------------------------------===//

LogicalResult lowerFlip(aten::FlipOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  if (!isStatic(x))
    return b.fail(op, "a flip of dynamic sizes");
  SmallVector<int64_t> dims =
      normalizeDims(op.getDims(), rankOf(x), /*emptyIsAll=*/false);
  if (dims.empty())
    return b.replace(op, x);
  Value result =
      generate(b, shapeOf(x), storedType(x), [&](ArrayRef<Value> indices) {
        SmallVector<Value> at(indices);
        for (int64_t dim : dims)
          at[dim] =
              arith::SubIOp::create(b, index(b, shapeOf(x)[dim] - 1), at[dim]);
        return tensor::ExtractOp::create(b, x, at).getResult();
      });
  return b.replace(op, result);
}

LogicalResult lowerDiagonal(aten::DiagonalOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  RankedTensorType type = resultType(op);
  if (!isStatic(x))
    return b.fail(op, "a diagonal of dynamic sizes");
  int64_t dim1 = normalizeDim(op.getDim1(), rankOf(x)),
          dim2 = normalizeDim(op.getDim2(), rankOf(x));
  int64_t offset = op.getOffset();
  Value result =
      generate(b, type.getShape(), storedType(x), [&](ArrayRef<Value> indices) {
        SmallVector<Value> at(rankOf(x));
        size_t next = 0;
        for (int64_t dim = 0; dim < rankOf(x); ++dim)
          if (dim != dim1 && dim != dim2)
            at[dim] = indices[next++];
        Value along = indices.back();
        at[dim1] = arith::AddIOp::create(
            b, along, index(b, std::max<int64_t>(-offset, 0)));
        at[dim2] = arith::AddIOp::create(
            b, along, index(b, std::max<int64_t>(offset, 0)));
        return tensor::ExtractOp::create(b, x, at).getResult();
      });
  return b.replace(op, result);
}

LogicalResult lowerUnfold(aten::UnfoldOp op, Lowering &b) {
  Value x = b.get(op.getSelf());
  RankedTensorType type = resultType(op);
  if (!isStatic(x) || rankOf(x) == 0)
    return b.fail(op, "windows of dynamic sizes or of a scalar");
  int64_t dim = normalizeDim(op.getDimension(), rankOf(x));
  Value result =
      generate(b, type.getShape(), storedType(x), [&](ArrayRef<Value> indices) {
        SmallVector<Value> at(indices.drop_back());
        Value start = arith::MulIOp::create(b, at[dim], index(b, op.getStep()));
        at[dim] = arith::AddIOp::create(b, start, indices.back());
        return tensor::ExtractOp::create(b, x, at).getResult();
      });
  return b.replace(op, result);
}

/// Keeps what lies on one side of a diagonal, else 0.
LogicalResult keepTriangle(Operation *op, Lowering &b, Operand x,
                           int64_t diagonal, bool lower) {
  int64_t rank = x.rank();
  if (rank < 2)
    return b.fail(op, "a triangle of fewer than two dims");
  Type stored = storedType(x.value);
  Value zero = numberConstant(b, stored, 0);
  Value result =
      parallel(b, Input{Operand(x.value), b.getMultiDimIdentityMap(rank)},
               sizesOf(b, x.value), stored,
               [&](ArrayRef<Value> in) -> SmallVector<Value> {
                 Value row = linalg::IndexOp::create(b, rank - 2);
                 Value column = linalg::IndexOp::create(b, rank - 1);
                 Value limit =
                     arith::AddIOp::create(b, row, index(b, diagonal));
                 Value keep =
                     arith::CmpIOp::create(b,
                                           lower ? arith::CmpIPredicate::sle
                                                 : arith::CmpIPredicate::sge,
                                           column, limit);
                 return {arith::SelectOp::create(b, keep, in[0], zero)};
               })
          .front();
  return b.replace(op, result);
}

LogicalResult lowerTril(aten::TrilOp op, Lowering &b) {
  return keepTriangle(op, b, b.operand(op.getSelf()), op.getDiagonal(),
                      /*lower=*/true);
}

LogicalResult lowerTriu(aten::TriuOp op, Lowering &b) {
  return keepTriangle(op, b, b.operand(op.getSelf()), op.getDiagonal(),
                      /*lower=*/false);
}

} // namespace

void lowering::populateShapeLowerings(LoweringTable &table) {
  table.add<aten::ViewOp>(lowerView);
  table.add<aten::PermuteOp>(lowerPermute);
  table.add<aten::TransposeOp>(lowerTranspose);
  table.add<aten::TOp>(lowerT);
  table.add<aten::UnsqueezeOp>(lowerUnsqueeze);
  table.add<aten::SqueezeOp>(lowerSqueeze);
  table.add<aten::ExpandOp>(lowerExpand);
  table.add<aten::CopyOp>(lowerCopy);
  table.add<aten::RepeatOp>(lowerRepeat);
  table.add<aten::PixelShuffleOp>(lowerPixelShuffle);
  table.add<aten::AsStridedOp>(lowerAsStrided);
  table.add<aten::SliceOp>(lowerSlice);
  table.add<aten::SelectOp>(lowerSelect);
  table.add<aten::SplitOp>(lowerSplit);
  table.add<aten::SplitWithSizesOp>(lowerSplitWithSizes);
  table.add<aten::UnbindOp>(lowerUnbind);
  table.add<aten::SliceScatterOp>(lowerSliceScatter);
  table.add<aten::SelectScatterOp>(lowerSelectScatter);
  table.add<aten::SliceBackwardOp>(lowerSliceBackward);
  table.add<aten::SelectBackwardOp>(lowerSelectBackward);
  table.add<aten::CatOp>(lowerCat);
  table.add<aten::StackOp>(lowerStack);
  table.add<aten::RollOp>(lowerRoll);
  table.add<aten::ConstantPadNdOp>(lowerConstantPadNd);
  table.add<aten::ReflectionPad1dOp>(lowerReflectionPad1d);
  table.add<aten::ReflectionPad2dOp>(lowerReflectionPad2d);
  table.add<aten::FlipOp>(lowerFlip);
  table.add<aten::DiagonalOp>(lowerDiagonal);
  table.add<aten::UnfoldOp>(lowerUnfold);
  table.add<aten::TrilOp>(lowerTril);
  table.add<aten::TriuOp>(lowerTriu);
}
