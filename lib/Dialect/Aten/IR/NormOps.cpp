//===- NormOps.cpp - normalisation, softmax, attention and losses --------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerNormOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/NormOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/NormOps.cpp.inc"
