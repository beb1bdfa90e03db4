//===- Compiler.h - From an aten module to something that runs ---- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver and the execution engine behind one call without MLIR's headers.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_COMPILER_H
#define DYNAMO_PYTHON_COMPILER_H

#include "GraphBuilder.h"

#include "dynamo/Runtime/Executable.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dynamo::python {

/// Code and program, and what there is to tell about them.
struct Compiled {
  /// Owns the kernels' code and the program.
  std::shared_ptr<const void> owner;
  const runtime::Program *program = nullptr;
  std::function<DynamoStatus(const DynamoRunContext &)> run;
  /// Different kernels by strategy; "loops (rows)" is a kernel whose strategy
  /// failed.
  std::map<std::string, int> kernels;
  /// Phase to seconds, in order.
  std::vector<std::pair<std::string, double>> seconds;
  /// Why kernels fell back.
  std::vector<std::string> notes;
};

/// Compiles `module` in place for a machine model; throws CompilerFailure with
/// all diagnostics. `dumpDir`: folder for the IR of every phase, or empty.
Compiled compileModule(Module &module, const std::string &target,
                       const std::string &dumpDir);

} // namespace dynamo::python

#endif // DYNAMO_PYTHON_COMPILER_H
