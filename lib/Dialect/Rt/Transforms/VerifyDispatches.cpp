//===- VerifyDispatches.cpp - Check the contract of phase P3 (isolated --------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "verify-dispatches"

namespace dynamo::rt {
#define GEN_PASS_DEF_VERIFYDISPATCHESPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;

namespace {
struct VerifyDispatches : dynamo::rt::impl::VerifyDispatchesPassBase<VerifyDispatches> {
  void runOnOperation() override {}
};
} // namespace
