//===- Phases.cpp - The phases of a compilation ---------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Pipelines/Phases.h"

#include "dynamo/Codegen/KernelPipeline.h"
#include "dynamo/Codegen/Passes.h"
#include "dynamo/Conversion/Passes.h"
#include "dynamo/Dialect/Aten/Transforms/Passes.h"
#include "dynamo/Dialect/Py/IR/Py.h"
#include "dynamo/Dialect/Py/Transforms/Passes.h"
#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace dynamo;

static codegen::KernelPipelineOptions
kernelOptions(const CompileOptions &options, bool fallback) {
  codegen::KernelPipelineOptions result;
  result.target = options.target;
  result.fallback = fallback || options.loopsOnly;
  return result;
}

static void buildRecorded(OpPassManager &, const CompileOptions &) {}

static void buildAten(OpPassManager &pm, const CompileOptions &) {
  // From P0; modules of other doors have no py.func.
  pm.addPass(py::createPyInlineUnitsPass());
  OpPassManager &python = pm.nest<py::FuncOp>();
  python.addPass(createCanonicalizerPass());
  python.addPass(createCSEPass());
  python.addPass(py::createPySimplifyGuardsPass());
  pm.addPass(py::createPyFunctionalizePass());
  pm.addPass(py::createPySplitPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void buildLinalg(OpPassManager &pm, const CompileOptions &) {
  pm.addPass(createConvertAtenToLinalgPass());
  pm.addPass(aten::createAtenToExternPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void buildDispatches(OpPassManager &pm, const CompileOptions &options) {
  pm.addPass(
      rt::createRtDecomposeAttentionPass({/*keepKernels=*/!options.loopsOnly}));
  pm.addPass(rt::createLinalgPropagateTransposesPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(rt::createSplitReductionsPass());
  pm.addNestedPass<func::FuncOp>(rt::createFuseElementwisePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(rt::createFormDispatchesPass());
  pm.addPass(rt::createOutlineDispatchesPass());
  pm.addPass(rt::createDedupKernelsPass());
}

static void buildKernels(OpPassManager &pm, const CompileOptions &) {
  pm.addPass(rt::createPlanMemoryPass());
}

static const Phase kPhases[] = {
    {"P0", "recorded", "a recorded segment: py on tensor references",
     buildRecorded, nullptr,
     [](OpPassManager &pm) { pm.addPass(py::createPyVerifyRecordedPass()); }},
    {"P1", "aten", "aten operations on tensors", buildAten, nullptr,
     [](OpPassManager &pm) {
       pm.addPass(py::createPyVerifySplitPass());
       pm.addPass(aten::createAtenVerifyContractPass());
     }},
    {"P2", "linalg", "linalg, tensor, arith and math on tensors", buildLinalg,
     nullptr, [](OpPassManager &pm) { pm.addPass(createVerifyLinalgPass()); }},
    {"P3", "dispatches", "launches of kernels on tensors", buildDispatches,
     nullptr,
     [](OpPassManager &pm) { pm.addPass(rt::createVerifyDispatchesPass()); }},
    {"P4", "kernels", "kernels on memrefs and a memory-planned host program",
     buildKernels,
     [](OpPassManager &pm, const CompileOptions &options, bool fallback) {
       codegen::buildKernelToMemoryPipeline(pm,
                                            kernelOptions(options, fallback));
     },
     [](OpPassManager &pm) { pm.addPass(codegen::createVerifyKernelsPass()); }},
    {"P5", "llvm", "kernels in the LLVM dialect",
     [](OpPassManager &, const CompileOptions &) {},
     [](OpPassManager &pm, const CompileOptions &options, bool fallback) {
       codegen::buildKernelToLLVMPipeline(pm, kernelOptions(options, fallback));
     },
     nullptr},
};

llvm::ArrayRef<Phase> dynamo::getPhases() { return kPhases; }

int dynamo::findPhase(llvm::StringRef name) {
  for (auto [i, phase] : llvm::enumerate(kPhases))
    if (phase.name == name)
      return i;
  return -1;
}

std::string dynamo::listPhases() {
  std::string result;
  for (const Phase &phase : kPhases)
    result += (result.empty() ? "" : ", ") + phase.name.str();
  return result;
}

int dynamo::detectPhase(ModuleOp module) {
  bool isPlanned = false, hasKernel = false, hasAten = false;
  for (Operation &op : *module.getBody()) {
    if (auto function = dyn_cast<py::FuncOp>(op))
      if (function.isSegment())
        return findPhase("recorded");
    if (op.hasAttr(rt::kKernelAttr)) {
      hasKernel = true;
      if (!op.getRegion(0).getOps<LLVM::LLVMFuncOp>().empty())
        return findPhase("llvm");
    }
    isPlanned |= op.hasAttr(rt::kNumInputsAttr);
    if (isa<func::FuncOp>(op))
      op.walk([&](Operation *inner) {
        hasAten |= inner->getName().getDialectNamespace() == "aten" &&
                   inner->getName().getStringRef() != "aten.extern";
      });
  }
  if (isPlanned || hasKernel)
    return findPhase(isPlanned ? "kernels" : "dispatches");
  return findPhase(hasAten ? "aten" : "linalg");
}

void dynamo::buildPhasePipeline(OpPassManager &pm, const Phase &phase,
                                const CompileOptions &options) {
  phase.build(pm, options);
  if (phase.buildKernel)
    phase.buildKernel(pm.nest<ModuleOp>(), options, /*fallback=*/false);
  if (phase.verify && options.verify)
    phase.verify(pm);
}

namespace {
/// The text form of CompileOptions, for one phase.
struct TextOptions : PassPipelineOptions<TextOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("machine model: avx2, avx512, generic or host"),
      llvm::cl::init("host")};
  Option<bool> verify{*this, "verify",
                      llvm::cl::desc("run the phase's verifier"),
                      llvm::cl::init(true)};
};
} // namespace

void dynamo::registerPhasePipelines() {
  for (const Phase &phase : kPhases)
    PassPipelineRegistration<TextOptions>(
        "dynamo-" + phase.name.str() + "-pipeline",
        ("To phase " + phase.level + ": " + phase.summary).str(),
        [&phase](OpPassManager &pm, const TextOptions &text) {
          CompileOptions options;
          options.target = text.target;
          options.verify = text.verify;
          buildPhasePipeline(pm, phase, options);
        });
}

void dynamo::getPhaseDialects(DialectRegistry &registry) {
  OpPassManager pm(ModuleOp::getOperationName());
  for (const Phase &phase : kPhases)
    buildPhasePipeline(pm, phase, CompileOptions());
  pm.getDependentDialects(registry);
}
