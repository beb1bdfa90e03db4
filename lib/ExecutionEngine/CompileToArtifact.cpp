//===- CompileToArtifact.cpp - From any phase to a compiled model ---------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/ExecutionEngine/CompileToArtifact.h"

#include "dynamo/Pipelines/Compile.h"
#include "dynamo/Target/MachineModel.h"

#include <chrono>

using namespace mlir;
using namespace dynamo;
using namespace dynamo::engine;

absl::StatusOr<std::unique_ptr<Artifact>>
dynamo::engine::compileToArtifact(ModuleOp module, CompileOptions options,
                                  CodegenOptions codegen, StringRef entry) {
  // Both parts of code generation see the same machine.
  std::optional<target::MachineModel> machine =
      target::getMachineModel(options.target);
  if (!machine)
    return absl::InvalidArgumentError(
        target::describeUnknownTarget(options.target));
  codegen.cpu = machine->cpu;
  codegen.features = machine->features;
  if (codegen.threads == 0)
    codegen.threads = static_cast<int>(options.threads);
  options.to = "llvm";

  auto start = std::chrono::steady_clock::now();
  absl::StatusOr<dynamo::CompileReport> lowered = compile(module, options);
  if (!lowered.ok())
    return lowered.status();
  std::chrono::duration<double, std::milli> lowering =
      std::chrono::steady_clock::now() - start;
  absl::StatusOr<std::unique_ptr<Artifact>> artifact =
      buildArtifact(module, codegen, entry);
  if (!artifact.ok())
    return artifact.status();

  CompileReport &report = (*artifact)->report();
  report.lowering = lowering.count();
  for (const auto &phase : lowered->phases)
    report.phases.push_back({phase.phase, phase.milliseconds});
  for (const dynamo::KernelReport &from : lowered->kernels)
    for (KernelReport &to : report.kernels)
      if (to.name == from.name) {
        to.lowering = from.milliseconds;
        to.fellBack = from.fellBack;
        to.diagnostics = from.diagnostics;
      }
  return artifact;
}
