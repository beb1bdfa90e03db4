//===- KernelPipeline.h - From a kernel on tensors to LLVM ----- C++ -*----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass list of one kernel, in two parts that meet at phase P4. The driver
// runs it per kernel module, so that a kernel that fails can be compiled again
// with `fallback`, alone.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CODEGEN_KERNELPIPELINE_H
#define DYNAMO_CODEGEN_KERNELPIPELINE_H

#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace dynamo::codegen {

struct KernelPipelineOptions {
  /// Machine model: "avx2", "avx512", "generic" or "host".
  std::string target = "host";
  /// Compile as `loops`, whatever the kernel's strategy: slow and sure.
  bool fallback = false;
};

/// P3 to P4: a kernel module on tensors becomes one on memrefs with a range.
void buildKernelToMemoryPipeline(mlir::OpPassManager &kernelModulePM,
                                 const KernelPipelineOptions &options);

/// P4 to P5: to the LLVM dialect with the kernel ABI.
void buildKernelToLLVMPipeline(mlir::OpPassManager &kernelModulePM,
                               const KernelPipelineOptions &options);

/// Both. `kernelModulePM` is anchored on the kernel's builtin.module. On
/// failure the module is left half lowered: keep a clone for the fallback.
void buildKernelPipeline(mlir::OpPassManager &kernelModulePM,
                         const KernelPipelineOptions &options);

/// Registers `--dynamo-kernel-pipeline` and its halves
/// `--dynamo-kernel-to-memory-pipeline`, `--dynamo-kernel-to-llvm-pipeline`.
void registerKernelPipelines();

} // namespace dynamo::codegen

#endif // DYNAMO_CODEGEN_KERNELPIPELINE_H
