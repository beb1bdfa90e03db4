//===- Passes.h - the compile driver as a pass
//-----------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PIPELINES_PASSES_H
#define DYNAMO_PIPELINES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dynamo {

#define GEN_PASS_DECL
#include "dynamo/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dynamo/Pipelines/Passes.h.inc"

} // namespace dynamo

#endif // DYNAMO_PIPELINES_PASSES_H
