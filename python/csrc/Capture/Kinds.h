//===- Kinds.h - The classes that capture knows by name ----------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Python classes that are looked up once and kept for good.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_KINDS_H
#define DYNAMO_PYTHON_CAPTURE_KINDS_H

#include <Python.h>
#include <unordered_set>

namespace dynamo::capture {

struct Kinds {
  /// Imports what is missing at first use. Throws what the imports throw.
  static const Kinds &get();

  bool isDeque(PyObject *object) const {
    return PyObject_TypeCheck(object, deque);
  }

  PyTypeObject *tensor, *module, *enumMeta;
  PyTypeObject *deque, *orderedDict, *defaultDict;
  PyTypeObject *partial, *lruCache, *mappingProxy;
  /// Whose instances are values: dtype, device, Size, layout, ...
  std::unordered_set<PyTypeObject *> values;
  /// Builtin iterators whose every step is known: what they go over was guarded
  /// when they were made.
  std::unordered_set<PyTypeObject *> iterators;
  /// Iterators that call a function at each step.
  std::unordered_set<PyTypeObject *> callingIterators;
  /// Tensor and Parameter: no subclass that changes what operators do.
  std::unordered_set<PyTypeObject *> plainTensors;
  /// keys, values and items of dicts.
  std::unordered_set<PyTypeObject *> views;
};

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_KINDS_H
