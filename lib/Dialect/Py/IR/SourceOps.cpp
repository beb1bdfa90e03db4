//===- SourceOps.cpp - checks and folders of sources
//--------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers of constraints are those of PySourceOps.td.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/IR/Py.h"

using namespace mlir;
using namespace dynamo::py;

/// C1.
template <typename OpTy> static LogicalResult verifyIndex(OpTy op) {
  if (static_cast<int64_t>(op.getIndex()) < 0)
    return op.emitOpError("C1: has index ")
           << static_cast<int64_t>(op.getIndex()) << ", 0 or more is accepted";
  return success();
}

/// C3.
template <typename OpTy> static LogicalResult verifyName(OpTy op) {
  if (op.getName().empty())
    return op.emitOpError("C3: has an empty name");
  return success();
}

LogicalResult ArgOp::verify() { return verifyIndex(*this); }
LogicalResult StackOp::verify() { return verifyIndex(*this); }
LogicalResult FreeOp::verify() { return verifyIndex(*this); }
LogicalResult ItemOp::verify() { return verifyIndex(*this); }
LogicalResult DequeItemOp::verify() { return verifyIndex(*this); }
LogicalResult ClosureOp::verify() { return verifyIndex(*this); }

LogicalResult GlobalOp::verify() { return verifyName(*this); }
LogicalResult AttrOp::verify() { return verifyName(*this); }
LogicalResult GetterOp::verify() { return verifyName(*this); }

OpFoldResult ConstOp::fold(FoldAdaptor) { return getValue(); }
