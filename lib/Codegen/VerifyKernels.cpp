//===- VerifyKernels.cpp - Check the contract of phase P4 -----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the lowering to LLVM and the runtime rely on. A kernel that breaks it
// would otherwise fail much later, or leak.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "dynamo/Codegen/Passes.h"
#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Verify.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#define DEBUG_TYPE "verify-kernels"

namespace dynamo::codegen {
#define GEN_PASS_DEF_VERIFYKERNELSPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

static LogicalResult verifyKernel(ModuleOp module) {
  func::FuncOp func = getKernelFunction(module);
  if (!func)
    return module.emitError(
        "expected a kernel module with one public function");
  auto range = func->getAttrOfType<IntegerAttr>(kRangeAttr);
  if (!range || range.getInt() < 0)
    return func.emitError("expected the attribute '")
           << kRangeAttr << "', the number of parallel tiles";
  ArrayRef<Type> types = func.getArgumentTypes();
  if (types.size() < 2 || !types.back().isIndex() ||
      !types[types.size() - 2].isIndex() || func.getNumResults() != 0)
    return func.emitError("expected buffers, then the range as two index "
                          "arguments, and no result");
  for (Type type : types.drop_back(2)) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref || !memref.getLayout().isIdentity() || !memref.hasStaticShape())
      return func.emitError(
                 "expected static memrefs of identity layout, found ")
             << type;
  }
  WalkResult result = func.walk([&](Operation *op) {
    auto isTensor = llvm::IsaPred<TensorType>;
    if (llvm::any_of(op->getOperandTypes(), isTensor) ||
        llvm::any_of(op->getResultTypes(), isTensor)) {
      op->emitError("expected no tensors in a kernel on memory");
      return WalkResult::interrupt();
    }
    if (isa<linalg::LinalgOp, memref::AllocOp>(op)) {
      op->emitError("expected no '")
          << op->getName() << "' in a kernel on memory";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct VerifyKernels
    : dynamo::codegen::impl::VerifyKernelsPassBase<VerifyKernels> {
  void runOnOperation() override {
    bool failed = false;
    getOperation().walk([&](ModuleOp module) {
      if (module->hasAttr(kKernelAttr))
        failed |= verifyKernel(module).failed();
    });
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func->hasAttr(dynamo::rt::kNumInputsAttr))
        failed |= dynamo::rt::verifyHostProgram(func, getOperation()).failed();
    if (failed)
      signalPassFailure();
  }
};
} // namespace
