//===- ForkTest.cpp - Children of a process that used the pool ------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Runtime/Fork.h"
#include "dynamo/Runtime/ParallelFor.h"

#include "gtest/gtest.h"

#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dynamo::runtime;

static void add(void *context, int64_t begin, int64_t end) {
  static_cast<std::atomic<int64_t> *>(context)->fetch_add(end - begin);
}

/// Forks; the child runs a job and exits with 0 if all of it was done.
static void forkAndRun() {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20); // a hang must not outlive the test
    std::atomic<int64_t> sum{0};
    for (int i = 0; i < 10; ++i)
      ParallelFor::own().run(4, 4, 100, add, &sum);
    _exit(sum == 1000 && forkGeneration() > 0 &&
                  ParallelFor::openMP() == nullptr
              ? 0
              : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// The child of a process whose pool has run starts threads of its own.
TEST(Fork, AfterUse) {
  std::atomic<int64_t> sum{0};
  ParallelFor::own().run(4, 4, 100, add, &sum);
  EXPECT_EQ(sum, 100);
  for (int i = 0; i < 5; ++i)
    forkAndRun();
}

// Likewise when another thread is in the middle of a job, and holds whatever
// a job holds, at the moment of the fork.
TEST(Fork, DuringAJobOfAnotherThread) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    std::atomic<int64_t> sum{0};
    while (!stop)
      ParallelFor::own().run(4, 4, 100, add, &sum);
  });
  for (int i = 0; i < 10; ++i)
    forkAndRun();
  stop = true;
  busy.join();
}
