//===- Bindings.h - Capture's part of the extension module -------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dynamo_mlir._C.capture: one function per component adds what it shows to
// Python.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_BINDINGS_H
#define DYNAMO_PYTHON_CAPTURE_BINDINGS_H

#include "Pybind.h"

namespace dynamo::capture {

/// Traces made by hand and what reports show of segments.
void bindSegments(pybind11::module_ &capture);
/// Makes the submodule `capture` of the extension module.
void bindCapture(pybind11::module_ &module);

// The parts of it, each with its component.
void bindDriverTesting(pybind11::module_ &capture);
void bindHeat(pybind11::module_ &capture);
void bindObserver(pybind11::module_ &capture);

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_BINDINGS_H
