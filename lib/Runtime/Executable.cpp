//===- Executable.cpp - Interprets a program ------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Runtime/Executable.h"

#include "Arena.h"
#include "dynamo/Runtime/ParallelFor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

using namespace dynamo::runtime;

/// Operations that pay for handing tiles to one more thread (some 3 us).
constexpr int64_t kWorkPerThread = 10 * 1000;
/// Operations (some 20 us) that pay for giving up and retaking a lock.
constexpr int64_t kLongStretch = 80 * 1000;
/// Bytes that count as one operation of a copy, and as one tile.
constexpr int64_t kCopyBytesPerOp = 16, kCopyTile = 256 * 1024;

/// What one call needs, reused by later calls.
struct dynamo::runtime::Frame {
  Arena arena;
  std::vector<char *> bases; ///< inputs, outputs, arena, extern results
  std::vector<void *> args;
  std::vector<Operand> operands;
  std::vector<ExternResult> results;
  std::vector<void *> owners; ///< per extern slot, null when released
};

Executable::Executable(Program program) : prog(std::move(program)) {}

std::unique_ptr<Executable> Executable::create(Program program,
                                               std::string &error) {
  std::unique_ptr<Executable> made(new Executable(std::move(program)));
  if (!made->prepare(error))
    return nullptr;
  return made;
}

Executable::~Executable() { releaseMemory(); }

void Executable::releaseMemory() const {
  for (std::atomic<Frame *> &slot : idle)
    delete slot.exchange(nullptr, std::memory_order_acq_rel);
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

static int64_t workOf(const Instruction &instruction) {
  if (instruction.kind == Instruction::Copy)
    return instruction.range / kCopyBytesPerOp;
  return instruction.work;
}

bool Executable::prepare(std::string &error) {
  auto fail = [&](size_t index, const std::string &what) {
    error = "instruction " + std::to_string(index) + " (" +
            prog.instructions[index].name + "): " + what;
    return false;
  };
  if (prog.arenaBytes < 0 || prog.numExternResults < 0) {
    error = "negative arena size or number of extern results";
    return false;
  }
  outputBase = static_cast<int32_t>(prog.inputs.size());
  arenaBase = outputBase + static_cast<int32_t>(prog.outputs.size());
  externBase = arenaBase + 1;

  size_t count = prog.instructions.size();
  std::vector<bool> defined(prog.numExternResults, false);
  std::vector<size_t> lastUse(prog.numExternResults, 0);
  for (size_t i = 0; i < count; ++i) {
    const Instruction &instruction = prog.instructions[i];
    Step step;
    step.firstArg = static_cast<int32_t>(args.size());
    step.numArgs = static_cast<int32_t>(instruction.args.size());
    step.firstSpec = static_cast<int32_t>(operandSpecs.size());
    maxArgs = std::max(maxArgs, step.numArgs);
    for (const BufferRef &ref : instruction.args) {
      Place place;
      place.offset = ref.offset;
      int64_t limit = 0;
      switch (ref.kind) {
      case BufferRef::Input:
        limit = prog.inputs.size();
        place.base = static_cast<int32_t>(ref.index);
        break;
      case BufferRef::Output:
        limit = prog.outputs.size();
        place.base = outputBase + static_cast<int32_t>(ref.index);
        break;
      case BufferRef::Arena:
        limit = prog.arenaBytes + 1; // one past: an empty buffer
        place.base = arenaBase;
        place.offset += ref.index;
        break;
      case BufferRef::ExternResult:
        limit = prog.numExternResults;
        place.base = externBase + static_cast<int32_t>(ref.index);
        if (ref.index >= 0 && ref.index < limit) {
          if (!defined[ref.index])
            return fail(i, "extern result used before it exists");
          lastUse[ref.index] = i;
        }
        break;
      }
      if (ref.index < 0 || ref.index >= limit)
        return fail(i, "buffer index out of range");
      args.push_back(place);
    }
    switch (instruction.kind) {
    case Instruction::Launch:
      if (!instruction.kernel)
        return fail(i, "kernel without code");
      break;
    case Instruction::Copy:
      if (instruction.args.size() != 2)
        return fail(i, "a copy has a source and a destination");
      break;
    case Instruction::RefuseIf:
      if (instruction.args.size() != 1)
        return fail(i, "a condition has one byte");
      break;
    case Instruction::Extern:
      if (instruction.externId < 0 ||
          instruction.externId >= static_cast<int64_t>(prog.externs.size()))
        return fail(i, "extern index out of range");
      if (instruction.specs.size() != instruction.args.size())
        return fail(i, "an extern operand without its spec");
      maxResults =
          std::max<int32_t>(maxResults, instruction.resultSpecs.size());
      for (size_t r = 0; r < instruction.resultSpecs.size(); ++r) {
        int64_t slot = instruction.firstResult + static_cast<int64_t>(r);
        if (slot < 0 || slot >= prog.numExternResults)
          return fail(i, "extern result out of range");
        if (defined[slot])
          return fail(i, "extern result defined twice");
        defined[slot] = true;
        lastUse[slot] = i;
      }
      for (const TensorSpec &spec : instruction.specs)
        operandSpecs.push_back({nullptr, spec.sizes.data(),
                                static_cast<int32_t>(spec.sizes.size()),
                                static_cast<int32_t>(spec.dtype)});
      break;
    }
    steps.push_back(step);
  }

  for (size_t i = 0; i < count; ++i) {
    steps[i].firstRelease = static_cast<int32_t>(releases.size());
    for (int32_t slot = 0; slot < prog.numExternResults; ++slot)
      if (defined[slot] && lastUse[slot] == i)
        releases.push_back(slot);
    steps[i].numReleases =
        static_cast<int32_t>(releases.size()) - steps[i].firstRelease;
  }

  // A stretch is a run of instructions without an extern call or a release
  // (which may need the embedder's lock) in it.
  for (size_t i = 0; i < count;) {
    size_t begin = i;
    int64_t work = 0;
    for (; i < count && prog.instructions[i].kind != Instruction::Extern; ++i) {
      int64_t cost = workOf(prog.instructions[i]);
      work += cost < 0 ? kLongStretch : std::min(cost, kLongStretch);
      if (steps[i].numReleases) {
        ++i;
        break;
      }
    }
    if (i > begin && work >= kLongStretch)
      steps[begin].beginKernels = steps[i - 1].endKernels = true;
    if (i == begin)
      ++i;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

Frame *Executable::takeFrame() const {
  for (std::atomic<Frame *> &slot : idle)
    if (slot.load(std::memory_order_relaxed))
      if (Frame *frame = slot.exchange(nullptr, std::memory_order_acquire))
        return frame;
  auto frame = std::make_unique<Frame>();
  if (!frame->arena.allocate(prog.arenaBytes))
    return nullptr;
  frame->bases.resize(externBase + prog.numExternResults);
  frame->bases[arenaBase] = frame->arena.data();
  frame->args.resize(maxArgs);
  frame->operands.resize(maxArgs);
  frame->results.resize(maxResults);
  frame->owners.resize(prog.numExternResults);
  return frame.release();
}

void Executable::putFrame(Frame *frame) const {
  for (std::atomic<Frame *> &slot : idle) {
    Frame *none = nullptr;
    if (slot.compare_exchange_strong(none, frame, std::memory_order_acq_rel))
      return;
  }
  delete frame;
}

DynamoStatus Executable::run(const RunContext &context) const {
  Frame *frame = takeFrame();
  if (!frame)
    return DYNAMO_OUT_OF_MEMORY;
  std::copy_n(reinterpret_cast<char *const *>(context.inputs),
              prog.inputs.size(), frame->bases.begin());
  std::copy_n(reinterpret_cast<char *const *>(context.outputs),
              prog.outputs.size(), frame->bases.begin() + outputBase);
  DynamoStatus status = runSteps(context, *frame);
  if (status != DYNAMO_OK)
    for (void *&owner : frame->owners)
      if (void *held = std::exchange(owner, nullptr))
        context.release(context.context, held);
  putFrame(frame);
  return status;
}

namespace {
struct LaunchTiles {
  KernelFn kernel;
  void *const *args;
  static void run(void *context, int64_t begin, int64_t end) {
    auto *launch = static_cast<LaunchTiles *>(context);
    launch->kernel(launch->args, begin, end);
  }
};
struct CopyTiles {
  char *to;
  const char *from;
  int64_t bytes;
  static void run(void *context, int64_t begin, int64_t end) {
    auto *copy = static_cast<CopyTiles *>(context);
    int64_t first = begin * kCopyTile;
    int64_t size = std::min(end * kCopyTile, copy->bytes) - first;
    memcpy(copy->to + first, copy->from + first, size);
  }
};
} // namespace

DynamoStatus Executable::runSteps(const RunContext &context,
                                  Frame &frame) const {
  ParallelFor *pool = nullptr;
  int team = 0;
  bool havePool = false;
  auto distribute = [&](int64_t range, int64_t work, TileFn body, void *data) {
    if (range <= 0)
      return;
    if (range > 1 && (work < 0 || work >= 2 * kWorkPerThread)) {
      if (!havePool) {
        havePool = true;
        pool =
            ParallelFor::get(static_cast<DynamoThreading>(context.threading));
        team = context.numThreads > 0 ? context.numThreads
               : pool                 ? pool->defaultTeam()
                                      : 1;
      }
      if (pool && team > 1) {
        int active = work < 0 ? team
                              : static_cast<int>(std::min<int64_t>(
                                    team, work / kWorkPerThread));
        return pool->run(team, active, range, body, data);
      }
    }
    runSerial(range, body, data);
  };

  bool inStretch = false;
  for (size_t i = 0, count = steps.size(); i < count; ++i) {
    const Step &step = steps[i];
    const Instruction &instruction = prog.instructions[i];
    auto address = [&](int32_t arg) -> void * {
      const Place &place = args[step.firstArg + arg];
      return frame.bases[place.base] + place.offset;
    };
    std::chrono::steady_clock::time_point start;
    if (context.profile)
      start = std::chrono::steady_clock::now();
    if (step.beginKernels && context.beginKernels) {
      context.beginKernels(context.context);
      inStretch = true;
    }

    switch (instruction.kind) {
    case Instruction::Launch: {
      for (int32_t arg = 0; arg < step.numArgs; ++arg)
        frame.args[arg] = address(arg);
      LaunchTiles launch{instruction.kernel, frame.args.data()};
      distribute(instruction.range, instruction.work, &LaunchTiles::run,
                 &launch);
      break;
    }
    case Instruction::Copy: {
      CopyTiles copy{static_cast<char *>(address(1)),
                     static_cast<const char *>(address(0)), instruction.range};
      if (copy.to != copy.from)
        distribute((copy.bytes + kCopyTile - 1) / kCopyTile,
                   workOf(instruction), &CopyTiles::run, &copy);
      break;
    }
    case Instruction::RefuseIf:
      if (*static_cast<const char *>(address(0))) {
        if (inStretch && context.endKernels)
          context.endKernels(context.context);
        return DYNAMO_REFUSED;
      }
      break;
    case Instruction::Extern: {
      if (!context.callExtern)
        return DYNAMO_NO_EXTERN_HANDLER;
      for (int32_t arg = 0; arg < step.numArgs; ++arg) {
        frame.operands[arg] = operandSpecs[step.firstSpec + arg];
        frame.operands[arg].data = address(arg);
      }
      auto numResults = static_cast<int32_t>(instruction.resultSpecs.size());
      std::fill_n(frame.results.begin(), numResults, ExternResult{});
      if (context.callExtern(context.context, instruction.externId,
                             frame.operands.data(), step.numArgs,
                             frame.results.data(), numResults))
        return DYNAMO_EXTERN_FAILED;
      for (int32_t result = 0; result < numResults; ++result) {
        int32_t slot = instruction.firstResult + result;
        frame.bases[externBase + slot] =
            static_cast<char *>(frame.results[result].data);
        frame.owners[slot] = frame.results[result].owner;
      }
      break;
    }
    }

    if (step.endKernels && context.endKernels) {
      context.endKernels(context.context);
      inStretch = false;
    }
    for (int32_t r = 0; r < step.numReleases; ++r) {
      int32_t slot = releases[step.firstRelease + r];
      if (void *owner = std::exchange(frame.owners[slot], nullptr))
        context.release(context.context, owner);
    }
    if (context.profile)
      context.profile[i] +=
          std::chrono::duration_cast<std::chrono::nanoseconds>(
              std::chrono::steady_clock::now() - start)
              .count();
  }
  return DYNAMO_OK;
}
