//===- LinearOps.cpp - matrix products -----------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerLinearOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/LinearOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/LinearOps.cpp.inc"

/// [.., m, k] x [.., k, n] for matrices and batches of them.
static LogicalResult inferProduct(Operation *op, StringRef leftName, Value left,
                                  StringRef rightName, Value right,
                                  int64_t rank, Shape &shape) {
  if (failed(requireRank(op, leftName, left, rank)) ||
      failed(requireRank(op, rightName, right, rank)))
    return failure();
  shape = sizes(left);
  ArrayRef<int64_t> other = shapeOf(right);
  if (rank == 3 && failed(unify(op, shape[0], other[0], "batch sizes")))
    return failure();
  if (failed(unify(op, shape[rank - 1], other[rank - 2], "inner sizes")))
    return failure();
  shape[rank - 1] = other[rank - 1];
  return success();
}

LogicalResult MmOp::inferShapes(Shapes &shapes) {
  return inferProduct(*this, "self", getSelf(), "mat2", getMat2(), 2,
                      shapes.emplace_back());
}

LogicalResult BmmOp::inferShapes(Shapes &shapes) {
  return inferProduct(*this, "self", getSelf(), "mat2", getMat2(), 3,
                      shapes.emplace_back());
}

LogicalResult AddmmOp::inferShapes(Shapes &shapes) {
  Shape &shape = shapes.emplace_back();
  if (failed(
          inferProduct(*this, "mat1", getMat1(), "mat2", getMat2(), 2, shape)))
    return failure();
  return requireBroadcastTo(*this, shapeOf(getSelf()), shape);
}

LogicalResult BaddbmmOp::inferShapes(Shapes &shapes) {
  Shape &shape = shapes.emplace_back();
  if (failed(inferProduct(*this, "batch1", getBatch1(), "batch2", getBatch2(),
                          3, shape)))
    return failure();
  return requireBroadcastTo(*this, shapeOf(getSelf()), shape);
}

static LogicalResult inferMatrixVector(Operation *op, StringRef name,
                                       Value matrix, Value vector,
                                       Shape &shape) {
  if (failed(requireRank(op, name, matrix, 2)) ||
      failed(requireRank(op, "vec", vector, 1)))
    return failure();
  shape = sizes(matrix);
  int64_t inner = shape.pop_back_val();
  return unify(op, inner, shapeOf(vector)[0], "inner sizes");
}

LogicalResult MvOp::inferShapes(Shapes &shapes) {
  return inferMatrixVector(*this, "self", getSelf(), getVec(),
                           shapes.emplace_back());
}

LogicalResult AddmvOp::inferShapes(Shapes &shapes) {
  Shape &shape = shapes.emplace_back();
  if (failed(inferMatrixVector(*this, "mat", getMat(), getVec(), shape)))
    return failure();
  return requireBroadcastTo(*this, shapeOf(getSelf()), shape);
}

LogicalResult DotOp::inferShapes(Shapes &shapes) {
  if (failed(requireRank(*this, "self", getSelf(), 1)) ||
      failed(requireRank(*this, "tensor", getTensor(), 1)))
    return failure();
  int64_t size = shapeOf(getSelf())[0];
  shapes.emplace_back();
  return unify(*this, size, shapeOf(getTensor())[0], "sizes");
}

// torch.matmul: a vector is a row on the left and a column on the right, and
// that dimension is not in the result; leading dimensions broadcast.
LogicalResult MatmulOp::inferShapes(Shapes &shapes) {
  Shape left = sizes(getSelf()), right = sizes(getOther());
  if (left.empty() || right.empty())
    return broken(*this, 5) << (left.empty() ? "self" : "other")
                            << " has rank 0, expected at least 1";
  bool leftVector = left.size() == 1, rightVector = right.size() == 1;
  if (leftVector)
    left.insert(left.begin(), 1);
  if (rightVector)
    right.push_back(1);
  int64_t inner = left.back(), rows = left[left.size() - 2];
  if (failed(unify(*this, inner, right[right.size() - 2], "inner sizes")))
    return failure();
  Shape shape(ArrayRef<int64_t>(left).drop_back(2));
  if (failed(
          broadcastInto(*this, shape, ArrayRef<int64_t>(right).drop_back(2))))
    return failure();
  if (!leftVector)
    shape.push_back(rows);
  if (!rightVector)
    shape.push_back(right.back());
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult LinearOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getInput());
  ArrayRef<int64_t> weight = shapeOf(getWeight());
  if (shape.empty())
    return broken(*this, 5) << "input has rank 0, expected at least 1";
  if (weight.size() != 1 &&
      failed(requireRank(*this, "weight", getWeight(), 2)))
    return failure();
  int64_t inner = shape.pop_back_val();
  if (failed(unify(*this, inner, weight.back(), "inner sizes")))
    return failure();
  if (weight.size() == 2)
    shape.push_back(weight.front());
  if (getBias() && failed(requireBroadcastTo(*this, shapeOf(getBias()), shape)))
    return failure();
  shapes.push_back(std::move(shape));
  return success();
}
