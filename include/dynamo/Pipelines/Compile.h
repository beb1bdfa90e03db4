//===- Compile.h - The compile driver ------------------------------ C++
//-*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes a module from any phase to any later one.  Kernels compile in parallel
// and fail alone: one whose strategy does not work out is compiled again as
// `loops`, which is slow and sure.  If that fails too (its intermediate values
// are too large, say) each of its operations becomes a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PIPELINES_COMPILE_H
#define DYNAMO_PIPELINES_COMPILE_H

#include "dynamo/Pipelines/Phases.h"

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace dynamo {

/// What happened to one kernel.  One that failed as loops, too, was taken
/// apart: it is at the end of the list, its parts are in their places.
struct KernelReport {
  std::string name;
  std::string strategy;    ///< that it was formed with
  bool fellBack = false;   ///< compiled as loops or taken apart
  bool takenApart = false; ///< into one kernel per operation
  std::string diagnostics; ///< why it fell back
  double milliseconds = 0;
};

/// What happened in a compilation.
struct CompileReport {
  struct PhaseTime {
    std::string phase;
    double milliseconds = 0;
  };
  std::vector<PhaseTime> phases;
  std::vector<KernelReport> kernels; ///< in the order of the module
};

/// Payload of an error status: IR text that reproduces it.
inline constexpr char kReproducerPayload[] = "dynamo-mlir.reproducer";

/// Compiles `module` in place.  On an error the module is in an unspecified
/// state between two phases and the status names the phase, or the kernel and
/// the user's line, with all diagnostics; nothing is printed.  A reproducer is
/// in its payload.
absl::StatusOr<CompileReport> compile(mlir::ModuleOp module,
                                      const CompileOptions &options);

} // namespace dynamo

#endif // DYNAMO_PIPELINES_COMPILE_H
