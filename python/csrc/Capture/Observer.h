//===- Observer.h - Records what CPython does --------------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records one stretch of a frame while CPython runs it: a C trace function with
// opcode events sees every instruction of the frame and of all that it calls,
// and fills a Trace (docs/Rationale/Capture.md).
//
// Each instruction is handled twice.  At its event, when its operands lie on
// the real stack, a handler guards what it is going to read and notes what it
// is going to write (Handlers*.cpp, CFunctions*.cpp); the `Plan` that it leaves
// says what else is expected.  At the frame's next event the result is there
// and is entered as the plan says.  Whatever comes otherwise than planned ends
// or voids the recording; the program itself is never changed.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_OBSERVER_H
#define DYNAMO_PYTHON_CAPTURE_OBSERVER_H

#include "Capture/CPythonCompat.h"
#include "Capture/Objects.h"

namespace dynamo::capture {

/// What a recording gives: what the program got, and a trace or why there is
/// none.
struct Outcome {
  /// Of the real call, a new reference; null with an exception set.
  PyObject *result = nullptr;
  std::unique_ptr<Trace> trace;
  /// Set where there is no trace.
  std::unique_ptr<Break> why;
  /// The instruction of the segment's own frame in front of which the next
  /// recording has to end (`RecordOptions::stops`), and the frame's code; -1 if
  /// another try would go the same way.
  int32_t blockedAt = -1;
  Ref code;
};

struct RecordOptions {
  /// Units of the frame's code in front of which the segment ends: there
  /// earlier recordings found something that can't be recorded.
  std::vector<std::pair<int32_t, Break>> stops;
  /// dynamo_mlir.capture.record.Record, or what tests put there.
  Ref recordClass;
};

/// Calls `callable` and records the first Python frame that this enters, from
/// its start. `code` must be that frame's code, or null: any.
Outcome recordCall(PyObject *callable, PyObject *const *args, size_t nargsf,
                   PyObject *kwnames, const RecordOptions &options = {},
                   PyCodeObject *code = nullptr);

/// Runs a frame that is about to go on at its next instruction to its end, as
/// CPython's evaluator does, and records from there. The frame is in its
/// original code.
Outcome recordFrame(PyThreadState *thread, Frame *frame,
                    const RecordOptions &options = {});

/// Whether this thread is being recorded.
bool isRecording();

class Observer;

/// What the next event of the frame has to find.
struct Plan {
  enum Result : uint8_t {
    None,         ///< nothing, or known by itself
    Fresh,        ///< an object that is new unless it is known
    FreshTuple,   ///< the same if it is a tuple
    Expected,     ///< `expected`
    InstanceDict, ///< the dict of `expected`
  };
  Result result = None;
  bool hasResult = false; ///< pushes one value (else `result` is None)
  bool calls = false;     ///< Python frames may be entered
  /// Runs operators: frames of torch's dispatcher and of ours are not looked
  /// at.
  bool operators = false;
  /// An exception is what the recorded values lead to.
  bool mayRaise = true;
  PyObject *expected = nullptr; ///< borrowed, on the stack or known
  /// A class whose instance is being made.
  PyTypeObject *constructs = nullptr;
  /// Sees what generators yield and functions return to the C code of a call.
  void (*consume)(Observer &, PyObject *) = nullptr;
  /// Runs after the instruction, with what it pushed.
  std::function<void(PyObject *)> after;
};

/// Arguments of a call. The program may give fewer than the function takes: the
/// call then raises, so reading one that is not there ends the recording.
struct Arguments : std::vector<PyObject *> {
  using std::vector<PyObject *>::vector;
  PyObject *operator[](size_t index) const {
    if (index >= size())
      stop("calls a function with too few arguments");
    return data()[index];
  }
};

/// A call that is about to happen: all borrowed.
struct Call {
  PyObject *callable = nullptr;
  /// Positional, then keyword arguments.
  Arguments args;
  /// Names of the last of them.
  std::vector<PyObject *> names;
  size_t positional() const { return args.size() - names.size(); }
  /// Keeps what the unpacking has made.
  std::vector<Ref> keep;
};

/// One observed frame.
struct Watched {
  Frame *frame = nullptr;
  compat::Instruction instruction;
  /// An instruction has had its event and no successor yet.
  bool pending = false;
  Plan plan;
  int depth = 0;               ///< of the stack at the event
  PyObject *kwNames = nullptr; ///< of KW_NAMES; borrowed from the code
  int groupStart = -1;         ///< unit of KW_NAMES or PRECALL
};

class Observer {
public:
  Observer(const RecordOptions &options, PyThreadState *thread);
  ~Observer();

  /// Null while this thread is not being recorded.
  static Observer *active();

  std::unique_ptr<Trace> trace;
  Objects objects;

  //===--------------------------------------------------------------------===//
  // For handlers (Handlers*.cpp, CFunctions*.cpp)
  //===--------------------------------------------------------------------===//

  PyCodeObject *code() const;
  PyObject *local(int index) const;
  PyObject *constant(int index) const;
  PyObject *name(int index) const;
  /// The stack slot `depth` below the top; 1 is the top.
  PyObject *top(int depth = 1) const;
  Watched &watched() { return *current; }
  Plan &plan() { return current->plan; }
  bool isRoot() const { return frames.size() == 1; }

  /// Attribute lookup, Attributes.cpp.
  struct Attribute {
    enum Kind : uint8_t {
      Missing,  ///< AttributeError
      Found,    ///< `object`, known
      Unbound,  ///< the function `object` with the instance as first argument
      Bound,    ///< a new bound method (or the like) of function `object`
      Computed, ///< Python code computes it
      Value,    ///< a value, or a known object, that C code computes
      Fresh,    ///< a new object that C code computes
      Dict,     ///< the dict of the instance
      Operator, ///< a tensor that an operator computes
    };
    Kind kind = Missing;
    PyObject *object = nullptr;
  };
  /// `generic`: as object.__getattribute__ does it.
  Attribute attribute(PyObject *object, PyObject *name, bool generic = false);
  /// Plans for the result of an attribute read.
  void loadAttribute(PyObject *object, PyObject *name, bool method = false,
                     bool generic = false);
  /// The class's attribute of this name without binding; guards the class.
  PyObject *classAttribute(PyObject *object, const char *name);
  /// A special method of an object's class. True: Python code is called for it
  /// (the plan allows it). False: C code, of the type in `definer`; or none
  /// (null).
  bool special(PyObject *object, const char *name,
               PyTypeObject **definer = nullptr);
  /// bool(object)
  void truth(PyObject *object);
  /// iter(object)
  void iterate(PyObject *object);
  /// next(iterator): what it gives is known or a new tuple.
  void advance(PyObject *iterator);
  /// object[key]
  void subscript(PyObject *object, PyObject *key);
  void storeSubscript(PyObject *object, PyObject *key, PyObject *value);
  void deleteSubscript(PyObject *object, PyObject *key);
  void storeAttribute(PyObject *object, PyObject *name, PyObject *value,
                      bool generic = false);
  void compare(PyObject *left, PyObject *right, int op);
  void binary(PyObject *left, PyObject *right, int op);
  void contains(PyObject *container, PyObject *item);
  void format(PyObject *object, const char *method);
  void matchClass(PyObject *subject, PyObject *type, PyObject *names,
                  int positional);
  void call(Call &call);
  void callClass(Call &call, PyTypeObject *type);
  void callC(Call &call);
  /// Reads a cell of the current frame (slot of localsplus) or a global.
  PyObject *readCell(int slot, bool contents);
  void readLocal(int index);
  PyObject *readGlobal(PyObject *name);
  PyObject *globals();
  /// The dict behind the object's attributes is seen.
  void addInstanceDict(PyObject *object, PyObject *dict);
  /// All arguments are what an operator takes.
  void operands(const Call &call);
  void freshResult() {
    plan().hasResult = true;
    plan().result = Plan::Fresh;
  }
  void expect(PyObject *object) {
    plan().hasResult = true;
    plan().result = Plan::Expected;
    plan().expected = object;
  }

  //===--------------------------------------------------------------------===//
  // For the record of operators
  //===--------------------------------------------------------------------===//

  int64_t inputOf(PyObject *tensor) { return objects.inputOf(tensor); }
  /// (file, line) of the instruction that runs.
  pybind11::object location() const;
  /// Something about the running operator can't be recorded.
  void refuse(std::string reason);
  pybind11::object &record() { return recordObject; }
  /// Whether a tensor was computed from constants of the trace alone, so that
  /// its values are the same at each call.
  bool settled(PyObject *tensor);
  void gradMode(bool on);

  //===--------------------------------------------------------------------===//
  // Running
  //===--------------------------------------------------------------------===//

  bool start(PyCodeObject *rootCode, Frame *rootFrame);
  Outcome finish(PyObject *result);

private:
  static int traceFunction(PyObject *self, PyFrameObject *frame, int what,
                           PyObject *argument);
  void event(PyFrameObject *frame, int what, PyObject *argument);
  void enter(PyFrameObject *object, Frame *frame);
  void enterRoot(PyFrameObject *object, Frame *frame);
  void instruction(Frame *frame);
  void complete(PyObject *returned);
  void leave(Frame *frame, PyObject *result);
  void raised(Frame *frame, PyObject *argument);
  void handle();
  void handleCall();
  void importName();
  void bindArguments(Frame *frame);
  bool isIgnored(Frame *frame);
  /// Ends the trace in front of the root's current instruction.
  void end(const Stop &why);
  /// Ends it with the frame's return.
  void endReturn(PyObject *result);
  void discard(const Stop &why);
  void finishEffects();
  void quit();
  Break breakAt(const Stop &why);
  int32_t rootUnit() const;

  const RecordOptions &options;
  PyThreadState *thread;
  std::unique_ptr<Break> why;
  pybind11::object recordObject;
  PyCodeObject *rootCode = nullptr;
  std::vector<Watched> frames;
  Watched *current = nullptr;
  /// Locals of the root that hold what they held at the start, unread.
  std::vector<bool> untouched;
  int ignoring = 0; ///< frames entered below one that is not looked at
  bool running = false, started = false, over = false, entered = false;
  int32_t blockedAt = -1;
  std::string refused, refusedAdvice;
  bool collecting = false; ///< of garbage, before the recording
};

/// Text of a trace, one line for each source read, guard, effect and for the
/// exit.
std::string traceText(const Trace &trace);
std::string sourceText(const Trace &trace, const Source *source);

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_OBSERVER_H
