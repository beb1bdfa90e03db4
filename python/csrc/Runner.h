//===- Runner.h - Calls a compiled program on torch tensors ------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What happens at every call: take the tensors' pointers after checking that
// they look as the program was compiled for, allocate the results, run with
// the GIL released around the kernels, hand operators that were not compiled
// back to Python.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_RUNNER_H
#define DYNAMO_PYTHON_RUNNER_H

#include "Compiler.h"
#include "TorchShim.h"

#include "dynamo/Runtime/Executable.h"

#include <exception>
#include <memory>

namespace dynamo::python {

/// Layout that an argument must have; with `repack` another one is copied into
/// it, else the call is refused.
struct InputPlan {
  int64_t position; ///< in the caller's list, or -1: `constant`
  std::vector<int64_t> sizes, strides;
  int32_t dtype;
  bool repack;
  pybind11::object constant;
};

/// A run that the data does not allow (DYNAMO_REFUSED): the same work in eager
/// PyTorch raises. Nothing of the run is visible but what extern calls did.
struct Refused : std::exception {
  const char *what() const noexcept override {
    return dynamoStatusText(DYNAMO_REFUSED);
  }
};

/// A fresh tensor that receives an output of the program.
struct OutputPlan {
  std::vector<int64_t> sizes, strides;
  int32_t dtype;
};

class Runner {
public:
  /// `callExtern(id, operands) -> list of tensors`; `repack(tensor, sizes,
  /// strides) -> tensor`. `threads` 0: torch's number at each call.
  Runner(Compiled compiled, std::vector<InputPlan> inputs,
         std::vector<OutputPlan> outputs, pybind11::object callExtern,
         pybind11::object repack, int threads);

  const Compiled &compiled() const { return code; }

  /// The program's outputs as tensors, or None if an argument does not look as
  /// it must: nothing has happened then. Throws `Refused`.
  pybind11::object run(const pybind11::sequence &arguments) const;
  /// The same, and the nanoseconds that each instruction took.
  pybind11::object runProfiled(const pybind11::sequence &arguments,
                               std::vector<int64_t> &nanoseconds) const;

private:
  pybind11::object runWith(const pybind11::sequence &arguments,
                           int64_t *profile) const;

  Compiled code;
  std::vector<InputPlan> inputs;
  std::vector<OutputPlan> outputs;
  pybind11::object callExtern, repack;
  int threads;
};

} // namespace dynamo::python

#endif // DYNAMO_PYTHON_RUNNER_H
