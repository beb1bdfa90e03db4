//===- CompiledFunction.cpp - A compiled function, as Python sees it ------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/CompiledFunction.h"
#include "Capture/Bindings.h"
#include "Capture/CPythonCompatInline.h"
#include "Capture/Observer.h"
#include "Capture/TorchState.h"

#include "Pybind.h"
#include <structmember.h>

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;

int &Disabled::depth() {
  static thread_local int depth = 0;
  return depth;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

BoundArguments::~BoundArguments() {
  for (PyObject *object : owned)
    Py_DECREF(object);
}

bool BoundArguments::own(PyObject *object) {
  if (object)
    owned.push_back(object);
  else
    PyErr_Clear();
  return object != nullptr;
}

/// Position of a keyword among the names, -1 if it is none of them.
static int32_t findName(PyCodeObject *code, PyObject *name, int32_t from,
                        int32_t to) {
  for (int32_t i = from; i < to; ++i)
    if (compat::localName(code, i) == name)
      return i;
  for (int32_t i = from; i < to; ++i)
    if (PyUnicode_Compare(compat::localName(code, i), name) == 0)
      return i;
  return -1;
}

bool BoundArguments::bind(PyFunctionObject *function, PyObject *const *args,
                          size_t nargs, PyObject *kwnames) {
  auto *code = reinterpret_cast<PyCodeObject *>(function->func_code);
  number = compat::numLocals(code);
  if (number > kInline) {
    store.resize(number);
    slots = store.data();
  }
  std::fill_n(slots, number, nullptr);
  int32_t positional = code->co_argcount;
  int32_t named = positional + code->co_kwonlyargcount;
  int32_t given = static_cast<int32_t>(nargs);
  std::copy_n(args, std::min(given, positional), slots);
  int32_t extra = named;
  if (code->co_flags & CO_VARARGS) {
    int32_t rest = std::max(given - positional, 0);
    PyObject *tuple = PyTuple_New(rest);
    if (!own(tuple))
      return false;
    for (int32_t i = 0; i < rest; ++i) {
      Py_INCREF(args[positional + i]);
      PyTuple_SET_ITEM(tuple, i, args[positional + i]);
    }
    slots[extra++] = tuple;
  } else if (given > positional) {
    return false;
  }
  PyObject *keywords = nullptr;
  if (code->co_flags & CO_VARKEYWORDS) {
    if (!own(keywords = PyDict_New()))
      return false;
    slots[extra] = keywords;
  }
  Py_ssize_t numKeywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t k = 0; k < numKeywords; ++k) {
    PyObject *name = PyTuple_GET_ITEM(kwnames, k), *value = args[nargs + k];
    if (!PyUnicode_Check(name))
      return false;
    int32_t at = findName(code, name, code->co_posonlyargcount, named);
    if (at >= 0) {
      if (slots[at])
        return false;
      slots[at] = value;
    } else if (!keywords) {
      return false;
    } else if (PyDict_SetItem(keywords, name, value) < 0) {
      PyErr_Clear();
      return false;
    }
  }
  PyObject *defaults = function->func_defaults;
  int32_t numDefaults =
      defaults ? static_cast<int32_t>(PyTuple_GET_SIZE(defaults)) : 0;
  for (int32_t i = std::min(given, positional); i < positional; ++i) {
    if (slots[i])
      continue;
    int32_t at = i - (positional - numDefaults);
    if (at < 0)
      return false;
    slots[i] = PyTuple_GET_ITEM(defaults, at);
  }
  for (int32_t i = positional; i < named; ++i) {
    if (slots[i])
      continue;
    PyObject *value = function->func_kwdefaults
                          ? PyDict_GetItemWithError(function->func_kwdefaults,
                                                    compat::localName(code, i))
                          : nullptr;
    if (!value) {
      PyErr_Clear();
      return false;
    }
    slots[i] = value;
  }
  if (!code->co_ncellvars && !code->co_nfreevars)
    return true;
  int32_t free = 0;
  for (int32_t i = 0; i < number; ++i) {
    if (compat::isCell(code, i)) {
      PyObject *cell = PyCell_New(slots[i]);
      if (!own(cell))
        return false;
      slots[i] = cell;
    } else if (compat::isFree(code, i)) {
      if (!function->func_closure ||
          free >= PyTuple_GET_SIZE(function->func_closure))
        return false;
      slots[i] = PyTuple_GET_ITEM(function->func_closure, free++);
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The object
//===----------------------------------------------------------------------===//

namespace {
/// What is C++ of a compiled function.
struct State {
  SegmentTable table;
  /// Where segments start: known with the first one.
  int32_t entry = 0;
  /// Every call runs the function as it is, and why.
  bool eager = false;
  std::string why;
  bool recording = false;
  int64_t recordings = 0;
  std::vector<Break> breaks;
};

struct FunctionObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject *wrapped; ///< a Python function
  PyObject *door;    ///< what dynamo_mlir.capture.door.Door says
  /// What is called where segments do not serve: `wrapped`, or another
  /// compiler's version of it. Never null.
  PyObject *otherwise;
  PyObject *dict, *weakrefs;
  State *state;
};
} // namespace

static FunctionObject *as(PyObject *object) {
  return reinterpret_cast<FunctionObject *>(object);
}

/// Calls a method of the door; a failure there is ours and is dropped, unless
/// the door means it (`strict`): then it is left set and false is returned.
template <typename... Args>
static bool tell(PyObject *door, const char *what, Args &&...args) {
  try {
    py::handle(door).attr(what)(std::forward<Args>(args)...);
    return true;
  } catch (py::error_already_set &raised) {
    if (py::hasattr(raised.value(), "_dynamo_mlir_strict")) {
      raised.restore();
      return false;
    }
    return true;
  } catch (std::exception &) {
    return true;
  }
}

/// Asks the door for something else to call from now on, instead of the
/// function as it is written.
static void askOtherwise(FunctionObject *self) {
  try {
    py::object other =
        py::handle(self->door).attr("otherwise")(py::handle(self->wrapped));
    if (PyCallable_Check(other.ptr()))
      Py_SETREF(self->otherwise, other.release().ptr());
  } catch (py::error_already_set &) {
    // Ours: the function itself does.
  }
}

/// Compiles what was recorded; false with an exception set if that is to reach
/// the user.
static bool addSegment(FunctionObject *self, const Trace &trace) {
  State &state = *self->state;
  std::string error;
  py::object failure;
  std::shared_ptr<Segment> segment;
  try {
    py::object program = py::none();
    if (trace.record && !trace.record.is_none())
      program = py::handle(self->door).attr("program")(trace.record);
    segment = Segment::create(trace, program, error);
  } catch (py::error_already_set &raised) {
    failure = raised.value();
  } catch (std::exception &raised) {
    error = raised.what();
  }
  if (segment) {
    state.entry = trace.start;
    state.table.add(segment);
    return tell(self->door, "on_segment", py::handle(self->wrapped),
                py::cast(segment));
  }
  // Another try would cost as much and end the same way.
  state.eager = true;
  state.why = failure ? py::cast<std::string>(py::str(failure)) : error;
  askOtherwise(self);
  return tell(self->door, "on_failure", py::handle(self->wrapped),
              failure ? failure : py::object(py::str(error)));
}

/// The function can't be recorded as a whole.
static bool addBreak(FunctionObject *self, const Break &why) {
  State &state = *self->state;
  state.breaks.push_back(why);
  state.eager = true;
  state.why = why.reason;
  askOtherwise(self);
  return tell(self->door, "on_break", py::handle(self->wrapped), why.reason,
              why.advice, why.file, why.line);
}

/// Runs the function under observation.
static PyObject *record(FunctionObject *self, PyObject *const *args,
                        size_t nargsf, PyObject *kwnames) {
  State &state = *self->state;
  state.recording = true;
  ++state.recordings;
  RecordOptions options;
  capture::Outcome seen;
  try {
    options.recordClass = py::handle(self->door).attr("record_class");
    seen = recordCall(
        self->wrapped, args, nargsf, kwnames, options,
        reinterpret_cast<PyCodeObject *>(PyFunction_GET_CODE(self->wrapped)));
  } catch (py::error_already_set &raised) {
    // Before the call; whatever the call itself raises is in `seen`.
    raised.restore();
    PyErr_Clear();
    state.recording = false;
    state.eager = true;
    state.why = "recording failed";
    return PyObject_Vectorcall(self->wrapped, args, nargsf, kwnames);
  }
  if (seen.result) {
    bool good = true;
    if (seen.trace && seen.trace->exit.returns)
      good = addSegment(self, *seen.trace);
    else if (seen.trace && seen.trace->ended)
      good = addBreak(self, *seen.trace->ended);
    else if (seen.why)
      good = addBreak(self, *seen.why);
    if (!good)
      Py_CLEAR(seen.result);
  }
  state.recording = false;
  // The record drops references to tensors: after `recording` is off, as that
  // may run Python code.
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  seen.trace.reset();
  PyErr_Restore(type, value, traceback);
  return seen.result;
}

static PyObject *callFunction(PyObject *object, PyObject *const *args,
                              size_t nargsf, PyObject *kwnames) {
  FunctionObject *self = as(object);
  State &state = *self->state;
  auto *function = reinterpret_cast<PyFunctionObject *>(self->wrapped);
  PyThreadState *thread = PyThreadState_Get();
  auto original = [&] {
    return PyObject_Vectorcall(self->wrapped, args, nargsf, kwnames);
  };
  if (state.eager && !Disabled::depth() && !isRecording())
    return PyObject_Vectorcall(self->otherwise, args, nargsf, kwnames);
  // A tracer or a profiler sees the program as it is written.
  if (state.eager || Disabled::depth() || isRecording() ||
      compat::traceFunction(thread) || compat::profileFunction(thread))
    return original();
  // `self` may be dropped by what runs.
  py::object keep = py::reinterpret_borrow<py::object>(object);
  if (!state.table.empty()) {
    auto *code = reinterpret_cast<PyCodeObject *>(function->func_code);
    size_t nargs = PyVectorcall_NARGS(nargsf);
    FrameView frame;
    frame.function = self->wrapped;
    PyObject *result = nullptr;
    SegmentResult ran;
    if (!kwnames && static_cast<int>(nargs) == code->co_argcount &&
        code->co_nlocals == compat::numLocals(code) &&
        !code->co_ncellvars && // an argument may be one
        !code->co_kwonlyargcount &&
        !(code->co_flags & (CO_VARARGS | CO_VARKEYWORDS))) {
      // Guards read the arguments where they lie.
      frame.locals = const_cast<PyObject **>(args);
      frame.numLocals = static_cast<int32_t>(nargs);
      ran = state.table.run(state.entry, frame, &result);
    } else {
      BoundArguments bound;
      if (!bound.bind(function, args, nargs, kwnames))
        return original();
      frame.locals = bound.locals();
      frame.numLocals = bound.count();
      ran = state.table.run(state.entry, frame, &result);
    }
    if (ran == SegmentResult::Done)
      return result;
    if (ran == SegmentResult::Refused)
      return original();
  }
  if (state.recording || !isRecordable())
    return original();
  if (!state.table.hasRoom(state.entry)) {
    if (state.table.takeNotice(state.entry) &&
        !tell(self->door, "on_limit", py::handle(self->wrapped),
              state.table.misses(state.entry)))
      return nullptr;
    return original();
  }
  if (!state.table.empty()) {
    std::vector<std::string> misses = state.table.misses(state.entry);
    if (!misses.empty())
      tell(self->door, "on_recompile", py::handle(self->wrapped),
           misses.back());
  }
  return record(self, args, nargsf, kwnames);
}

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

static PyObject *newFunction(PyTypeObject *type, PyObject *args,
                             PyObject *kwargs) {
  static const char *names[] = {"function", "door", "limit", nullptr};
  PyObject *function, *door;
  int limit = 8;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O|i:CompiledFunction",
                                   const_cast<char **>(names), &PyFunction_Type,
                                   &function, &door, &limit))
    return nullptr;
  auto *self = reinterpret_cast<FunctionObject *>(type->tp_alloc(type, 0));
  if (!self)
    return nullptr;
  self->vectorcall = callFunction;
  self->wrapped = function;
  self->door = door;
  self->otherwise = function;
  Py_INCREF(function);
  Py_INCREF(function);
  Py_INCREF(door);
  self->state = new State;
  self->state->table.setLimit(limit);
  auto *code = reinterpret_cast<PyCodeObject *>(PyFunction_GET_CODE(function));
  if (compat::isGenerator(code)) {
    self->state->eager = true;
    self->state->why = "generators and coroutines are not compiled";
  }
  // As functools.wraps does.
  PyObject *own = reinterpret_cast<PyFunctionObject *>(function)->func_dict;
  self->dict = own ? PyDict_Copy(own) : PyDict_New();
  if (!self->dict)
    Py_CLEAR(self);
  return reinterpret_cast<PyObject *>(self);
}

static int traverseFunction(PyObject *object, visitproc visit, void *arg) {
  FunctionObject *self = as(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->wrapped);
  Py_VISIT(self->door);
  Py_VISIT(self->otherwise);
  Py_VISIT(self->dict);
  return self->state ? self->state->table.traverse(visit, arg) : 0;
}

static int clearFunction(PyObject *object) {
  FunctionObject *self = as(object);
  if (self->state) {
    // `wrapped` and `door` stay: the object may still be called.
    SegmentTable gone = std::move(self->state->table);
    self->state->table.clear();
    self->state->eager = true;
  }
  Py_CLEAR(self->dict);
  return 0;
}

static void freeFunction(PyObject *object) {
  FunctionObject *self = as(object);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self->weakrefs)
    PyObject_ClearWeakRefs(object);
  clearFunction(object);
  delete self->state;
  Py_CLEAR(self->wrapped);
  Py_CLEAR(self->door);
  Py_CLEAR(self->otherwise);
  type->tp_free(object);
  Py_DECREF(type);
}

static PyObject *getMethod(PyObject *self, PyObject *instance, PyObject *) {
  if (instance && instance != Py_None)
    return PyMethod_New(self, instance);
  Py_INCREF(self);
  return self;
}

/// Own attributes first, then those of the function.
static PyObject *getAttribute(PyObject *self, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(self, name);
  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
    return value;
  PyErr_Clear();
  return PyObject_GetAttr(as(self)->wrapped, name);
}

static PyObject *reprFunction(PyObject *self) {
  return PyUnicode_FromFormat("<compiled %R>", as(self)->wrapped);
}

/// Names that every type has, and that are the function's here.
static PyObject *passOn(PyObject *self, void *name) {
  return PyObject_GetAttrString(as(self)->wrapped,
                                static_cast<const char *>(name));
}

static int passOnSet(PyObject *self, PyObject *value, void *name) {
  return PyObject_SetAttrString(as(self)->wrapped,
                                static_cast<const char *>(name), value);
}

static PyObject *getWrapped(PyObject *self, void *) {
  Py_INCREF(as(self)->wrapped);
  return as(self)->wrapped;
}

static PyObject *refusePickle(PyObject *self, PyObject *) {
  PyErr_Format(
      PyExc_TypeError,
      "a compiled function can't be pickled; pickle %U itself, which "
      "is its __wrapped__, and compile it where it is loaded",
      reinterpret_cast<PyFunctionObject *>(as(self)->wrapped)->func_qualname);
  return nullptr;
}

static PyObject *returnSelf(PyObject *self, PyObject *) {
  Py_INCREF(self);
  return self;
}

static PyObject *resetFunction(PyObject *self, PyObject *) {
  State &state = *as(self)->state;
  SegmentTable gone = std::move(state.table);
  state.table.clear();
  auto *code =
      reinterpret_cast<PyCodeObject *>(PyFunction_GET_CODE(as(self)->wrapped));
  state.eager = compat::isGenerator(code);
  if (!state.eager)
    state.why.clear();
  state.breaks.clear();
  Py_INCREF(as(self)->wrapped);
  Py_SETREF(as(self)->otherwise, as(self)->wrapped);
  Py_RETURN_NONE;
}

/// What reports show: a dict.
static PyObject *functionInfo(PyObject *self, PyObject *) {
  const State &state = *as(self)->state;
  try {
    py::dict info;
    py::list segments, breaks;
    for (const std::shared_ptr<Segment> &segment : state.table.all())
      segments.append(py::cast(segment));
    for (const Break &b : state.breaks)
      breaks.append(py::make_tuple(b.reason, b.advice, b.file, b.line));
    info["segments"] = segments;
    info["breaks"] = breaks;
    info["eager"] = state.eager;
    info["why"] = state.why;
    info["door"] = py::reinterpret_borrow<py::object>(as(self)->door);
    info["recordings"] = state.recordings;
    info["misses"] = state.table.misses(state.entry);
    return info.release().ptr();
  } catch (py::error_already_set &raised) {
    raised.restore();
    return nullptr;
  }
}

void dynamo::capture::bindCompiledFunction(py::module_ &module) {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall),
       READONLY, nullptr},
      {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, dict), READONLY,
       nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weakrefs),
       READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static auto passed = [](const char *name) {
    return PyGetSetDef{name, passOn, passOnSet, nullptr,
                       const_cast<char *>(name)};
  };
  static PyGetSetDef getters[] = {
      passed("__doc__"),
      passed("__name__"),
      passed("__qualname__"),
      passed("__module__"),
      {"__wrapped__", getWrapped, nullptr, nullptr, nullptr},
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr,
       nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {
      {"__reduce__", refusePickle, METH_NOARGS, nullptr},
      {"__copy__", returnSelf, METH_NOARGS, nullptr},
      {"__deepcopy__", returnSelf, METH_O, nullptr},
      {"_capture_info", functionInfo, METH_NOARGS, nullptr},
      {"_capture_reset", resetFunction, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {
      {Py_tp_new, reinterpret_cast<void *>(newFunction)},
      {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
      {Py_tp_dealloc, reinterpret_cast<void *>(freeFunction)},
      {Py_tp_traverse, reinterpret_cast<void *>(traverseFunction)},
      {Py_tp_clear, reinterpret_cast<void *>(clearFunction)},
      {Py_tp_descr_get, reinterpret_cast<void *>(getMethod)},
      {Py_tp_getattro, reinterpret_cast<void *>(getAttribute)},
      {Py_tp_repr, reinterpret_cast<void *>(reprFunction)},
      {Py_tp_members, members},
      {Py_tp_getset, getters},
      {Py_tp_methods, methods},
      {0, nullptr}};
  static PyType_Spec spec = {
      "dynamo_mlir.CompiledFunction", sizeof(FunctionObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
          Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE,
      slots};
  PyObject *type = PyType_FromSpec(&spec);
  if (!type)
    throw py::error_already_set();
  module.add_object("CompiledFunction",
                    py::reinterpret_steal<py::object>(type));
  module.def("push_disabled", [] { ++Disabled::depth(); });
  module.def("pop_disabled", [] { --Disabled::depth(); });
  module.def("is_disabled", [] { return Disabled::depth() > 0; });
}
