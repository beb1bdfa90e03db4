//===- BinaryOps.cpp - elementwise operations of two or more tensors -----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"
#include <cmath>

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerBinaryOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/BinaryOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/BinaryOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Folders.  Only what gives the same bits: x + 0.0 is not x for x = -0.0, but
// x - 0.0 is.
//===----------------------------------------------------------------------===//

static bool isNumber(Value value, double number) {
  std::optional<double> constant = constantFloat(value);
  // -0.0 is not 0.0 here.
  return constant && *constant == number &&
         std::signbit(*constant) == std::signbit(number);
}

OpFoldResult AddOp::fold(FoldAdaptor) {
  if (getSelf().getType() != getType() || !isNumber(getOther(), 0) ||
      isa<FloatType>(getType().getElementType()))
    return {};
  return getSelf();
}

OpFoldResult SubOp::fold(FoldAdaptor) {
  if (getSelf().getType() != getType() || !isNumber(getOther(), 0) ||
      !isNumber(getAlpha(), 1))
    return {};
  return getSelf();
}

OpFoldResult MulOp::fold(FoldAdaptor) {
  if (getSelf().getType() == getType() && isNumber(getOther(), 1))
    return getSelf();
  if (getOther().getType() == getType() && isNumber(getSelf(), 1))
    return getOther();
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor) {
  // With a rounding mode the quotient is rounded even where other is 1.
  if (getSelf().getType() != getType() || !isNumber(getOther(), 1) ||
      (getRoundingMode() && isa<FloatType>(getType().getElementType())))
    return {};
  return getSelf();
}
