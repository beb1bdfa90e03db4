//===- Emission.h - From the planned host function to a program --- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_EXECUTIONENGINE_EMISSION_H
#define DYNAMO_EXECUTIONENGINE_EMISSION_H

#include "dynamo/Runtime/Program.h"

#include "absl/status/statusor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace dynamo::engine {

/// A program whose launches have no code yet.
struct EmittedProgram {
  runtime::Program program;
  /// The distinct kernels, in order of first launch.
  std::vector<mlir::ModuleOp> kernels;
  /// Per instruction: index into `kernels`, -1 for what is no launch.
  std::vector<int> kernelOf;
};

/// The memory-planned host function of a module in P4 or P5: `entry`.
absl::StatusOr<mlir::func::FuncOp> findHostFunction(mlir::ModuleOp module,
                                                    llvm::StringRef entry);

/// Turns the host function into a program. The error has the location of what
/// is not accepted.
absl::StatusOr<EmittedProgram> emitProgram(mlir::func::FuncOp host);

/// "file:line:col: message" for errors outside of MLIR's diagnostics.
std::string located(mlir::Location loc, const llvm::Twine &message);

} // namespace dynamo::engine

#endif // DYNAMO_EXECUTIONENGINE_EMISSION_H
