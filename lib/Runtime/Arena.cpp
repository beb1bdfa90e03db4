//===- Arena.cpp - Memory of one running call -----------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arena.h"

#include <sys/mman.h>

using namespace dynamo::runtime;

constexpr int64_t kPage = 4096;
constexpr int64_t kHugePage = 2 * 1024 * 1024;

static int64_t alignUp(int64_t value, int64_t to) {
  return (value + to - 1) / to * to;
}

bool Arena::allocate(int64_t wanted) {
  if (wanted <= bytes)
    return true;
  free();
  if (wanted > INT64_MAX - 2 * kHugePage)
    return false;
  bool huge = wanted >= kHugePage / 2;
  int64_t size = alignUp(wanted, huge ? kHugePage : kPage);
  int64_t mapped = huge ? size + kHugePage : size;
  void *block = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED)
    return false;
  char *start = static_cast<char *>(block);
  if (huge) {
    // Cut what lies before the first and after the last whole huge page.
    char *aligned = reinterpret_cast<char *>(
        alignUp(reinterpret_cast<intptr_t>(start), kHugePage));
    if (aligned != start)
      munmap(start, aligned - start);
    if (char *end = aligned + size; end != start + mapped)
      munmap(end, start + mapped - end);
    start = aligned;
#ifdef MADV_HUGEPAGE
    madvise(start, size, MADV_HUGEPAGE); // a hint, may be refused
#endif
  }
  base = start;
  bytes = size;
  return true;
}

void Arena::free() {
  if (base)
    munmap(base, bytes);
  base = nullptr;
  bytes = 0;
}
