//===- CompileToArtifact.h - From any phase to a compiled model --- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_EXECUTIONENGINE_COMPILETOARTIFACT_H
#define DYNAMO_EXECUTIONENGINE_COMPILETOARTIFACT_H

#include "dynamo/ExecutionEngine/Artifact.h"
#include "dynamo/Pipelines/Phases.h"

namespace dynamo::engine {

/// Brings a module of any phase to P5 and builds its artifact. `module` is
/// changed; after an error it is in no particular state. The message of an
/// error has the location and all diagnostics; nothing is printed.
/// `codegen`'s cpu and features come from the options' target.
absl::StatusOr<std::unique_ptr<Artifact>>
compileToArtifact(mlir::ModuleOp module, CompileOptions options,
                  CodegenOptions codegen = {}, llvm::StringRef entry = "main");

} // namespace dynamo::engine

#endif // DYNAMO_EXECUTIONENGINE_COMPILETOARTIFACT_H
