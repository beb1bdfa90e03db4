//===- Passes.h - Conversion passes
//-------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CONVERSION_PASSES_H
#define DYNAMO_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace dynamo {

#define GEN_PASS_DECL
#include "dynamo/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dynamo/Conversion/Passes.h.inc"

} // namespace dynamo

#endif // DYNAMO_CONVERSION_PASSES_H
