//===- Exits.h - Leaves a segment: effects and results ------------ C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a segment does once its tensor work has succeeded: makes the objects
// that the recorded program had made, with their sharing and cycles, replays
// its changes of the outside world in order, and returns or puts locals and
// stack into the frame.  Objects are made raw: no __init__, __new__ or
// __setattr__ of the user's runs, as those calls are part of what was recorded.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_EXITS_H
#define DYNAMO_PYTHON_CAPTURE_EXITS_H

#include "Capture/Guards.h"

namespace dynamo::capture {

class ExitProgram {
public:
  /// Null if the trace holds something that can't be rebuilt; `error` says
  /// what. What it needs of the trace is copied.
  static std::unique_ptr<ExitProgram> create(const Trace &trace,
                                             std::string &error);
  ~ExitProgram();

  /// Numbers of the sources whose objects `run` takes, in its order.
  const std::vector<int32_t> &sources() const { return outside; }
  int32_t numTensors() const { return tensors; }
  bool returns() const { return doesReturn; }
  bool hasEffects() const { return !effects.empty(); }

  /// Does everything. `objects` as `sources` says and `results` of the tensor
  /// program are borrowed. True: done, `*result` is a new reference, or null
  /// and the frame holds the new locals and stack. False: an exception is set,
  /// some of the effects may have happened, the frame is as it was.
  bool run(FrameView &frame, PyObject *const *objects, PyObject *const *results,
           PyObject **result) const;

  int traverse(visitproc visit, void *arg) const;

private:
  /// A Value whose references are positions in `nodes`.
  struct Node {
    Value::Kind kind;
    Ref object, type;
    /// The function that makes an empty instance of a subclass.
    newfunc make = nullptr;
    int32_t index = 0; ///< of a source or tensor
    std::vector<int32_t> items;
    std::vector<std::pair<Ref, int32_t>> attributes, slots;
  };
  struct Change {
    Effect::Kind kind;
    int32_t target = -1;
    Ref name, callee;
    std::vector<int32_t> operands;
  };
  struct Builder;
  using Objects = std::vector<PyObject *>;

  ExitProgram() = default;
  /// A new reference, or null with an exception set.
  PyObject *make(const Node &node, const Objects &made,
                 PyObject *const *objects, PyObject *const *results) const;
  bool fill(const Node &node, PyObject *object, const Objects &made) const;
  bool apply(const Change &change, const Objects &made) const;

  std::vector<Node> nodes; ///< in an order in which they can be made
  std::vector<int32_t> outside;
  std::vector<Change> effects;
  int32_t tensors = 0;
  bool doesReturn = true;
  int32_t result = -1, next = 0;
  std::vector<int32_t> locals, stack; ///< -1: null
};

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_EXITS_H
