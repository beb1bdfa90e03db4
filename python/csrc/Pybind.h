//===- Pybind.h - The one way to include pybind11 ----------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// pybind11 converts a std::vector through the templates that are visible where
// the conversion is written.  One file that forgets <pybind11/stl.h> makes
// another instance of the same functions, and the linker keeps either: casts of
// lists then fail in files that did nothing wrong.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_PYBIND_H
#define DYNAMO_PYTHON_PYBIND_H

#include <pybind11/pybind11.h> // IWYU pragma: export
#include <pybind11/stl.h>      // IWYU pragma: export

#endif // DYNAMO_PYTHON_PYBIND_H
