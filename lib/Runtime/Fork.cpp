//===- Fork.cpp - Notices that the process was forked ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Runtime/Fork.h"

#include <atomic>
#include <pthread.h>

static std::atomic<uint64_t> generation{0};

/// Registered when the library is loaded: a fork may come before first use.
[[maybe_unused]] static const int registered =
    pthread_atfork(nullptr, nullptr,
                   [] { generation.fetch_add(1, std::memory_order_relaxed); });

uint64_t dynamo::runtime::forkGeneration() {
  return generation.load(std::memory_order_relaxed);
}
