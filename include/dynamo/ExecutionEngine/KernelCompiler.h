//===- KernelCompiler.h - From a P5 kernel to code ---------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_EXECUTIONENGINE_KERNELCOMPILER_H
#define DYNAMO_EXECUTIONENGINE_KERNELCOMPILER_H

#include "dynamo/Runtime/Program.h"

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace dynamo::engine {

/// How LLVM compiles kernels.
struct CodegenOptions {
  /// LLVM's -mcpu and -mattr; an empty cpu is this machine with all it has.
  std::string cpu, features;
  /// LLVM passes before code generation, in opt's syntax. No unrolling: MLIR
  /// has done what pays, and it doubles the time of code generation.
  std::string passes =
      "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
      "loop-mssa(licm),early-cse)";
  /// Threads that compile; 0: one per core.
  int threads = 0;
  /// If not empty: an existing folder that gets <kernel>.ll and <kernel>.s.
  std::string dumpDir;
  /// Tell `perf` the names of kernels (/tmp/perf-<pid>.map).
  bool perfMap = false;
};

/// Milliseconds per step.
struct CodegenTimes {
  double translate = 0, optimise = 0, codegen = 0, link = 0;
};

/// Compiled code of one kernel, shared by all models that hold an equal one.
struct CompiledKernel {
  virtual ~CompiledKernel() = default;
  runtime::KernelFn function = nullptr;
  std::string key; ///< hash of IR and target, in hexadecimal
};

struct KernelResult {
  std::shared_ptr<const CompiledKernel> kernel;
  CodegenTimes times;
  bool cached = false; ///< code of an equal kernel was at hand
};

/// Compiles kernel modules in the LLVM dialect, each with one public function
/// of the module's name and the kernel ABI. Modules are not changed, but must
/// not be shared between threads meanwhile. The error names the first kernel
/// that failed, with its location.
absl::StatusOr<std::vector<KernelResult>>
compileKernels(llvm::ArrayRef<mlir::ModuleOp> kernels,
               const CodegenOptions &options);

} // namespace dynamo::engine

#endif // DYNAMO_EXECUTIONENGINE_KERNELCOMPILER_H
