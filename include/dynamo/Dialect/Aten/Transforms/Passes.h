//===- Passes.h - Aten passes
//-------------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_TRANSFORMS_PASSES_H
#define DYNAMO_DIALECT_ATEN_TRANSFORMS_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace dynamo::aten {

#define GEN_PASS_DECL
#include "dynamo/Dialect/Aten/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dynamo/Dialect/Aten/Transforms/Passes.h.inc"

} // namespace dynamo::aten

#endif // DYNAMO_DIALECT_ATEN_TRANSFORMS_PASSES_H
