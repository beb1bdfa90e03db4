//===- InlineKernels.cpp - Put kernels back on the host -------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The way back from phase P3 to P2 for single kernels: the driver takes one
// that can't be compiled apart and forms a kernel of each of its operations.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#define DEBUG_TYPE "rt-inline-kernels"

namespace dynamo::rt {
#define GEN_PASS_DEF_INLINEKERNELSPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;
using namespace dynamo::rt;

/// Copies the body of `kernel` in place of `launch`.
static void inlineLaunch(LaunchOp launch, func::FuncOp kernel,
                         RewriterBase &rewriter) {
  rewriter.setInsertionPoint(launch);
  IRMapping mapping;
  mapping.map(kernel.getArguments(), launch.getInputs());
  Block &body = kernel.getBody().front();
  for (Operation &op : body.without_terminator())
    rewriter.clone(op, mapping);
  SmallVector<Value> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));
  rewriter.replaceOp(launch, results);
}

namespace {
struct InlineKernels : dynamo::rt::impl::InlineKernelsPassBase<InlineKernels> {
  using InlineKernelsPassBase::InlineKernelsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    IRRewriter rewriter(&getContext());
    SymbolTable symbols(module);
    for (const std::string &name : kernels) {
      auto kernel = symbols.lookup<ModuleOp>(name);
      auto func = kernel ? kernel.lookupSymbol<func::FuncOp>(name) : nullptr;
      if (!func || func.getNumResults() == 0) {
        emitError(module.getLoc())
            << "there is no kernel @" << name << " on values";
        return signalPassFailure();
      }
      SmallVector<LaunchOp> launches;
      for (auto host : module.getOps<func::FuncOp>())
        host.walk([&](LaunchOp launch) {
          if (launch.getKernel().getRootReference() == name)
            launches.push_back(launch);
        });
      for (LaunchOp launch : launches)
        inlineLaunch(launch, func, rewriter);
      symbols.erase(kernel);
    }
  }
};
} // namespace
