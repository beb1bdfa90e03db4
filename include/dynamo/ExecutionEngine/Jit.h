//===- Jit.h - Machine code in this process ----------------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thin layer over ORC: object files in, callable addresses out, and memory
// that goes when its owner goes.  Compiling to object files is the caller's
// part, so that it runs on as many threads as the caller likes.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_EXECUTIONENGINE_JIT_H
#define DYNAMO_EXECUTIONENGINE_JIT_H

#include "absl/status/statusor.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace dynamo::engine {

/// Linked code of one object file; freed with the last reference.
class JitCode {
public:
  virtual ~JitCode() = default;
  /// Address of the symbol that link() was asked for.
  void *address() const { return entry; }

protected:
  void *entry = nullptr;
};

/// Links `object` and finds `symbol` in it, a name that no other object has.
/// Undefined symbols resolve to the runtime's own functions, then to those of
/// the process. The error names what was not found. Thread safe.
absl::StatusOr<std::unique_ptr<JitCode>>
linkObject(std::unique_ptr<llvm::MemoryBuffer> object, llvm::StringRef symbol);

} // namespace dynamo::engine

#endif // DYNAMO_EXECUTIONENGINE_JIT_H
