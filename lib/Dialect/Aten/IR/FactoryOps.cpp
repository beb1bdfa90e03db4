//===- FactoryOps.cpp - tensors made from numbers ------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerFactoryOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/FactoryOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/FactoryOps.cpp.inc"

/// C8.
static LogicalResult inferSize(Operation *op, ArrayRef<int64_t> size,
                               Shapes &shapes) {
  for (int64_t s : size)
    if (s < 0 && !ShapedType::isDynamic(s))
      return broken(op, 8) << "size " << s << " is negative";
  shapes.emplace_back(size);
  return success();
}

LogicalResult FullOp::inferShapes(Shapes &shapes) {
  return inferSize(*this, getSize(), shapes);
}
LogicalResult ZerosOp::inferShapes(Shapes &shapes) {
  return inferSize(*this, getSize(), shapes);
}
LogicalResult OnesOp::inferShapes(Shapes &shapes) {
  return inferSize(*this, getSize(), shapes);
}
LogicalResult EmptyOp::inferShapes(Shapes &shapes) {
  return inferSize(*this, getSize(), shapes);
}

LogicalResult ScalarTensorOp::inferShapes(Shapes &shapes) {
  shapes.emplace_back();
  return success();
}

LogicalResult EyeOp::inferShapes(Shapes &shapes) {
  int64_t rows = getN();
  return inferSize(*this, {rows, int64_t(getM().value_or(rows))}, shapes);
}

LogicalResult LinspaceOp::inferShapes(Shapes &shapes) {
  return inferSize(*this, {int64_t(getSteps())}, shapes);
}

// Whole numbers are counted exactly, others in double as eager does.
LogicalResult ArangeOp::inferShapes(Shapes &shapes) {
  Shape &shape = shapes.emplace_back(Shape{kDynamic});
  if (std::optional<int64_t> start = constantInt(getStart()),
      end = constantInt(getEnd()), step = constantInt(getStep());
      start && end && step) {
    if (*step == 0 || (*step > 0 ? *end < *start : *end > *start))
      return broken(*this, 8) << "step " << *step << " does not lead from "
                              << *start << " to " << *end;
    shape[0] = llvm::divideCeilSigned(*end - *start, *step);
    return success();
  }
  std::optional<double> start = constantFloat(getStart()),
                        end = constantFloat(getEnd()),
                        step = constantFloat(getStep());
  if (!start || !end || !step)
    return success();
  double count = std::ceil((*end - *start) / *step);
  if (!(count >= 0 && count < 9.0e18))
    return broken(*this, 8) << "step " << *step << " does not lead from "
                            << *start << " to " << *end;
  shape[0] = int64_t(count);
  return success();
}
