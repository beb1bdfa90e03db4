//===- ArtifactTest.cpp - Hand-written P5 modules, compiled and run -------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/ExecutionEngine/Artifact.h"

#include "dynamo/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dynamo;
using namespace dynamo::engine;

namespace {
/// y[i] = f(x[i]) for one float per tile; `call` computes %r from %v.
std::string kernel(const std::string &name, const std::string &call,
                   const std::string &declarations = "") {
  return "module @" + name + R"( attributes {rt.kernel, rt.strategy = "rows"} {
  )" + declarations +
         R"(
  llvm.func @)" +
         name + R"((%args: !llvm.ptr, %begin: i64, %end: i64)
      attributes {rt.range = 8 : i64, rt.work = 8 : i64} {
    %one = llvm.mlir.constant(1 : i64) : i64
    %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
    %slot = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %slot : !llvm.ptr -> !llvm.ptr
    llvm.br ^head(%begin : i64)
  ^head(%i: i64):
    %more = llvm.icmp "slt" %i, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %from : !llvm.ptr -> f32
    )" + call +
         R"(
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %r, %to : f32, !llvm.ptr
    %next = llvm.add %i, %one : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }
}
)";
}

const char *kTwice = "%r = llvm.fadd %v, %v : f32";

/// out = k1(k0(in)), by way of the arena and a reshape.
std::string twoLaunches(const std::string &kernels) {
  return R"(
func.func @main(%in: memref<8xf32>, %out: memref<2x4xf32>)
    attributes {rt.num_inputs = 1 : i64, rt.arena_bytes = 128 : i64} {
  %s = rt.slot 64 : memref<8xf32>
  rt.launch @k0::@k0(%in) outs(%s : memref<8xf32>) : (memref<8xf32>) -> ()
  %v = rt.reinterpret %s : memref<8xf32> to memref<2x4xf32>
  rt.launch @k1::@k1(%v) outs(%out : memref<2x4xf32>) : (memref<2x4xf32>) -> ()
  return
}
)" + kernels;
}

class ArtifactTest : public testing::Test {
protected:
  ArtifactTest() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  absl::StatusOr<std::unique_ptr<Artifact>>
  build(const std::string &text, const CodegenOptions &options = {}) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    if (!module)
      return absl::InternalError("does not parse");
    return buildArtifact(*module, options);
  }

  void expectError(const std::string &text, const std::string &reason,
                   const CodegenOptions &options = {}) {
    auto artifact = build(text, options);
    ASSERT_FALSE(artifact.ok());
    EXPECT_NE(std::string(artifact.status().message()).find(reason),
              std::string::npos)
        << artifact.status();
  }

  mlir::MLIRContext context;
};

std::vector<float> run(const Artifact &artifact, std::vector<float> in) {
  std::vector<float> out(in.size(), -1);
  void *inputs[] = {in.data()}, *outputs[] = {out.data()};
  runtime::RunContext context{};
  context.inputs = inputs;
  context.outputs = outputs;
  EXPECT_EQ(artifact.run(context), DYNAMO_OK);
  return out;
}

const std::vector<float> kIn = {0, -0.f, 1, -2.5, INFINITY, 1e-40f, 3e38f, 7};
} // namespace

// Two kernels through arena and reshape, on one and several threads; the report
// says what there was.
TEST_F(ArtifactTest, RunsAndReports) {
  std::string text = twoLaunches(kernel("k0", kTwice) +
                                 kernel("k1", "%r = llvm.fmul %v, %v : f32"));
  for (int threads : {1, 4}) {
    CodegenOptions options;
    options.threads = threads;
    auto artifact = build(text, options);
    ASSERT_TRUE(artifact.ok()) << artifact.status();
    std::vector<float> out = run(**artifact, kIn);
    for (size_t i = 0; i < kIn.size(); ++i)
      EXPECT_EQ(out[i], (kIn[i] + kIn[i]) * (kIn[i] + kIn[i]));
    const runtime::Program &program = (*artifact)->program();
    EXPECT_EQ(program.inputs[0].sizes, (std::vector<int64_t>{8}));
    EXPECT_EQ(program.outputs[0].sizes, (std::vector<int64_t>{2, 4}));
    const CompileReport &report = (*artifact)->report();
    ASSERT_EQ(report.kernels.size(), 2u);
    EXPECT_EQ(report.kernels[0].name, "k0");
    EXPECT_EQ(report.kernels[0].strategy, "rows");
    EXPECT_EQ(report.kernels[1].range, 8);
    EXPECT_EQ(report.kernels[1].work, 8);
    EXPECT_EQ(report.kernels[1].launches, 1);
  }
}

// A context without threads, as pass pipelines are debugged with, works too.
TEST_F(ArtifactTest, SingleThreadedContext) {
  context.disableMultithreading();
  auto artifact =
      build(twoLaunches(kernel("k0", kTwice) + kernel("k1", kTwice)));
  ASSERT_TRUE(artifact.ok()) << artifact.status();
  EXPECT_EQ(run(**artifact, kIn)[3], -10);
}

// Equal kernels under other names are compiled once for all artifacts alive,
// and stay when the artifact that made them goes.
TEST_F(ArtifactTest, SharesEqualKernels) {
  std::string square = "%r = llvm.fmul %v, %v : f32";
  auto first = build(twoLaunches(kernel("k0", kTwice) + kernel("k1", square)));
  ASSERT_TRUE(first.ok());
  auto second = build(twoLaunches(kernel("k0", square) + kernel("k1", kTwice)));
  ASSERT_TRUE(second.ok());
  const auto &a = (*first)->report().kernels, &b = (*second)->report().kernels;
  EXPECT_FALSE(a[0].cached);
  EXPECT_FALSE(a[1].cached);
  EXPECT_TRUE(b[0].cached);
  EXPECT_TRUE(b[1].cached);
  EXPECT_EQ(a[0].key, b[1].key);
  EXPECT_NE(a[0].key, b[0].key);
  first->reset();
  EXPECT_EQ(run(**second, kIn)[3], 12.5);
  second->reset();
  auto third = build(twoLaunches(kernel("k0", kTwice) + kernel("k1", square)));
  ASSERT_TRUE(third.ok());
  EXPECT_FALSE((*third)->report().kernels[0].cached);
}

// libm and the half conversions are found wherever the process was linked.
TEST_F(ArtifactTest, RuntimeFunctions) {
  auto artifact =
      build(twoLaunches(kernel("k0", "%r = llvm.call @erff(%v) : (f32) -> f32",
                               "llvm.func @erff(f32) -> f32") +
                        kernel("k1", "%h = llvm.fptrunc %v : f32 to bf16\n"
                                     "%r = llvm.fpext %h : bf16 to f32")));
  ASSERT_TRUE(artifact.ok()) << artifact.status();
  std::vector<float> out = run(**artifact, kIn);
  for (size_t i = 0; i < kIn.size(); ++i)
    EXPECT_NEAR(out[i], std::erf(kIn[i]), 1 / 256.0) << kIn[i];
}

// An unresolved symbol is an error with the names of kernel and symbol, and the
// process goes on.
TEST_F(ArtifactTest, UnresolvedSymbol) {
  std::string missing =
      kernel("k1", "%r = llvm.call @no_such_function(%v) : (f32) -> f32",
             "llvm.func @no_such_function(f32) -> f32");
  for (int i = 0; i < 3; ++i) {
    expectError(twoLaunches(kernel("k0", kTwice) + missing), "'k1'");
    expectError(twoLaunches(kernel("k0", kTwice) + missing),
                "no_such_function");
  }
  auto artifact =
      build(twoLaunches(kernel("k0", kTwice) + kernel("k1", kTwice)));
  EXPECT_TRUE(artifact.ok());
}

// Where LLVM would end the process (a code generator that cannot go on, or that
// reports an error), the compilation ends instead, and the next one works.
TEST_F(ArtifactTest, FatalErrorsOfLLVM) {
  for (int i = 0; i < 3; ++i)
    expectError(twoLaunches(kernel("k0", kTwice) +
                            kernel("k1", "llvm.inline_asm \"bogus\", \"\" "
                                         ": () -> ()\n"
                                         "%r = llvm.fadd %v, %v : f32")),
                "kernel 'k1' does not compile");
  auto artifact =
      build(twoLaunches(kernel("k0", kTwice) + kernel("k1", kTwice)));
  ASSERT_TRUE(artifact.ok()) << artifact.status();
  EXPECT_EQ(run(**artifact, kIn)[2], 4);
}

// What is not P5 is refused with the reason.
TEST_F(ArtifactTest, RefusesOtherModules) {
  std::string kernels = kernel("k0", kTwice) + kernel("k1", kTwice);
  expectError(kernels, "no function '@main'");
  expectError("func.func @main() { return }", "not memory-planned");
  expectError(twoLaunches(kernel("k0", kTwice)), "'k1' is not in the module");
  expectError(R"(
func.func @main(%a: memref<?xf32>) attributes {rt.num_inputs = 1 : i64} {
  return
})",
              "static shape");
  expectError(R"(
func.func @main(%a: memref<4xf32>) attributes {rt.num_inputs = 2 : i64} {
  return
})",
              "out of range");
  expectError(R"(
func.func @main(%a: memref<4xcomplex<f32>>)
    attributes {rt.num_inputs = 1 : i64} {
  return
})",
              "element type");
  expectError(R"(
func.func @main(%a: memref<4xf32>) attributes {rt.num_inputs = 1 : i64} {
  %s = rt.slot 64 : memref<4xf32>
  return
})",
              "beyond rt.arena_bytes");
  expectError(R"(
func.func @main(%a: memref<4xf32>) attributes {rt.num_inputs = 1 : i64} {
  %s = memref.alloc() : memref<4xf32>
  return
})",
              "'memref.alloc' is not an operation of the planned host");
  CodegenOptions options;
  options.passes = "function(no-such-pass)";
  expectError(twoLaunches(kernels), "no-such-pass", options);
  expectError(R"(
func.func @main(%a: memref<4xf32>) attributes {rt.num_inputs = 0 : i64} {
  rt.launch @k::@k() outs(%a : memref<4xf32>) : () -> ()
  return
}
module @k attributes {rt.kernel} {
  llvm.func @k(%args: !llvm.ptr) {
    llvm.return
  }
})",
              "must take (!llvm.ptr, i64, i64)");
}

// Operators outside keep names, arguments and the element types that they see.
TEST_F(ArtifactTest, Externs) {
  auto artifact = build(R"(
func.func @main(%a: memref<4xi8> {rt.dtype = ui8}, %out: memref<4xi8> {rt.dtype = i1})
    attributes {rt.num_inputs = 1 : i64, rt.arena_bytes = 0 : i64} {
  %r = rt.call_extern "aten::ne.Scalar"(%a) {args = [0 : i64], kwargs = {},
      operand_dtypes = [ui8], result_dtypes = [i1]}
      : (memref<4xi8>) -> memref<4xi8>
  rt.copy %r to %out : memref<4xi8>
  return
})");
  ASSERT_TRUE(artifact.ok()) << artifact.status();
  const runtime::Program &program = (*artifact)->program();
  EXPECT_EQ(program.inputs[0].dtype, runtime::DType::UInt8);
  EXPECT_EQ(program.outputs[0].dtype, runtime::DType::Bool);
  ASSERT_EQ(program.externs.size(), 1u);
  EXPECT_EQ(program.externs[0].name, "aten::ne.Scalar");
  EXPECT_EQ(program.externs[0].args, "[0]");
  EXPECT_EQ(program.externs[0].kwargs, "{}");
  EXPECT_EQ(program.instructions[0].specs[0].dtype, runtime::DType::UInt8);
  EXPECT_EQ(program.instructions[0].resultSpecs[0].dtype, runtime::DType::Bool);
  EXPECT_EQ(program.instructions[1].range, 4);
}

// Artifacts are built and run on several threads at once.
TEST_F(ArtifactTest, ConcurrentBuilds) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      mlir::DialectRegistry registry;
      registerAllDialects(registry);
      mlir::MLIRContext own(registry, mlir::MLIRContext::Threading::DISABLED);
      for (int i = 0; i < 3; ++i) {
        std::string factor = std::to_string(t % 2 + i + 1) + ".0";
        auto module = mlir::parseSourceString<mlir::ModuleOp>(
            twoLaunches(kernel("k0", kTwice) +
                        kernel("k1", "%c = llvm.mlir.constant(" + factor +
                                         " : f32) : f32\n"
                                         "%r = llvm.fmul %v, %c : f32")),
            &own);
        auto artifact = buildArtifact(*module);
        wrong += !artifact.ok() ||
                 run(**artifact, kIn)[3] != -5.0f * (t % 2 + i + 1);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

// A forked child runs what the parent compiled and compiles more.
TEST_F(ArtifactTest, AfterFork) {
  context.disableMultithreading();
  std::string text = twoLaunches(kernel("k0", kTwice) + kernel("k1", kTwice));
  auto artifact = build(text);
  ASSERT_TRUE(artifact.ok());
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    bool right = run(**artifact, kIn)[3] == -10;
    auto more = build(text);
    right = right && more.ok() && run(**more, kIn)[3] == -10;
    artifact->reset();
    right = right && run(**more, kIn)[2] == 4;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// Resident memory in bytes.
static int64_t residentBytes() {
  long pages = 0;
  if (FILE *file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%*d %ld", &pages) != 1)
      pages = 0;
    fclose(file);
  }
  return int64_t(pages) * sysconf(_SC_PAGESIZE);
}

// Code and memory of dropped artifacts go: a thousand compilations of distinct
// kernels leave less than 50 MB.
TEST_F(ArtifactTest, MemoryIsFreed) {
  auto once = [&](int i) {
    auto artifact = build(twoLaunches(
        kernel("k0", kTwice) +
        kernel("k1", "%c = llvm.mlir.constant(" + std::to_string(i) +
                         ".0 : f32) : f32\n%r = llvm.fmul %v, %c : f32")));
    ASSERT_TRUE(artifact.ok());
    EXPECT_EQ(run(**artifact, kIn)[2], 2 * i);
  };
  for (int i = 0; i < 20; ++i)
    once(i);
  int64_t before = residentBytes();
  for (int i = 20; i < 1020; ++i)
    once(i);
  EXPECT_LT(residentBytes() - before, 50 << 20);
}
