//===- ExecutableTest.cpp - Programs of hand-written kernels --------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Runtime/Executable.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cstring>
#include <numeric>
#include <thread>

using namespace dynamo::runtime;

namespace {
constexpr int64_t kTile = 256;

/// out = a + b, tiles of 256 elements.
void addKernel(void *const *args, int64_t begin, int64_t end) {
  auto *a = static_cast<const float *>(args[0]);
  auto *b = static_cast<const float *>(args[1]);
  auto *out = static_cast<float *>(args[2]);
  for (int64_t i = begin * kTile; i < end * kTile; ++i)
    out[i] = a[i] + b[i];
}

/// out = 2 * a.
void doubleKernel(void *const *args, int64_t begin, int64_t end) {
  auto *a = static_cast<const float *>(args[0]);
  auto *out = static_cast<float *>(args[1]);
  for (int64_t i = begin * kTile; i < end * kTile; ++i)
    out[i] = 2 * a[i];
}

TensorSpec vectorOf(int64_t size) { return {DType::Float32, {size}}; }

Instruction launch(KernelFn kernel, int64_t tiles, std::vector<BufferRef> args,
                   int64_t work = -1) {
  Instruction instruction;
  instruction.kind = Instruction::Launch;
  instruction.kernel = kernel;
  instruction.range = tiles;
  instruction.work = work;
  instruction.args = std::move(args);
  instruction.name = "k";
  return instruction;
}

Instruction copy(BufferRef from, BufferRef to, int64_t bytes) {
  Instruction instruction;
  instruction.kind = Instruction::Copy;
  instruction.range = bytes;
  instruction.args = {from, to};
  return instruction;
}

Instruction externCall(int32_t id, std::vector<BufferRef> args,
                       std::vector<TensorSpec> specs, int32_t firstResult,
                       std::vector<TensorSpec> results) {
  Instruction instruction;
  instruction.kind = Instruction::Extern;
  instruction.externId = id;
  instruction.args = std::move(args);
  instruction.specs = std::move(specs);
  instruction.firstResult = firstResult;
  instruction.resultSpecs = std::move(results);
  return instruction;
}

/// out0 = 2 * (a + b), and a copy of a + b in out1.
Program addThenDouble(int64_t tiles) {
  Program program;
  int64_t size = tiles * kTile;
  program.inputs = {vectorOf(size), vectorOf(size)};
  program.outputs = {vectorOf(size), vectorOf(size)};
  program.arenaBytes = 64 + size * 4;
  BufferRef sum{BufferRef::Arena, 64};
  program.instructions = {
      launch(addKernel, tiles,
             {{BufferRef::Input, 0}, {BufferRef::Input, 1}, sum}),
      launch(doubleKernel, tiles, {sum, {BufferRef::Output, 0}}),
      copy(sum, {BufferRef::Output, 1}, size * 4)};
  return program;
}

std::unique_ptr<Executable> make(Program program) {
  std::string error;
  auto executable = Executable::create(std::move(program), error);
  EXPECT_TRUE(executable) << error;
  return executable;
}

/// Runs addThenDouble's executable on data of its own; false on a wrong value.
bool runAndCheck(const Executable &executable, int64_t tiles, float seed) {
  size_t size = tiles * kTile;
  std::vector<float> a(size), b(size), doubled(size, -1), sum(size, -1);
  std::iota(a.begin(), a.end(), seed);
  std::iota(b.begin(), b.end(), 3 * seed);
  void *inputs[] = {a.data(), b.data()};
  void *outputs[] = {doubled.data(), sum.data()};
  RunContext context{};
  context.inputs = inputs;
  context.outputs = outputs;
  context.numThreads = 3;
  context.threading = DYNAMO_THREADS_OWN;
  if (executable.run(context) != DYNAMO_OK)
    return false;
  for (size_t i = 0; i < size; ++i)
    if (sum[i] != a[i] + b[i] || doubled[i] != 2 * sum[i])
      return false;
  return true;
}
} // namespace

// Launches through the arena, and a copy, small and large.
TEST(Executable, LaunchesAndCopies) {
  for (int64_t tiles : {0, 1, 3, 4096}) {
    auto executable = make(addThenDouble(tiles));
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(runAndCheck(*executable, tiles, 1 + i)) << tiles;
  }
}

// Eight threads in one executable at once do not share intermediates.
TEST(Executable, ConcurrentCalls) {
  auto executable = make(addThenDouble(64));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i)
        wrong += !runAndCheck(*executable, 64, t * 1000 + i);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  executable->releaseMemory();
  EXPECT_TRUE(runAndCheck(*executable, 64, 5));
}

// A byte offset makes a buffer a view of a larger one.
TEST(Executable, Views) {
  Program program;
  program.inputs = {vectorOf(3 * kTile)};
  program.outputs = {vectorOf(2 * kTile)};
  program.instructions = {
      launch(doubleKernel, 1,
             {{BufferRef::Input, 0, 2 * kTile * 4}, {BufferRef::Output, 0}}),
      launch(doubleKernel, 1,
             {{BufferRef::Input, 0}, {BufferRef::Output, 0, kTile * 4}})};
  auto executable = make(program);
  std::vector<float> in(3 * kTile), out(2 * kTile);
  std::iota(in.begin(), in.end(), 0);
  void *inputs[] = {in.data()}, *outputs[] = {out.data()};
  RunContext context{};
  context.inputs = inputs;
  context.outputs = outputs;
  ASSERT_EQ(executable->run(context), DYNAMO_OK);
  EXPECT_EQ(out[1], 2 * (2 * kTile + 1));
  EXPECT_EQ(out[kTile + 1], 2);
}

namespace {
/// An embedder that negates vectors and keeps account of owners and locks.
struct Embedder {
  std::vector<int> alive;
  std::vector<std::string> log;
  int failAt = -1, calls = 0;
  bool unlocked = false;

  RunContext context(void *const *inputs, void *const *outputs) {
    RunContext made{};
    made.inputs = inputs;
    made.outputs = outputs;
    made.context = this;
    made.callExtern = [](void *self, int32_t id, const Operand *operands,
                         int32_t numOperands, ExternResult *results,
                         int32_t numResults) {
      return static_cast<Embedder *>(self)->call(id, operands, numOperands,
                                                 results, numResults);
    };
    made.release = [](void *self, void *owner) {
      auto *embedder = static_cast<Embedder *>(self);
      EXPECT_FALSE(embedder->unlocked);
      auto *buffer = static_cast<std::vector<float> *>(owner);
      embedder->log.push_back("release " + std::to_string(int((*buffer)[0])));
      --embedder->alive[0];
      delete buffer;
    };
    made.beginKernels = [](void *self) {
      EXPECT_FALSE(static_cast<Embedder *>(self)->unlocked);
      static_cast<Embedder *>(self)->unlocked = true;
      static_cast<Embedder *>(self)->log.push_back("begin");
    };
    made.endKernels = [](void *self) {
      EXPECT_TRUE(static_cast<Embedder *>(self)->unlocked);
      static_cast<Embedder *>(self)->unlocked = false;
      static_cast<Embedder *>(self)->log.push_back("end");
    };
    alive = {0};
    return made;
  }

  int call(int32_t id, const Operand *operands, int32_t numOperands,
           ExternResult *results, int32_t numResults) {
    EXPECT_FALSE(unlocked);
    log.push_back("extern " + std::to_string(id));
    if (calls++ == failAt)
      return 1;
    for (int32_t r = 0; r < numResults; ++r) {
      const Operand &in = operands[r % numOperands];
      EXPECT_EQ(in.rank, 1);
      EXPECT_EQ(in.dtype, int32_t(DType::Float32));
      auto *data = static_cast<const float *>(in.data);
      auto *out = new std::vector<float>(data, data + in.sizes[0]);
      for (float &value : *out)
        value = -value;
      results[r] = {out->data(), out};
      ++alive[0];
    }
    return 0;
  }
};

/// extern 0 makes two results of the input; the first is doubled into the
/// output, the second is never used; extern 1 makes a third from the first.
Program withExterns() {
  Program program;
  program.inputs = {vectorOf(kTile)};
  program.outputs = {vectorOf(kTile), vectorOf(kTile)};
  program.externs = {{"aten::a", "[]", "{}"}, {"aten::b", "[]", "{}"}};
  program.numExternResults = 3;
  TensorSpec spec = vectorOf(kTile);
  program.instructions = {
      externCall(0, {{BufferRef::Input, 0}}, {spec}, 0, {spec, spec}),
      launch(doubleKernel, 1,
             {{BufferRef::ExternResult, 0}, {BufferRef::Output, 0}}),
      externCall(1, {{BufferRef::ExternResult, 0}}, {spec}, 2, {spec}),
      copy({BufferRef::ExternResult, 2}, {BufferRef::Output, 1}, kTile * 4)};
  return program;
}
} // namespace

// Owners are released once, as soon as nothing reads them, with the lock held.
TEST(Executable, ExternsReleaseAfterLastUse) {
  auto executable = make(withExterns());
  std::vector<float> in(kTile, 5), out0(kTile), out1(kTile);
  void *inputs[] = {in.data()}, *outputs[] = {out0.data(), out1.data()};
  for (int repeat = 0; repeat < 2; ++repeat) {
    Embedder embedder;
    ASSERT_EQ(executable->run(embedder.context(inputs, outputs)), DYNAMO_OK);
    EXPECT_EQ(out0[7], -10);
    EXPECT_EQ(out1[7], 5);
    EXPECT_EQ(embedder.alive[0], 0);
    std::vector<std::string> expected = {"extern 0", "release -5", "begin",
                                         "end",      "extern 1",   "release -5",
                                         "release 5"};
    EXPECT_EQ(embedder.log, expected);
  }
}

// A failing operator ends the run, later instructions do not run, and every
// owner is released; the executable stays usable.
TEST(Executable, ExternFailureAbortsCleanly) {
  auto executable = make(withExterns());
  std::vector<float> in(kTile, 5), out0(kTile), out1(kTile, 77);
  void *inputs[] = {in.data()}, *outputs[] = {out0.data(), out1.data()};
  for (int failAt : {0, 1}) {
    Embedder embedder;
    embedder.failAt = failAt;
    EXPECT_EQ(executable->run(embedder.context(inputs, outputs)),
              DYNAMO_EXTERN_FAILED);
    EXPECT_EQ(embedder.alive[0], 0);
    EXPECT_FALSE(embedder.unlocked);
    EXPECT_EQ(out1[0], 77);
  }
  Embedder embedder;
  EXPECT_EQ(executable->run(embedder.context(inputs, outputs)), DYNAMO_OK);
}

// A condition that fails ends the run: what follows does not run, owners are
// released, and a lock that was given up is back. One that holds is not seen.
TEST(Executable, RefusedRun) {
  Program program = withExterns();
  program.inputs.push_back({DType::Int8, {}});
  Instruction condition;
  condition.kind = Instruction::RefuseIf;
  condition.args = {{BufferRef::Input, 1}};
  condition.work = 0;
  // Within the stretch of the kernel before it.
  program.instructions.insert(program.instructions.begin() + 2, condition);
  auto executable = make(std::move(program));
  std::vector<float> in(kTile, 5), out0(kTile), out1(kTile, 77);
  for (char flag : {1, -128, 0}) {
    void *inputs[] = {in.data(), &flag},
         *outputs[] = {out0.data(), out1.data()};
    Embedder embedder;
    EXPECT_EQ(executable->run(embedder.context(inputs, outputs)),
              flag ? DYNAMO_REFUSED : DYNAMO_OK);
    EXPECT_EQ(embedder.alive[0], 0);
    EXPECT_FALSE(embedder.unlocked);
    EXPECT_EQ(out1[0], flag ? 77 : 5);
  }
}

// No handler: refused, not crashed.
TEST(Executable, NoHandler) {
  auto executable = make(withExterns());
  std::vector<float> in(kTile), out0(kTile), out1(kTile);
  void *inputs[] = {in.data()}, *outputs[] = {out0.data(), out1.data()};
  RunContext context{};
  context.inputs = inputs;
  context.outputs = outputs;
  EXPECT_EQ(executable->run(context), DYNAMO_NO_EXTERN_HANDLER);
}

// Short stretches keep the lock: giving it up would cost more than they do.
TEST(Executable, ShortStretchesKeepTheLock) {
  Program program = withExterns();
  program.instructions[1].work = 100;
  auto executable = make(program);
  std::vector<float> in(kTile, 5), out0(kTile), out1(kTile);
  void *inputs[] = {in.data()}, *outputs[] = {out0.data(), out1.data()};
  Embedder embedder;
  ASSERT_EQ(executable->run(embedder.context(inputs, outputs)), DYNAMO_OK);
  for (const std::string &entry : embedder.log)
    EXPECT_NE(entry, "begin");
}

// An arena that cannot be had is a status.
TEST(Executable, OutOfMemory) {
  Program program = addThenDouble(1);
  program.arenaBytes = int64_t(1) << 60;
  auto executable = make(program);
  EXPECT_FALSE(runAndCheck(*executable, 1, 1));
}

// Malformed programs are refused with a reason.
TEST(Executable, RefusesMalformedPrograms) {
  auto refused = [](Program program, const char *reason) {
    std::string error;
    EXPECT_FALSE(Executable::create(std::move(program), error));
    EXPECT_NE(error.find(reason), std::string::npos) << error;
  };
  Program program = addThenDouble(1);
  program.instructions[0].args[0].index = 2;
  refused(program, "buffer index out of range");
  program = addThenDouble(1);
  program.instructions[0].kernel = nullptr;
  refused(program, "kernel without code");
  program = addThenDouble(1);
  program.instructions[2].args.pop_back();
  refused(program, "a copy has a source and a destination");
  program = withExterns();
  std::swap(program.instructions[0], program.instructions[1]);
  refused(program, "used before it exists");
  program = withExterns();
  program.instructions[2].firstResult = 0;
  refused(program, "defined twice");
  program = withExterns();
  program.instructions[2].externId = 2;
  refused(program, "extern index out of range");
  program = withExterns();
  program.instructions[0].specs.clear();
  refused(program, "operand without its spec");
}

// The profile counts time per instruction.
TEST(Executable, Profile) {
  auto executable = make(addThenDouble(512));
  std::vector<float> a(512 * kTile), b(512 * kTile), c(512 * kTile),
      d(512 * kTile);
  void *inputs[] = {a.data(), b.data()}, *outputs[] = {c.data(), d.data()};
  int64_t profile[3] = {};
  RunContext context{};
  context.inputs = inputs;
  context.outputs = outputs;
  context.profile = profile;
  ASSERT_EQ(executable->run(context), DYNAMO_OK);
  for (int64_t time : profile)
    EXPECT_GT(time, 0);
}

// The C boundary reaches the same executable.
TEST(Executable, CApi) {
  auto executable = make(addThenDouble(2));
  auto *handle = reinterpret_cast<const DynamoExecutable *>(executable.get());
  EXPECT_EQ(dynamoNumInputs(handle), 2);
  EXPECT_EQ(dynamoNumOutputs(handle), 2);
  DynamoOperand spec;
  ASSERT_EQ(dynamoInputSpec(handle, 1, &spec), 0);
  EXPECT_EQ(spec.rank, 1);
  EXPECT_EQ(spec.sizes[0], 2 * kTile);
  EXPECT_EQ(dynamoOutputSpec(handle, 2, &spec), -1);
  EXPECT_STREQ(dynamoStatusText(DYNAMO_OK), "ok");
}
