//===- Fork.h - Notices that the process was forked --------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A forked child has only the thread that called fork: pools and their locks
// are as the parent's other threads left them.  What keeps threads compares
// generations and starts anew.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_RUNTIME_FORK_H
#define DYNAMO_RUNTIME_FORK_H

#include <cstdint>

namespace dynamo::runtime {

/// How many forks lie between the process that loaded the library and this one.
uint64_t forkGeneration();

} // namespace dynamo::runtime

#endif // DYNAMO_RUNTIME_FORK_H
