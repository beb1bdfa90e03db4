//===- RtOps.cpp - operations of the rt dialect -------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/IR/Rt.h"

using namespace mlir;
using namespace dynamo::rt;

#define GET_OP_CLASSES
#include "dynamo/Dialect/Rt/IR/RtOps.cpp.inc"
