//===- ActivationOps.cpp - activation functions and their backward -------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerActivationOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/ActivationOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/ActivationOps.cpp.inc"

LogicalResult GluOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  FailureOr<int64_t> dim = wrapDim(*this, getDim(), shape.size());
  if (failed(dim))
    return failure();
  if (shape.empty())
    return broken(*this, 5) << "self has rank 0, expected at least 1";
  int64_t &size = shape[*dim];
  if (!ShapedType::isDynamic(size)) {
    if (size % 2)
      return broken(*this, 8) << "dimension " << *dim << " of odd size " << size
                              << " has no halves";
    size /= 2;
  }
  shapes.push_back(std::move(shape));
  return success();
}
