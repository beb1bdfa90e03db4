//===- Observer.cpp - Records what CPython does ---------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Events to handlers: which frames are looked at, and how a recording starts
// and ends.
//
//===----------------------------------------------------------------------===//

#include "Capture/Observer.h"

#include "Capture/CPythonCompatInline.h"
#include "Capture/FrameDriver.h"
#include "Capture/TorchState.h"

#include <frameobject.h>
#include <opcode.h>

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;

static thread_local Observer *activeObserver = nullptr;

Observer *Observer::active() { return activeObserver; }
bool capture::isRecording() { return activeObserver != nullptr; }

Observer::Observer(const RecordOptions &options, PyThreadState *thread)
    : trace(std::make_unique<Trace>()), objects(*trace), options(options),
      thread(thread) {
  objects.locate = [this](Guard &guard) {
    if (!current)
      return;
    PyCodeObject *co = code();
    guard.file = py::reinterpret_borrow<py::object>(co->co_filename);
    guard.line = PyCode_Addr2Line(co, current->instruction.unit * 2);
  };
}

Observer::~Observer() { quit(); }

//===----------------------------------------------------------------------===//
// Start and end
//===----------------------------------------------------------------------===//

bool Observer::start(PyCodeObject *code, Frame *rootFrame) {
  rootCode = code;
  if (activeObserver || compat::traceFunction(thread) ||
      compat::profileFunction(thread) || compat::insideTrace(thread)) {
    discard({"a tracer, a profiler or another recording is active", ""});
    return false;
  }
  try {
    if (!isRecordable()) {
      discard({"a mode or transform of torch is active", ""});
      return false;
    }
    trace->state = readTorchState();
    py::object cls = options.recordClass;
    if (!cls)
      cls = py::module_::import("dynamo_mlir.capture.record").attr("Record");
    recordObject = cls(py::cast(this, py::return_value_policy::reference));
    recordObject.attr("__enter__")();
    entered = true;
  } catch (py::error_already_set &error) {
    discard({std::string("recording failed to start: ") + error.what(), ""});
    return false;
  }
  objects.outputOf = [this](PyObject *tensor) {
    return py::cast<int64_t>(
        recordObject.attr("output_of")(py::handle(tensor)));
  };
  // A collection would run destructors at any instruction.
  collecting = PyGC_Disable();
  activeObserver = this;
  running = started = true;
  if (rootFrame) {
    PyFrameObject *object = compat::frameObject(thread, rootFrame);
    if (!object) {
      discard({"the frame has no object", ""});
      return false;
    }
    try {
      enterRoot(object, rootFrame);
    } catch (Stop &stop) {
      discard(stop);
    } catch (py::error_already_set &error) {
      discard({std::string("internal: ") + error.what(), ""});
    }
  }
  if (running)
    compat::setTrace(thread, traceFunction, Py_None);
  return running;
}

void Observer::quit() {
  if (activeObserver == this)
    activeObserver = nullptr;
  if (running) {
    running = false;
    if (collecting)
      PyGC_Enable();
    if (compat::traceFunction(thread) == traceFunction)
      compat::setTrace(thread, nullptr, nullptr);
    FrameDriver::get().comeBack(thread);
  }
  if (entered) {
    entered = false;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    try {
      recordObject.attr("__exit__")(py::none(), py::none(), py::none());
    } catch (py::error_already_set &error) {
      error.discard_as_unraisable("dynamo_mlir: the end of a recording");
    }
    PyErr_Restore(type, value, traceback);
  }
}

Break Observer::breakAt(const Stop &stop) {
  Break result;
  result.reason = stop.reason;
  result.advice = stop.advice;
  if (current && !frames.empty()) {
    PyCodeObject *co = code();
    if (const char *file = PyUnicode_AsUTF8(co->co_filename))
      result.file = file;
    PyErr_Clear();
    result.line = PyCode_Addr2Line(co, current->instruction.unit * 2);
    result.depth = static_cast<int32_t>(frames.size()) - 1;
  }
  return result;
}

int32_t Observer::rootUnit() const {
  if (frames.empty())
    return -1;
  const Watched &root = frames.front();
  return root.groupStart >= 0 ? root.groupStart : root.instruction.start;
}

void Observer::discard(const Stop &stop) {
  why = std::make_unique<Break>(breakAt(stop));
  blockedAt = rootUnit();
  over = true;
  quit();
}

void Observer::endReturn(PyObject *result) {
  try {
    trace->exit.returns = true;
    trace->exit.result = objects.value(result);
    finishEffects();
    trace->record = recordObject;
    over = true;
    quit();
  } catch (Stop &stop) {
    discard({"its result or an effect " + stop.reason, stop.advice});
    blockedAt = stop.made;
  }
}

void Observer::end(const Stop &stop) {
  Frame *frame = frames.front().frame;
  Break ended = breakAt(stop);
  try {
    Exit &exit = trace->exit;
    exit.returns = false;
    exit.next = rootUnit();
    PyObject **locals = compat::locals(frame);
    for (int i = 0, n = compat::numLocals(frame); i < n; ++i) {
      Value *value = nullptr;
      if (locals[i])
        value = untouched[i]
                    ? objects.valueOfSource(objects.root(Access::Local, i))
                    : objects.value(locals[i]);
      exit.locals.push_back(value);
    }
    PyObject **stack = compat::stack(frame);
    for (int i = 0, n = compat::stackDepth(frame); i < n; ++i)
      exit.stack.push_back(stack[i] ? objects.value(stack[i]) : nullptr);
    finishEffects();
    trace->record = recordObject;
    trace->ended = std::make_unique<Break>(std::move(ended));
    over = true;
    quit();
  } catch (Stop &inner) {
    discard({stop.reason + ", and what is live there " + inner.reason,
             stop.advice});
    blockedAt = inner.made;
  }
}

void Observer::finishEffects() {
  objects.finishEffects();
  static py::handle isGradEnabled =
      py::object(py::module_::import("torch").attr("is_grad_enabled"))
          .release();
  bool on = py::cast<bool>(isGradEnabled());
  if (on == trace->state.gradMode)
    return;
  Effect effect;
  effect.kind = Effect::GradMode;
  effect.operands.push_back(objects.value(on ? Py_True : Py_False));
  trace->effects.push_back(std::move(effect));
}

py::object Observer::location() const {
  if (frames.empty())
    return py::none();
  PyCodeObject *co = code();
  return py::make_tuple(py::handle(co->co_filename),
                        PyCode_Addr2Line(co, current->instruction.unit * 2));
}

bool Observer::settled(PyObject *tensor) {
  if (!py::hasattr(recordObject, "settled"))
    return false;
  return py::cast<bool>(recordObject.attr("settled")(py::handle(tensor)));
}

void Observer::refuse(std::string reason) {
  if (refused.empty())
    refused = std::move(reason);
}

void Observer::gradMode(bool on) { recordObject.attr("set_grad_mode")(on); }

Outcome Observer::finish(PyObject *result) {
  if (!over && started) {
    if (!result)
      discard({"raises an exception", ""});
    else
      discard({"no Python code of the function was run", ""});
  }
  quit();
  Outcome outcome;
  outcome.result = result;
  if (!why)
    outcome.trace = std::move(trace);
  outcome.why = std::move(why);
  outcome.blockedAt = blockedAt;
  outcome.code = py::reinterpret_borrow<py::object>(
      reinterpret_cast<PyObject *>(rootCode));
  return outcome;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

int Observer::traceFunction(PyObject *, PyFrameObject *frame, int what,
                            PyObject *argument) {
  Observer *self = activeObserver;
  if (!self || self->over)
    return 0;
  // The program's exception, if one is on its way, is none of ours.
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  try {
    try {
      self->event(frame, what, argument);
    } catch (Stop &stop) {
      // A root instruction that has not run yet can be left to CPython.
      if (self->frames.size() == 1 && self->current && what == PyTrace_OPCODE &&
          !self->current->pending)
        self->end(stop);
      else
        self->discard(stop);
    }
  } catch (py::error_already_set &error) {
    self->discard({std::string("internal: ") + error.what(), ""});
  } catch (std::exception &error) {
    self->discard({std::string("internal: ") + error.what(), ""});
  }
  PyErr_Restore(type, value, traceback);
  return 0;
}

void Observer::event(PyFrameObject *object, int what, PyObject *argument) {
  if (ignoring) {
    if (what == PyTrace_CALL) {
      ++ignoring;
      compat::setEvents(object, false, false);
    } else if (what == PyTrace_RETURN) {
      --ignoring;
    }
    return;
  }
  Frame *frame = compat::frameOf(object);
  switch (what) {
  case PyTrace_CALL:
    if (frames.empty())
      return enter(object, frame);
    // C code of torch's may lie in between, so the recording ends only when
    // the caller goes on.
    try {
      return enter(object, frame);
    } catch (Stop &stop) {
      if (frames.size() && current->frame == frame) {
        frames.pop_back();
        current = &frames.back();
      }
      refuse(stop.reason);
      refusedAdvice = stop.advice;
      compat::setEvents(object, false, false);
      ignoring = 1;
      return;
    }
  case PyTrace_OPCODE:
    return instruction(frame);
  case PyTrace_RETURN:
    return leave(frame, argument);
  case PyTrace_EXCEPTION:
    return raised(frame, argument);
  default:
    return;
  }
}

void Observer::enterRoot(PyFrameObject *object, Frame *frame) {
  // The driver runs it in a copy.
  PyCodeObject *co = FrameDriver::originalOf(compat::code(frame));
  if (rootCode && co != rootCode)
    stop("another function ran first");
  rootCode = co;
  if (co->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR))
    stop("is a generator or coroutine");
  compat::setEvents(object, false, true);
  trace->code =
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject *>(co));
  trace->start = compat::lastUnit(frame) + 1;
  Watched root;
  root.frame = frame;
  frames.reserve(64);
  frames.push_back(root);
  current = &frames.back();
  ++trace->frames;
  untouched.assign(compat::numLocals(frame), true);
  // In front of RESUME all is done but its own: the segment starts at 0.
  if (trace->start <= compat::firstTraceable(co) + 1)
    trace->start = 0;
  PyObject **stack = compat::stack(frame);
  for (int i = 0, n = trace->start ? compat::stackDepth(frame) : 0; i < n; ++i)
    if (stack[i])
      objects.read(stack[i], objects.root(Access::Stack, i));
}

/// Code of ours, and of torch where it runs operators: not the user's.
bool Observer::isIgnored(Frame *frame) {
  PyObject *file = compat::code(frame)->co_filename;
  const char *path = PyUnicode_AsUTF8(file);
  if (!path) {
    PyErr_Clear();
    return false;
  }
  if (!frames.empty() && frames.back().plan.operators)
    for (const char *name :
         {"/torch/_ops.py", "/torch/overrides.py", "/torch/_compile.py",
          "/torch/utils/_python_dispatch.py", "/torch/_library/",
          "/torch/_subclasses/", "/torch/_dynamo/"})
      if (strstr(path, name))
        return true;
  static const std::string *record = new std::string(py::cast<std::string>(
      py::module_::import("dynamo_mlir.capture.record").attr("__file__")));
  return *record == path;
}

/// Marked by dynamo_mlir.disable.
static bool isDisabled(PyObject *function) {
  PyObject *attributes =
      function && PyFunction_Check(function)
          ? reinterpret_cast<PyFunctionObject *>(function)->func_dict
          : nullptr;
  return attributes &&
         PyDict_GetItemString(attributes, "_dynamo_mlir_disabled");
}

void Observer::enter(PyFrameObject *object, Frame *frame) {
  if (frames.empty()) {
    if (isIgnored(frame)) {
      compat::setEvents(object, false, false);
      ignoring = 1;
      return;
    }
    enterRoot(object, frame);
    return;
  }
  Watched &caller = frames.back();
  if (isIgnored(frame)) {
    compat::setEvents(object, false, false);
    ignoring = 1;
    return;
  }
  if (!caller.pending || !caller.plan.calls)
    stop("calls " + describe(compat::function(frame)) + " from code in C");
  if (isDisabled(compat::function(frame)))
    stop("calls " + describe(compat::function(frame)) +
         ", which dynamo_mlir.disable keeps as it is");
  PyCodeObject *co = compat::code(frame);
  if (co->co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR))
    stop("runs a coroutine");
  if (frames.size() > 800)
    stop("calls very deeply");
  compat::setEvents(object, false, true);
  PyTypeObject *constructs = caller.plan.constructs;
  Watched callee;
  callee.frame = frame;
  frames.push_back(callee);
  current = &frames.back();
  ++trace->frames;
  // A generator that goes on has its locals already.
  if (compat::lastUnit(frame) <= compat::firstTraceable(co) + 2) {
    if (constructs && co->co_argcount > 0) {
      PyObject *self = compat::locals(frame)[0];
      if (self && PyCell_Check(self) && compat::isCell(co, 0))
        self = PyCell_GET(self);
      if (self && Py_TYPE(self) == constructs && !objects.find(self))
        objects.addFresh(self);
    }
    bindArguments(frame);
  }
}

/// What CPython itself has made for the callee: tuple and dict of the rest, and
/// cells; and the defaults that stand in for arguments.
void Observer::bindArguments(Frame *frame) {
  PyCodeObject *co = compat::code(frame);
  PyObject **locals = compat::locals(frame);
  for (int i = 0, n = compat::numLocals(frame); i < n; ++i)
    if (locals[i] && compat::isCell(co, i) && PyCell_Check(locals[i]))
      objects.addFresh(locals[i]);
  auto argument = [&](int i) {
    PyObject *value = locals[i];
    return value && compat::isCell(co, i) && PyCell_Check(value)
               ? PyCell_GET(value)
               : value;
  };
  int all = co->co_argcount + co->co_kwonlyargcount;
  int next = all;
  if (co->co_flags & CO_VARARGS)
    if (PyObject *rest = argument(next++))
      if (!isValue(rest))
        objects.addFresh(rest);
  if (co->co_flags & CO_VARKEYWORDS)
    if (PyObject *rest = argument(next++))
      objects.addFresh(rest);
  // An argument that is not known may be a default.
  PyObject *function = compat::function(frame);
  PyObject *defaults = PyFunction_GetDefaults(function);
  PyObject *kwDefaults = PyFunction_GetKwDefaults(function);
  Known *known = objects.find(function);
  for (int i = 0; i < all; ++i) {
    PyObject *value = argument(i);
    if (!value || objects.isKnown(value))
      continue;
    bool isDefault = false;
    if (defaults && i < co->co_argcount) {
      Py_ssize_t at = i - (co->co_argcount - PyTuple_GET_SIZE(defaults));
      isDefault = at >= 0 && PyTuple_GET_ITEM(defaults, at) == value;
    } else if (kwDefaults && i >= co->co_argcount) {
      isDefault = PyDict_GetItem(kwDefaults, compat::localName(co, i)) == value;
    }
    if (isDefault && known && !known->fresh())
      objects.addConstant(value);
  }
}

void Observer::instruction(Frame *frame) {
  if (!current || current->frame != frame)
    stop("frames out of step");
  // The instruction that it is about has run.
  if (!refused.empty())
    return discard({refused, refusedAdvice});
  complete(nullptr);
  current->instruction =
      compat::decode(compat::code(frame), compat::lastUnit(frame));
  current->plan = Plan();
  current->depth = compat::stackDepth(frame);
  if (frames.size() == 1)
    for (auto &[unit, reason] : options.stops)
      if (unit == current->instruction.start) {
        Break ended = reason;
        end({reason.reason, reason.advice});
        if (trace->ended)
          *trace->ended = ended;
        return;
      }
  ++trace->instructions;
  if (frames.size() == 1)
    objects.unit = current->groupStart >= 0 ? current->groupStart
                                            : current->instruction.start;
  switch (current->instruction.opcode) {
  case KW_NAMES:
    current->groupStart = current->instruction.start;
    break;
  case PRECALL:
    if (current->groupStart < 0)
      current->groupStart = current->instruction.start;
    break;
  case CALL:
    break;
  default:
    current->groupStart = -1;
  }
  handle();
  current->pending = true;
}

/// The instruction has run: enters its result.
void Observer::complete(PyObject *) {
  if (!current->pending)
    return;
  current->pending = false;
  Plan plan = std::move(current->plan);
  current->plan = Plan();
  if (current->instruction.opcode == CALL) {
    current->kwNames = nullptr;
    current->groupStart = -1;
  }
  if (!plan.hasResult)
    return;
  if (compat::stackDepth(current->frame) <= 0)
    return;
  PyObject *result = top();
  if (plan.after)
    return plan.after(result);
  switch (plan.result) {
  case Plan::None:
    break;
  case Plan::FreshTuple:
    if (result && PyTuple_Check(result) && !objects.isKnown(result))
      objects.addFresh(result);
    break;
  case Plan::Fresh:
    if (result && !objects.isKnown(result))
      objects.addFresh(result);
    break;
  case Plan::Expected:
    if (result != plan.expected)
      stop("reads something else than was looked up");
    break;
  case Plan::InstanceDict:
    if (PyDict_Check(result))
      addInstanceDict(plan.expected, result);
    break;
  }
}

void Observer::addInstanceDict(PyObject *object, PyObject *dict) {
  Known *owner = objects.find(object);
  if (!owner || objects.find(dict))
    return;
  if (owner->fresh()) {
    objects.addFresh(dict).owner = object;
    return;
  }
  Known *known = objects.addConstant(dict);
  known->pinned = false;
  known->source = objects.step(owner->source, Access::InstanceDict, 0);
  known->typed = true;
  known->owner = object;
}

void Observer::leave(Frame *frame, PyObject *result) {
  if (!current || current->frame != frame)
    stop("frames out of step");
  if (!refused.empty())
    return discard({refused, refusedAdvice});
  current->pending = false;
  if (frames.size() == 1) {
    if (!result)
      stop("raises an exception");
    endReturn(result);
    return;
  }
  // A generator object is made here; its frame has run nothing of the user's.
  frames.pop_back();
  current = &frames.back();
  objects.sweep();
}

void Observer::raised(Frame *frame, PyObject *argument) {
  if (!current || current->frame != frame)
    stop("frames out of step");
  if (!refused.empty())
    return discard({refused, refusedAdvice});
  if (current->pending && current->plan.operators && !current->plan.calls)
    stop("an operator raised an exception");
  if (current->pending && !current->plan.mayRaise)
    stop("raises an exception");
  current->pending = false;
  current->plan = Plan();
  current->groupStart = -1;
  current->kwNames = nullptr;
  if (argument && PyTuple_Check(argument) && PyTuple_GET_SIZE(argument) == 3) {
    PyObject *value = PyTuple_GET_ITEM(argument, 1);
    if (PyExceptionInstance_Check(value) && !objects.find(value))
      objects.addFresh(value);
  }
}

//===----------------------------------------------------------------------===//
// What handlers see
//===----------------------------------------------------------------------===//

PyCodeObject *Observer::code() const { return compat::code(current->frame); }
PyObject *Observer::local(int index) const {
  return compat::locals(current->frame)[index];
}
PyObject *Observer::constant(int index) const {
  return PyTuple_GET_ITEM(code()->co_consts, index);
}
PyObject *Observer::name(int index) const {
  return PyTuple_GET_ITEM(code()->co_names, index);
}
PyObject *Observer::top(int depth) const {
  return compat::stack(
      current->frame)[compat::stackDepth(current->frame) - depth];
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

Outcome capture::recordCall(PyObject *callable, PyObject *const *args,
                            size_t nargsf, PyObject *kwnames,
                            const RecordOptions &options, PyCodeObject *code) {
  auto observer = std::make_unique<Observer>(options, PyThreadState_Get());
  observer->start(code, nullptr);
  PyObject *result = PyObject_Vectorcall(callable, args, nargsf, kwnames);
  return observer->finish(result);
}

Outcome capture::recordFrame(PyThreadState *thread, Frame *frame,
                             const RecordOptions &options) {
  auto observer = std::make_unique<Observer>(options, thread);
  PyCodeObject *code = compat::code(frame);
  bool fromStart = compat::lastUnit(frame) < compat::firstTraceable(code);
  observer->start(code, fromStart ? nullptr : frame);
  PyObject *result = compat::evaluate(thread, frame, false);
  return observer->finish(result);
}
