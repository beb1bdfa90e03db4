//===- Executable.h - A program made ready to run ----------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes a Program, precomputes what every call would compute again (last uses,
// stretches of kernels, thread counts) and interprets it.  Between two kernels
// there is no allocation and no lock.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_RUNTIME_EXECUTABLE_H
#define DYNAMO_RUNTIME_EXECUTABLE_H

#include "dynamo/Runtime/CApi.h"
#include "dynamo/Runtime/Program.h"

#include <atomic>
#include <memory>

namespace dynamo::runtime {

using RunContext = DynamoRunContext;
using Operand = DynamoOperand;
using ExternResult = DynamoExternResult;

struct Frame;

/// A program with its memory. Kernels' code must outlive it.
class Executable {
public:
  /// Null if the program is malformed; `error` then says how.
  static std::unique_ptr<Executable> create(Program program,
                                            std::string &error);
  ~Executable();
  Executable(const Executable &) = delete;
  Executable &operator=(const Executable &) = delete;

  /// Runs once. Thread safe: each concurrent call has an arena of its own,
  /// kept for later calls. After an error no owner is left unreleased, and
  /// outputs hold anything.
  DynamoStatus run(const RunContext &context) const;

  /// Frees arenas that no call uses at the moment.
  void releaseMemory() const;

  const Program &program() const { return prog; }

private:
  explicit Executable(Program program);
  bool prepare(std::string &error);
  Frame *takeFrame() const;
  void putFrame(Frame *frame) const;
  DynamoStatus runSteps(const RunContext &context, Frame &frame) const;

  /// An instruction with what is constant over calls.
  struct Step {
    int32_t firstArg = 0; ///< in `args`
    int32_t numArgs = 0;
    int32_t firstSpec = 0;    ///< in `operandSpecs`
    int32_t firstRelease = 0; ///< in `releases`
    int32_t numReleases = 0;
    bool beginKernels = false, endKernels = false;
  };
  /// Place of a buffer: entry of the frame's base pointers, byte offset.
  struct Place {
    int32_t base = 0;
    int64_t offset = 0;
  };

  Program prog;
  std::vector<Step> steps;
  std::vector<Place> args;
  std::vector<Operand> operandSpecs; ///< data is null
  std::vector<int32_t> releases;     ///< extern slots after their last use
  int32_t maxArgs = 0, maxResults = 0;
  int32_t outputBase = 0, arenaBase = 0, externBase = 0;

  /// Idle frames. A few atomic slots instead of a locked list: no lock that a
  /// fork could leave taken.
  static constexpr int kSlots = 16;
  mutable std::atomic<Frame *> idle[kSlots] = {};
};

} // namespace dynamo::runtime

#endif // DYNAMO_RUNTIME_EXECUTABLE_H
