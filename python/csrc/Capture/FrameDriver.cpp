//===- FrameDriver.cpp - Running a frame in pieces ------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A frame that has a plan runs in one of three copies of its code:
//
//  - run: a stop at each unit of the plan;
//  - step: a stop at every unit where one can be.  To run one instruction at
//    which the frame has stopped, its stop is taken out for as long as it runs;
//  - observed: one per observation, no stops until it is over.
//
// A stop is the opcode RETURN_VALUE over the opcode of an instruction, whose
// argument stays: an instruction before it that looks ahead (a
// superinstruction, a comparison with the jump behind it) reads arguments only,
// so that at worst it passes the stop.  The evaluator then pops the top of the
// stack and returns; the value is still in the frame, and what is returned is
// ignored.
//
// Each frame has its own code object back whenever it does not run: only the
// evaluator, and what it calls, sees a copy.
//
//===----------------------------------------------------------------------===//

#include "Capture/FrameDriver.h"

#include "Capture/CPythonCompatInline.h"

#include <cstring>
#include <opcode.h>

using namespace dynamo::capture;

StopHandler::~StopHandler() = default;

namespace {

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// What hangs on a code object under our index of co_extra: a plan on an
/// original, a note on a copy.
struct Extra {
  enum Kind : uint8_t { IsPlan, IsCopy } kind;
};
Py_ssize_t extraIndex = -1;

struct CopyNote : Extra {
  PyCodeObject *original; ///< borrowed; null when it is gone
};

/// A counted reference; counts are kept under the GIL.
template <typename T> class Counted {
public:
  Counted() = default;
  explicit Counted(T *object) : object(object) {
    if (object)
      ++object->references;
  }
  Counted(const Counted &other) : Counted(other.object) {}
  Counted &operator=(Counted other) {
    std::swap(object, other.object);
    return *this;
  }
  ~Counted() {
    if (object && --object->references == 0)
      delete object;
  }
  T *operator->() const { return object; }
  T *get() const { return object; }
  explicit operator bool() const { return object; }

private:
  T *object = nullptr;
};

/// A copy of a code object, with stops.
struct Residual {
  /// Takes over a reference to `copy` and owns what `note` points to together
  /// with it.
  Residual(PyCodeObject *copy, CopyNote *note)
      : copy(copy), note(note),
        saved(compat::units(copy),
              compat::units(copy) + compat::numUnits(copy)) {
    next = first;
    if (next)
      next->previous = this;
    first = this;
  }
  ~Residual() {
    (previous ? previous->next : first) = next;
    if (next)
      next->previous = previous;
    // Someone may have got hold of the copy from C.
    note->original = nullptr;
    abandon();
    Py_DECREF(copy);
  }

  bool isPatched(int unit) const {
    return _Py_OPCODE(compat::units(copy)[unit]) == RETURN_VALUE;
  }
  /// `before`: unit of the instruction in front of it, or -1.
  void patch(int unit, int before) {
    uint16_t *units = compat::units(copy);
    if (abandoned || isPatched(unit))
      return;
    saved[unit] = units[unit];
    units[unit] = _Py_MAKECODEUNIT(RETURN_VALUE, _Py_OPARG(units[unit]));
    if (before < 0 || isPatched(before))
      return;
    // What looks ahead would pass the stop.
    int opcode = compat::opcodeAt(copy, before);
    switch (opcode) {
    case LOAD_FAST:
    case STORE_FAST:
    case LOAD_CONST:
    case COMPARE_OP:
    case BINARY_OP:
      units[before] = _Py_MAKECODEUNIT(opcode, _Py_OPARG(units[before]));
    }
  }
  void unpatch(int unit) { compat::units(copy)[unit] = saved[unit]; }
  /// Takes all stops out for good.
  void abandon() {
    // Only stops differ in their opcode after this: RETURN_VALUE is none.
    for (int unit = 0, n = static_cast<int>(saved.size()); unit < n; ++unit)
      if (isPatched(unit))
        unpatch(unit);
    abandoned = true;
  }

  PyCodeObject *copy;
  CopyNote *note;
  /// The units of the copy without stops, as each was when it was patched.
  std::vector<uint16_t> saved;
  bool abandoned = false;
  int references = 0;

  static Residual *first;
  Residual *next = nullptr, *previous = nullptr;
};
Residual *Residual::first = nullptr;

/// What is known of a unit.
enum : uint8_t { IsStart = 1, CanStop = 2, IsStop = 4, InGroup = 8 };

struct Plan : Extra {
  explicit Plan(PyCodeObject *code);

  /// These are null, without an exception, if memory is short.
  Counted<Residual> newResidual(bool adaptive);
  Counted<Residual> runCopy();
  Counted<Residual> stepCopy();
  void dropCopies() {
    run = Counted<Residual>();
    step = Counted<Residual>();
  }
  bool isStop(int unit) const { return flags[unit] & IsStop; }
  bool isStart(int unit) const {
    return unit >= 0 && unit < static_cast<int>(flags.size()) &&
           (flags[unit] & IsStart);
  }

  PyCodeObject *code; ///< borrowed: the plan hangs on it
  int entry;
  std::vector<uint8_t> flags; ///< by unit
  /// By unit where an instruction starts: the unit of the opcode before, or -1.
  std::vector<int32_t> before;
  int numStops = 0; ///< without the entry
  std::shared_ptr<StopHandler> handler;
  /// Former handlers that a running frame may be inside of.
  std::vector<std::shared_ptr<StopHandler>> retired;
  int running = 0;
  int references = 0;
  Counted<Residual> run, step;
};

/// An observation that is going on; on the C stack of the frame's driver.
struct Observation {
  Frame *frame;
  Plan *plan;
  Residual *residual;
  bool over;
  Observation *outer;
};
thread_local Observation *observation = nullptr;

/// Python code that starts or evaluates an observation is ours: its frames run
/// as they are.
thread_local int ownCode = 0;
struct OwnCode {
  OwnCode() { ++ownCode; }
  ~OwnCode() { --ownCode; }
};

compat::EvalHook formerHook = nullptr;

Extra *extraOf(PyCodeObject *code) {
  return static_cast<Extra *>(compat::codeExtra(code, extraIndex));
}
Plan *planOf(PyCodeObject *code) {
  Extra *extra = extraIndex < 0 ? nullptr : extraOf(code);
  return extra && extra->kind == Extra::IsPlan ? static_cast<Plan *>(extra)
                                               : nullptr;
}
/// CPython calls this when a code object goes, also with null.
void freeExtra(void *value) {
  auto *extra = static_cast<Extra *>(value);
  if (!extra)
    return;
  if (extra->kind == Extra::IsCopy) {
    delete static_cast<CopyNote *>(extra);
    return;
  }
  auto *plan = static_cast<Plan *>(extra);
  if (--plan->references == 0)
    delete plan;
}

/// Keeps an exception that is set out of the way.
class SavedException {
public:
  SavedException() { PyErr_Fetch(&type, &value, &traceback); }
  ~SavedException() { PyErr_Restore(type, value, traceback); }
  SavedException(const SavedException &) = delete;
  SavedException &operator=(const SavedException &) = delete;

private:
  PyObject *type, *value, *traceback;
};

} // namespace

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Which units frames can stop at; `flags` and `before` get an entry per unit.
static void findStops(PyCodeObject *code, std::vector<uint8_t> &flags,
                      std::vector<int32_t> &before) {
  int count = compat::numUnits(code), entry = compat::firstTraceable(code);
  flags.assign(count, 0);
  before.assign(count, -1);
  bool inGroup = false;
  int last = -1;
  for (int unit = 0; unit < count;) {
    compat::Instruction instruction = compat::decode(code, unit);
    flags[unit] = IsStart;
    before[unit] = last;
    bool wasInGroup = inGroup, can = unit > entry && !inGroup;
    switch (instruction.opcode) {
    case RESUME:
    case RETURN_VALUE:
    case RETURN_GENERATOR:
    case COPY_FREE_VARS:
    case MAKE_CELL:
    case CACHE:
      can = false;
      break;
    // The names of keywords are in a variable of the evaluator's between
    // KW_NAMES and CALL; a specialised PRECALL does the work of CALL.
    case KW_NAMES:
    case PRECALL:
      inGroup = true;
      break;
    case CALL:
      inGroup = false;
      break;
    }
    if (unit == entry && !compat::isGenerator(code))
      can = true;
    if (can)
      flags[unit] |= CanStop;
    else if (wasInGroup)
      flags[unit] |= InGroup;
    last = instruction.unit;
    unit = instruction.next;
  }
}

Plan::Plan(PyCodeObject *code)
    : Extra{IsPlan}, code(code), entry(compat::firstTraceable(code)) {
  findStops(code, flags, before);
}

Counted<Residual> Plan::newResidual(bool adaptive) {
  SavedException saved;
  PyCodeObject *copy = compat::copyCode(code, adaptive);
  if (!copy)
    return {};
  auto *note = new CopyNote{{Extra::IsCopy}, code};
  if (compat::setCodeExtra(copy, extraIndex, note) < 0) {
    delete note;
    Py_DECREF(copy);
    return {};
  }
  return Counted<Residual>(new Residual(copy, note));
}

Counted<Residual> Plan::runCopy() {
  if (!run) {
    run = newResidual(/*adaptive=*/true);
    for (int unit = 0, n = static_cast<int>(flags.size()); run && unit < n;
         ++unit)
      if (isStop(unit) && unit != entry)
        run->patch(unit, before[unit]);
  }
  return run;
}

Counted<Residual> Plan::stepCopy() {
  if (!step) {
    step = newResidual(/*adaptive=*/false);
    if (!step)
      return step;
    // Its instructions run alone; specialised ones would look ahead.
    compat::stopWarmup(step->copy);
    for (int unit = 0, n = static_cast<int>(flags.size()); unit < n; ++unit)
      if ((flags[unit] & CanStop) && unit != entry)
        step->patch(unit, -1);
  }
  return step;
}

bool dynamo::capture::canStop(PyCodeObject *code, int unit) {
  return stopBefore(code, unit) == unit;
}

int dynamo::capture::stopBefore(PyCodeObject *code, int unit) {
  code = FrameDriver::originalOf(code);
  std::vector<uint8_t> own;
  std::vector<int32_t> before;
  const std::vector<uint8_t> *flags = &own;
  if (Plan *plan = planOf(code))
    flags = &plan->flags;
  else
    findStops(code, own, before);
  if (unit >= static_cast<int>(flags->size()))
    return -1;
  while (unit >= 0 && !((*flags)[unit] & CanStop))
    --unit;
  return unit;
}

int dynamo::capture::entryUnit(PyCodeObject *code) {
  return compat::firstTraceable(code);
}

//===----------------------------------------------------------------------===//
// StoppedFrame
//===----------------------------------------------------------------------===//

PyObject *StoppedFrame::function() const { return compat::function(frame); }
PyObject **StoppedFrame::locals() const { return compat::locals(frame); }
int StoppedFrame::numLocals() const { return compat::numLocals(frame); }
PyObject **StoppedFrame::stack() const { return compat::stack(frame); }
int StoppedFrame::stackDepth() const { return compat::stackDepth(frame); }
void StoppedFrame::setStackDepth(int depth) {
  compat::setStackDepth(frame, depth);
}

void StoppedFrame::replace(PyObject *const *newLocals,
                           PyObject *const *newStack, int depth) {
  int count = numLocals(), oldDepth = stackDepth();
  std::vector<PyObject *> old(locals(), locals() + count + oldDepth);
  if (count)
    std::memcpy(locals(), newLocals, count * sizeof(PyObject *));
  if (depth)
    std::memcpy(stack(), newStack, depth * sizeof(PyObject *));
  compat::setStackDepth(frame, depth);
  for (PyObject *object : old)
    Py_XDECREF(object);
}

//===----------------------------------------------------------------------===//
// Running a frame
//===----------------------------------------------------------------------===//

/// Makes the cells of a frame that has not begun, as its first instructions
/// would, and leaves it in front of its first RESUME.  False where it cannot:
/// the frame is then where it can run on.
static bool runPrologue(Frame *frame, PyCodeObject *code, int entry) {
  PyObject **locals = compat::locals(frame);
  for (int unit = compat::lastUnit(frame) + 1; unit < entry;) {
    compat::Instruction instruction = compat::decode(code, unit);
    if (instruction.opcode == MAKE_CELL) {
      PyObject *cell = PyCell_New(locals[instruction.oparg]);
      if (!cell) {
        PyErr_Clear();
        return false;
      }
      PyObject *initial = locals[instruction.oparg];
      locals[instruction.oparg] = cell;
      Py_XDECREF(initial);
    } else if (instruction.opcode == COPY_FREE_VARS) {
      PyObject *closure = PyFunction_GET_CLOSURE(compat::function(frame));
      PyObject **slots = locals + compat::numLocals(frame) - instruction.oparg;
      for (int i = 0; i < instruction.oparg; ++i)
        slots[i] = Py_NewRef(PyTuple_GET_ITEM(closure, i));
    } else {
      return false;
    }
    unit = instruction.next;
    compat::setLastUnit(frame, unit - 1);
  }
  return true;
}

namespace {
/// One frame on its way from stop to stop.
class Run {
public:
  Run(PyThreadState *thread, Frame *frame, Plan *plan, int64_t &stops)
      : thread(thread), frame(frame), plan(plan), keep(plan), stops(stops),
        view(thread, frame, plan->code) {
    ++plan->running;
  }
  ~Run() {
    if (--plan->running == 0 && !plan->retired.empty()) {
      // Their destructors may end up here again.
      auto retired = std::move(plan->retired);
      plan->retired.clear();
    }
  }

  PyObject *run(bool throwflag);

private:
  /// Evaluates in a copy from the instruction behind `lastUnit`.  True if the
  /// frame has stopped, at `unit`; else it has left with `result`.
  bool evaluate(Residual *residual, bool throwflag);
  /// Runs on to the next stop of the plan.
  bool goOn(bool throwflag);
  /// Runs the instruction at `unit`. True if the frame then stands at `unit`.
  bool stepOver();
  /// As `stepOver`, and on to the next stop of the plan.
  bool passStop();
  bool observe();
  /// For a handler that goes back and back again without the evaluator.
  bool pending();

  PyThreadState *thread;
  Frame *frame;
  Plan *plan;
  Counted<Plan> keep;
  int64_t &stops;
  StoppedFrame view;
  int unit = 0;
  int backward = 0;
  PyObject *result = nullptr;
};
} // namespace

bool Run::evaluate(Residual *residual, bool throwflag) {
  compat::swapCode(frame, residual->copy);
  result = compat::evaluate(thread, frame, throwflag);
  unit = compat::lastUnit(frame);
  compat::swapCode(frame, plan->code);
  // RETURN_VALUE of the program's is no place to stop, and a yield where there
  // is a stop would not have run.
  bool stopped = plan->isStart(unit) &&
                 (plan->flags[unit] & (CanStop | InGroup)) &&
                 residual->isPatched(unit) && (result || !PyErr_Occurred());
  if (!stopped)
    return false;
  // What was popped is in the frame still, and owned by it.
  compat::setStackDepth(frame, compat::stackDepth(frame) + 1);
  // KW_NAMES and PRECALL may run twice: the second time changes nothing.
  while (!(plan->flags[unit] & CanStop))
    --unit;
  return true;
}

bool Run::goOn(bool throwflag) {
  if (plan->numStops) {
    if (Counted<Residual> residual = plan->runCopy())
      return evaluate(residual.get(), throwflag);
  }
  result = compat::evaluate(thread, frame, throwflag);
  return false;
}

bool Run::stepOver() {
  Counted<Residual> residual = plan->stepCopy();
  int now = unit;
  compat::setLastUnit(frame, now - 1);
  if (!residual) {
    result = compat::evaluate(thread, frame, false);
    return false;
  }
  // At the entry there is nothing to take out.
  residual->unpatch(now);
  bool stopped = evaluate(residual.get(), false);
  if (now != plan->entry)
    residual->patch(now, -1);
  return stopped;
}

bool Run::passStop() {
  // In front of the entry nothing runs; elsewhere the handler may have taken
  // the stop out.
  if (unit != plan->entry && plan->isStop(unit)) {
    if (!stepOver())
      return false;
    if (plan->isStop(unit))
      return true;
  }
  compat::setLastUnit(frame, unit - 1);
  return goOn(false);
}

bool Run::observe() {
  Counted<Residual> residual = plan->newResidual(/*adaptive=*/false);
  PyFrameObject *object = compat::frameObject(thread, frame);
  if (!residual || !object) {
    PyErr_Clear();
    return passStop();
  }
  // At the entry the CALL event comes first, as for any frame.
  compat::setEvents(object, false, true);
  compat::setLastUnit(frame, unit - 1);
  compat::swapCode(frame, residual->copy);
  bool observes;
  {
    OwnCode scope;
    observes = plan->handler->startObserving(view);
  }
  compat::swapCode(frame, plan->code);
  if (!observes) {
    compat::setEvents(object, true, false);
    return passStop();
  }
  Py_tracefunc trace = compat::traceFunction(thread);
  Observation current{frame, plan, residual.get(), false, observation};
  observation = &current;
  bool stopped = evaluate(residual.get(), false);
  observation = current.outer;
  {
    SavedException saved;
    if (trace && compat::traceFunction(thread) == trace)
      compat::setTrace(thread, nullptr, nullptr);
    if (PyFrameObject *left = compat::frameObjectIfAny(frame))
      compat::setEvents(left, true, false);
    if (stopped)
      compat::setLastUnit(frame, unit);
    OwnCode scope;
    compat::enterFrame(thread, frame);
    plan->handler->onObserved(view, !stopped, stopped ? nullptr : result);
    compat::leaveFrame(thread, frame);
  }
  return stopped;
}

bool Run::pending() {
  if (++backward % 64 != 0)
    return true;
  Py_BEGIN_ALLOW_THREADS;
  Py_END_ALLOW_THREADS;
  return PyErr_CheckSignals() == 0;
}

PyObject *Run::run(bool throwflag) {
  bool stopped;
  if (!throwflag && plan->isStop(plan->entry) &&
      compat::lastUnit(frame) < plan->entry &&
      runPrologue(frame, plan->code, plan->entry)) {
    unit = plan->entry;
    stopped = true;
  } else {
    stopped = goOn(throwflag);
  }
  while (stopped) {
    ++stops;
    compat::setLastUnit(frame, unit);
    compat::enterFrame(thread, frame);
    Step step = plan->handler->onStop(view, unit);
    compat::leaveFrame(thread, frame);
    switch (step.kind) {
    case Step::Original:
      stopped = passStop();
      break;
    case Step::Single:
      stopped = stepOver();
      break;
    case Step::Resume:
    case Step::Raise: {
      bool raises = step.kind == Step::Raise;
      if (!plan->isStart(step.unit)) {
        if (!PyErr_Occurred())
          PyErr_Format(
              PyExc_SystemError,
              "a segment of %U ends at %d, where no instruction starts",
              plan->code->co_qualname, step.unit);
        raises = true;
        step.unit = unit;
      } else if (!raises && step.unit <= unit && !pending()) {
        raises = true;
      }
      if (!raises && plan->isStop(step.unit) && step.unit != plan->entry) {
        unit = step.unit;
        break;
      }
      compat::setLastUnit(frame, raises ? step.unit : step.unit - 1);
      stopped = goOn(raises);
      break;
    }
    case Step::Return:
      return step.object;
    case Step::Observe:
      stopped = observe();
      break;
    case Step::Leave:
      compat::setLastUnit(frame, unit - 1);
      return compat::evaluate(thread, frame, false);
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// The hook
//===----------------------------------------------------------------------===//

namespace dynamo::capture {
/// The hook's way into the driver.
struct DriverHook {
  static PyObject *hook(PyThreadState *thread, Frame *frame, int throwflag) {
    PyCodeObject *code = compat::code(frame);
    FrameDriver &driver = FrameDriver::get();
    if (driver.holders && !ownCode && !compat::traceFunction(thread) &&
        !compat::profileFunction(thread)) {
      Plan *plan = planOf(code);
      if (!plan && driver.newCode && !throwflag) {
        OwnCode scope;
        driver.newCode(code);
        plan = planOf(code);
      }
      // A generator's first instructions copy the frame into the generator.
      if (plan &&
          (!compat::isGenerator(code) || compat::ownedByGenerator(frame)))
        return Run(thread, frame, plan, driver.numStops).run(throwflag);
    }
    return formerHook ? formerHook(thread, frame, throwflag)
                      : compat::evaluate(thread, frame, throwflag);
  }

  /// Somebody installs a tracer or profiler, in some thread: it must not see
  /// stops, so frames that run in a copy now run on to their end without.
  static int audit(const char *event, PyObject *, void *) {
    if (std::strncmp(event, "sys.set", 7) != 0 ||
        (std::strcmp(event, "sys.settrace") != 0 &&
         std::strcmp(event, "sys.setprofile") != 0))
      return 0;
    for (Counted<Residual> residual(Residual::first); residual;) {
      residual->abandon();
      if (residual->note->original)
        if (Plan *plan = planOf(residual->note->original))
          plan->dropCopies();
      // Only now: others may have gone with the plan's copies.
      residual = Counted<Residual>(residual->next);
    }
    return 0;
  }

  static PyObject *frameCode(PyObject *object, void *) {
    PyCodeObject *code =
        PyFrame_GetCode(reinterpret_cast<PyFrameObject *>(object));
    PyCodeObject *original = FrameDriver::originalOf(code);
    if (original == code)
      return reinterpret_cast<PyObject *>(code);
    Py_INCREF(original);
    Py_DECREF(code);
    return reinterpret_cast<PyObject *>(original);
  }
};
} // namespace dynamo::capture

FrameDriver &FrameDriver::get() {
  static FrameDriver *driver = new FrameDriver;
  return *driver;
}

bool FrameDriver::start(std::string *reason) {
  if (started)
    return true;
  if (!compat::supported(reason))
    return false;
  auto fail = [&](const char *why) {
    PyErr_Clear();
    if (reason)
      *reason = why;
    return false;
  };
  if (extraIndex < 0)
    extraIndex = compat::requestCodeExtra(freeExtra);
  if (extraIndex < 0)
    return fail("code objects have no room for extra data left");
  // Another audit hook may refuse.
  if (PySys_AddAuditHook(&DriverHook::audit, nullptr) < 0 || PyErr_Occurred())
    return fail("an audit hook refuses another one");
  if (compat::replaceFrameCodeGetter(&DriverHook::frameCode, nullptr) < 0)
    return fail("frame.f_code cannot be replaced");
  started = true;
  return true;
}

bool FrameDriver::setHandler(PyCodeObject *code,
                             std::shared_ptr<StopHandler> handler) {
  if (!started) {
    PyErr_SetString(PyExc_SystemError, "the frame driver has not been started");
    return false;
  }
  if (Plan *plan = planOf(code)) {
    if (plan->running)
      plan->retired.push_back(std::move(plan->handler));
    plan->handler = std::move(handler);
    return true;
  }
  auto *plan = new Plan(code);
  plan->references = 1;
  plan->handler = std::move(handler);
  if (compat::setCodeExtra(code, extraIndex, static_cast<Extra *>(plan)) < 0) {
    delete plan;
    return false;
  }
  return true;
}

StopHandler *FrameDriver::handler(PyCodeObject *code) const {
  Plan *plan = planOf(code);
  return plan ? plan->handler.get() : nullptr;
}

bool FrameDriver::addStop(PyCodeObject *code, int unit) {
  Plan *plan = planOf(code);
  if (!plan || unit < 0 || unit >= static_cast<int>(plan->flags.size()) ||
      !(plan->flags[unit] & CanStop))
    return false;
  if (plan->isStop(unit))
    return true;
  plan->flags[unit] |= IsStop;
  if (unit == plan->entry)
    return true;
  ++plan->numStops;
  if (plan->run)
    plan->run->patch(unit, plan->before[unit]);
  return true;
}

void FrameDriver::removeStop(PyCodeObject *code, int unit) {
  Plan *plan = planOf(code);
  if (!plan || unit < 0 || unit >= static_cast<int>(plan->flags.size()) ||
      !plan->isStop(unit))
    return;
  plan->flags[unit] &= ~IsStop;
  if (unit == plan->entry)
    return;
  --plan->numStops;
  if (plan->run)
    plan->run->unpatch(unit);
}

bool FrameDriver::hasStop(PyCodeObject *code, int unit) const {
  Plan *plan = planOf(code);
  return plan && unit >= 0 && unit < static_cast<int>(plan->flags.size()) &&
         plan->isStop(unit);
}

void FrameDriver::removePlan(PyCodeObject *code) {
  Plan *plan = planOf(code);
  if (!plan)
    return;
  Counted<Plan> keep(plan);
  for (int unit = 0, n = static_cast<int>(plan->flags.size()); unit < n; ++unit)
    removeStop(code, unit);
  // It is a plan without stops from here on, perhaps of running frames.
  if (compat::setCodeExtra(code, extraIndex, nullptr) < 0)
    PyErr_Clear();
}

void FrameDriver::comeBack(PyThreadState *thread) {
  Observation *current = observation;
  if (!current || current->over)
    return;
  current->over = true;
  Plan *plan = current->plan;
  Residual *residual = current->residual;
  for (int unit = 0, n = static_cast<int>(plan->flags.size()); unit < n; ++unit)
    if (plan->isStop(unit) && unit != plan->entry)
      residual->patch(unit, plan->before[unit]);
  if (compat::currentFrame(thread) != current->frame)
    return;
  int unit = compat::lastUnit(current->frame);
  if (plan->isStart(unit) && (plan->flags[unit] & (CanStop | InGroup)) &&
      unit != plan->entry)
    residual->patch(unit, -1);
}

Frame *FrameDriver::observedFrame(PyThreadState *) const {
  return observation ? observation->frame : nullptr;
}

PyCodeObject *FrameDriver::originalOf(PyCodeObject *code) {
  if (extraIndex < 0)
    return code;
  Extra *extra = extraOf(code);
  if (!extra || extra->kind != Extra::IsCopy)
    return code;
  PyCodeObject *original = static_cast<CopyNote *>(extra)->original;
  return original ? original : code;
}

void FrameDriver::holdHook() {
  if (holders++ || !started)
    return;
  compat::EvalHook now = compat::evalHook();
  if (now == &DriverHook::hook)
    return; // It stayed when somebody put one of theirs above it.
  formerHook = now;
  compat::setEvalHook(&DriverHook::hook);
}

void FrameDriver::releaseHook() {
  if (--holders || !started)
    return;
  if (compat::evalHook() == &DriverHook::hook)
    compat::setEvalHook(formerHook);
}
