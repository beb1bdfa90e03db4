//===- Passes.td - the compile driver as a pass ---------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PIPELINES_PASSES_TD
#define DYNAMO_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def CompilePass : Pass<"dynamo-compile", "::mlir::ModuleOp"> {
  let summary = "Compile a module from its phase to a later one";
  let description = [{
    The driver that the JIT uses, as a pass: `--compile-to=` and
    `--compile-from=` of dynamo-opt run it.

    *Input*: a module in any phase.

    *Output*: the module in phase `to`.  A kernel whose strategy fails is
    compiled as `loops`, with a remark that says why.

    *Does not*: run anything.

    Example: `test/Pipelines/compile.mlir`.
  }];
  let options = [
    Option<"from", "from", "std::string", "\"\"",
           "phase that the module is in (default: found out)">,
    Option<"to", "to", "std::string", "\"llvm\"", "phase to stop after">,
    Option<"target", "target", "std::string", "\"host\"",
           "machine model: avx2, avx512, generic or host">,
    Option<"dumpDir", "dump", "std::string", "\"\"",
           "folder for one file per phase">,
    Option<"timing", "timing", "bool", "false",
           "remark on the time of each phase">,
    Option<"loopsOnly", "loops-only", "bool", "false",
           "compile every kernel as loops">
  ];
}

#endif
