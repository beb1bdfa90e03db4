//===- ShapeInference.cpp - steps of which shape rules are made
//---------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shape rules that many operations share, the helpers of the others, and
// the verifier of declared shapes.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/ShapeInference.h"

#include "ShapeHelpers.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dynamo::aten;

#include "dynamo/Dialect/Aten/IR/AtenInterfaces.cpp.inc"

/// A shape as in a tensor type: 4x?x8.
static std::string text(ArrayRef<int64_t> shape) {
  std::string out;
  llvm::raw_string_ostream os(out);
  llvm::interleave(
      shape, os,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          os << "?";
        else
          os << size;
      },
      "x");
  return shape.empty() ? "scalar" : out;
}

InFlightDiagnostic dynamo::aten::broken(Operation *op, int number) {
  return op->emitOpError() << "C" << number << ": ";
}

ArrayRef<int64_t> dynamo::aten::shapeOf(Value value) {
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
    return tensor.getShape();
  return {};
}

FailureOr<int64_t> dynamo::aten::wrapDim(Operation *op, int64_t dim,
                                         int64_t rank) {
  int64_t limit = std::max<int64_t>(rank, 1);
  if (dim < -limit || dim >= limit)
    return broken(op, 3) << "dimension " << dim << " is not in [" << -limit
                         << ", " << limit - 1 << "]";
  return dim < 0 ? dim + limit : dim;
}

FailureOr<SmallVector<int64_t>>
dynamo::aten::wrapDims(Operation *op, ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<int64_t> wrapped;
  for (int64_t dim : dims) {
    FailureOr<int64_t> position = wrapDim(op, dim, rank);
    if (failed(position))
      return failure();
    if (llvm::is_contained(wrapped, *position))
      return broken(op, 4) << "dimension " << dim << " is there twice";
    wrapped.push_back(*position);
  }
  return wrapped;
}

LogicalResult dynamo::aten::requireRank(Operation *op, StringRef name,
                                        Value value, int64_t rank) {
  if (rankOf(value) == rank)
    return success();
  return broken(op, 5) << name << " has rank " << rankOf(value) << ", expected "
                       << rank;
}

LogicalResult dynamo::aten::unify(Operation *op, int64_t &size, int64_t other,
                                  const Twine &what) {
  if (ShapedType::isDynamic(size))
    size = other;
  if (size == other || ShapedType::isDynamic(other))
    return success();
  return broken(op, 6) << what << ": " << size << " and " << other << " differ";
}

LogicalResult dynamo::aten::unifyShapes(Operation *op, Shape &shape,
                                        ArrayRef<int64_t> other,
                                        const Twine &what) {
  bool agree = shape.size() == other.size();
  for (size_t i = 0; agree && i < shape.size(); ++i) {
    if (ShapedType::isDynamic(shape[i]))
      shape[i] = other[i];
    agree = shape[i] == other[i] || ShapedType::isDynamic(other[i]);
  }
  if (agree)
    return success();
  return broken(op, 6) << what << ": " << text(shape) << " and " << text(other)
                       << " differ";
}

LogicalResult dynamo::aten::broadcastInto(Operation *op, Shape &shape,
                                          ArrayRef<int64_t> other) {
  Shape before = shape;
  if (shape.size() < other.size())
    shape.insert(shape.begin(), other.size() - shape.size(), 1);
  size_t offset = shape.size() - other.size();
  for (auto [i, size] : llvm::enumerate(other)) {
    int64_t &mine = shape[offset + i];
    if (mine == size || size == 1)
      continue;
    // An unknown size against a known one other than 1 must be that one (or 1).
    if (mine == 1 || ShapedType::isDynamic(mine))
      mine = size;
    else if (!ShapedType::isDynamic(size))
      return broken(op, 2) << "shapes " << text(before) << " and "
                           << text(other) << " do not broadcast";
  }
  return success();
}

LogicalResult dynamo::aten::requireBroadcastTo(Operation *op,
                                               ArrayRef<int64_t> from,
                                               ArrayRef<int64_t> to) {
  bool fits = from.size() <= to.size();
  for (size_t i = 0; fits && i < from.size(); ++i) {
    int64_t size = from[from.size() - 1 - i], target = to[to.size() - 1 - i];
    fits = size == 1 || size == target || ShapedType::isDynamic(size) ||
           ShapedType::isDynamic(target);
  }
  if (fits)
    return success();
  return broken(op, 2) << "shape " << text(from) << " does not broadcast to "
                       << text(to);
}

FailureOr<SmallVector<int64_t>> dynamo::aten::expandList(Operation *op,
                                                         StringRef name,
                                                         ArrayRef<int64_t> list,
                                                         size_t count) {
  if (list.size() == count)
    return SmallVector<int64_t>(list);
  if (list.size() == 1)
    return SmallVector<int64_t>(count, list.front());
  return broken(op, 7) << name << " has " << list.size()
                       << " elements, expected " << count;
}

LogicalResult dynamo::aten::requireResults(Operation *op, ArrayRef<bool> mask,
                                           ArrayRef<Value> results) {
  if (mask.size() != results.size())
    return broken(op, 7) << "output_mask has " << mask.size()
                         << " elements, expected " << results.size();
  for (auto [i, wanted] : llvm::enumerate(mask))
    if (wanted != bool(results[i]))
      return broken(op, 9) << "result " << i
                           << (wanted ? " is absent" : " is present")
                           << ", but output_mask says otherwise";
  return success();
}

int64_t dynamo::aten::product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  bool known = true;
  for (int64_t size : shape) {
    if (size == 0)
      return 0;
    if (ShapedType::isDynamic(size))
      known = false;
    else
      count *= size;
  }
  return known ? count : kDynamic;
}

std::optional<double> dynamo::aten::constantFloat(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getValueAsDouble();
  if (std::optional<int64_t> number = constantInt(value))
    return double(*number);
  return std::nullopt;
}

std::optional<int64_t> dynamo::aten::constantInt(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  auto number = dyn_cast<IntegerAttr>(attr);
  if (!number)
    return std::nullopt;
  return number.getType().isInteger(1)
             ? int64_t(number.getValue().getZExtValue())
             : number.getInt();
}

LogicalResult dynamo::aten::inferBroadcast(Operation *op, Shapes &shapes) {
  Shape shape;
  for (Value operand : op->getOperands())
    if (failed(broadcastInto(op, shape, shapeOf(operand))))
      return failure();
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult dynamo::aten::inferLikeFirst(Operation *op, Shapes &shapes) {
  shapes.append(op->getNumResults(), sizes(op->getOperand(0)));
  return success();
}

LogicalResult dynamo::aten::detail::verifyShapes(Operation *op) {
  SmallVector<Shape> shapes;
  if (failed(cast<ShapeInference>(op).inferShapes(shapes)))
    return failure();
  if (shapes.size() != op->getNumResults())
    return broken(op, 9) << "has " << op->getNumResults()
                         << " results, expected " << shapes.size();
  for (auto [i, shape] : llvm::enumerate(shapes)) {
    ArrayRef<int64_t> declared =
        cast<RankedTensorType>(op->getResult(i).getType()).getShape();
    if (failed(verifyCompatibleShape(declared, shape)))
      return broken(op, 1) << "result " << i << " has shape " << text(declared)
                           << ", but the operands imply " << text(shape);
  }
  return success();
}
