//===- ParallelForTest.cpp - Pools cover a range exactly once -------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Runtime/ParallelFor.h"

#include "FloatingPointState.h"
#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <pthread.h>
#include <thread>
#include <vector>

using namespace dynamo::runtime;

namespace {
/// Counts how often each tile was computed.
struct Counter {
  explicit Counter(int64_t range) : counts(range) {}
  static void body(void *context, int64_t begin, int64_t end) {
    auto *self = static_cast<Counter *>(context);
    for (int64_t i = begin; i < end; ++i)
      self->counts[i].fetch_add(1, std::memory_order_relaxed);
  }
  bool eachOnce() const {
    for (const auto &count : counts)
      if (count.load() != 1)
        return false;
    return true;
  }
  std::vector<std::atomic<int>> counts;
};
} // namespace

// Every tile runs once, for more and fewer tiles than threads, teams of all
// sizes, and a range that nothing divides.
TEST(ParallelFor, CoversTheRangeOnce) {
  for (int team : {0, 1, 2, 3, 8, 200})
    for (int64_t range : {0, 1, 2, 7, 64, 1009}) {
      Counter counter(range);
      ParallelFor::own().run(team, team ? team : 4, range, Counter::body,
                             &counter);
      EXPECT_TRUE(counter.eachOnce()) << team << " threads, " << range;
    }
}

// Jobs in quick succession: workers that come late to one must not disturb
// the next.
TEST(ParallelFor, ManyShortJobs) {
  for (int i = 0; i < 20000; ++i) {
    Counter counter(5);
    ParallelFor::own().run(4, 4, 5, Counter::body, &counter);
    ASSERT_TRUE(counter.eachOnce()) << "job " << i;
  }
}

// Workers that went to sleep between jobs come back.
TEST(ParallelFor, SleepsAndWakes) {
  for (int i = 0; i < 20; ++i) {
    Counter counter(64);
    ParallelFor::own().run(4, 4, 64, Counter::body, &counter);
    ASSERT_TRUE(counter.eachOnce());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// Callers on several threads at once: one gets the pool, all get results.
TEST(ParallelFor, ConcurrentCallers) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t)
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        Counter counter(37);
        ParallelFor::own().run(4, 4, 37, Counter::body, &counter);
        wrong += !counter.eachOnce();
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

// A body that calls the pool again runs that range itself.
TEST(ParallelFor, NestedCallsRunSerially) {
  Counter inner(4 * 16);
  ParallelFor::own().run(
      4, 4, 4,
      [](void *context, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          struct Part {
            void *counter;
            int64_t offset;
          } part{context, i * 16};
          ParallelFor::own().run(
              4, 4, 16,
              [](void *data, int64_t begin, int64_t end) {
                auto *part = static_cast<Part *>(data);
                Counter::body(part->counter, part->offset + begin,
                              part->offset + end);
              },
              &part);
        }
      },
      &inner);
  EXPECT_TRUE(inner.eachOnce());
}

#if defined(__x86_64__)
// Flush-to-zero of the caller holds on every thread and only for the job.
TEST(ParallelFor, TakesOverFloatingPointState) {
  uint64_t before = floatingPointState();
  std::atomic<int> different{0};
  struct Check {
    uint64_t expected;
    std::atomic<int> *different;
  };
  auto body = [](void *context, int64_t, int64_t) {
    auto *check = static_cast<Check *>(context);
    if (floatingPointState() != check->expected)
      ++*check->different;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  };
  for (uint64_t state : {before | 0x8040, before}) {
    setFloatingPointState(state);
    Check check{state, &different};
    for (int i = 0; i < 20; ++i)
      ParallelFor::own().run(4, 4, 64, body, &check);
  }
  EXPECT_EQ(different, 0);
}
#endif

// A thread with a small stack (threading.stack_size) can run kernels that need
// half a megabyte of it.
TEST(ParallelFor, SmallCallerStack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  pthread_t thread;
  std::atomic<int> sum{0};
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void *data) -> void * {
                  auto body = [](void *context, int64_t begin, int64_t end) {
                    volatile char scratch[500 * 1024];
                    for (size_t i = 0; i < sizeof(scratch); i += 512)
                      scratch[i] = 1;
                    *static_cast<std::atomic<int> *>(context) +=
                        static_cast<int>(end - begin) * scratch[0];
                  };
                  runSerial(3, body, data);
                  ParallelFor::own().run(4, 4, 8, body, data);
                  return nullptr;
                },
                &sum),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(sum, 11);
}

// Without an OpenMP library in the process none is loaded.
TEST(ParallelFor, AutomaticFallsBackToOwn) {
  if (ParallelFor::openMP())
    GTEST_SKIP() << "this process has an OpenMP library";
  EXPECT_EQ(ParallelFor::get(DYNAMO_THREADS_AUTO), &ParallelFor::own());
  EXPECT_EQ(ParallelFor::get(DYNAMO_THREADS_SERIAL), nullptr);
}

// With one loaded (here by us, in use by PyTorch), its threads do the work.
TEST(ParallelFor, UsesALoadedOpenMP) {
  if (!dlopen("libgomp.so.1", RTLD_LAZY))
    GTEST_SKIP() << "no OpenMP library on this machine";
  ParallelFor *pool = ParallelFor::openMP();
  ASSERT_TRUE(pool);
  EXPECT_EQ(ParallelFor::get(DYNAMO_THREADS_AUTO), pool);
  EXPECT_GE(pool->defaultTeam(), 1);
  for (int team : {0, 1, 2, 3, 8})
    for (int active : {1, 2, 8})
      for (int64_t range : {0, 1, 7, 1009}) {
        Counter counter(range);
        pool->run(team, active, range, Counter::body, &counter);
        EXPECT_TRUE(counter.eachOnce()) << team << " threads, " << range;
      }
}
