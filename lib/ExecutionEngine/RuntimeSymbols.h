//===- RuntimeSymbols.h - Functions that compiled code may call --- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_EXECUTIONENGINE_RUNTIMESYMBOLS_H
#define DYNAMO_LIB_EXECUTIONENGINE_RUNTIMESYMBOLS_H

#include "llvm/ADT/ArrayRef.h"

namespace dynamo::engine {

struct RuntimeSymbol {
  const char *name;
  void *address;
};

/// libm, memory functions and conversions of half types, by address: what a
/// process offers by name depends on how it was linked (a static interpreter
/// need not have libm, older compilers' libraries have no bf16).
llvm::ArrayRef<RuntimeSymbol> runtimeSymbols();

} // namespace dynamo::engine

#endif // DYNAMO_LIB_EXECUTIONENGINE_RUNTIMESYMBOLS_H
