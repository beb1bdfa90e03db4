//===- dynamo-run.cpp - compiles and runs IR text -------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a module of any phase and runs it on arrays from files or on random
// ones: a whole program without Python, for tests, bisection and timing.
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"

#include "dynamo/ExecutionEngine/CompileToArtifact.h"
#include "dynamo/InitAll.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

#include <algorithm>
#include <chrono>

using namespace dynamo;
using namespace dynamo::run;
namespace cl = llvm::cl;

static cl::OptionCategory &category() {
  static cl::OptionCategory options("dynamo-run options");
  return options;
}

namespace {
/// Made in main, after LLVM's own options have been dropped: libLLVM registers
/// some under names that are ours too.
struct Options {
  template <typename T> using Opt = cl::opt<T>;
  cl::cat in{category()};

  Opt<std::string> file{cl::Positional, cl::desc("<module.mlir>"),
                        cl::init("-"), in};
  cl::list<std::string> inputs{
      "input", cl::value_desc("source"), in,
      cl::desc(
          "one per input, in order: file.npy, random, "
          "random:<low>:<high> or a number; one that is no file is for all "
          "inputs (default: random)")};
  cl::list<std::string> saves{
      "save", cl::value_desc("file"), in,
      cl::desc("write results to .npy files, in order")};
  cl::list<std::string> references{
      "compare", cl::value_desc("file"), in,
      cl::desc("check results against .npy files, in order")};
  Opt<double> rtol{"rtol", cl::desc("relative tolerance of --compare"),
                   cl::init(1e-5), in};
  Opt<double> atol{"atol", cl::desc("absolute tolerance of --compare"),
                   cl::init(1e-6), in};
  Opt<unsigned> seed{"seed", cl::desc("of random inputs"), cl::init(0), in};
  Opt<int> repeat{"time", cl::value_desc("runs"), in,
                  cl::desc("time so many runs, print best and median")};
  Opt<bool> profile{"profile", cl::desc("print the time of each instruction"),
                    in};
  Opt<bool> report{"report", cl::desc("print how each kernel was compiled"),
                   in};
  Opt<int> threads{"threads", cl::init(0), in,
                   cl::desc("run on so many threads (default: one per core)")};
  Opt<unsigned> limit{"print", cl::init(16), in,
                      cl::desc("print up to so many elements of a result")};
  Opt<std::string> entry{"entry", cl::desc("function to run"), cl::init("main"),
                         in};
  Opt<std::string> from{"from", cl::value_desc("phase"), in,
                        cl::desc("phase of the module (default: found out)")};
  Opt<std::string> target{"target", cl::desc("avx2, avx512, generic or host"),
                          cl::init("host"), in};
  Opt<bool> loopsOnly{"loops-only",
                      cl::desc("compile every kernel as plain loops"), in};
  Opt<bool> perfMap{"perf-map", cl::desc("tell perf the names of kernels"), in};
  Opt<std::string> dumpDir{
      "dump", cl::value_desc("folder"), in,
      cl::desc("folder for the IR of each phase and the LLVM IR and assembly "
               "of each kernel")};
  cl::extrahelp examples{R"(
EXAMPLES:
  Run on random inputs and print the results in short form:
    dynamo-run model.mlir
  Check against results of eager PyTorch:
    dynamo-run model.mlir --input x.npy --input w.npy --compare y.npy --rtol 1e-4
  Where does the time go, on one thread?
    dynamo-run model.mlir --threads 1 --time 20 --profile
  Is a wrong result the fault of a kernel's strategy?
    dynamo-run model.mlir --loops-only --compare y.npy
)"};
};
} // namespace

static Options *cli;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "dynamo-run: " << message << "\n";
  return 1;
}

static int fail(const absl::Status &status) {
  return fail(llvm::Twine(std::string(status.message())));
}

/// One run; the buffers are bound for good.
static absl::Status runOnce(const engine::Artifact &artifact,
                            runtime::RunContext &context) {
  DynamoStatus status = artifact.run(context);
  if (status == DYNAMO_OK)
    return absl::OkStatus();
  if (status == DYNAMO_NO_EXTERN_HANDLER) {
    std::string names;
    for (const runtime::ExternCall &call : artifact.program().externs)
      if (names.find("'" + call.name + "'") == std::string::npos)
        names += (names.empty() ? "'" : ", '") + call.name + "'";
    return absl::UnimplementedError(
        "the program calls " + names +
        ", which needs PyTorch: run it through the Python package");
  }
  return absl::InternalError(dynamoStatusText(status));
}

static void printReport(const engine::Artifact &artifact) {
  const engine::CompileReport &rep = artifact.report();
  llvm::outs() << llvm::format(
      "compiled in %.1f ms: lowering %.1f, code %.1f, host program %.2f\n",
      rep.total(), rep.lowering, rep.codegen, rep.emission);
  for (const engine::PhaseTime &phase : rep.phases)
    llvm::outs() << llvm::format("  %-12s %8.1f ms\n", phase.phase.c_str(),
                                 phase.milliseconds);
  llvm::outs() << "kernel       strategy     launches    tiles         work"
                  " |   ms: MLIR translate optimise  codegen     link\n";
  for (const engine::KernelReport &kernel : rep.kernels) {
    const engine::CodegenTimes &times = kernel.times;
    llvm::outs() << llvm::format("%-12s %-12s %8d %8lld %12lld |",
                                 kernel.name.c_str(), kernel.strategy.c_str(),
                                 kernel.launches, (long long)kernel.range,
                                 (long long)kernel.work)
                 << llvm::format("%11.1f %9.1f %8.1f %8.1f %8.1f",
                                 kernel.lowering, times.translate,
                                 times.optimise, times.codegen, times.link)
                 << (kernel.cached ? " (shared)" : "")
                 << (kernel.fellBack ? " (fell back to loops)" : "") << "\n";
    if (kernel.fellBack)
      llvm::outs() << "    " << kernel.diagnostics << "\n";
  }
  llvm::outs() << "arena " << artifact.program().arenaBytes << " bytes, "
               << artifact.program().instructions.size() << " instructions\n";
}

static void printProfile(const engine::Artifact &artifact,
                         llvm::ArrayRef<int64_t> nanoseconds, int runs) {
  std::vector<size_t> order(nanoseconds.size());
  int64_t total = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    total += nanoseconds[i];
  }
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return nanoseconds[a] > nanoseconds[b];
  });
  llvm::outs() << "   us/run  share  Gop/s  instruction\n";
  for (size_t i : order) {
    const runtime::Instruction &instruction =
        artifact.program().instructions[i];
    double time = static_cast<double>(nanoseconds[i]) / runs;
    double rate = instruction.kind == runtime::Instruction::Launch &&
                          instruction.work > 0 && time > 0
                      ? static_cast<double>(instruction.work) / time
                      : 0;
    llvm::outs() << llvm::format("%9.1f %5.1f%% %6.1f  #%d ", time / 1e3,
                                 total ? 100.0 * nanoseconds[i] / total : 0,
                                 rate, (int)i)
                 << instruction.name << "\n";
  }
}

static absl::Status timeRuns(const engine::Artifact &artifact,
                             runtime::RunContext &context) {
  std::vector<int64_t> counters(artifact.program().instructions.size());
  int runs = std::max(1, cli->repeat.getValue());
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (absl::Status status = runOnce(artifact, context); !status.ok())
      return status;
    times.push_back(std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - start)
                        .count());
  }
  if (cli->repeat > 0) {
    std::sort(times.begin(), times.end());
    llvm::outs() << llvm::format("best %.4f ms, median %.4f ms", times.front(),
                                 times[times.size() / 2]);
    int64_t work = 0;
    for (const runtime::Instruction &instruction :
         artifact.program().instructions)
      if (instruction.kind == runtime::Instruction::Launch)
        work += std::max<int64_t>(instruction.work, 0);
    if (work)
      llvm::outs() << llvm::format(", %.1f Gop/s", work / times.front() / 1e6);
    llvm::outs() << "\n";
  }
  if (cli->profile) {
    context.profile = counters.data();
    for (int i = 0; i < runs; ++i)
      if (absl::Status status = runOnce(artifact, context); !status.ok())
        return status;
    context.profile = nullptr;
    printProfile(artifact, counters, runs);
  }
  return absl::OkStatus();
}

static int runModule(mlir::ModuleOp module) {
  CompileOptions options;
  options.target = cli->target;
  options.from = cli->from;
  options.dumpDir = cli->dumpDir;
  options.loopsOnly = cli->loopsOnly;
  engine::CodegenOptions codegen;
  codegen.dumpDir = cli->dumpDir;
  codegen.perfMap = cli->perfMap;
  absl::StatusOr<std::unique_ptr<engine::Artifact>> artifact =
      engine::compileToArtifact(module, options, codegen, cli->entry);
  if (!artifact.ok())
    return fail(artifact.status());
  if (cli->report)
    printReport(**artifact);

  const runtime::Program &program = (*artifact)->program();
  auto counted = [](size_t count, const char *what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
  };
  std::vector<std::string> sources = cli->inputs;
  if (sources.empty())
    sources.push_back("random");
  if (sources.size() == 1 && !llvm::StringRef(sources[0]).ends_with(".npy"))
    sources.resize(program.inputs.size(), sources[0]);
  if (sources.size() != program.inputs.size())
    return fail("the program takes " + counted(program.inputs.size(), "input") +
                ", --input is given " + counted(sources.size(), "time"));
  for (auto [option, given] : {std::pair("--save", cli->saves.size()),
                               std::pair("--compare", cli->references.size())})
    if (given > program.outputs.size())
      return fail("the program has " +
                  counted(program.outputs.size(), "result") + ", " + option +
                  " is given " + counted(given, "time"));

  std::vector<Buffer> buffers;
  for (auto [index, spec] : llvm::enumerate(program.inputs)) {
    Buffer &buffer = buffers.emplace_back(spec);
    if (absl::Status status =
            fill(buffer, sources[index], cli->seed * 1000003 + index);
        !status.ok())
      return fail("input " + llvm::Twine(index) + ": " +
                  std::string(status.message()));
  }
  std::vector<NpyArray> expected;
  for (const std::string &path : cli->references) {
    absl::StatusOr<NpyArray> array = readNpy(path);
    if (!array.ok())
      return fail(array.status());
    expected.push_back(std::move(*array));
  }
  std::vector<Buffer> results;
  for (const runtime::TensorSpec &spec : program.outputs)
    results.emplace_back(spec);

  std::vector<void *> inputPointers, outputPointers;
  for (Buffer &buffer : buffers)
    inputPointers.push_back(buffer.data());
  for (Buffer &buffer : results)
    outputPointers.push_back(buffer.data());
  runtime::RunContext context{};
  context.inputs = inputPointers.data();
  context.outputs = outputPointers.data();
  context.numThreads = cli->threads;
  context.threading = DYNAMO_THREADS_OWN;
  if (absl::Status status = runOnce(**artifact, context); !status.ok())
    return fail(status);
  if (cli->repeat > 0 || cli->profile)
    if (absl::Status status = timeRuns(**artifact, context); !status.ok())
      return fail(status);

  int exitCode = 0;
  for (auto [index, result] : llvm::enumerate(results)) {
    llvm::outs() << "result " << index << ": ";
    print(llvm::outs(), result, cli->limit);
    if (index >= expected.size())
      continue;
    absl::Status status =
        compare(result, expected[index], cli->rtol, cli->atol);
    if (status.ok())
      continue;
    llvm::outs().flush();
    exitCode = fail("result " + llvm::Twine(index) + " " +
                    std::string(status.message()));
  }
  for (auto [index, path] : llvm::enumerate(cli->saves))
    if (absl::Status status =
            writeNpy(path, results[index].spec, results[index].data());
        !status.ok())
      return fail(status);
  return exitCode;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ResetCommandLineParser();
  Options options;
  cli = &options;
  cl::HideUnrelatedOptions(category());
  cl::ParseCommandLineOptions(argc, argv,
                              "Compiles a module of any phase and runs it.\n");

  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(options.file, sources, &context);
  if (!module) // the parser has said why
    return 1;
  return runModule(*module);
}
