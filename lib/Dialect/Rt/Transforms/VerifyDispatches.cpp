//===- VerifyDispatches.cpp - Check the contract of phase P3 --------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What code generation and memory planning may rely on: isolated kernels on
// values and a straight host program.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "verify-dispatches"

namespace dynamo::rt {
#define GEN_PASS_DEF_VERIFYDISPATCHESPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;
using namespace dynamo::rt;

static bool isHostOnly(Operation *op) {
  return isa<LaunchOp, DispatchOp, YieldOp, SlotOp, CopyOp, CallExternOp,
             ReinterpretOp, RefuseIfOp>(op) ||
         op->getName().getDialectNamespace() == "aten";
}

static LogicalResult verifyHost(func::FuncOp func, ModuleOp module) {
  if (!func.getBody().hasOneBlock())
    return func.emitError(
        "the host function has control flow, one block is accepted");
  for (Operation &op : func.getBody().front()) {
    bool isExtern = op.getName().getStringRef() == "aten.extern";
    if (!isExtern && !isa<LaunchOp, RefuseIfOp, tensor::ExpandShapeOp,
                          tensor::CollapseShapeOp, func::ReturnOp>(op)) // C1
      return op.emitOpError("is not an operation of the host in phase P3: "
                            "launches, aten.extern, rt.refuse_if and reshapes "
                            "are accepted");
    auto launch = dyn_cast<LaunchOp>(op);
    if (!launch)
      continue;
    if (!launch.getOutputs().empty()) // C1
      return launch.emitOpError("is on memory, values are accepted");
    auto kernel =
        module.lookupSymbol<ModuleOp>(launch.getKernel().getRootReference());
    auto body = dyn_cast_or_null<func::FuncOp>(
        SymbolTable::lookupSymbolIn(module, launch.getKernel()));
    if (!kernel || !kernel->hasAttr(kKernelAttr) || !body) // C2
      return launch.emitOpError("launches ")
             << launch.getKernel() << ", which is no kernel";
    FunctionType type = body.getFunctionType();
    if (launch.getInputs().getTypes() != type.getInputs() ||
        launch.getResultTypes() != type.getResults()) { // C2
      InFlightDiagnostic error =
          launch.emitOpError("does not agree with the types of its kernel");
      error.attachNote(body.getLoc()) << "the kernel has type " << type;
      return error;
    }
  }
  return success();
}

static LogicalResult verifyKernel(ModuleOp kernel) {
  auto strategy = kernel->getAttrOfType<StringAttr>(kStrategyAttr);
  if (!strategy || !isKnownStrategy(strategy)) // C3
    return kernel.emitError("the kernel has no known rt.strategy");
  auto funcs = llvm::to_vector(kernel.getOps<func::FuncOp>());
  if (funcs.size() != 1 || !llvm::hasSingleElement(*kernel.getBody()) ||
      funcs.front().getSymName() != kernel.getSymName() ||
      !funcs.front().getBody().hasOneBlock()) // C3
    return kernel.emitError(
        "a kernel module holds one function of its name with one block");
  func::FuncOp func = funcs.front();
  if (!func->getAttrOfType<IntegerAttr>(kWorkAttr)) // C3
    return func.emitError("the kernel has no rt.work");
  for (Type type : func.getArgumentTypes())
    if (!isa<RankedTensorType>(type) && !type.isIntOrIndexOrFloat()) // C4
      return func.emitError("a kernel takes ranked tensors and numbers, found ")
             << type;
  Operation *ret = func.getBody().front().getTerminator();
  for (Value value : ret->getOperands()) {
    if (!isa<RankedTensorType>(value.getType()) ||
        isa<BlockArgument>(value)) // C4
      return ret->emitError("a kernel returns tensors that it computed");
  }
  WalkResult walk = func.walk([](Operation *op) {
    if (!isHostOnly(op)) // C5
      return WalkResult::advance();
    op->emitOpError("is an operation of the host, inside a kernel");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

namespace {
struct VerifyDispatches
    : dynamo::rt::impl::VerifyDispatchesPassBase<VerifyDispatches> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    markAllAnalysesPreserved();
    for (Operation &op : *module.getBody()) {
      LogicalResult result = success();
      if (auto func = dyn_cast<func::FuncOp>(op))
        result = func.isExternal() ? success() : verifyHost(func, module);
      else if (auto kernel = dyn_cast<ModuleOp>(op))
        result =
            kernel->hasAttr(kKernelAttr) ? verifyKernel(kernel) : success();
      if (failed(result))
        return signalPassFailure();
    }
  }
};
} // namespace
