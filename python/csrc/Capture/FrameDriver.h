//===- FrameDriver.h - Running a frame in pieces ------------------ C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The evaluation hook.  A code object may have a plan: units at which its
// frames stop before the instruction there runs, and a handler that then
// decides what happens: a segment may have done the work of the next
// instructions, so that the frame goes on elsewhere with other locals and
// another stack, or returns; or the stretch that begins here is to be observed;
// or CPython runs it.
//
// Between stops CPython's own evaluator runs a copy of the code object in which
// each stop is one unit, RETURN_VALUE.  The copy has the original's layout, so
// line numbers, tracebacks, exception tables and f_lasti are right; `f_code` of
// Python shows the original.  A stop and resume costs about 10 ns.
//
// Everything here needs the GIL.  docs/Rationale/Capture.md says why it is so.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_FRAMEDRIVER_H
#define DYNAMO_PYTHON_CAPTURE_FRAMEDRIVER_H

#include "Capture/CPythonCompat.h"

#include <memory>
#include <vector>

namespace dynamo::capture {

/// A frame that has stopped.  It is the thread's innermost frame for Python
/// code that runs meanwhile.
class StoppedFrame {
public:
  StoppedFrame(PyThreadState *thread, Frame *frame, PyCodeObject *original)
      : threadState(thread), frame(frame), original(original) {}

  PyThreadState *thread() const { return threadState; }
  Frame *raw() const { return frame; }
  /// The code object as Python knows it, never a copy; borrowed.
  PyCodeObject *code() const { return original; }
  /// The function object; borrowed.
  PyObject *function() const;

  /// Locals, cells and free variables; null: unbound.  Borrowed.
  PyObject **locals() const;
  int numLocals() const;
  /// The value stack, 0 is the bottom; slots may be null (PUSH_NULL). Borrowed.
  PyObject **stack() const;
  int stackDepth() const;
  /// For who has put values into the slots itself, up to the code's stack size.
  void setStackDepth(int depth);

  /// Puts `numLocals()` locals and `depth` stack values into the frame,
  /// stealing references (null: unbound).  What was there is dropped at the
  /// end, when the frame is whole again, since destructors run Python code.
  void replace(PyObject *const *locals, PyObject *const *stack, int depth);

private:
  PyThreadState *threadState;
  Frame *frame;
  PyCodeObject *original;
};

/// What happens to a frame that has stopped.
struct Step {
  enum Kind : uint8_t {
    Original, ///< CPython runs the instruction at the stop, and goes on to the
              ///< next stop
    Single,  ///< CPython runs the instruction at the stop; the handler is asked
             ///< again wherever that leads
    Resume,  ///< the frame, whose slots the handler has set, goes on at `unit`
    Return,  ///< the frame returns `object` (a new reference, stolen)
    Raise,   ///< the exception that is set is raised at `unit`
    Observe, ///< CPython runs on from the stop without stops, and the handler
             ///< observes (`StopHandler::startObserving`), until `comeBack` or
             ///< the end of the frame
    Leave,   ///< CPython runs the rest of the frame without stops
  };
  Kind kind = Original;
  int unit = 0;
  PyObject *object = nullptr;

  static Step original() { return {}; }
  static Step single() { return {Single}; }
  static Step resume(int unit) { return {Resume, unit}; }
  static Step returns(PyObject *object) { return {Return, 0, object}; }
  static Step raise(int unit) { return {Raise, unit}; }
  static Step observe() { return {Observe}; }
  static Step leave() { return {Leave}; }
};

/// Decides for the frames of one code object.  Frames that start inside of
/// `startObserving` and `onObserved` run as they are.
class StopHandler {
public:
  virtual ~StopHandler();
  /// The frame has stopped before the instruction at `unit`; no exception is
  /// set, and only `Step::raise` leaves one.  May run Python code, change plans
  /// (this one too) and start other frames of the same code.
  virtual Step onStop(StoppedFrame &frame, int unit) = 0;
  /// After `Step::observe`: the frame is about to go on, in a copy of its code
  /// (`FrameDriver::originalOf`), with opcode events on; sets the thread's
  /// trace function.  False, without an exception: it is not observed after
  /// all, as with `Step::original`.
  virtual bool startObserving(StoppedFrame &frame) {
    (void)frame;
    return false;
  }
  /// The stretch is over, by `comeBack` or because the frame has left: `left`,
  /// with `result` (borrowed) if it returned or yielded, else with an
  /// exception, which stays.  Runs before a following `onStop`.
  virtual void onObserved(StoppedFrame &frame, bool left, PyObject *result) {
    (void)frame, (void)left, (void)result;
  }
};

/// Whether frames of a code object can stop here: at the start of an
/// instruction (its first EXTENDED_ARG) behind the first RESUME, not inside the
/// group that KW_NAMES or PRECALL opens and CALL closes, not at RESUME or
/// RETURN_VALUE; and at the first RESUME, which stands for the entry of the
/// frame (not in generators and coroutines: there the instruction behind it
/// does).
bool canStop(PyCodeObject *code, int unit);
/// The last unit at or before `unit` where frames can stop; -1 if there is
/// none. An instruction inside a group gets the group's start.
int stopBefore(PyCodeObject *code, int unit);
/// The unit of the first RESUME: a stop here is seen before the frame has run
/// anything; its cells are made.
int entryUnit(PyCodeObject *code);

/// Process-wide; never destroyed.
class FrameDriver {
public:
  static FrameDriver &get();

  /// Readies the driver (an audit hook, the getter of f_code); false with a
  /// reason where this CPython is not supported or refuses.
  bool start(std::string *reason = nullptr);

  /// Gives a code object its handler, keeping stops that it has.  False with an
  /// exception set if memory is short.
  bool setHandler(PyCodeObject *code, std::shared_ptr<StopHandler> handler);
  /// Null if it has none.
  StopHandler *handler(PyCodeObject *code) const;
  /// Frames that run already stop there too.  False if there is no handler or
  /// `canStop` says no.
  bool addStop(PyCodeObject *code, int unit);
  void removeStop(PyCodeObject *code, int unit);
  bool hasStop(PyCodeObject *code, int unit) const;
  /// Forgets handler and stops; frames that run in a copy run on to their end.
  void removePlan(PyCodeObject *code);

  /// For an observer's trace function: ends the observation of the frame that
  /// this thread observes.  If the event is one of that frame itself, at a unit
  /// where it can stop, the handler is asked before the instruction runs; else
  /// at the next stop of its plan.  The caller takes its trace function away.
  void comeBack(PyThreadState *thread);
  /// The frame that this thread observes, null if none.
  Frame *observedFrame(PyThreadState *thread) const;

  /// The code object that Python knows for what a frame runs; borrowed.
  static PyCodeObject *originalOf(PyCodeObject *code);

  /// Plans work while the hook is held; counted.  While nobody holds it, calls
  /// cost what they always cost.
  void holdHook();
  void releaseHook();
  bool hookHeld() const { return holders > 0; }

  /// For every frame whose code has no plan yet, while the hook is held; null:
  /// none.  It may make a plan.  One at a time.
  using NewCode = void (*)(PyCodeObject *code);
  void setNewCode(NewCode callback) { newCode = callback; }

  /// Stops so far, for tests and reports.
  int64_t stops() const { return numStops; }

private:
  FrameDriver() = default;
  friend struct DriverHook;

  NewCode newCode = nullptr;
  int64_t numStops = 0;
  int holders = 0;
  bool started = false;
};

/// Holds the hook for a scope.
class HookScope {
public:
  HookScope() { FrameDriver::get().holdHook(); }
  ~HookScope() { FrameDriver::get().releaseHook(); }
  HookScope(const HookScope &) = delete;
  HookScope &operator=(const HookScope &) = delete;
};

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_FRAMEDRIVER_H
