//===- Passes.h - Py passes
//-------------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_TRANSFORMS_PASSES_H
#define DYNAMO_DIALECT_PY_TRANSFORMS_PASSES_H

#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Py/IR/Py.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dynamo::py {

#define GEN_PASS_DECL
#include "dynamo/Dialect/Py/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dynamo/Dialect/Py/Transforms/Passes.h.inc"

} // namespace dynamo::py

#endif // DYNAMO_DIALECT_PY_TRANSFORMS_PASSES_H
