//===- AtenToLinalg.cpp - Lower aten operations to linalg on tenso ------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "convert-aten-to-linalg"

namespace dynamo {
#define GEN_PASS_DEF_CONVERTATENTOLINALGPASS
#include "dynamo/Conversion/Passes.h.inc"
} // namespace dynamo

using namespace mlir;

namespace {
struct ConvertAtenToLinalg : dynamo::impl::ConvertAtenToLinalgPassBase<ConvertAtenToLinalg> {
  void runOnOperation() override {}
};
} // namespace
