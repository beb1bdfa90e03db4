//===- Jit.cpp - Machine code in this process -----------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/ExecutionEngine/Jit.h"

#include "RuntimeSymbols.h"
#include "dynamo/Runtime/Fork.h"

#include "absl/strings/str_cat.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"

#include <mutex>

using namespace dynamo::engine;
namespace orc = llvm::orc;

namespace {
/// The process's one ORC session. Never destroyed: code may be released while
/// the process exits. A forked child gets one of its own, since the parent's
/// other threads may have held this one's locks.
class Session {
public:
  static absl::StatusOr<Session *> get();

  orc::LLJIT &jit() { return *lljit; }
  uint64_t generation() const { return madeIn; }

  /// What ORC reported since the last call, for it tells callers only that
  /// something failed.
  std::string takeReport() {
    std::lock_guard<std::mutex> lock(mutex);
    return std::exchange(report, {});
  }

private:
  absl::Status initialise();

  std::unique_ptr<orc::LLJIT> lljit;
  uint64_t madeIn = dynamo::runtime::forkGeneration();
  std::mutex mutex;
  std::string report;
};

class LinkedCode final : public JitCode {
public:
  LinkedCode(Session &session, orc::ResourceTrackerSP tracker, void *address)
      : session(session), tracker(std::move(tracker)) {
    entry = address;
  }
  ~LinkedCode() override {
    // The parent's session is not touched in a forked child.
    if (session.generation() != dynamo::runtime::forkGeneration()) {
      (void)new orc::ResourceTrackerSP(std::move(tracker));
      return;
    }
    if (llvm::Error error = tracker->remove())
      llvm::consumeError(std::move(error)); // memory stays mapped, no more
    tracker.reset();
  }

private:
  Session &session;
  orc::ResourceTrackerSP tracker;
};
} // namespace

static absl::Status toStatus(llvm::Error error, llvm::StringRef what) {
  return absl::InternalError(
      absl::StrCat(what.str(), ": ", llvm::toString(std::move(error))));
}

absl::Status Session::initialise() {
  auto made =
      orc::LLJITBuilder()
          // No initialisers, no thread-locals: kernels need no platform.
          .setPlatformSetUp(orc::setUpInactivePlatform)
          .create();
  if (!made)
    return toStatus(made.takeError(), "cannot start the JIT");
  lljit = std::move(*made);
  orc::ExecutionSession &session = lljit->getExecutionSession();
  session.setErrorReporter([this](llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    std::lock_guard<std::mutex> lock(mutex);
    absl::StrAppend(&report, report.empty() ? "" : "; ", text);
  });

  // Ahead of the process's own symbols in the order of search.
  auto runtime = lljit->createJITDylib("dynamo.runtime");
  if (!runtime)
    return toStatus(runtime.takeError(), "cannot start the JIT");
  orc::SymbolMap symbols;
  for (const RuntimeSymbol &symbol : runtimeSymbols())
    symbols[lljit->mangleAndIntern(symbol.name)] = {
        orc::ExecutorAddr::fromPtr(symbol.address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  if (llvm::Error error = runtime->define(orc::absoluteSymbols(symbols)))
    return toStatus(std::move(error), "cannot start the JIT");
  orc::JITDylibSearchOrder order = {
      {&*runtime, orc::JITDylibLookupFlags::MatchExportedSymbolsOnly}};
  if (orc::JITDylibSP process = lljit->getProcessSymbolsJITDylib())
    order.push_back(
        {process.get(), orc::JITDylibLookupFlags::MatchExportedSymbolsOnly});
  lljit->getMainJITDylib().setLinkOrder(std::move(order));
  return absl::OkStatus();
}

absl::StatusOr<Session *> Session::get() {
  static std::atomic<Session *> current{nullptr};
  uint64_t generation = dynamo::runtime::forkGeneration();
  Session *session = current.load(std::memory_order_acquire);
  if (session && session->generation() == generation)
    return session;
  auto fresh = std::make_unique<Session>();
  if (absl::Status status = fresh->initialise(); !status.ok())
    return status;
  if (current.compare_exchange_strong(session, fresh.get()))
    return fresh.release();
  return session; // another thread was faster
}

absl::StatusOr<std::unique_ptr<JitCode>>
dynamo::engine::linkObject(std::unique_ptr<llvm::MemoryBuffer> object,
                           llvm::StringRef symbol) {
  absl::StatusOr<Session *> session = Session::get();
  if (!session.ok())
    return session.status();
  orc::LLJIT &jit = (*session)->jit();
  orc::ResourceTrackerSP tracker =
      jit.getMainJITDylib().createResourceTracker();
  auto abandon = [&](llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    if (llvm::Error removal = tracker->remove())
      llvm::consumeError(std::move(removal));
    std::string report = (*session)->takeReport();
    return absl::InternalError(report.empty() ? text : report);
  };
  if (llvm::Error error = jit.addObjectFile(tracker, std::move(object)))
    return abandon(std::move(error));
  auto address = jit.lookup(symbol);
  if (!address)
    return abandon(address.takeError());
  return std::make_unique<LinkedCode>(**session, std::move(tracker),
                                      address->toPtr<void *>());
}
