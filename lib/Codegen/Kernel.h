//===- Kernel.h - What all codegen passes ask of a kernel ------ C++ -*----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_KERNEL_H
#define DYNAMO_LIB_CODEGEN_KERNEL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dynamo::codegen {

inline constexpr llvm::StringLiteral kKernelAttr = "rt.kernel";
inline constexpr llvm::StringLiteral kStrategyAttr = "rt.strategy";
inline constexpr llvm::StringLiteral kRangeAttr = "rt.range";
inline constexpr llvm::StringLiteral kWorkAttr = "rt.work";

/// On the function: its top-level parallel loops are known to be independent.
inline constexpr llvm::StringLiteral kIndependentAttr = "codegen.independent";

/// Bytes of stack that a kernel may use for temporaries.
inline constexpr int64_t kMaxScratchBytes = 512 * 1024;

/// The kernel's function: the only public one of the module, or null.
inline mlir::func::FuncOp getKernelFunction(mlir::ModuleOp module) {
  mlir::func::FuncOp found;
  for (auto func : module.getOps<mlir::func::FuncOp>()) {
    if (func.isDeclaration() || func.isPrivate())
      continue;
    if (found)
      return nullptr;
    found = func;
  }
  return found;
}

/// The same; where there is none, an error at the module.
inline mlir::func::FuncOp requireKernelFunction(mlir::ModuleOp module) {
  mlir::func::FuncOp func = getKernelFunction(module);
  if (!func)
    module.emitError("expected a kernel module with one public function");
  return func;
}

/// The kernel's strategy, or "" where there is none.
inline llvm::StringRef getStrategy(mlir::ModuleOp module) {
  auto attr = module->getAttrOfType<mlir::StringAttr>(kStrategyAttr);
  return attr ? attr.getValue() : llvm::StringRef();
}

/// Calls `tile` for the function of each kernel of `strategy`: of `module`
/// itself or one in it. Fails if one of them does, after all had their turn.
inline llvm::LogicalResult
tileKernels(mlir::ModuleOp module, llvm::StringRef strategy,
            llvm::function_ref<llvm::LogicalResult(mlir::func::FuncOp)> tile) {
  bool failed = false;
  module.walk([&](mlir::ModuleOp kernel) {
    if (getStrategy(kernel) != strategy)
      return;
    if (mlir::func::FuncOp func = getKernelFunction(kernel))
      failed |= tile(func).failed();
  });
  return llvm::failure(failed);
}

} // namespace dynamo::codegen

#endif // DYNAMO_LIB_CODEGEN_KERNEL_H
