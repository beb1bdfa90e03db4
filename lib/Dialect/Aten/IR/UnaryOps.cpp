//===- UnaryOps.cpp - elementwise operations of one tensor ---------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerUnaryOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/UnaryOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/UnaryOps.cpp.inc"

LogicalResult CopyOp::inferShapes(Shapes &shapes) {
  shapes.push_back(sizes(getSelf()));
  return requireBroadcastTo(*this, shapeOf(getSrc()), shapes.back());
}

OpFoldResult AliasOp::fold(FoldAdaptor) {
  return getSelf().getType() == getType() ? getSelf() : Value();
}

OpFoldResult ToCopyOp::fold(FoldAdaptor) {
  return getSelf().getType() == getType() ? getSelf() : Value();
}
