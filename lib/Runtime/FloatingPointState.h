//===- FloatingPointState.h - Rounding and flush-to-zero ---------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// torch.set_flush_denormal and fesetround act on the calling thread.  Workers
// take that over for the time of a job, so that results do not depend on which
// thread computed them.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_RUNTIME_FLOATINGPOINTSTATE_H
#define DYNAMO_LIB_RUNTIME_FLOATINGPOINTSTATE_H

#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace dynamo::runtime {

/// The control bits of this thread; sticky exception flags are left out.
inline uint64_t floatingPointState() {
#if defined(__x86_64__) || defined(__i386__)
  return _mm_getcsr() & ~0x3fu;
#elif defined(__aarch64__)
  uint64_t state;
  asm volatile("mrs %0, fpcr" : "=r"(state));
  return state;
#else
  return 0;
#endif
}

inline void setFloatingPointState(uint64_t state) {
#if defined(__x86_64__) || defined(__i386__)
  _mm_setcsr((_mm_getcsr() & 0x3fu) | static_cast<unsigned>(state));
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0" ::"r"(state));
#else
  (void)state;
#endif
}

/// Gives this thread another thread's state until the end of the scope.
class FloatingPointScope {
public:
  explicit FloatingPointScope(uint64_t state) : saved(floatingPointState()) {
    if ((changed = saved != state))
      setFloatingPointState(state);
  }
  ~FloatingPointScope() {
    if (changed)
      setFloatingPointState(saved);
  }

private:
  uint64_t saved;
  bool changed;
};

} // namespace dynamo::runtime

#endif // DYNAMO_LIB_RUNTIME_FLOATINGPOINTSTATE_H
