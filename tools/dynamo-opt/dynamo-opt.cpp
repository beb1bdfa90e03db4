//===- dynamo-opt.cpp - runs passes on IR text
//--------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// mlir-opt with our dialects and passes, and the phases of a compilation:
// `--compile-to=<phase>` runs the driver of the JIT.
//
//===----------------------------------------------------------------------===//

#include "dynamo/InitAll.h"
#include "dynamo/Pipelines/Passes.h"
#include "dynamo/Pipelines/Phases.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

static llvm::cl::opt<std::string> compileTo(
    "compile-to", llvm::cl::value_desc("phase"),
    llvm::cl::desc("compile to this phase: recorded, aten, linalg, dispatches, "
                   "kernels or llvm"));
static llvm::cl::opt<std::string>
    compileFrom("compile-from", llvm::cl::value_desc("phase"),
                llvm::cl::desc("the phase that the input is in (default: found "
                               "out); alone, checks its contract"));
static llvm::cl::opt<std::string>
    compileTarget("compile-target", llvm::cl::init("host"),
                  llvm::cl::desc("host, generic, avx2 or avx512"));
static llvm::cl::opt<std::string>
    compileDump("compile-dump", llvm::cl::value_desc("folder"),
                llvm::cl::desc("write one file per phase there"));
static llvm::cl::opt<bool>
    compileTiming("compile-timing",
                  llvm::cl::desc("remark on the time of each phase"));

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  dynamo::registerAllDialects(registry);
  dynamo::registerAllPasses();
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "Dynamo-MLIR optimiser\n", registry);
  if (compileTo.empty() && compileFrom.empty())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));

  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  config.setPassPipelineSetupFn([](PassManager &pm) {
    dynamo::CompilePassOptions options;
    options.from = compileFrom;
    options.to = compileTo.empty() ? compileFrom : compileTo;
    options.target = compileTarget;
    options.dumpDir = compileDump;
    options.timing = compileTiming;
    pm.addPass(dynamo::createCompilePass(options));
    return success();
  });
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(input, &error);
  std::unique_ptr<llvm::ToolOutputFile> out =
      file ? openOutputFile(output, &error) : nullptr;
  if (!out) {
    llvm::errs() << error << "\n";
    return 1;
  }
  if (failed(MlirOptMain(out->os(), std::move(file), registry, config)))
    return 1;
  out->keep();
  return 0;
}
