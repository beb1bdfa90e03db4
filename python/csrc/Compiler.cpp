//===- Compiler.cpp - From an aten module to something that runs ----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"

#include "dynamo/ExecutionEngine/Artifact.h"
#include "dynamo/Pipelines/Compile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

using namespace dynamo;
using namespace dynamo::python;

Compiled dynamo::python::compileModule(Module &module,
                                       const std::string &target,
                                       const std::string &dumpDir) {
  // Kernels compile in parallel on a pool of the context's own: a pool shared
  // by all would not survive a fork.
  module.context().enableMultithreading();
  CompileOptions options;
  options.target = target;
  options.dumpDir = dumpDir;
  absl::StatusOr<CompileReport> report = compile(module.op(), options);
  if (!report.ok())
    throw CompilerFailure{std::string(report.status().message())};
  engine::CodegenOptions codegen;
  absl::StatusOr<std::unique_ptr<engine::Artifact>> built =
      engine::buildArtifact(module.op(), codegen);
  if (!built.ok())
    throw CompilerFailure{std::string(built.status().message())};
  std::shared_ptr<engine::Artifact> artifact = std::move(*built);

  Compiled compiled;
  compiled.owner = artifact;
  compiled.program = &artifact->program();
  engine::Artifact *engine = artifact.get();
  compiled.run = [engine](const DynamoRunContext &context) {
    return engine->run(context);
  };
  for (const CompileReport::PhaseTime &phase : report->phases)
    compiled.seconds.emplace_back(phase.phase, phase.milliseconds / 1e3);
  compiled.seconds.emplace_back("codegen", artifact->report().codegen / 1e3);
  compiled.seconds.emplace_back("emission", artifact->report().emission / 1e3);
  for (const KernelReport &kernel : report->kernels) {
    ++compiled.kernels[kernel.fellBack ? "loops (" + kernel.strategy + ")"
                                       : kernel.strategy];
    if (kernel.fellBack)
      compiled.notes.push_back(kernel.name + ": " + kernel.diagnostics);
  }
  return compiled;
}
