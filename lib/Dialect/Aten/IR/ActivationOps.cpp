//===- ActivationOps.cpp - activation functions and their backward -------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

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
