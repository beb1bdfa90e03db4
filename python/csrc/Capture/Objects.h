//===- Objects.h - What a recording knows of objects -------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The identity table of a recording (docs/Rationale/Capture.md): which objects
// come from outside and by which path, which were made inside; the sources and
// guards that this has led to; and at the end the values to rebuild.
//
// Tensors are held weakly, and everything else is dropped once nobody else
// holds it, so that a recording delays no destructor for long.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_OBJECTS_H
#define DYNAMO_PYTHON_CAPTURE_OBJECTS_H

#include "Capture/Trace.h"

#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace dynamo::capture {

/// Thrown by handlers: the instruction can't be recorded.  The text completes
/// "the segment ends here because it ...".
struct Stop {
  std::string reason, advice;
  /// The root's instruction that made what can't be rebuilt; -1: none.
  int32_t made = -1;
};
[[noreturn]] void stop(std::string reason, std::string advice = {});

/// What is known of one object.
struct Known {
  PyObject *object = nullptr;
  /// Null: it was made inside the trace.
  Source *source = nullptr;
  /// Holds the object (`weak` for tensors: a weak reference).
  Ref strong, weak;
  bool pinned = false; ///< guarded by identity, so all of it can be relied on
  bool typed = false;  ///< its type is guarded
  bool sized = false;  ///< its length is guarded
  bool whole = false; ///< all its content is known: guarded, or the trace's own
  bool function = false; ///< code and defaults are guarded
  /// A list that was only appended to: its content must not be read.
  bool appended = false;
  int32_t made = -1; ///< unit of the root's instruction that made it
  /// Attribute names, keys or indices that the trace has written.
  std::vector<Ref> written;
  /// For the dict behind an instance's attributes: the instance.
  PyObject *owner = nullptr;

  bool fresh() const { return !source; }
};

/// A change of an outside object, with the objects themselves.
struct PendingEffect {
  Effect::Kind kind;
  Ref target, name;
  std::vector<Ref> operands;
};

/// True for objects whose identity no program should rely on: None, numbers,
/// str, bytes, dtypes, tuples of such ...
bool isValue(PyObject *object);
bool isTensor(PyObject *object);
/// True for `torch.nn.Module` instances.
bool isModuleInstance(PyObject *object);
/// What pybind11 keeps behind a function, as its `self`.
bool isFunctionRecord(PyObject *object);
/// What kinds of objects are guarded by identity: functions, classes, modules,
/// nn.Module instances, and what is immutable in C.
bool isPinned(PyObject *object);
/// "module.Class.name" or the type's name, for texts.
std::string describe(PyObject *object);

class Objects {
public:
  explicit Objects(Trace &trace) : trace(trace) {}

  //===--------------------------------------------------------------------===//
  // The table
  //===--------------------------------------------------------------------===//

  /// Null if the object is not in the table.
  Known *find(PyObject *object);
  /// Values, tensors, and what is in the table.
  bool isKnown(PyObject *object);
  /// Stops unless known; `what` completes "uses ...".
  Known *need(PyObject *object);
  Known &addFresh(PyObject *object);
  /// An object that can be relied on without a guard of its own: it hangs on
  /// something pinned, or is a constant of the code.
  Known *addConstant(PyObject *object);
  /// Drops what only the table holds.
  void sweep();

  //===--------------------------------------------------------------------===//
  // Reads
  //===--------------------------------------------------------------------===//

  Source *root(Access access, int64_t index, PyObject *key = nullptr);
  Source *step(Source *parent, Access access, int64_t index,
               PyObject *key = nullptr);
  /// The program reads `object` at `source`: makes it known and guards it.
  /// Null for values.
  Known *read(PyObject *object, Source *source);
  /// The program relies on which object is at the source.
  void identity(PyObject *object, Source *source);
  /// The step finds nothing.
  void absent(Source *source);
  void present(Source *source);
  /// The program relies on the type of the object (and on its class).
  void typed(PyObject *object);
  /// The program relies on the class: its attributes and bases.
  void classGuard(PyTypeObject *type);
  /// The program calls the function.
  void functionGuard(PyObject *function);
  /// The program relies on len(object) of a builtin container.
  void sized(PyObject *object);
  /// The program uses all that the container holds.
  void whole(PyObject *object);
  /// The program compares the containers or values: all that they hold, all the
  /// way down, are values or pinned. Stops otherwise; `what` names the use.
  void deep(PyObject *object, const char *what, int depth = 0);
  /// The program relies on `a is b`.
  void related(PyObject *a, PyObject *b);
  /// dict[key] as dict does it; null: there is none. Known afterwards.
  /// Stops unless the program may use the object as a key: its hash is that of
  /// a value or of an object that is the same at every call.
  void hashable(PyObject *key);
  PyObject *dictItem(PyObject *dict, PyObject *key);
  bool dictHas(PyObject *dict, PyObject *key);
  /// The object's own attribute of this name, null: there is none.
  PyObject *instanceItem(PyObject *object, PyObject *name);
  /// Item of a list, tuple or deque; `index` is in range.
  PyObject *item(PyObject *sequence, Py_ssize_t index);

  //===--------------------------------------------------------------------===//
  // Writes
  //===--------------------------------------------------------------------===//

  /// An effect, if the target is from outside.
  void effect(Effect::Kind kind, PyObject *target, PyObject *name,
              std::initializer_list<PyObject *> operands);
  void markWritten(PyObject *object, PyObject *key);
  bool isWritten(const Known &known, PyObject *key) const;
  /// The instruction is about to change the container as a whole, in a way that
  /// is not followed: its content is put there at the end.
  void rewritten(PyObject *container);

  //===--------------------------------------------------------------------===//
  // The end
  //===--------------------------------------------------------------------===//

  /// The value of an object as it is now. `outputOf` numbers tensors. Stops if
  /// it can't be rebuilt.
  Value *value(PyObject *object);
  Value *valueOfSource(Source *source);
  /// Effects to values; guards that keep changed objects apart.
  void finishEffects();
  std::function<int64_t(PyObject *)> outputOf;

  /// Number of the input; -1 if the tensor does not come from outside.
  int64_t inputOf(PyObject *tensor);

  /// The root's instruction that runs.
  int32_t unit = -1;
  /// Numbers that id() gave: they are others at each call, so none may leave.
  std::unordered_set<uintptr_t> addresses;
  /// id(object): tells objects apart.
  void identified(PyObject *object);
  /// How often the trace has set a context variable without resetting it.
  std::unordered_map<PyObject *, int> contextDepth;
  /// The number that the .grad of input `number` has as an input; -1: it has
  /// none.
  int64_t inputOfGrad(int64_t number);

  /// Where the program is, for the guards.
  std::function<void(Guard &)> locate;
  std::vector<PendingEffect> effects;

private:
  Guard &guard(Check check, const Source *source, PyObject *object = nullptr);
  Known &insert(PyObject *object, Source *source);
  Value *newValue(Value::Kind kind, PyObject *object);
  void attributesOf(Value *value, PyObject *object);

  Trace &trace;
  std::unordered_map<PyObject *, Known> table;
  std::map<std::tuple<Source *, Access, int64_t, Py_hash_t>,
           std::vector<Source *>>
      sourceIndex;
  std::vector<bool> guarded;
  std::vector<PyObject *> young;
  std::unordered_set<PyObject *> classes;
  std::vector<PyObject *> apart; ///< by path, told apart by id()
  std::unordered_map<const Source *, int64_t> inputs;
  std::unordered_map<PyObject *, Value *> values;
  std::unordered_map<const Source *, Value *> sourceValues;
  std::unordered_set<PyObject *> rewrittenContainers;
};

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_OBJECTS_H
