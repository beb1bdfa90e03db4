//===- Compile.cpp - The compile driver -----------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Phases run one after the other; within a phase the kernels run in parallel,
// each worker with one pass manager for all its kernels, since building the
// pattern sets of a pass costs as much as running it on a small kernel.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Pipelines/Compile.h"

#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"
#include "dynamo/Target/MachineModel.h"

#include "absl/strings/cord.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>
#include <chrono>

using namespace mlir;
using namespace dynamo;

namespace {

/// Milliseconds since it was made.
class Stopwatch {
public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now() - start)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

/// Where the calling thread's diagnostics go; null: to other handlers.
thread_local std::string *capturedText = nullptr;

/// Sends the diagnostics of a scope on this thread to a string.
struct Capture {
  explicit Capture(std::string &text) : outer(capturedText) {
    capturedText = &text;
  }
  ~Capture() { capturedText = outer; }
  std::string *outer;
};

/// "error: <file>:<line>:<col>: text", notes below.
void appendDiagnostic(std::string &text, const Diagnostic &diagnostic) {
  llvm::raw_string_ostream os(text);
  if (!text.empty() && text.back() != '\n')
    os << "\n";
  if (!isa<UnknownLoc>(diagnostic.getLocation()))
    os << diagnostic.getLocation() << ": ";
  os << diagnostic;
  for (const Diagnostic &note : diagnostic.getNotes()) {
    // Notes that print the whole operation say nothing new to the user.
    std::string body = note.str();
    if (StringRef(body).starts_with("see current operation"))
      continue;
    os << "\n  " << body;
  }
}

/// One kernel on its way.
struct Kernel {
  ModuleOp module;
  ModuleOp original; ///< at P3, for the fallback; null if unknown
  KernelReport report;
  bool failed = false;
};

class Driver {
public:
  Driver(ModuleOp module, const CompileOptions &options)
      : module(module), context(module.getContext()), options(options) {}
  absl::StatusOr<CompileReport> run();

private:
  absl::Status runPhase(int index);
  bool splitFailedKernels();
  absl::Status runModulePasses(const Phase &phase);
  absl::Status runKernels(int phase);
  absl::Status verify(const Phase &phase);
  absl::Status error(StringRef what, StringRef diagnostics, StringRef ir,
                     StringRef command) const;
  void compileKernel(Kernel &kernel, int phase, PassManager &strategy,
                     std::unique_ptr<PassManager> &fallback);
  bool retry(Kernel &kernel, int phase, std::unique_ptr<PassManager> &fallback);
  std::unique_ptr<PassManager> kernelPasses(int first, int last,
                                            bool fallback) const;
  void collectKernels();
  void dump(int index, const Phase &phase) const;

  ModuleOp module;
  MLIRContext *context;
  const CompileOptions &options;
  std::vector<Kernel> kernels;
  /// Kernels of which each operation became a kernel.
  std::vector<KernelReport> split;
  /// The module at P3, while kernels compile.
  OwningOpRef<ModuleOp> dispatches;
  CompileReport report;
};

std::string print(Operation *op, bool withLocations) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (withLocations)
    flags.enableDebugInfo();
  op->print(os, flags.useLocalScope());
  os << "\n";
  return text;
}

} // namespace

absl::Status Driver::error(StringRef what, StringRef diagnostics, StringRef ir,
                           StringRef command) const {
  std::string message = (what + ": " + diagnostics).str();
  if (message.back() != '\n')
    message += "\n";
  message += ("reproduce with: " + command).str();
  absl::Status status = absl::InternalError(message);
  std::string reproducer = ("// RUN: " + command + "\n" + ir).str();
  status.SetPayload(kReproducerPayload,
                    absl::Cord(absl::string_view(reproducer)));
  return status;
}

absl::Status Driver::runModulePasses(const Phase &phase) {
  PassManager pm(module->getName());
  pm.enableVerifier(options.verify);
  phase.build(pm, options);
  if (pm.empty())
    return absl::OkStatus();
  OwningOpRef<ModuleOp> before(cast<ModuleOp>(module->clone()));
  std::string text;
  Capture capture(text);
  if (succeeded(pm.run(module)))
    return absl::OkStatus();
  return error("phase " + phase.name.str() + " failed", text,
               print(*before, /*withLocations=*/true),
               "dynamo-opt --dynamo-" + phase.name.str() + "-pipeline");
}

absl::Status Driver::verify(const Phase &phase) {
  if (!options.verify || !phase.verify)
    return absl::OkStatus();
  PassManager pm(module->getName());
  phase.verify(pm);
  std::string text;
  Capture capture(text);
  if (succeeded(pm.run(module)))
    return absl::OkStatus();
  return error("the contract of phase " + phase.name.str() + " is broken", text,
               print(module, /*withLocations=*/true),
               "dynamo-opt --compile-from=" + phase.name.str());
}

std::unique_ptr<PassManager> Driver::kernelPasses(int first, int last,
                                                  bool fallback) const {
  auto pm =
      std::make_unique<PassManager>(context, ModuleOp::getOperationName());
  pm->enableVerifier(options.verify);
  for (int i = first; i <= last; ++i)
    if (getPhases()[i].buildKernel)
      getPhases()[i].buildKernel(*pm, options, fallback);
  return pm;
}

/// Compiles the kernel's original as loops, up to and including `phase`.
bool Driver::retry(Kernel &kernel, int phase,
                   std::unique_ptr<PassManager> &fallback) {
  if (!kernel.original || kernel.report.fellBack)
    return false;
  if (!fallback)
    fallback = kernelPasses(findPhase("dispatches") + 1, phase,
                            /*fallback=*/true);
  kernel.report.fellBack = true;
  // The name stays, so launches need no change.
  ModuleOp fresh = cast<ModuleOp>(kernel.original->clone());
  bool done = succeeded(fallback->run(fresh));
  if (done) {
    kernel.module->setAttrs(fresh->getAttrDictionary());
    kernel.module.getBodyRegion().takeBody(fresh.getBodyRegion());
  }
  fresh->erase();
  return done;
}

void Driver::compileKernel(Kernel &kernel, int phase, PassManager &strategy,
                           std::unique_ptr<PassManager> &fallback) {
  Stopwatch watch;
  std::string text;
  Capture capture(text);
  // A kernel that fell back before goes on like any other.
  if (failed(strategy.run(kernel.module)))
    kernel.failed = !retry(kernel, phase, fallback);
  kernel.report.diagnostics += text;
  kernel.report.milliseconds += watch.milliseconds();
}

absl::Status Driver::runKernels(int index) {
  const Phase &phase = getPhases()[index];
  if (!phase.buildKernel || kernels.empty())
    return absl::OkStatus();
  size_t workers = 1;
  if (context->isMultithreadingEnabled())
    workers = std::max<size_t>(context->getThreadPool().getMaxConcurrency(), 1);
  if (options.threads != 0)
    workers = std::min<size_t>(workers, options.threads);
  workers = std::min(workers, kernels.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    std::unique_ptr<PassManager> strategy =
        kernelPasses(index, index, /*fallback=*/false);
    std::unique_ptr<PassManager> fallback;
    for (size_t i = next++; i < kernels.size(); i = next++)
      compileKernel(kernels[i], index, *strategy, fallback);
  };
  // Not mlir::parallelFor, which holds back all diagnostics to its end, when
  // nobody knows any more which kernel they are about.
  if (workers > 1) {
    llvm::ThreadPoolTaskGroup tasks(context->getThreadPool());
    for (size_t i = 1; i < workers; ++i)
      tasks.async(work);
    work();
    tasks.wait();
  } else {
    work();
  }

  for (Kernel &kernel : kernels) {
    if (!kernel.failed)
      continue;
    std::string where;
    llvm::raw_string_ostream os(where);
    os << "kernel @" << kernel.report.name << " (" << kernel.report.strategy
       << ")";
    if (!isa<UnknownLoc>(kernel.module.getLoc()))
      os << " at " << kernel.module.getLoc();
    os << " can't be compiled";
    std::string ir =
        kernel.original ? print(kernel.original, /*withLocations=*/true) : "";
    if (!options.dumpDir.empty()) {
      SmallString<128> path(options.dumpDir);
      llvm::sys::path::append(path, "failed-" + kernel.report.name + ".mlir");
      std::error_code code;
      llvm::raw_fd_ostream file(path, code);
      if (!code)
        file << ir;
    }
    return error(where, kernel.report.diagnostics, ir,
                 "dynamo-opt --dynamo-kernel-pipeline=target=" +
                     options.target);
  }
  return absl::OkStatus();
}

void Driver::collectKernels() {
  if (!kernels.empty())
    return;
  for (auto kernel : module.getOps<ModuleOp>()) {
    if (!kernel->hasAttr(rt::kKernelAttr))
      continue;
    Kernel &entry = kernels.emplace_back();
    entry.module = kernel;
    if (dispatches)
      entry.original =
          dispatches->lookupSymbol<ModuleOp>(kernel.getSymNameAttr());
    entry.report.name = kernel.getSymName().value_or("").str();
    if (auto strategy = kernel->getAttrOfType<StringAttr>(rt::kStrategyAttr))
      entry.report.strategy = strategy.str();
  }
}

void Driver::dump(int index, const Phase &phase) const {
  if (options.dumpDir.empty())
    return;
  SmallString<128> path(options.dumpDir);
  llvm::sys::path::append(path,
                          llvm::Twine(index) + "-" + phase.name + ".mlir");
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (!code) // a dump that can't be written doesn't stop the compilation
    file << print(module, /*withLocations=*/false);
}

/// A kernel that neither its strategy nor loops can compile (its values are too
/// large for the stack, say) is taken apart: goes back to P3 with one kernel
/// for each operation of the failed ones.
bool Driver::splitFailedKernels() {
  if (!dispatches)
    return false;
  rt::InlineKernelsPassOptions failedKernels;
  for (Kernel &kernel : kernels)
    if (kernel.failed) {
      failedKernels.kernels.push_back(kernel.report.name);
      kernel.report.fellBack = kernel.report.takenApart = true;
      split.push_back(std::move(kernel.report));
    }
  if (failedKernels.kernels.empty())
    return false;
  kernels.clear();
  module->setAttrs(dispatches->getOperation()->getAttrDictionary());
  module.getBodyRegion().takeBody(dispatches->getBodyRegion());
  dispatches = nullptr;

  PassManager pm(module->getName());
  pm.enableVerifier(options.verify);
  pm.addPass(rt::createInlineKernelsPass(failedKernels));
  pm.addNestedPass<func::FuncOp>(rt::createRtDecomposeAttentionPass());
  pm.addNestedPass<func::FuncOp>(
      rt::createFormDispatchesPass({/*fuse=*/false}));
  pm.addPass(rt::createOutlineDispatchesPass());
  pm.addPass(rt::createDedupKernelsPass());
  std::string text;
  Capture capture(text);
  return succeeded(pm.run(module));
}

/// From the phase before to phase `index`.
absl::Status Driver::runPhase(int index) {
  const Phase &phase = getPhases()[index];
  int firstKernelPhase = findPhase("dispatches") + 1;
  Stopwatch watch;
  if (index == firstKernelPhase)
    dispatches = OwningOpRef<ModuleOp>(cast<ModuleOp>(module->clone()));
  absl::Status status = runModulePasses(phase);
  if (status.ok() && index >= firstKernelPhase) {
    collectKernels();
    status = runKernels(index);
  }
  if (status.ok())
    status = verify(phase);
  if (!status.ok())
    return status;
  report.phases.push_back({phase.name.str(), watch.milliseconds()});
  dump(index, phase);
  return status;
}

absl::StatusOr<CompileReport> Driver::run() {
  int to = findPhase(options.to);
  int from =
      options.from.empty() ? detectPhase(module) : findPhase(options.from);
  for (auto [index, name] :
       {std::pair(to, options.to), std::pair(from, options.from)})
    if (index < 0)
      return absl::InvalidArgumentError("unknown phase '" + name +
                                        "', accepted are " + listPhases());
  if (!target::getMachineModel(options.target))
    return absl::InvalidArgumentError(
        target::describeUnknownTarget(options.target));
  if (from > to)
    return absl::InvalidArgumentError("the module is in phase " +
                                      getPhases()[from].name.str() +
                                      ", which comes after " + options.to);
  if (!options.dumpDir.empty())
    if (std::error_code code =
            llvm::sys::fs::create_directories(options.dumpDir))
      return absl::InvalidArgumentError("can't make the dump folder '" +
                                        options.dumpDir +
                                        "': " + code.message());

  DialectRegistry dialects;
  getPhaseDialects(dialects);
  context->appendDialectRegistry(dialects);
  for (StringRef name : dialects.getDialectNames())
    context->getOrLoadDialect(name);

  ScopedDiagnosticHandler handler(context, [](Diagnostic &diagnostic) {
    if (!capturedText)
      return failure();
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      appendDiagnostic(*capturedText, diagnostic);
    return success();
  });

  dump(from, getPhases()[from]);
  if (from == to) // from a phase to itself: only the contract is checked
    if (absl::Status status = verify(getPhases()[from]); !status.ok())
      return status;
  int attempts = 0;
  for (int i = from + 1; i <= to; ++i) {
    if (absl::Status status = runPhase(i); !status.ok()) {
      if (attempts++ >= 2 || !splitFailedKernels())
        return status;
      i = findPhase("dispatches"); // and on with the next one
    }
  }
  for (KernelReport &entry : split)
    report.kernels.push_back(std::move(entry));
  for (Kernel &kernel : kernels)
    report.kernels.push_back(std::move(kernel.report));
  return std::move(report);
}

absl::StatusOr<CompileReport> dynamo::compile(ModuleOp module,
                                              const CompileOptions &options) {
  return Driver(module, options).run();
}
