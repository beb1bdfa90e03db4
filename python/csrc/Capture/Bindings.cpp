//===- Bindings.cpp - Capture's part of the extension module --------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/Bindings.h"
#include "Capture/CompiledFunction.h"

#include "Capture/CPythonCompat.h"

namespace py = pybind11;
using namespace dynamo::capture;

void dynamo::capture::bindCapture(py::module_ &module) {
  py::module_ m = module.def_submodule("capture");
  m.def(
      "supported",
      [] {
        std::string reason;
        bool yes = compat::supported(&reason);
        return py::make_tuple(yes, reason);
      },
      "Whether capture works in this CPython, and if not, why.");
  bindDriverTesting(m);
  bindHeat(m);
  bindSegments(m);
  bindCompiledFunction(m);
  bindObserver(m);
}
