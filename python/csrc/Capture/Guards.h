//===- Guards.h - Checks a trace's guards at a call --------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources and guards of a trace as a flat list of steps over registers, run by
// one loop at each call: no allocation and none of the user's code.
//
// What is read from one dict is a group behind one comparison of the dict's
// version: while that is what it was when the group last held, its registers
// still hold the same objects, and the checks on them that a change of the dict
// alone could break are jumped over.  So a tree of modules costs a few loads
// per module, however many attributes were read.
//
// Objects that guards name are held weakly where their type allows it: with one
// of them the program is dead, and never holds again.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_GUARDS_H
#define DYNAMO_PYTHON_CAPTURE_GUARDS_H

#include "Capture/Trace.h"

namespace dynamo::capture {

/// What a segment sees of a frame, borrowed from whoever runs it.
struct FrameView {
  PyObject **locals = nullptr; ///< localsplus; cells are made already
  int32_t numLocals = 0;
  PyObject **stack = nullptr; ///< value stack from its bottom
  int32_t stackDepth = 0;
  PyObject *function = nullptr;
  /// Where the frame goes on, set by a segment that does not return.
  int32_t next = 0;
};

class GuardProgram {
public:
  static constexpr int32_t kHit = -1;

  /// Null if the trace holds something that can't be checked; `error` says
  /// what.
  static std::unique_ptr<GuardProgram> create(const Trace &trace,
                                              std::string &error);
  ~GuardProgram();
  GuardProgram(const GuardProgram &) = delete;
  GuardProgram &operator=(const GuardProgram &) = delete;

  /// kHit, or a number for `describe`.
  int32_t run(const FrameView &frame);
  /// The object at a source after a hit, borrowed, until anything else runs
  /// that may execute Python code.
  PyObject *value(int32_t source) const { return registers[source]; }
  /// Drops objects that a run had to make.
  void release() {
    if (!made.empty())
      dropMade();
  }

  /// An object that a guard names is gone.
  bool dead() const { return isDead; }
  int32_t numGuards() const { return static_cast<int32_t>(guards.size()); }
  int32_t numSteps() const { return static_cast<int32_t>(steps.size()); }
  /// "type(x.config) is BertConfig": what must hold.
  std::string describe(int32_t guard) const;
  /// The user's line that relied on it: "model.py:12", or empty.
  std::string where(int32_t guard) const;
  /// What the last run that failed at this guard met there.
  std::string found(int32_t guard) const;
  std::string sourceText(int32_t source) const;

  int traverse(visitproc visit, void *arg) const;

private:
  enum class Op : uint8_t {
    Load,       ///< to = one step from `from`; fails where there is nothing
    LoadAbsent, ///< fails where there is something
    EnterAttrs, ///< the group, at step `to`, of attributes of `from`; `object`:
                ///< its type
    EnterDict,  ///< the group, at step `to`, of items of the dict `from`
    Member,     ///< to = member `object` of the group; `word`: inline index
    MemberAbsent,
    Adopt,       ///< ends the group that step `from` began
    End,         ///< everything holds
    TypeVersion, ///< of the type `object`
    Type,
    Is,
    Equal,
    Length,
    Keys,
    Tensor,
    Function, ///< `object`: code, defaults, keyword defaults, their copy
    Same,
    Distinct,
    NoOverlap,
  };
  struct Step {
    Op op;
    Access access;
    int32_t to = 0, from = 0; ///< registers
    int32_t guard = 0;        ///< reported on failure
    PyObject *object = nullptr;
    uint64_t word = 0;
  };
  /// Copies for texts; `key` and `object` borrowed while not dead.
  struct SourceNote {
    Access access;
    int32_t parent;
    int64_t index;
    PyObject *key;
  };
  struct GuardNote {
    Check check;
    int32_t source, other;
    int64_t index;
    PyObject *object;
    std::shared_ptr<const TensorSpec> tensor;
    Ref file;
    int32_t line;
  };
  struct Builder;

  GuardProgram() = default;
  /// Keeps the object, weakly where possible; borrowed from then on.
  PyObject *keep(PyObject *object);
  void dropMade();

  /// What runs at every call, up to End; then the groups, each up to its Adopt,
  /// which run when their dict has changed.
  std::vector<Step> steps;
  std::vector<PyObject *> registers;
  std::vector<PyObject *> made; ///< owned
  std::vector<std::shared_ptr<const TensorSpec>> tensors;
  /// The same for tensors read in place: TensorWords, by TensorSpec.
  std::vector<int64_t> tensorWords;
  std::vector<int32_t> tensorAt;
  std::vector<Ref> strong, weak;
  Ref onDeath;
  bool isDead = false;
  PyObject *met = nullptr; ///< where the last run failed

  std::vector<SourceNote> sources;
  std::vector<GuardNote> guards;
  Ref localNames; ///< tuple, or null
};

/// Whether two values without identity are the same: type and value, floats by
/// their bits. Other objects are the same if they are one object.
bool sameValue(PyObject *a, PyObject *b);
/// Number of elements, -1 where that is no container of C's.
int64_t lengthOf(PyObject *object);
/// None for a null pointer; borrowed.
inline PyObject *orNone(PyObject *object) { return object ? object : Py_None; }

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_GUARDS_H
