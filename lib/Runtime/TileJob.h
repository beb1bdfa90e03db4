//===- TileJob.h - A range of tiles shared by threads ------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_RUNTIME_TILEJOB_H
#define DYNAMO_LIB_RUNTIME_TILEJOB_H

#include "dynamo/Runtime/ParallelFor.h"

#include <atomic>

namespace dynamo::runtime {

/// The range is cut into one contiguous part per worker. A worker takes its own
/// part in a few bites, then helps with the others' parts: equal work keeps
/// each worker on the rows whose data its cache already has, unequal work is
/// balanced. Any number of workers, one included, finishes the job.
class TileJob {
public:
  static constexpr int kMaxWorkers = 128;

  TileJob(int workers, int64_t range, TileFn body, void *context);

  /// Takes part as number `worker`; returns when no tile is left to take
  /// (others may still compute theirs).
  void work(int worker);

  int workers() const { return numParts; }

  /// Whether this thread is in the middle of a job.
  static bool inside();

private:
  struct alignas(64) Part {
    std::atomic<int64_t> next;
    int64_t end, bite;
  };

  TileFn body;
  void *context;
  uint64_t floatingPoint;
  int numParts;
  // Left uninitialised behind numParts.
  union {
    Part parts[kMaxWorkers];
  };
};

/// Whether this thread's stack has room for a kernel's scratch.
bool stackSuffices();

} // namespace dynamo::runtime

#endif // DYNAMO_LIB_RUNTIME_TILEJOB_H
