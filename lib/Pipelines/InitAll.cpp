//===- InitAll.cpp - the only registration lists
//------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/InitAll.h"

#include "dynamo/Codegen/KernelPipeline.h"
#include "dynamo/Codegen/Passes.h"
#include "dynamo/Conversion/Passes.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Aten/Transforms/Passes.h"
#include "dynamo/Dialect/Py/IR/Py.h"
#include "dynamo/Dialect/Py/Transforms/Passes.h"
#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"
#include "dynamo/Pipelines/Passes.h"
#include "dynamo/Pipelines/Phases.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"

void dynamo::registerAllDialects(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllToLLVMIRTranslations(registry);
  registry.insert<aten::AtenDialect, py::PyDialect, rt::RtDialect>();
}

void dynamo::registerAllPasses() {
  mlir::registerAllPasses();
  aten::registerAtenPasses();
  py::registerPyPasses();
  rt::registerRtPasses();
  registerConversionPasses();
  codegen::registerCodegenPasses();
  codegen::registerKernelPipelines();
  registerPipelinesPasses();
  registerPhasePipelines();
}
