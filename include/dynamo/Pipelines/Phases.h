//===- Phases.h - The phases of a compilation ---------------------- C++
//-*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of phases.  It feeds the pipelines `--dynamo-<phase>-pipeline`,
// `--compile-to=` and `--compile-from=` of dynamo-opt, the dump folder, the
// timing report and the driver (Compile.h).
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PIPELINES_PHASES_H
#define DYNAMO_PIPELINES_PHASES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir {
class DialectRegistry;
class ModuleOp;
class OpPassManager;
} // namespace mlir

namespace dynamo {

/// How to compile.  Each phase takes what it needs.
struct CompileOptions {
  /// Machine model: "avx2", "avx512", "generic" or "host".
  std::string target = "host";
  /// Phase that the module is in; empty: found out from what it holds.
  std::string from;
  /// Phase to stop after.
  std::string to = "llvm";
  /// Folder for one numbered .mlir file per phase, and for kernels that
  /// failed; empty: none.  Made if it is not there.
  std::string dumpDir;
  /// Kernels compiled at a time; 0: as many as the context has threads.
  unsigned threads = 0;
  /// Run each phase's verifier pass at its end.
  bool verify = true;
  /// Compile every kernel as `loops`: to tell a fault of code generation from
  /// one before it.
  bool loopsOnly = false;
};

/// One phase: a level of IR with a contract, and the way there.
struct Phase {
  llvm::StringRef level;   ///< "P2"
  llvm::StringRef name;    ///< "linalg"
  llvm::StringRef summary; ///< what the module holds
  /// Adds the module passes that lead from the phase before to this one.
  void (*build)(mlir::OpPassManager &, const CompileOptions &);
  /// Adds the passes of one kernel's module, run after `build`; may be null.
  void (*buildKernel)(mlir::OpPassManager &, const CompileOptions &,
                      bool fallback);
  /// Adds the verifier pass of the phase; may be null.
  void (*verify)(mlir::OpPassManager &);
};

/// All phases, in order.
llvm::ArrayRef<Phase> getPhases();

/// The index of the phase of this name; -1: there is none.
int findPhase(llvm::StringRef name);

/// "aten, linalg, ...": for messages.
std::string listPhases();

/// The phase that the module is in, by what it holds.
int detectPhase(mlir::ModuleOp module);

/// The whole phase as one pass pipeline, kernels nested, without fallback.
void buildPhasePipeline(mlir::OpPassManager &pm, const Phase &phase,
                        const CompileOptions &options);

/// Registers `--dynamo-<phase>-pipeline` for each phase.
void registerPhasePipelines();

/// The dialects that passes of any phase may make.
void getPhaseDialects(mlir::DialectRegistry &registry);

} // namespace dynamo

#endif // DYNAMO_PIPELINES_PHASES_H
