//===- Arena.h - Memory of one running call ----------------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_RUNTIME_ARENA_H
#define DYNAMO_LIB_RUNTIME_ARENA_H

#include <cstdint>

namespace dynamo::runtime {

/// A block that holds every intermediate buffer of a call. Kept between calls,
/// since a fresh page costs more than computing on it. Large blocks start on
/// and fill 2 MiB pages where the system has them.
class Arena {
public:
  Arena() = default;
  ~Arena() { free(); }
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// Ensures room for `bytes`; contents are lost. False: no memory.
  bool allocate(int64_t bytes);
  void free();

  char *data() const { return base; }
  int64_t capacity() const { return bytes; }

private:
  char *base = nullptr;
  int64_t bytes = 0;
};

} // namespace dynamo::runtime

#endif // DYNAMO_LIB_RUNTIME_ARENA_H
