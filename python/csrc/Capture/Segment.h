//===- Segment.h - A compiled trace ------------------------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Guards, tensor program and exit of one trace, and the order in which they
// run: torch's state, guards, tensors, then everything that can be seen from
// outside. So a segment that fails before its exit has done nothing, and
// CPython runs the instructions instead.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_SEGMENT_H
#define DYNAMO_PYTHON_CAPTURE_SEGMENT_H

#include "Capture/Exits.h"

namespace dynamo::python {
class Runner;
}

namespace dynamo::capture {

enum class SegmentResult : uint8_t {
  Miss,    ///< the guards do not hold; nothing has happened
  Done,    ///< see Segment::run
  Refused, ///< the guards hold, and the tensor work failed or refused: run the
           ///< instructions in CPython; nothing has happened
};

class Segment {
public:
  /// Null if something in the trace can't be compiled; `error` says what. The
  /// trace may be dropped afterwards. `program` is what compile_record gave,
  /// None where the trace has no tensor work.
  static std::unique_ptr<Segment>
  create(const Trace &trace, pybind11::object program, std::string &error);

  /// Done: `*result` is a new reference to what the frame returns, or null and
  /// `frame` holds the new locals, stack, depth and `next`; or null with an
  /// exception set (memory ran out after the tensor work): to be raised. No
  /// exception is set after another outcome. The caller keeps the segment
  /// alive.
  SegmentResult run(FrameView &frame, PyObject **result);

  int32_t start() const { return unit; }
  bool returns() const { return exit->returns(); }
  bool dead() const { return guards->dead(); }
  const GuardProgram &guardProgram() const { return *guards; }
  /// The guard that failed at the last miss, or kState.
  int32_t failedGuard() const { return failed; }
  static constexpr int32_t kState = -2;
  /// "type(x) is A (found B)" of the last miss; to be asked for at once.
  std::string missText() const;
  /// Null if the segment ends with the frame's return.
  const Break *ended() const { return end.get(); }
  pybind11::object tensorProgram() const { return program; }
  int64_t hits = 0, refusals = 0;
  int64_t instructions = 0, frames = 0;
  /// Text of the last failure of the tensor work, for reports.
  std::string refusal;

  int traverse(visitproc visit, void *arg) const;

private:
  Segment() = default;
  /// The results, borrowed by `keep`; null: refused, nothing is set.
  PyObject *const *runTensors(PyObject *const *inputs, pybind11::object &keep);
  void refused();

  int32_t unit = 0, failed = GuardProgram::kHit;
  TorchState state;
  std::unique_ptr<GuardProgram> guards;
  std::unique_ptr<ExitProgram> exit;
  std::unique_ptr<Break> end;
  /// Registers of the tensor program's arguments.
  std::vector<int32_t> inputs;
  pybind11::object program, method;
  /// Where results are the runner's own: it is called without Python.
  const python::Runner *runner = nullptr;
};

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_SEGMENT_H
