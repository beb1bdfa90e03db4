//===- Artifact.cpp - A compiled model ------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/ExecutionEngine/Artifact.h"

#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/ExecutionEngine/Emission.h"

#include <chrono>

using namespace mlir;
using namespace dynamo;
using namespace dynamo::engine;

static double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

absl::StatusOr<std::unique_ptr<Artifact>>
dynamo::engine::buildArtifact(ModuleOp module, const CodegenOptions &options,
                              StringRef entry) {
  auto start = std::chrono::steady_clock::now();
  absl::StatusOr<func::FuncOp> host = findHostFunction(module, entry);
  if (!host.ok())
    return host.status();
  absl::StatusOr<EmittedProgram> emitted = emitProgram(*host);
  if (!emitted.ok())
    return emitted.status();
  auto artifact = std::make_unique<Artifact>();
  artifact->rep.emission = since(start);

  start = std::chrono::steady_clock::now();
  absl::StatusOr<std::vector<KernelResult>> compiled =
      compileKernels(emitted->kernels, options);
  if (!compiled.ok())
    return compiled.status();
  artifact->rep.codegen = since(start);

  start = std::chrono::steady_clock::now();
  for (auto [kernel, result] : llvm::zip_equal(emitted->kernels, *compiled)) {
    KernelReport &report = artifact->rep.kernels.emplace_back();
    report.name = kernel.getName().value_or("").str();
    if (auto strategy = kernel->getAttrOfType<StringAttr>(rt::kStrategyAttr))
      report.strategy = strategy.str();
    report.key = result.kernel->key;
    report.cached = result.cached;
    report.times = result.times;
    artifact->kernels.push_back(result.kernel);
  }
  for (auto [instruction, index] :
       llvm::zip_equal(emitted->program.instructions, emitted->kernelOf)) {
    if (index < 0)
      continue;
    KernelReport &report = artifact->rep.kernels[index];
    instruction.kernel = artifact->kernels[index]->function;
    report.range = instruction.range;
    report.work = instruction.work;
    ++report.launches;
  }

  std::string error;
  artifact->exec =
      runtime::Executable::create(std::move(emitted->program), error);
  if (!artifact->exec)
    return absl::InternalError(error);
  artifact->rep.emission += since(start);
  return artifact;
}
