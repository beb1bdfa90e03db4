//===- KernelCompiler.cpp - From a P5 kernel to code ----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels are compiled side by side, each in an LLVM context of its own.  The
// key of a kernel is a hash of its LLVM IR under a fixed name, so that equal
// kernels of other models, and of a model compiled again, are found whatever
// they are called.
//
//===----------------------------------------------------------------------===//

#include "dynamo/ExecutionEngine/KernelCompiler.h"

#include "dynamo/ExecutionEngine/Emission.h"
#include "dynamo/ExecutionEngine/Jit.h"
#include "dynamo/Runtime/Fork.h"

#include "absl/strings/str_cat.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <atomic>
#include <chrono>
#include <csetjmp>
#include <mutex>
#include <pthread.h>
#include <thread>

using namespace dynamo::engine;

/// What every kernel's function is called while its key is made.
constexpr llvm::StringLiteral kNeutralName = "dynamo_kernel";

/// Stack of a compiling thread: LLVM recurses over long dependences.
constexpr size_t kCompilerStack = 16 << 20;

namespace {
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

struct Code final : CompiledKernel {
  std::unique_ptr<JitCode> code;
};

/// Code that is alive anywhere in the process, by key.
class CodeCache {
public:
  /// A forked child starts with an empty one: the lock may have been held.
  static CodeCache &get() {
    static std::atomic<CodeCache *> current{new CodeCache};
    CodeCache *cache = current.load(std::memory_order_acquire);
    if (cache->generation == dynamo::runtime::forkGeneration())
      return *cache;
    auto *fresh = new CodeCache;
    if (current.compare_exchange_strong(cache, fresh))
      return *fresh;
    delete fresh;
    return *cache;
  }

  std::shared_ptr<const Code> find(llvm::StringRef key) {
    std::lock_guard<std::mutex> lock(mutex);
    auto it = entries.find(key);
    return it == entries.end() ? nullptr : it->second.lock();
  }

  /// Returns `code`, or the equal one that another thread put there meanwhile.
  std::shared_ptr<const Code> insert(std::shared_ptr<const Code> code) {
    std::lock_guard<std::mutex> lock(mutex);
    std::weak_ptr<const Code> &entry = entries[code->key];
    if (std::shared_ptr<const Code> other = entry.lock())
      return other;
    entry = code;
    if (entries.size() > 2 * aliveAtSweep + 64)
      sweep();
    return code;
  }

private:
  void sweep() {
    for (auto it = entries.begin(), end = entries.end(); it != end;) {
      auto here = it++;
      if (here->second.expired())
        entries.erase(here);
    }
    aliveAtSweep = entries.size();
  }

  uint64_t generation = dynamo::runtime::forkGeneration();
  std::mutex mutex;
  llvm::StringMap<std::weak_ptr<const Code>> entries;
  size_t aliveAtSweep = 0;
};

/// One machine, as LLVM knows it.
struct Target {
  llvm::orc::JITTargetMachineBuilder builder;
  std::string description; ///< part of the key
};

class Compiler {
public:
  Compiler(const CodegenOptions &options, Target target)
      : options(options), target(std::move(target)) {}

  absl::StatusOr<KernelResult> compile(mlir::ModuleOp kernel);

private:
  absl::StatusOr<std::unique_ptr<llvm::Module>>
  translate(mlir::ModuleOp kernel, llvm::LLVMContext &context,
            llvm::TargetMachine &machine);
  absl::Status optimise(llvm::Module &module, llvm::TargetMachine &machine);
  std::unique_ptr<llvm::MemoryBuffer> emit(llvm::Module &module,
                                           llvm::TargetMachine &machine,
                                           llvm::CodeGenFileType type);
  void dump(const llvm::Module &module, llvm::StringRef name,
            llvm::TargetMachine &machine);

  const CodegenOptions &options;
  Target target;
  /// Without locks inside the MLIR context, translation takes turns.
  std::mutex translation;
};
} // namespace

//===----------------------------------------------------------------------===//
// LLVM's fatal errors
//===----------------------------------------------------------------------===//

namespace {
/// Where a fatal error of this thread continues; null: the process ends.
struct Landing {
  std::jmp_buf buffer;
  std::string reason;
};
thread_local Landing *landing = nullptr;
} // namespace

static void onFatalError(void *, const char *reason, bool) {
  if (!landing) {
    // Not ours: the process ends on return. LLVM's message would be lost, for
    // a process with a handler gets none.
    llvm::errs() << "LLVM ERROR: " << reason << "\n";
    return;
  }
  landing->reason = reason;
  std::longjmp(landing->buffer, 1);
}

/// Runs `step`. Code generation ends the process where it does not know how to
/// go on; here it ends the compilation of a kernel instead, as LLVM's own crash
/// recovery does it: what the step holds at that moment is leaked.
static absl::Status surviving(llvm::function_ref<void()> step) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_fatal_error_handler(onFatalError); });
  Landing here;
  Landing *outer = std::exchange(landing, &here);
  if (setjmp(here.buffer) == 0)
    step();
  else
    here.reason = "LLVM: " + here.reason;
  landing = outer;
  return here.reason.empty() ? absl::OkStatus()
                             : absl::InternalError(here.reason);
}

/// Without a handler an error of code generation (no registers left, a frame
/// too large) would be printed and exit.
static void collectErrors(const llvm::DiagnosticInfo *info, void *text) {
  if (info->getSeverity() != llvm::DS_Error)
    return;
  llvm::raw_string_ostream stream(*static_cast<std::string *>(text));
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info->print(printer);
}

static absl::StatusOr<Target> findTarget(const CodegenOptions &options) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return absl::InternalError(llvm::toString(builder.takeError()));
  if (!options.cpu.empty()) {
    builder->setCPU(options.cpu);
    builder->setFeatures(options.features);
  }
  builder->setRelocationModel(llvm::Reloc::PIC_);
  builder->setCodeModel(llvm::CodeModel::Small);
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  builder->getOptions().EmulatedTLS = false;
  std::string description = absl::StrCat(
      builder->getTargetTriple().str(), "/", builder->getCPU(), "/",
      builder->getFeatures().getString(), "/", options.passes);
  return Target{std::move(*builder), std::move(description)};
}

absl::StatusOr<std::unique_ptr<llvm::Module>>
Compiler::translate(mlir::ModuleOp kernel, llvm::LLVMContext &context,
                    llvm::TargetMachine &machine) {
  llvm::StringRef name = kernel.getName().value_or("");
  auto function = kernel.lookupSymbol<mlir::LLVM::LLVMFuncOp>(name);
  if (!function || function.isExternal())
    return absl::InvalidArgumentError(located(
        kernel.getLoc(), "kernel '" + name + "' has no llvm.func of its name"));
  auto type = function.getFunctionType();
  mlir::MLIRContext *mlirContext = kernel.getContext();
  auto pointer = mlir::LLVM::LLVMPointerType::get(mlirContext);
  auto i64 = mlir::IntegerType::get(mlirContext, 64);
  if (!mlir::isa<mlir::LLVM::LLVMVoidType>(type.getReturnType()) ||
      type.getParams() != llvm::ArrayRef<mlir::Type>{pointer, i64, i64})
    return absl::InvalidArgumentError(
        located(function.getLoc(), "kernel '" + name +
                                       "' must take (!llvm.ptr, i64, i64) and "
                                       "return nothing"));

  std::unique_ptr<llvm::Module> module;
  {
    std::unique_lock<std::mutex> lock(translation, std::defer_lock);
    if (!mlirContext->isMultithreadingEnabled())
      lock.lock();
    module = mlir::translateModuleToLLVMIR(kernel, context, kNeutralName);
  }
  if (!module)
    return absl::InternalError(
        located(kernel.getLoc(),
                "kernel '" + name + "' does not translate to LLVM IR"));

  module->setTargetTriple(machine.getTargetTriple());
  module->setDataLayout(machine.createDataLayout());
  llvm::Function *entry = module->getFunction(name);
  for (llvm::GlobalObject &global : module->global_objects()) {
    if (global.isDeclaration())
      continue;
    if (&global != entry)
      global.setLinkage(llvm::GlobalValue::InternalLinkage);
    // No unwind tables: nothing throws, and registering them with the process
    // slows its own exceptions down.
    if (auto *code = llvm::dyn_cast<llvm::Function>(&global))
      code->setDoesNotThrow();
  }
  entry->setName(kNeutralName);
  entry->setLinkage(llvm::GlobalValue::ExternalLinkage);
  entry->setVisibility(llvm::GlobalValue::DefaultVisibility);
  entry->setDSOLocal(true);
  return module;
}

absl::Status Compiler::optimise(llvm::Module &module,
                                llvm::TargetMachine &machine) {
  if (options.passes.empty())
    return absl::OkStatus();
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error error = builder.parsePassPipeline(passes, options.passes))
    return absl::InvalidArgumentError(
        absl::StrCat("LLVM passes: ", llvm::toString(std::move(error))));
  passes.run(module, modules);
  return absl::OkStatus();
}

std::unique_ptr<llvm::MemoryBuffer> Compiler::emit(llvm::Module &module,
                                                   llvm::TargetMachine &machine,
                                                   llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return nullptr;
  passes.run(module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(bytes), module.getName(), /*RequiresNullTerminator=*/false);
}

/// Best effort: what cannot be written is left out.
void Compiler::dump(const llvm::Module &module, llvm::StringRef name,
                    llvm::TargetMachine &machine) {
  std::string base = absl::StrCat(options.dumpDir, "/", name.str());
  std::error_code failed;
  llvm::raw_fd_ostream text(base + ".ll", failed);
  if (!failed)
    module.print(text, nullptr);
  std::unique_ptr<llvm::Module> clone = llvm::CloneModule(module);
  std::unique_ptr<llvm::MemoryBuffer> assembly =
      emit(*clone, machine, llvm::CodeGenFileType::AssemblyFile);
  llvm::raw_fd_ostream code(base + ".s", failed);
  if (!failed && assembly)
    code << assembly->getBuffer();
}

/// A line per kernel where `perf` looks for code that no file holds.
static void writePerfMap(const void *address, size_t size,
                         llvm::StringRef name) {
  std::error_code failed;
  llvm::raw_fd_ostream map(
      absl::StrCat("/tmp/perf-", llvm::sys::Process::getProcessId(), ".map"),
      failed, llvm::sys::fs::CD_OpenAlways, llvm::sys::fs::FA_Write,
      llvm::sys::fs::OF_Append);
  if (!failed)
    map << llvm::utohexstr(reinterpret_cast<uintptr_t>(address), true) << " "
        << llvm::utohexstr(size, true) << " dynamo:" << name << "\n";
}

static std::string keyOf(const llvm::Module &module, llvm::StringRef target) {
  llvm::SmallVector<char, 0> bytes(target.begin(), target.end());
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(module, stream);
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  return llvm::utohexstr(hash.high64, true, 16) +
         llvm::utohexstr(hash.low64, true, 16);
}

absl::StatusOr<KernelResult> Compiler::compile(mlir::ModuleOp kernel) {
  llvm::StringRef name = kernel.getName().value_or("");
  KernelResult result;
  llvm::LLVMContext context;
  std::string errors;
  context.setDiagnosticHandlerCallBack(collectErrors, &errors);
  auto machine = target.builder.createTargetMachine();
  if (!machine)
    return absl::InternalError(llvm::toString(machine.takeError()));

  Clock::time_point start = Clock::now();
  absl::StatusOr<std::unique_ptr<llvm::Module>> module =
      translate(kernel, context, **machine);
  if (!module.ok())
    return module.status();
  std::string key = keyOf(**module, target.description);
  result.times.translate = since(start);

  CodeCache &cache = CodeCache::get();
  if (options.dumpDir.empty()) {
    result.kernel = cache.find(key);
    if (result.kernel) {
      result.cached = true;
      return result;
    }
  }

  // Two objects in one process never have the same symbol.
  static std::atomic<uint64_t> count{0};
  std::string symbol = absl::StrCat(name.str(), ".", count.fetch_add(1));
  (*module)->getFunction(kNeutralName)->setName(symbol);
  (*module)->setModuleIdentifier(symbol);

  auto failed = [&](llvm::StringRef why) {
    return absl::InternalError(located(
        kernel.getLoc(), "kernel '" + name + "' does not compile: " + why));
  };
  start = Clock::now();
  absl::Status optimised,
      survived = surviving([&] { optimised = optimise(**module, **machine); });
  if (!optimised.ok())
    return optimised;
  if (!survived.ok())
    return failed(std::string(survived.message()));
  result.times.optimise = since(start);

  if (!options.dumpDir.empty())
    dump(**module, name, **machine);
  start = Clock::now();
  std::unique_ptr<llvm::MemoryBuffer> object;
  survived = surviving([&] {
    object = emit(**module, **machine, llvm::CodeGenFileType::ObjectFile);
  });
  if (!survived.ok())
    // The pass manager that was left still refers to the module.
    (void)module->release();
  if (!survived.ok() || !errors.empty())
    return failed(survived.ok() ? errors : std::string(survived.message()));
  if (!object)
    return failed("this machine has no code generator");
  size_t size = object->getBufferSize();
  result.times.codegen = since(start);

  start = Clock::now();
  absl::StatusOr<std::unique_ptr<JitCode>> code =
      linkObject(std::move(object), symbol);
  if (!code.ok())
    return absl::InternalError(
        located(kernel.getLoc(), "kernel '" + name + "' does not link: " +
                                     std::string(code.status().message())));
  result.times.link = since(start);
  if (options.perfMap)
    writePerfMap((*code)->address(), size, symbol);

  auto compiled = std::make_shared<Code>();
  compiled->function =
      reinterpret_cast<dynamo::runtime::KernelFn>((*code)->address());
  compiled->key = std::move(key);
  compiled->code = std::move(*code);
  result.kernel = cache.insert(std::move(compiled));
  return result;
}

/// Calls `work` on this thread and on up to `count - 1` more. Not std::thread,
/// which throws where the system has no thread left; one fewer is fine.
static void onThreads(size_t count, llvm::function_ref<void()> work) {
  std::vector<pthread_t> helpers;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kCompilerStack);
  for (size_t i = 1; i < count; ++i) {
    pthread_t helper;
    if (pthread_create(
            &helper, &attributes,
            [](void *data) -> void * {
              (*static_cast<llvm::function_ref<void()> *>(data))();
              return nullptr;
            },
            &work))
      break;
    helpers.push_back(helper);
  }
  pthread_attr_destroy(&attributes);
  work();
  for (pthread_t helper : helpers)
    pthread_join(helper, nullptr);
}

absl::StatusOr<std::vector<KernelResult>>
dynamo::engine::compileKernels(llvm::ArrayRef<mlir::ModuleOp> kernels,
                               const CodegenOptions &options) {
  std::vector<KernelResult> results(kernels.size());
  if (kernels.empty())
    return results;
  absl::StatusOr<Target> target = findTarget(options);
  if (!target.ok())
    return target.status();
  Compiler compiler(options, std::move(*target));

  // Translation explains its failures as diagnostics only.
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler collect(
      kernels.front()->getContext(), [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          absl::StrAppend(&diagnostics, diagnostics.empty() ? "" : "; ",
                          diagnostic.str());
        return mlir::success();
      });

  // Not the MLIR context's threads: a forked child has lost those.
  std::vector<absl::Status> statuses(kernels.size());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < kernels.size();) {
      absl::StatusOr<KernelResult> result = compiler.compile(kernels[i]);
      statuses[i] = result.status();
      if (result.ok())
        results[i] = std::move(*result);
    }
  };
  size_t threads = options.threads > 0 ? options.threads
                                       : std::thread::hardware_concurrency();
  onThreads(std::min(threads, kernels.size()), work);

  for (const absl::Status &status : statuses)
    if (!status.ok())
      return diagnostics.empty()
                 ? status
                 : absl::Status(status.code(), absl::StrCat(status.message(),
                                                            ": ", diagnostics));
  return results;
}
