//===- VerifyContract.cpp - Check the contract of phase P1 (function ----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "verify-aten"

namespace dynamo::aten {
#define GEN_PASS_DEF_ATENVERIFYCONTRACTPASS
#include "dynamo/Dialect/Aten/Transforms/Passes.h.inc"
} // namespace dynamo::aten

using namespace mlir;

namespace {
struct AtenVerifyContract : dynamo::aten::impl::AtenVerifyContractPassBase<AtenVerifyContract> {
  void runOnOperation() override {}
};
} // namespace
