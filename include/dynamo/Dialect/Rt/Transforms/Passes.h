//===- Passes.h - Rt passes
//---------------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_RT_TRANSFORMS_PASSES_H
#define DYNAMO_DIALECT_RT_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dynamo::rt {

#define GEN_PASS_DECL
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"

} // namespace dynamo::rt

#endif // DYNAMO_DIALECT_RT_TRANSFORMS_PASSES_H
