//===- ShapeOps.cpp - reshapes, slices and padding -----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/ShapeOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/ShapeOps.cpp.inc"

LogicalResult ViewOp::inferShapes(Shapes &shapes) {
  Shape &shape = shapes.emplace_back(getSize());
  int64_t elements = product(shapeOf(getSelf())), known = 1, inferred = -1;
  bool unknown = false;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (ShapedType::isDynamic(size)) {
      unknown = true;
    } else if (size == -1) {
      if (inferred >= 0)
        return broken(*this, 8) << "size has more than one -1";
      inferred = i;
    } else if (size < 0) {
      return broken(*this, 8) << "size " << size << " is negative";
    } else {
      known *= size;
    }
  }
  if (ShapedType::isDynamic(elements) || unknown) {
    if (inferred >= 0)
      shape[inferred] = kDynamic;
    return success();
  }
  if (inferred >= 0) {
    if (known == 0)
      return broken(*this, 8) << "-1 cannot be inferred beside a size of 0";
    shape[inferred] = elements / known;
    known *= shape[inferred];
  }
  if (known != elements)
    return broken(*this, 6)
           << "self has " << elements << " elements, the result " << known;
  return success();
}

LogicalResult PermuteOp::inferShapes(Shapes &shapes) {
  ArrayRef<int64_t> from = shapeOf(getSelf());
  FailureOr<SmallVector<int64_t>> dims =
      wrapDims(*this, getDims(), from.size());
  if (failed(dims))
    return failure();
  if (dims->size() != from.size())
    return broken(*this, 7) << "dims has " << dims->size()
                            << " elements, expected " << from.size();
  Shape &shape = shapes.emplace_back();
  for (int64_t dim : *dims)
    shape.push_back(from[dim]);
  return success();
}

LogicalResult TransposeOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  FailureOr<int64_t> dim0 = wrapDim(*this, getDim0(), shape.size()),
                     dim1 = wrapDim(*this, getDim1(), shape.size());
  if (failed(dim0) || failed(dim1))
    return failure();
  if (!shape.empty())
    std::swap(shape[*dim0], shape[*dim1]);
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult TOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  if (shape.size() > 2)
    return broken(*this, 5)
           << "self has rank " << shape.size() << ", expected at most 2";
  std::reverse(shape.begin(), shape.end());
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult UnsqueezeOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  FailureOr<int64_t> dim = wrapDim(*this, getDim(), shape.size() + 1);
  if (failed(dim))
    return failure();
  shape.insert(shape.begin() + *dim, 1);
  shapes.push_back(std::move(shape));
  return success();
}

// Whether an unknown size is 1 decides about the rank: such a result needs its
// declared type, so the rule takes the size for greater than 1 as torch.export
// does.
LogicalResult SqueezeOp::inferShapes(Shapes &shapes) {
  ArrayRef<int64_t> from = shapeOf(getSelf());
  SmallVector<int64_t> dims;
  if (std::optional<ArrayRef<int64_t>> asked = getDim()) {
    FailureOr<SmallVector<int64_t>> wrapped =
        wrapDims(*this, *asked, from.size());
    if (failed(wrapped))
      return failure();
    dims = *wrapped;
  } else {
    dims = llvm::to_vector(llvm::seq<int64_t>(0, from.size()));
  }
  Shape &shape = shapes.emplace_back();
  for (auto [dim, size] : llvm::enumerate(from))
    if (size != 1 || !llvm::is_contained(dims, int64_t(dim)))
      shape.push_back(size);
  return success();
}

LogicalResult ExpandOp::inferShapes(Shapes &shapes) {
  ArrayRef<int64_t> from = shapeOf(getSelf());
  Shape shape(getSize());
  if (shape.size() < from.size())
    return broken(*this, 7) << "size has " << shape.size()
                            << " elements, expected at least " << from.size();
  size_t leading = shape.size() - from.size();
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == -1) {
      if (i < leading)
        return broken(*this, 8) << "-1 has no dimension to keep";
      size = from[i - leading];
    } else if (size < 0 && !ShapedType::isDynamic(size)) {
      return broken(*this, 8) << "size " << size << " is negative";
    }
  }
  if (failed(requireBroadcastTo(*this, from, shape)))
    return failure();
  shapes.push_back(std::move(shape));
  return success();
}

/// The number of elements of a slice (C8: step is positive); positions as in
/// Python, clamped.
static FailureOr<int64_t> sliceCount(Operation *op, int64_t size,
                                     std::optional<int64_t> start,
                                     std::optional<int64_t> end, int64_t step) {
  if (step < 1)
    return broken(op, 8) << "step " << step << " is not positive";
  if (ShapedType::isDynamic(size)) {
    // The whole dimension, however long.
    return kDynamic;
  }
  auto position = [&](int64_t p) {
    return std::clamp<int64_t>(p < 0 ? p + size : p, 0, size);
  };
  int64_t first = position(start.value_or(0)),
          last = position(end.value_or(size));
  return first >= last ? 0 : (last - first + step - 1) / step;
}

/// Shape of a slice of `from` along `dimension`.
static FailureOr<Shape> sliceShape(Operation *op, ArrayRef<int64_t> from,
                                   int64_t dimension,
                                   std::optional<int64_t> start,
                                   std::optional<int64_t> end, int64_t step) {
  Shape shape(from);
  if (shape.empty())
    return broken(op, 5) << "a scalar has no slices";
  FailureOr<int64_t> dim = wrapDim(op, dimension, shape.size());
  if (failed(dim))
    return failure();
  FailureOr<int64_t> count = sliceCount(op, shape[*dim], start, end, step);
  if (failed(count))
    return failure();
  shape[*dim] = *count;
  return shape;
}

LogicalResult SliceOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape = sliceShape(*this, shapeOf(getSelf()), getDim(),
                                      getStart(), getEnd(), getStep());
  if (failed(shape))
    return failure();
  shapes.push_back(*shape);
  return success();
}

LogicalResult SliceScatterOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape = sliceShape(*this, shapeOf(getSelf()), getDim(),
                                      getStart(), getEnd(), getStep());
  if (failed(shape))
    return failure();
  shapes.push_back(sizes(getSelf()));
  return requireBroadcastTo(*this, shapeOf(getSrc()), *shape);
}

LogicalResult SliceBackwardOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape = sliceShape(*this, getInputSizes(), getDim(),
                                      getStart(), getEnd(), getStep());
  if (failed(shape) ||
      failed(unifyShapes(*this, *shape, shapeOf(getGradOutput()),
                         "shape of grad_output")))
    return failure();
  shapes.emplace_back(getInputSizes());
  return success();
}

/// `from` without a dimension, of which `index` is taken (C8).
static FailureOr<Shape> selectShape(Operation *op, ArrayRef<int64_t> from,
                                    int64_t dimension, int64_t index) {
  Shape shape(from);
  if (shape.empty())
    return broken(op, 5) << "a scalar has no dimension to select from";
  FailureOr<int64_t> dim = wrapDim(op, dimension, shape.size());
  if (failed(dim))
    return failure();
  int64_t size = shape[*dim];
  if (!ShapedType::isDynamic(size) && (index < -size || index >= size))
    return broken(op, 8) << "index " << index << " is not in [" << -size << ", "
                         << size - 1 << "]";
  shape.erase(shape.begin() + *dim);
  return shape;
}

LogicalResult SelectOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape =
      selectShape(*this, shapeOf(getSelf()), getDim(), getIndex());
  if (failed(shape))
    return failure();
  shapes.push_back(*shape);
  return success();
}

LogicalResult SelectScatterOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape =
      selectShape(*this, shapeOf(getSelf()), getDim(), getIndex());
  if (failed(shape))
    return failure();
  shapes.push_back(sizes(getSelf()));
  return requireBroadcastTo(*this, shapeOf(getSrc()), *shape);
}

LogicalResult SelectBackwardOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape =
      selectShape(*this, getInputSizes(), getDim(), getIndex());
  if (failed(shape) ||
      failed(unifyShapes(*this, *shape, shapeOf(getGradOutput()),
                         "shape of grad_output")))
    return failure();
  shapes.emplace_back(getInputSizes());
  return success();
}

LogicalResult SplitOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  FailureOr<int64_t> dim = wrapDim(*this, getDim(), shape.size());
  if (failed(dim))
    return failure();
  if (shape.empty())
    return broken(*this, 5) << "a scalar cannot be split";
  int64_t size = shape[*dim], piece = getSplitSize();
  if (piece < 0 || (piece == 0 && size != 0))
    return broken(*this, 8) << "split_size " << piece << " is not positive";
  if (ShapedType::isDynamic(size)) {
    shape[*dim] = kDynamic;
    shapes.append(getNumResults(), shape);
    return success();
  }
  // An empty dimension is one empty piece.
  for (int64_t start = 0; start < size || start == 0;
       start += std::max<int64_t>(piece, 1)) {
    shape[*dim] = std::min(piece, size - start);
    shapes.push_back(shape);
  }
  return success();
}

LogicalResult SplitWithSizesOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  FailureOr<int64_t> dim = wrapDim(*this, getDim(), shape.size());
  if (failed(dim))
    return failure();
  if (shape.empty())
    return broken(*this, 5) << "a scalar cannot be split";
  int64_t sum = 0, size = shape[*dim];
  for (int64_t piece : getSplitSizes()) {
    if (piece < 0)
      return broken(*this, 8) << "split size " << piece << " is negative";
    sum += piece;
    shape[*dim] = piece;
    shapes.push_back(shape);
  }
  return unify(*this, size, sum, "size of dim and sum of split_sizes");
}

LogicalResult UnbindOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  if (shape.empty())
    return broken(*this, 5) << "a scalar has no dimension to unbind";
  FailureOr<int64_t> dim = wrapDim(*this, getDim(), shape.size());
  if (failed(dim))
    return failure();
  int64_t size = shape[*dim];
  shape.erase(shape.begin() + *dim);
  shapes.append(ShapedType::isDynamic(size) ? getNumResults() : size, shape);
  return success();
}

LogicalResult CatOp::inferShapes(Shapes &shapes) {
  if (getTensors().empty())
    return broken(*this, 7) << "there are no tensors";
  Shape shape;
  std::optional<int64_t> dim;
  for (Value tensor : getTensors()) {
    ArrayRef<int64_t> from = shapeOf(tensor);
    // torch passes over empty vectors, of whatever rank the others are.
    if (from == ArrayRef<int64_t>{0})
      continue;
    if (from.empty())
      return broken(*this, 5) << "a scalar cannot be concatenated";
    if (!dim) {
      FailureOr<int64_t> wrapped = wrapDim(*this, getDim(), from.size());
      if (failed(wrapped))
        return failure();
      dim = *wrapped;
      shape = Shape(from);
      continue;
    }
    if (from.size() != shape.size())
      return broken(*this, 5)
             << "tensors have ranks " << shape.size() << " and " << from.size();
    for (auto [i, size] : llvm::enumerate(from)) {
      if (int64_t(i) != *dim) {
        if (failed(
                unify(*this, shape[i], size, "sizes of dimension " + Twine(i))))
          return failure();
      } else if (ShapedType::isDynamic(size) ||
                 ShapedType::isDynamic(shape[i])) {
        shape[i] = kDynamic;
      } else {
        shape[i] += size;
      }
    }
  }
  shapes.push_back(dim ? shape : Shape{0});
  return success();
}

LogicalResult StackOp::inferShapes(Shapes &shapes) {
  if (getTensors().empty())
    return broken(*this, 7) << "there are no tensors";
  Shape shape = sizes(getTensors().front());
  for (Value tensor : getTensors().drop_front())
    if (failed(unifyShapes(*this, shape, shapeOf(tensor), "shapes of tensors")))
      return failure();
  FailureOr<int64_t> dim = wrapDim(*this, getDim(), shape.size() + 1);
  if (failed(dim))
    return failure();
  shape.insert(shape.begin() + *dim, getTensors().size());
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult RepeatOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  ArrayRef<int64_t> repeats = getRepeats();
  if (repeats.size() < shape.size())
    return broken(*this, 7) << "repeats has " << repeats.size()
                            << " elements, expected at least " << shape.size();
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  for (auto [size, times] : llvm::zip(shape, repeats)) {
    if (times < 0)
      return broken(*this, 8) << "repeats " << times << " is negative";
    if (times == 0)
      size = 0;
    else if (!ShapedType::isDynamic(size))
      size *= times;
  }
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult FlipOp::inferShapes(Shapes &shapes) {
  shapes.push_back(sizes(getSelf()));
  return wrapDims(*this, getDims(), shapes.back().size());
}

LogicalResult RollOp::inferShapes(Shapes &shapes) {
  shapes.push_back(sizes(getSelf()));
  size_t dims = getDims().size();
  if (getShifts().size() != std::max<size_t>(dims, 1))
    return broken(*this, 7)
           << "shifts has " << getShifts().size() << " elements, expected "
           << std::max<size_t>(dims, 1);
  for (int64_t dim : getDims())
    if (failed(wrapDim(*this, dim, shapes.back().size())))
      return failure();
  return success();
}

/// Grows the last dimensions by (before, after) pairs, last dimension first.
static FailureOr<Shape> padShape(Operation *op, Value self,
                                 ArrayRef<int64_t> pad) {
  Shape shape = sizes(self);
  if (pad.size() % 2 || pad.size() / 2 > shape.size())
    return broken(op, 7) << "pad has " << pad.size()
                         << " elements, expected an even number up to "
                         << 2 * shape.size();
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t &size = shape[shape.size() - 1 - i];
    if (ShapedType::isDynamic(size))
      continue;
    size += pad[2 * i] + pad[2 * i + 1];
    if (size < 0)
      return broken(op, 8) << "padded size " << size << " is negative";
  }
  return shape;
}

LogicalResult ConstantPadNdOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape = padShape(*this, getSelf(), getPad());
  if (failed(shape))
    return failure();
  shapes.push_back(*shape);
  return success();
}

/// A mirror image is smaller than what it mirrors (C8).
static LogicalResult inferReflection(Operation *op, Value self,
                                     ArrayRef<int64_t> padding, size_t spatial,
                                     Shapes &shapes) {
  ArrayRef<int64_t> from = shapeOf(self);
  if (from.size() != spatial + 1 && from.size() != spatial + 2)
    return broken(op, 5) << "self has rank " << from.size() << ", expected "
                         << spatial + 1 << " or " << spatial + 2;
  if (padding.size() != 2 * spatial)
    return broken(op, 7) << "padding has " << padding.size()
                         << " elements, expected " << 2 * spatial;
  for (auto [i, pad] : llvm::enumerate(padding)) {
    int64_t size = from[from.size() - 1 - i / 2];
    if (!ShapedType::isDynamic(size) && pad >= size)
      return broken(op, 8) << "padding " << pad << " is not below the size "
                           << size;
  }
  FailureOr<Shape> shape = padShape(op, self, padding);
  if (failed(shape))
    return failure();
  shapes.push_back(*shape);
  return success();
}

LogicalResult ReflectionPad1dOp::inferShapes(Shapes &shapes) {
  return inferReflection(*this, getSelf(), getPadding(), 1, shapes);
}

LogicalResult ReflectionPad2dOp::inferShapes(Shapes &shapes) {
  return inferReflection(*this, getSelf(), getPadding(), 2, shapes);
}

static LogicalResult inferTriangle(Operation *op, Value self, Shapes &shapes) {
  if (rankOf(self) < 2)
    return broken(op, 5) << "self has rank " << rankOf(self)
                         << ", expected at least 2";
  shapes.push_back(sizes(self));
  return success();
}

LogicalResult TrilOp::inferShapes(Shapes &shapes) {
  return inferTriangle(*this, getSelf(), shapes);
}
LogicalResult TriuOp::inferShapes(Shapes &shapes) {
  return inferTriangle(*this, getSelf(), shapes);
}

LogicalResult DiagonalOp::inferShapes(Shapes &shapes) {
  ArrayRef<int64_t> from = shapeOf(getSelf());
  if (from.size() < 2)
    return broken(*this, 5)
           << "self has rank " << from.size() << ", expected at least 2";
  FailureOr<SmallVector<int64_t>> dims =
      wrapDims(*this, {int64_t(getDim1()), int64_t(getDim2())}, from.size());
  if (failed(dims))
    return failure();
  int64_t rows = from[(*dims)[0]], columns = from[(*dims)[1]],
          offset = getOffset();
  Shape &shape = shapes.emplace_back();
  for (auto [dim, size] : llvm::enumerate(from))
    if (!llvm::is_contained(*dims, int64_t(dim)))
      shape.push_back(size);
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns))
    shape.push_back(kDynamic);
  else
    shape.push_back(
        std::max<int64_t>(0, std::min(rows + std::min<int64_t>(offset, 0),
                                      columns - std::max<int64_t>(offset, 0))));
  return success();
}

LogicalResult UnfoldOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  FailureOr<int64_t> dim = wrapDim(*this, getDimension(), shape.size());
  if (failed(dim))
    return failure();
  int64_t from = shape.empty() ? 1 : shape[*dim], window = getSize(),
          step = getStep();
  if (step < 1)
    return broken(*this, 8) << "step " << step << " is not positive";
  if (window < 0 || (!ShapedType::isDynamic(from) && window > from))
    return broken(*this, 8)
           << "size " << window << " is not in [0, " << from << "]";
  if (!shape.empty() && !ShapedType::isDynamic(from))
    shape[*dim] = (from - window) / step + 1;
  shape.push_back(window);
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult PixelShuffleOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  if (shape.size() < 3)
    return broken(*this, 5)
           << "self has rank " << shape.size() << ", expected at least 3";
  int64_t factor = getUpscaleFactor(), &channels = shape[shape.size() - 3];
  if (factor < 1)
    return broken(*this, 8)
           << "upscale_factor " << factor << " is not positive";
  if (!ShapedType::isDynamic(channels)) {
    if (channels % (factor * factor))
      return broken(*this, 8) << "channels " << channels
                              << " are not a multiple of " << factor * factor;
    channels /= factor * factor;
  }
  for (int64_t &size : MutableArrayRef<int64_t>(shape).take_back(2))
    if (!ShapedType::isDynamic(size))
      size *= factor;
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult AsStridedOp::inferShapes(Shapes &shapes) {
  ArrayRef<int64_t> size = getSize(), stride = getStride();
  if (size.size() != stride.size())
    return broken(*this, 7) << "size has " << size.size()
                            << " elements, stride " << stride.size();
  int64_t last = getStorageOffset().value_or(0),
          elements = product(shapeOf(getSelf()));
  bool inRange = last >= 0;
  for (auto [s, step] : llvm::zip(size, stride)) {
    inRange &= s >= 0 && step >= 0;
    last += (s - 1) * step;
  }
  if (!inRange)
    return broken(*this, 8)
           << "sizes, strides and the offset must not be negative";
  if (product(size) != 0 && !ShapedType::isDynamic(elements) &&
      last >= elements)
    return broken(*this, 8)
           << "element " << last << " is outside of self's " << elements;
  shapes.emplace_back(size);
  return success();
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// Self, where an operation that keeps the order of elements also keeps the
/// static shape.
static Value sameShape(Value self, Type result) {
  return self.getType() == result &&
                 cast<RankedTensorType>(result).hasStaticShape()
             ? self
             : Value();
}

OpFoldResult ViewOp::fold(FoldAdaptor) {
  return sameShape(getSelf(), getType());
}
OpFoldResult SqueezeOp::fold(FoldAdaptor) {
  return sameShape(getSelf(), getType());
}
OpFoldResult ExpandOp::fold(FoldAdaptor) {
  return sameShape(getSelf(), getType());
}
// A slice as long as its dimension is all of it.
OpFoldResult SliceOp::fold(FoldAdaptor) {
  return sameShape(getSelf(), getType());
}
OpFoldResult RepeatOp::fold(FoldAdaptor) {
  return sameShape(getSelf(), getType());
}

OpFoldResult ConstantPadNdOp::fold(FoldAdaptor) {
  // Not by the shape: a pad of (1, -1) shifts.
  bool none = llvm::all_of(getPad(), [](int64_t pad) { return pad == 0; });
  return none && getSelf().getType() == getType() ? getSelf() : Value();
}

OpFoldResult CatOp::fold(FoldAdaptor) {
  if (getTensors().size() != 1 || getTensors().front().getType() != getType())
    return {};
  return getTensors().front();
}

OpFoldResult TOp::fold(FoldAdaptor) {
  if (getType().getRank() < 2 && getSelf().getType() == getType())
    return getSelf();
  if (auto inner = getSelf().getDefiningOp<TOp>();
      inner && inner.getSelf().getType() == getType())
    return inner.getSelf();
  return {};
}

/// The two dimensions from the front, the smaller one first.
static std::pair<int64_t, int64_t> swapped(TransposeOp op) {
  int64_t rank = std::max<int64_t>(op.getType().getRank(), 1);
  auto wrap = [&](int64_t dim) { return dim < 0 ? dim + rank : dim; };
  return std::minmax(wrap(op.getDim0()), wrap(op.getDim1()));
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  std::pair<int64_t, int64_t> dims = swapped(*this);
  if (dims.first == dims.second && getSelf().getType() == getType())
    return getSelf();
  if (auto inner = getSelf().getDefiningOp<TransposeOp>();
      inner && swapped(inner) == dims && inner.getSelf().getType() == getType())
    return inner.getSelf();
  return {};
}

/// A permutation's dimensions from the front.
static SmallVector<int64_t> permutation(PermuteOp op) {
  SmallVector<int64_t> dims(op.getDims());
  for (int64_t &dim : dims)
    dim += dim < 0 ? int64_t(dims.size()) : 0;
  return dims;
}

OpFoldResult PermuteOp::fold(FoldAdaptor) {
  for (auto [i, dim] : llvm::enumerate(permutation(*this)))
    if (int64_t(i) != dim)
      return {};
  return getSelf().getType() == getType() ? getSelf() : Value();
}

/// Whether every one of these dimensions has size 1.
static bool allOfSizeOne(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  return llvm::all_of(dims, [&](int64_t dim) {
    return shape.empty() ||
           shape[dim < 0 ? dim + int64_t(shape.size()) : dim] == 1;
  });
}

OpFoldResult FlipOp::fold(FoldAdaptor) {
  if (getSelf().getType() == getType() &&
      allOfSizeOne(getType().getShape(), getDims()))
    return getSelf();
  return {};
}

OpFoldResult RollOp::fold(FoldAdaptor) {
  bool none =
      llvm::all_of(getShifts(), [](int64_t shift) { return shift == 0; });
  return none && getSelf().getType() == getType() ? getSelf() : Value();
}

//===----------------------------------------------------------------------===//
// Canonicalisation
//===----------------------------------------------------------------------===//

/// view(view(x)) is one view, and view(permute) stays.
static LogicalResult mergeViews(ViewOp op, PatternRewriter &rewriter) {
  auto inner = op.getSelf().getDefiningOp<ViewOp>();
  if (!inner || !op.getType().hasStaticShape())
    return failure();
  rewriter.replaceOpWithNewOp<ViewOp>(op, op.getType(), inner.getSelf(),
                                      op.getType().getShape());
  return success();
}

void ViewOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *) {
  patterns.add(mergeViews);
}

/// permute(permute(x)) is one permutation.
static LogicalResult mergePermutes(PermuteOp op, PatternRewriter &rewriter) {
  auto inner = op.getSelf().getDefiningOp<PermuteOp>();
  if (!inner)
    return failure();
  SmallVector<int64_t> dims, first = permutation(inner);
  for (int64_t dim : permutation(op))
    dims.push_back(first[dim]);
  rewriter.replaceOpWithNewOp<PermuteOp>(op, op.getType(), inner.getSelf(),
                                         dims);
  return success();
}

void PermuteOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *) {
  patterns.add(mergePermutes);
}
