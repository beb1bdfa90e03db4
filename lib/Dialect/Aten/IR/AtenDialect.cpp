//===- AtenDialect.cpp - the aten dialect -------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

using namespace mlir;
using namespace dynamo::aten;

#include "dynamo/Dialect/Aten/IR/AtenDialect.cpp.inc"

void AtenDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/AtenOps.cpp.inc"
      >();
}
