//===- ParallelFor.h - Tiles of a kernel on threads -------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs [0, range) in parallel on one of two pools: our own threads, or those
// of the OpenMP library that PyTorch has already loaded.  A process must not
// have two busy pools: their idle threads spin and take each other's cores.
//
// Which thread computes which tile varies; a kernel computes the same values
// for every split of its range, so results do not.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_RUNTIME_PARALLELFOR_H
#define DYNAMO_RUNTIME_PARALLELFOR_H

#include "dynamo/Runtime/CApi.h"

#include <cstdint>

namespace dynamo::runtime {

/// Computes the tiles [begin, end).
using TileFn = void (*)(void *context, int64_t begin, int64_t end);

/// Scratch that a kernel may have on its stack, plus what the call needs.
constexpr int64_t kKernelStackBytes = 640 * 1024;

/// A source of threads. Calls may come from any number of threads at once, and
/// from inside a body: then, or when the pool is taken, the caller alone runs
/// the range, for enough threads are busy already.
class ParallelFor {
public:
  virtual ~ParallelFor() = default;

  /// Calls `body` on disjoint parts of [0, range) that cover it; returns when
  /// all are done. `active` threads share the tiles; `team` >= active is the
  /// number of threads to ask the pool for (OpenMP ends and restarts threads
  /// when that number changes, so it must not follow the amount of work).
  /// 0: the pool's choice.
  virtual void run(int team, int active, int64_t range, TileFn body,
                   void *context) = 0;

  /// Threads that `team` = 0 means.
  virtual int defaultTeam() const = 0;

  /// Our own threads: started at first use, restarted after a fork.
  static ParallelFor &own();

  /// The loaded OpenMP library, or null if there is none or this process is a
  /// forked child (where GNU's OpenMP would wait for threads that are gone).
  static ParallelFor *openMP();

  /// The pool for `threading`; null for serial.
  static ParallelFor *get(DynamoThreading threading);
};

/// Calls body(context, 0, range) on this thread, or on a fresh one if this
/// thread's stack is too small for a kernel's scratch.
void runSerial(int64_t range, TileFn body, void *context);

} // namespace dynamo::runtime

#endif // DYNAMO_RUNTIME_PARALLELFOR_H
