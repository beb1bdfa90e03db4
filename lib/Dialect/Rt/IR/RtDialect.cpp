//===- RtDialect.cpp - the rt dialect -------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/IR/Rt.h"

using namespace mlir;
using namespace dynamo::rt;

#include "dynamo/Dialect/Rt/IR/RtDialect.cpp.inc"

void RtDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Rt/IR/RtOps.cpp.inc"
      >();
}
