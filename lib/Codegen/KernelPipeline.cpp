//===- KernelPipeline.cpp - From a kernel on tensors to LLVM --------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Codegen/KernelPipeline.h"

#include "dynamo/Codegen/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

void dynamo::codegen::buildKernelToMemoryPipeline(
    OpPassManager &pm, const KernelPipelineOptions &options) {
  pm.addPass(createPrepareKernelPass({options.fallback}));
  if (!options.fallback) {
    // Each strategy pass acts on its own strategy.
    pm.addPass(createTileRowsPass({options.target}));
    pm.addPass(createTileConvPass());
    pm.addPass(createTileMatmulPass({options.target}));
    pm.addPass(createTileAttentionPass({options.target}));
    pm.addPass(createVectorizePass());
    pm.addPass(createHoistPass());
  }
  pm.addPass(createBufferizeKernelPass());
  pm.addPass(createParallelRangePass());
}

void dynamo::codegen::buildKernelToLLVMPipeline(
    OpPassManager &pm, const KernelPipelineOptions &options) {
  pm.addPass(createLowerVectorsPass());
  pm.addPass(createLegalizeFloatsPass({options.target}));
  pm.addPass(createExpandMathPass({options.target}));
  pm.addPass(createLowerToLLVMPass());
}

void dynamo::codegen::buildKernelPipeline(
    OpPassManager &pm, const KernelPipelineOptions &options) {
  buildKernelToMemoryPipeline(pm, options);
  buildKernelToLLVMPipeline(pm, options);
}

namespace {
/// The text form of KernelPipelineOptions.
struct TextOptions : PassPipelineOptions<TextOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("avx2, avx512, generic or host"),
                             llvm::cl::init("host")};
  Option<bool> fallback{*this, "fallback", llvm::cl::desc("compile as loops"),
                        llvm::cl::init(false)};

  dynamo::codegen::KernelPipelineOptions get() const {
    return {target, fallback};
  }
};
} // namespace

void dynamo::codegen::registerKernelPipelines() {
  PassPipelineRegistration<TextOptions>(
      "dynamo-kernel-pipeline", "A kernel on tensors to the LLVM dialect",
      [](OpPassManager &pm, const TextOptions &o) {
        buildKernelPipeline(pm, o.get());
      });
  PassPipelineRegistration<TextOptions>(
      "dynamo-kernel-to-memory-pipeline",
      "A kernel on tensors to memrefs with a range (phase P4)",
      [](OpPassManager &pm, const TextOptions &o) {
        buildKernelToMemoryPipeline(pm, o.get());
      });
  PassPipelineRegistration<TextOptions>(
      "dynamo-kernel-to-llvm-pipeline",
      "A kernel of phase P4 to the LLVM dialect",
      [](OpPassManager &pm, const TextOptions &o) {
        buildKernelToLLVMPipeline(pm, o.get());
      });
}
