//===- CompiledFunction.h - A compiled function, as Python sees it  C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The object in front of a Python function that `dynamo_mlir.compile` gives
// back: a call tries the function's segments without making a frame, and
// otherwise runs the function, under observation if that may give a segment.
// It passes for the function: methods, attributes, signature.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_COMPILEDFUNCTION_H
#define DYNAMO_PYTHON_CAPTURE_COMPILEDFUNCTION_H

#include "Capture/SegmentTable.h"

namespace dynamo::capture {

/// The locals of a frame as CPython makes them from a call's arguments, cells
/// included, without the frame.
class BoundArguments {
public:
  /// False if the call does not fit the function, which then raises, or memory
  /// is out; no exception is set. Arguments must outlive this.
  bool bind(PyFunctionObject *function, PyObject *const *args, size_t nargs,
            PyObject *kwnames);
  ~BoundArguments();

  PyObject **locals() { return slots; }
  int32_t count() const { return number; }

private:
  bool own(PyObject *object);

  static constexpr int32_t kInline = 24;
  PyObject *inlineSlots[kInline];
  std::vector<PyObject *> store;
  std::vector<PyObject *> owned;
  PyObject **slots = inlineSlots;
  int32_t number = 0;
};

/// While one exists on a thread, compiled functions run as they are written.
struct Disabled {
  static int &depth();
};

/// Adds the type to a module.
void bindCompiledFunction(pybind11::module_ &module);

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_COMPILEDFUNCTION_H
