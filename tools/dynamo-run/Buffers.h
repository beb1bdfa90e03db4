//===- Buffers.h - Inputs and results of dynamo-run --------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_TOOLS_DYNAMO_RUN_BUFFERS_H
#define DYNAMO_TOOLS_DYNAMO_RUN_BUFFERS_H

#include "dynamo/Support/Npy.h"

#include "llvm/Support/raw_ostream.h"

namespace dynamo::run {

/// An array whose memory starts on a cache line, as torch's does.
class Buffer {
public:
  explicit Buffer(runtime::TensorSpec spec);

  runtime::TensorSpec spec;
  void *data() { return memory.get(); }
  const void *data() const { return memory.get(); }

  /// Element as double; ints of more than 53 bits lose digits.
  double at(int64_t index) const;
  void set(int64_t index, double value);

private:
  struct Free {
    void operator()(void *block) const { ::free(block); }
  };
  std::unique_ptr<void, Free> memory;
};

/// "4x8xf32" as in a tensor type.
std::string describe(const runtime::TensorSpec &spec);

/// Fills a buffer as `source` says: "random", "random:<low>:<high>", a number,
/// or the path of an .npy file of the same type and sizes. Floats are uniform
/// in [-1, 1), ints in [0, 8) unless a range is given; equal seeds give equal
/// values on every machine.
absl::Status fill(Buffer &buffer, llvm::StringRef source, uint64_t seed);

/// Prints type, statistics and up to `limit` elements.
void print(llvm::raw_ostream &os, const Buffer &buffer, int64_t limit);

/// |found - expected| <= atol + rtol * |expected| everywhere; two NaNs are
/// equal. Otherwise the error says how far off, where and how often.
absl::Status compare(const Buffer &found, const NpyArray &expected, double rtol,
                     double atol);

} // namespace dynamo::run

#endif // DYNAMO_TOOLS_DYNAMO_RUN_BUFFERS_H
