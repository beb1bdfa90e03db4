//===- Verify.h - Checks of the host program ---------------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_RT_TRANSFORMS_VERIFY_H
#define DYNAMO_DIALECT_RT_TRANSFORMS_VERIFY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace dynamo::rt {

/// Checks a memory-planned host function (phase P4): only host operations on
/// buffers, slots inside the arena, outputs of a launch apart from its other
/// operands, and, where the kernel is a function on memrefs, equal types.
mlir::LogicalResult verifyHostProgram(mlir::func::FuncOp func,
                                      mlir::ModuleOp module);

} // namespace dynamo::rt

#endif // DYNAMO_DIALECT_RT_TRANSFORMS_VERIFY_H
