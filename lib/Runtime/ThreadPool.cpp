//===- ThreadPool.cpp - Our own threads -----------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Workers spin for a short time after a job, since the next kernel usually
// follows within microseconds, then sleep.  A worker that wakes too late finds
// the job closed and is not waited for: the caller never depends on a thread
// that the system does not run.
//
//===----------------------------------------------------------------------===//

#include "TileJob.h"
#include "dynamo/Runtime/Fork.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <signal.h>
#include <thread>

#ifdef __linux__
#include <sched.h>
#endif

using namespace dynamo::runtime;

/// How long to spin before sleeping.
constexpr std::chrono::microseconds kSpin{30};

static inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Spins until `done()`; false if it took too long.
template <typename Done> static bool spinUntil(Done done) {
  auto deadline = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (done())
        return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return done();
}

static int availableCores() {
#ifdef __linux__
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0)
    return std::max(1, CPU_COUNT(&cores));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

namespace {
class ThreadPool final : public ParallelFor {
public:
  void run(int team, int active, int64_t range, TileFn body,
           void *context) override;
  int defaultTeam() const override { return cores; }

private:
  void ensureWorkers(int count);
  void workerMain(int index);
  bool enter(uint64_t seen);
  void leave();

  // `state` is the job's number, whether it is closed to newcomers, and how
  // many workers are in it; one word, so that entering checks all at once.
  static constexpr uint64_t kNext = uint64_t(1) << 32;
  static constexpr uint64_t kClosed = uint64_t(1) << 31;
  static uint64_t number(uint64_t state) { return state / kNext; }
  static uint64_t inside(uint64_t state) { return state % kClosed; }

  alignas(64) std::atomic<uint64_t> state{kClosed};
  std::atomic<TileJob *> job{nullptr};
  std::atomic<int> wanted{0}; ///< workers that the job can use
  alignas(64) std::atomic<bool> taken{false};
  std::atomic<int> sleepers{0};
  std::atomic<bool> callerSleeps{false};

  std::mutex mutex;
  std::condition_variable wake, finished;
  int numWorkers = 0; ///< by the holder of `taken`
  const int cores = availableCores();
};
} // namespace

void ThreadPool::run(int team, int active, int64_t range, TileFn body,
                     void *context) {
  if (range <= 0)
    return;
  active = static_cast<int>(std::min<int64_t>(
      {team > 0 ? team : cores, active, range, TileJob::kMaxWorkers}));
  if (active <= 1 || TileJob::inside() || !stackSuffices() ||
      taken.exchange(true, std::memory_order_acquire))
    return runSerial(range, body, context);

  ensureWorkers(active - 1);
  TileJob current(active, range, body, context);
  job.store(&current, std::memory_order_relaxed);
  wanted.store(current.workers() - 1, std::memory_order_relaxed);
  uint64_t open = (number(state.load(std::memory_order_relaxed)) + 1) * kNext;
  // Sequentially consistent against `sleepers`: a worker either sees the new
  // number before it sleeps or is seen here as sleeping.
  state.store(open);
  if (sleepers.load() > 0) {
    std::lock_guard<std::mutex> lock(mutex);
    wake.notify_all();
  }

  current.work(0);

  auto empty = [&] {
    return inside(state.load(std::memory_order_acquire)) == 0;
  };
  state.fetch_or(kClosed);
  if (!spinUntil(empty)) {
    std::unique_lock<std::mutex> lock(mutex);
    callerSleeps.store(true);
    while (inside(state.load()) != 0)
      finished.wait(lock);
    callerSleeps.store(false);
  }
  taken.store(false, std::memory_order_release);
}

bool ThreadPool::enter(uint64_t seen) {
  while (!(seen & kClosed))
    if (state.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel))
      return true;
  return false;
}

void ThreadPool::leave() {
  uint64_t before = state.fetch_sub(1);
  if ((before & kClosed) && inside(before) == 1 && callerSleeps.load()) {
    std::lock_guard<std::mutex> lock(mutex);
    finished.notify_one();
  }
}

void ThreadPool::workerMain(int index) {
  uint64_t last = 0;
  while (true) {
    uint64_t seen = 0;
    auto arrived = [&] {
      seen = state.load(std::memory_order_acquire);
      return number(seen) != last;
    };
    if (!spinUntil(arrived)) {
      std::unique_lock<std::mutex> lock(mutex);
      sleepers.fetch_add(1);
      while (number(seen = state.load()) == last)
        wake.wait(lock);
      sleepers.fetch_sub(1);
    }
    // `wanted` may already be that of a later job; then entering this one
    // fails, or it comes round again.
    if (index <= wanted.load(std::memory_order_relaxed) && enter(seen)) {
      // Possibly a later job than the one seen: its number counts.
      last = number(state.load(std::memory_order_relaxed));
      job.load(std::memory_order_relaxed)->work(index);
      leave();
    } else {
      last = number(seen);
    }
  }
}

void ThreadPool::ensureWorkers(int count) {
  while (numWorkers < count) {
    struct Start {
      ThreadPool *pool;
      int index;
    };
    auto *start = new Start{this, numWorkers + 1};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 8 * kKernelStackBytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // Signals are the embedder's business: block them all in workers.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int failed = pthread_create(
        &thread, &attributes,
        [](void *data) -> void * {
          Start start = *static_cast<Start *>(data);
          delete static_cast<Start *>(data);
          start.pool->workerMain(start.index);
          return nullptr;
        },
        start);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    if (failed) {
      delete start;
      return; // fewer workers do the job too
    }
    ++numWorkers;
  }
}

ParallelFor &ParallelFor::own() {
  // Never destroyed: workers may still wait while the process exits. After a
  // fork the old pool's locks and counters mean nothing, so it is left alone.
  static std::atomic<ThreadPool *> pool{nullptr};
  static std::atomic<uint64_t> generation{0};
  ThreadPool *current = pool.load(std::memory_order_acquire);
  if (current && generation.load(std::memory_order_relaxed) == forkGeneration())
    return *current;
  auto *fresh = new ThreadPool;
  if (pool.compare_exchange_strong(current, fresh)) {
    generation.store(forkGeneration(), std::memory_order_relaxed);
    return *fresh;
  }
  delete fresh;
  return *current;
}
