//===- TileJob.cpp - A range of tiles shared by threads -------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileJob.h"

#include "FloatingPointState.h"

#include <algorithm>
#include <new>
#include <pthread.h>

using namespace dynamo::runtime;

static thread_local bool insideJob = false;

bool TileJob::inside() { return insideJob; }

TileJob::TileJob(int workers, int64_t range, TileFn body, void *context)
    : body(body), context(context), floatingPoint(floatingPointState()),
      numParts(static_cast<int>(std::max<int64_t>(
          1, std::min<int64_t>({workers, kMaxWorkers, range})))) {
  for (int i = 0; i < numParts; ++i) {
    // In two steps: range * i may overflow.
    int64_t size = range / numParts, rest = range % numParts;
    int64_t begin = size * i + std::min<int64_t>(i, rest);
    int64_t end = begin + size + (i < rest);
    Part *part = new (&parts[i]) Part;
    part->next.store(begin, std::memory_order_relaxed);
    part->end = end;
    part->bite = std::max<int64_t>(1, (end - begin + 3) / 4);
  }
}

void TileJob::work(int worker) {
  if (!stackSuffices())
    return;
  FloatingPointScope scope(floatingPoint);
  bool wasInside = insideJob;
  insideJob = true;
  for (int i = 0; i < numParts; ++i) {
    Part &part = parts[(worker + i) % numParts];
    // The load keeps the counter from running away when many come to look.
    while (part.next.load(std::memory_order_relaxed) < part.end) {
      int64_t begin = part.next.fetch_add(part.bite, std::memory_order_relaxed);
      if (begin >= part.end)
        break;
      body(context, begin, std::min(begin + part.bite, part.end));
    }
  }
  insideJob = wasInside;
}

/// Lowest usable address of this thread's stack; asked once, for the answer
/// costs a look into /proc on the main thread.
static uintptr_t stackLimit() {
  static thread_local uintptr_t limit = 0;
  if (limit == 0) {
    limit = 1;
#ifdef __linux__
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      void *low = nullptr;
      size_t size = 0, guard = 0;
      if (pthread_attr_getstack(&attributes, &low, &size) == 0 &&
          pthread_attr_getguardsize(&attributes, &guard) == 0)
        limit = reinterpret_cast<uintptr_t>(low) + guard;
      pthread_attr_destroy(&attributes);
    }
#endif
  }
  return limit;
}

bool dynamo::runtime::stackSuffices() {
  uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  uintptr_t limit = stackLimit();
  // Below the limit we are on a stack that is not the thread's (a fiber's):
  // nothing is known then.
  return here < limit || here - limit >= kKernelStackBytes;
}

namespace {
struct SerialRun {
  int64_t range;
  TileFn body;
  void *context;
  uint64_t floatingPoint;
};
} // namespace

void dynamo::runtime::runSerial(int64_t range, TileFn body, void *context) {
  if (stackSuffices())
    return body(context, 0, range);
  SerialRun job{range, body, context, floatingPointState()};
  pthread_attr_t attributes;
  pthread_t thread;
  bool started = false;
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setstacksize(&attributes, 4 * kKernelStackBytes);
    started = pthread_create(
                  &thread, &attributes,
                  [](void *data) -> void * {
                    auto *job = static_cast<SerialRun *>(data);
                    FloatingPointScope scope(job->floatingPoint);
                    job->body(job->context, 0, job->range);
                    return nullptr;
                  },
                  &job) == 0;
    pthread_attr_destroy(&attributes);
  }
  if (started)
    pthread_join(thread, nullptr);
  else
    body(context, 0, range); // most kernels need far less than the limit
}
