//===- ArenaTest.cpp - Alignment and growth of the arena ------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arena.h"

#include "gtest/gtest.h"

#include <cstring>

using namespace dynamo::runtime;

// All of a block can be written; large ones start on a 2 MiB page.
TEST(Arena, SizesAndAlignment) {
  for (int64_t bytes : {int64_t(1), int64_t(4096), int64_t(100000),
                        int64_t(3) << 20, int64_t(9) << 20}) {
    Arena arena;
    ASSERT_TRUE(arena.allocate(bytes));
    EXPECT_GE(arena.capacity(), bytes);
    auto address = reinterpret_cast<uintptr_t>(arena.data());
    EXPECT_EQ(address % (bytes >= (1 << 20) ? 2 << 20 : 4096), 0u);
    memset(arena.data(), 1, bytes);
    char *before = arena.data();
    ASSERT_TRUE(arena.allocate(bytes / 2 + 1)); // fits: nothing moves
    EXPECT_EQ(arena.data(), before);
  }
}

// A program without intermediates needs no memory.
TEST(Arena, Empty) {
  Arena arena;
  EXPECT_TRUE(arena.allocate(0));
  EXPECT_EQ(arena.data(), nullptr);
}

// What the system cannot give is an answer, not a crash.
TEST(Arena, TooLarge) {
  Arena arena;
  EXPECT_FALSE(arena.allocate(INT64_MAX - 1));
  EXPECT_FALSE(arena.allocate(int64_t(1) << 60));
  EXPECT_TRUE(arena.allocate(4096));
}
