//===- Heat.h - What is recorded in a whole process --------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dynamo_mlir.enable() captures functions that nobody named.  A code object is
// recorded once it is warm: at its second call, or when a frame of it comes to
// the head of a loop again; one that has no tensor work is left alone for good.
// A function that runs below one which may become warm itself waits longer,
// since what is recorded outside includes it.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_HEAT_H
#define DYNAMO_PYTHON_CAPTURE_HEAT_H

#include "Capture/CodeSegments.h"

namespace dynamo::capture {

/// Process-wide; never destroyed. All needs the GIL.
class Heat {
public:
  static Heat &get();

  /// Holds the driver's hook until `disable`. `isOurs(filename)` tells whether
  /// code of a file may be recorded; asked once per file. False with a reason
  /// where capture is not supported.
  bool enable(CodeSegments::Options options, pybind11::object isOurs,
              std::string *reason);
  /// Segments that there are stay, and run no more.
  void disable();
  bool enabled() const { return isEnabled; }

  struct Counts {
    int64_t seen = 0, watched = 0, cold = 0;
  };
  Counts counts() const { return numbers; }
  /// Code that is not to be looked at again.
  void leaveAlone(PyCodeObject *code);

private:
  Heat() = default;
  static void onCode(PyCodeObject *code);
  void call(PyCodeObject *code);
  bool isCandidate(PyCodeObject *code);
  bool torchIsLoaded();
  bool watch(PyCodeObject *code);

  std::shared_ptr<const CodeSegments::Options> options;
  pybind11::object isOurs, files; ///< `files`: dict from name to bool
  Py_ssize_t index = -1;
  Counts numbers;
  bool isEnabled = false, torchLoaded = false;
  uint64_t modulesVersion = 0;
};

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_HEAT_H
