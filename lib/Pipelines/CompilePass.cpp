//===- CompilePass.cpp - The compile driver as a pass ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// So that dynamo-opt compiles exactly as the JIT does.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Pipelines/Compile.h"
#include "dynamo/Pipelines/Passes.h"

#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "dynamo-compile"

namespace dynamo {
#define GEN_PASS_DEF_COMPILEPASS
#include "dynamo/Pipelines/Passes.h.inc"
} // namespace dynamo

using namespace mlir;

namespace {
struct Compile : dynamo::impl::CompilePassBase<Compile> {
  using CompilePassBase::CompilePassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    dynamo::getPhaseDialects(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    dynamo::CompileOptions options;
    options.from = from;
    options.to = to;
    options.target = target;
    options.dumpDir = dumpDir;
    options.loopsOnly = loopsOnly;
    absl::StatusOr<dynamo::CompileReport> report =
        dynamo::compile(module, options);
    if (!report.ok()) {
      emitError(module.getLoc(), std::string(report.status().message()));
      return signalPassFailure();
    }
    for (const dynamo::KernelReport &kernel : report->kernels)
      if (kernel.fellBack)
        emitRemark(module.getLoc(), "kernel @")
            << kernel.name << " (" << kernel.strategy << ") is compiled "
            << (kernel.takenApart ? "in parts: " : "as loops: ")
            << kernel.diagnostics;
    if (timing)
      for (const auto &phase : report->phases)
        emitRemark(module.getLoc(), "phase ")
            << phase.phase << " took " << phase.milliseconds << " ms";
  }
};
} // namespace
