//===- Artifact.h - A compiled model ------------------------------ C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What compilation yields and later calls use: machine code, the program of
// the host, its memory, and a report of what was done.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_EXECUTIONENGINE_ARTIFACT_H
#define DYNAMO_EXECUTIONENGINE_ARTIFACT_H

#include "dynamo/ExecutionEngine/KernelCompiler.h"
#include "dynamo/Runtime/Executable.h"

namespace dynamo::engine {

/// One distinct kernel.
struct KernelReport {
  std::string name, strategy, key;
  int64_t range = 1; ///< parallel tiles
  int64_t work = -1; ///< estimated scalar operations, -1: unknown
  int launches = 0;  ///< per run
  bool cached = false;
  CodegenTimes times;  ///< LLVM's part; but for translation zero if cached
  double lowering = 0; ///< MLIR's part, from P3 to P5
  bool fellBack = false;
  std::string diagnostics; ///< why it fell back to plain loops
};

struct PhaseTime {
  std::string phase;
  double milliseconds = 0;
};

/// Milliseconds of wall time, and what was made.
struct CompileReport {
  double lowering = 0; ///< MLIR, up to P5
  double codegen = 0;  ///< kernels to code (on several threads)
  double emission = 0; ///< the host program
  std::vector<PhaseTime> phases;
  std::vector<KernelReport> kernels;
  double total() const { return lowering + codegen + emission; }
};

class Artifact {
public:
  /// Runs once; see DynamoRunContext. Any number of threads at once.
  DynamoStatus run(const runtime::RunContext &context) const {
    return exec->run(context);
  }
  /// Inputs, outputs and instructions with their names.
  const runtime::Program &program() const { return exec->program(); }
  const CompileReport &report() const { return rep; }
  CompileReport &report() { return rep; }
  /// Valid as long as the artifact.
  const runtime::Executable &executable() const { return *exec; }
  /// The same for dynamoRun.
  const DynamoExecutable *handle() const {
    return reinterpret_cast<const DynamoExecutable *>(exec.get());
  }
  /// Gives memory of earlier calls back to the system.
  void releaseMemory() const { exec->releaseMemory(); }

private:
  friend absl::StatusOr<std::unique_ptr<Artifact>>
  buildArtifact(mlir::ModuleOp, const CodegenOptions &, llvm::StringRef);

  // The code outlives the executable that calls it.
  std::vector<std::shared_ptr<const CompiledKernel>> kernels;
  std::unique_ptr<runtime::Executable> exec;
  CompileReport rep;
};

/// Compiles the kernels that `entry` launches and makes its program. `module`
/// is in P5 and is not needed afterwards.
absl::StatusOr<std::unique_ptr<Artifact>>
buildArtifact(mlir::ModuleOp module, const CodegenOptions &options = {},
              llvm::StringRef entry = "main");

} // namespace dynamo::engine

#endif // DYNAMO_EXECUTIONENGINE_ARTIFACT_H
