//===- CFunctions.h - What functions in C read and change --------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions in C run nothing that the observer sees, so a table says what they
// read, make and change.  What is not in the table ends the segment.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_CFUNCTIONS_H
#define DYNAMO_PYTHON_CAPTURE_CFUNCTIONS_H

#include "Capture/Observer.h"

namespace dynamo::capture {

/// Guards what the call is going to read, notes what it changes, and leaves a
/// plan for its result; stops if that can't be recorded. `call.args` holds the
/// instance of a method first.
using CHandler = void (*)(Observer &, Call &);

/// By the method definition (also that of a bound method), by the slot wrapper,
/// or by the class that is called. Null if there is none.
CHandler findMethod(PyMethodDef *method);
CHandler findWrapper(PyObject *wrapper);
CHandler findClass(PyTypeObject *type);

/// For the files that fill the table.
class CTable {
public:
  /// `names`: attributes of the object that `path` ("builtins",
  /// "builtins.str", "torch._C") leads to, separated by blanks; names that are
  /// not there (another version) are left out.
  void add(const char *path, const char *names, CHandler handler);
  void addObject(PyObject *function, CHandler handler, bool replace = true);
  std::unordered_map<void *, CHandler> handlers;
};
void addBuiltins(CTable &table);
void addContainers(CTable &table);
void addTorch(CTable &table);

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_CFUNCTIONS_H
