//===- VerifyKernels.cpp - Check the contract of phase P4 (no tenso -----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "verify-kernels"

namespace dynamo::codegen {
#define GEN_PASS_DEF_VERIFYKERNELSPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;

namespace {
struct VerifyKernels : dynamo::codegen::impl::VerifyKernelsPassBase<VerifyKernels> {
  void runOnOperation() override {}
};
} // namespace
