//===- Passes.h - Codegen passes
//----------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CODEGEN_PASSES_H
#define DYNAMO_CODEGEN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace dynamo::codegen {

#define GEN_PASS_DECL
#include "dynamo/Codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dynamo/Codegen/Passes.h.inc"

} // namespace dynamo::codegen

#endif // DYNAMO_CODEGEN_PASSES_H
