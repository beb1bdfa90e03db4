//===- Work.h - How much a kernel computes ------------------------ C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates, in scalar operations.  They decide whether a launch is worth
// threads and say in reports where a model's time ought to go.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_RT_TRANSFORMS_WORK_H
#define DYNAMO_DIALECT_RT_TRANSFORMS_WORK_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace dynamo::rt {

/// Scalar operations of one run of `op`; a math function counts as ten, data
/// movement as one per element.
int64_t estimateWork(mlir::Operation *op);

/// One line of the report: a kernel, or an extern operator.
struct WorkEntry {
  std::string name;     ///< kernel symbol or operator name
  std::string strategy; ///< of the kernel; "extern" for an operator
  int64_t work = 0;     ///< operations per run; elements made for an extern
  int64_t count = 0;    ///< launches or calls in the program
};

/// What the host function of a P3 or P4 module runs, in order of first use.
std::vector<WorkEntry> reportWork(mlir::ModuleOp module);

} // namespace dynamo::rt

#endif // DYNAMO_DIALECT_RT_TRANSFORMS_WORK_H
