//===- CPythonCompat.cpp - CPython beyond its stable API ------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CPython 3.11.  The layouts come from the headers that this file is compiled
// with; `supported` reads each of them once on objects whose content is known,
// so that a CPython that was built otherwise is refused rather than misread.
//
//===----------------------------------------------------------------------===//

#include "Capture/CPythonCompatInline.h"

#define Py_BUILD_CORE 1
#include <internal/pycore_code.h>
#include <internal/pycore_dict.h>
#undef Py_BUILD_CORE
#include <opcode.h>

using namespace dynamo::capture;

namespace {
/// A new reference that is dropped at the end of the scope; may be null.
struct Owned {
  PyObject *object;
  explicit Owned(PyObject *object) : object(object) {}
  ~Owned() { Py_XDECREF(object); }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;
  operator PyObject *() const { return object; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Code objects
//===----------------------------------------------------------------------===//

compat::Instruction compat::decode(PyCodeObject *code, int unit) {
  Instruction result;
  result.start = unit;
  int oparg = opargAt(code, unit);
  int opcode = opcodeAt(code, unit);
  while (opcode == EXTENDED_ARG) {
    ++unit;
    oparg = (oparg << 8) | opargAt(code, unit);
    opcode = opcodeAt(code, unit);
  }
  result.opcode = opcode;
  result.oparg = oparg;
  result.unit = unit;
  result.next = unit + 1 + cacheUnits(opcode);
  return result;
}

PyObject *compat::localName(PyCodeObject *code, int index) {
  return PyTuple_GET_ITEM(code->co_localsplusnames, index);
}
static int kind(PyCodeObject *code, int index) {
  return _PyLocals_GetKind(code->co_localspluskinds, index);
}
bool compat::isLocal(PyCodeObject *code, int index) {
  return kind(code, index) & CO_FAST_LOCAL;
}
bool compat::isCell(PyCodeObject *code, int index) {
  return kind(code, index) & CO_FAST_CELL;
}
bool compat::isFree(PyCodeObject *code, int index) {
  return kind(code, index) & CO_FAST_FREE;
}

PyCodeObject *compat::copyCode(PyCodeObject *code, bool adaptive) {
  Owned bytes(PyCode_GetCode(code));
  if (!bytes)
    return nullptr;
  _PyCodeConstructor from = {};
  from.filename = code->co_filename;
  from.name = code->co_name;
  from.qualname = code->co_qualname;
  from.flags = code->co_flags;
  from.code = bytes;
  from.firstlineno = code->co_firstlineno;
  from.linetable = code->co_linetable;
  from.consts = code->co_consts;
  from.names = code->co_names;
  from.localsplusnames = code->co_localsplusnames;
  from.localspluskinds = code->co_localspluskinds;
  from.argcount = code->co_argcount;
  from.posonlyargcount = code->co_posonlyargcount;
  from.kwonlyargcount = code->co_kwonlyargcount;
  from.stacksize = code->co_stacksize;
  from.exceptiontable = code->co_exceptiontable;
  PyCodeObject *copy = _PyCode_New(&from);
  if (!copy)
    return nullptr;
  if (adaptive) {
    // Caches hold indices, versions and borrowed pointers that are checked
    // against them, so they are as good in the copy.
    memcpy(_PyCode_CODE(copy), _PyCode_CODE(code), _PyCode_NBYTES(code));
    copy->co_warmup = code->co_warmup;
  }
  return copy;
}

void compat::stopWarmup(PyCodeObject *code) { code->co_warmup = 0; }

Py_ssize_t compat::requestCodeExtra(void (*free)(void *)) {
  return _PyEval_RequestCodeExtraIndex(free);
}
void *compat::codeExtra(PyCodeObject *code, Py_ssize_t index) {
  void *value = nullptr;
  // Fails for what is no code object only.
  if (_PyCode_GetExtra(reinterpret_cast<PyObject *>(code), index, &value) < 0)
    PyErr_Clear();
  return value;
}
int compat::setCodeExtra(PyCodeObject *code, Py_ssize_t index, void *value) {
  return _PyCode_SetExtra(reinterpret_cast<PyObject *>(code), index, value);
}

//===----------------------------------------------------------------------===//
// Versions and instances
//===----------------------------------------------------------------------===//

uint32_t compat::typeVersion(PyTypeObject *type) {
  uint32_t version = currentTypeVersion(type);
  if (version)
    return version;
  static PyObject *name = PyUnicode_InternFromString("__class__");
  if (!name) {
    PyErr_Clear();
    return 0;
  }
  // A lookup of a cacheable name is what makes CPython assign versions.
  _PyType_Lookup(type, name);
  return currentTypeVersion(type);
}

PyObject *compat::typeLookup(PyTypeObject *type, PyObject *name) {
  return _PyType_Lookup(type, name);
}

int compat::inlineIndex(PyTypeObject *type, PyObject *name) {
  if (!PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT))
    return -1;
  PyDictKeysObject *keys =
      reinterpret_cast<PyHeapTypeObject *>(type)->ht_cached_keys;
  if (!keys || !PyUnicode_CheckExact(name))
    return -1;
  PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(keys);
  for (Py_ssize_t i = 0; i < keys->dk_nentries; ++i)
    if (entries[i].me_key == name)
      return static_cast<int>(i);
  // Attribute names are interned nearly always.
  for (Py_ssize_t i = 0; i < keys->dk_nentries; ++i)
    if (entries[i].me_key && _PyUnicode_EQ(entries[i].me_key, name))
      return static_cast<int>(i);
  return -1;
}

PyObject *compat::instanceDict(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  if (PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT))
    return reinterpret_cast<PyObject **>(object)[-3];
  Py_ssize_t offset = type->tp_dictoffset;
  if (offset == 0)
    return nullptr;
  if (offset < 0) {
    // From the end of an object of variable size; ints keep their sign in it.
    Py_ssize_t size = Py_ABS(Py_SIZE(object));
    offset += static_cast<Py_ssize_t>(_PyObject_VAR_SIZE(type, size));
  }
  return *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(object) +
                                        offset);
}

bool compat::hasInlineValues(PyObject *object) {
  return inlineValues(object) != nullptr;
}

PyObject *compat::instanceAttribute(PyObject *object, PyObject *name) {
  if (PyObject **values = inlineValues(object)) {
    int index = inlineIndex(Py_TYPE(object), name);
    return index < 0 ? nullptr : values[index];
  }
  PyObject *dict = instanceDict(object);
  if (!dict || !PyDict_Check(dict))
    return nullptr;
  // Keys of str only are compared without running code; with others in the dict
  // a key of the user's might, so they are looked at one by one.
  if (_PyDict_HasOnlyStringKeys(dict)) {
    PyObject *value = PyDict_GetItemWithError(dict, name);
    if (!value)
      PyErr_Clear();
    return value;
  }
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);)
    if (PyUnicode_CheckExact(key) && _PyUnicode_EQ(key, name))
      return value;
  return nullptr;
}

bool compat::forEachAttribute(PyObject *object, void *context,
                              bool (*visit)(void *, PyObject *, PyObject *)) {
  if (PyObject **values = inlineValues(object)) {
    PyDictKeysObject *keys =
        reinterpret_cast<PyHeapTypeObject *>(Py_TYPE(object))->ht_cached_keys;
    PyDictUnicodeEntry *entries = DK_UNICODE_ENTRIES(keys);
    // In front of the values: their number, and before it the order of
    // insertion, backwards.
    auto *size = reinterpret_cast<const uint8_t *>(values) - 2;
    for (int i = 1; i <= *size; ++i) {
      int index = size[-i];
      if (values[index] &&
          !visit(context, entries[index].me_key, values[index]))
        return false;
    }
    return true;
  }
  PyObject *dict = instanceDict(object);
  if (!dict || !PyDict_Check(dict))
    return true;
  PyObject *key, *value;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value);)
    if (!visit(context, key, value))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Frames and threads
//===----------------------------------------------------------------------===//

PyFrameObject *compat::frameObject(PyThreadState *thread, Frame *frame) {
  if (PyFrameObject *object = frameObjectIfAny(frame))
    return object;
  if (isIncomplete(frame))
    return nullptr;
  // The function that makes frame objects is not exported, but this one, which
  // makes that of the innermost frame, is.
  _PyInterpreterFrame *innermost = thread->cframe->current_frame;
  thread->cframe->current_frame = raw(frame);
  PyFrameObject *object = PyThreadState_GetFrame(thread);
  thread->cframe->current_frame = innermost;
  Py_XDECREF(object); // The frame keeps one reference.
  return object;
}

void compat::setEvents(PyFrameObject *frame, bool lines, bool opcodes) {
  frame->f_trace_lines = lines;
  frame->f_trace_opcodes = opcodes;
}

Frame *compat::generatorFrame(PyObject *generator) {
  if (!PyGen_CheckExact(generator) && !PyCoro_CheckExact(generator) &&
      !PyAsyncGen_CheckExact(generator))
    return nullptr;
  auto *gen = reinterpret_cast<PyGenObject *>(generator);
  if (gen->gi_frame_state >= FRAME_CLEARED)
    return nullptr;
  return reinterpret_cast<Frame *>(gen->gi_iframe);
}

PyObject *compat::frameGenerator(Frame *frame) {
  if (!ownedByGenerator(frame))
    return nullptr;
  return reinterpret_cast<PyObject *>(_PyFrame_GetGenerator(raw(frame)));
}

void compat::setTrace(PyThreadState *thread, Py_tracefunc function,
                      PyObject *argument) {
  PyObject *old = thread->c_traceobj;
  Py_XINCREF(argument);
  thread->c_tracefunc = nullptr;
  thread->c_traceobj = nullptr;
  // Destructors run without a trace function, as in CPython.
  Py_XDECREF(old);
  thread->c_traceobj = argument;
  thread->c_tracefunc = function;
  if (!thread->tracing) {
    // The pair recomputes whether the evaluator looks for events.
    PyThreadState_EnterTracing(thread);
    PyThreadState_LeaveTracing(thread);
  }
}

int compat::setTraceAudited(PyThreadState *thread, Py_tracefunc function,
                            PyObject *argument) {
  return _PyEval_SetTrace(thread, function, argument);
}

PyObject *compat::evaluate(PyThreadState *thread, Frame *frame,
                           bool throwflag) {
  return _PyEval_EvalFrameDefault(thread, raw(frame), throwflag);
}

void compat::setEvalHook(EvalHook hook) {
  auto *function = reinterpret_cast<_PyFrameEvalFunction>(hook);
  _PyInterpreterState_SetEvalFrameFunc(
      PyInterpreterState_Get(), function ? function : _PyEval_EvalFrameDefault);
}

compat::EvalHook compat::evalHook() {
  _PyFrameEvalFunction function =
      _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get());
  return function == _PyEval_EvalFrameDefault
             ? nullptr
             : reinterpret_cast<EvalHook>(function);
}

int compat::replaceFrameCodeGetter(CodeGetter getter, CodeGetter *old) {
  PyObject *dict = PyFrame_Type.tp_dict;
  PyObject *found = PyDict_GetItemString(dict, "f_code");
  if (!found || !Py_IS_TYPE(found, &PyGetSetDescr_Type)) {
    PyErr_SetString(PyExc_SystemError, "frame.f_code is not a getter");
    return -1;
  }
  if (old)
    *old = reinterpret_cast<PyGetSetDescrObject *>(found)->d_getset->get;
  // The descriptor keeps the address.
  static PyGetSetDef definition = {"f_code", nullptr, nullptr, nullptr,
                                   nullptr};
  definition.get = getter;
  Owned descriptor(PyDescr_NewGetSet(&PyFrame_Type, &definition));
  if (!descriptor || PyDict_SetItemString(dict, "f_code", descriptor) < 0)
    return -1;
  PyType_Modified(&PyFrame_Type);
  return 0;
}

//===----------------------------------------------------------------------===//
// Calibration
//===----------------------------------------------------------------------===//

/// The program whose objects are read; each name is looked at below.
static const char sample[] = R"(
import opcode
def f(a, b=2):
    c = a
    def g():
        return c, b
    return g
class C:
    def __init__(self):
        self.x = 'x'; self.y = 'y'
c = C()
class L(list): pass
l = L((1, 2)); l.x = 'x'
class I(int): pass
i = I(-1 << 70); i.x = 'x'
def generate(z):
    yield z
generator = generate(5); next(generator)
caches = opcode._inline_cache_entries
opmap = opcode.opmap
specializations = opcode._specializations
)";

/// What `checkFrame` found.
static std::string seenProblem;

/// Called by Python code with one argument that its frame keeps in local 0.
static PyObject *checkFrame(PyObject *, PyObject *argument) {
  PyThreadState *thread = PyThreadState_Get();
  Frame *frame = compat::currentFrame(thread);
  PyFrameObject *object = compat::frameObject(thread, frame);
  Owned code(
      reinterpret_cast<PyObject *>(object ? PyFrame_GetCode(object) : nullptr));
  Owned globals(object ? PyFrame_GetGlobals(object) : nullptr);
  Owned back(
      reinterpret_cast<PyObject *>(object ? PyFrame_GetBack(object) : nullptr));
  if (!object || compat::frameOf(object) != frame)
    seenProblem = "the frame behind a frame object";
  else if (reinterpret_cast<PyObject *>(compat::code(frame)) != code)
    seenProblem = "the code of a frame";
  else if (compat::globals(frame) != globals)
    seenProblem = "the globals of a frame";
  else if (compat::locals(frame)[0] != argument)
    seenProblem = "the locals of a frame";
  else if (compat::lastUnit(frame) * 2 != PyFrame_GetLasti(object))
    seenProblem = "the instruction of a frame";
  else if (!PyFunction_Check(compat::function(frame)) ||
           PyFunction_GET_CODE(compat::function(frame)) != code)
    seenProblem = "the function of a frame";
  else if (back &&
           compat::previous(frame) !=
               compat::frameOf(reinterpret_cast<PyFrameObject *>(back.object)))
    seenProblem = "the frame below a frame";
  Py_RETURN_NONE;
}
static PyMethodDef checkFrameMethod = {"check", checkFrame, METH_O, nullptr};

/// Empty, or what differs from what this file is written for.
static std::string calibrate(PyObject *globals) {
  auto get = [&](const char *name) {
    return PyDict_GetItemString(globals, name);
  };
  auto attribute = [](PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    if (!value)
      PyErr_Clear();
    return value;
  };
  auto number = [&](PyObject *object, const char *name) {
    Owned value(attribute(object, name));
    return value ? PyLong_AsLong(value) : -1;
  };

  // Opcodes.
  PyObject *caches = get("caches"), *opmap = get("opmap");
  PyObject *specializations = get("specializations");
  if (!caches || !PyList_Check(caches) || !opmap || !PyDict_Check(opmap) ||
      !specializations || !PyDict_Check(specializations))
    return "module opcode has other tables";
  PyObject *name, *value;
  for (Py_ssize_t at = 0; PyDict_Next(opmap, &at, &name, &value);) {
    long opcode = PyLong_AsLong(value);
    if (opcode > 255)
      continue;
    PyObject *entry = PyList_GetItem(caches, opcode);
    if (opcode < 0 || !entry || dynamoOpcodeDeopt[opcode] != opcode ||
        dynamoOpcodeCaches[opcode] != PyLong_AsLong(entry))
      return "opcodes are numbered differently";
  }
  struct {
    const char *name;
    int opcode;
  } known[] = {{"RETURN_VALUE", RETURN_VALUE},
               {"RESUME", RESUME},
               {"EXTENDED_ARG", EXTENDED_ARG},
               {"KW_NAMES", KW_NAMES},
               {"PRECALL", PRECALL},
               {"CALL", CALL},
               {"YIELD_VALUE", YIELD_VALUE},
               {"LOAD_FAST", LOAD_FAST},
               {"RETURN_GENERATOR", RETURN_GENERATOR}};
  for (auto &entry : known) {
    PyObject *number = PyDict_GetItemString(opmap, entry.name);
    if (!number || PyLong_AsLong(number) != entry.opcode)
      return "opcodes are numbered differently";
  }

  // Code objects.
  PyObject *function = get("f");
  if (!function || !PyFunction_Check(function))
    return "functions";
  auto *code = reinterpret_cast<PyCodeObject *>(PyFunction_GET_CODE(function));
  auto *object = reinterpret_cast<PyObject *>(code);
  Owned bytes(attribute(object, "co_code"));
  Owned cells(attribute(object, "co_cellvars"));
  if (!bytes || !PyBytes_Check(bytes) ||
      PyBytes_GET_SIZE(bytes.object) != 2 * compat::numUnits(code) ||
      compat::stackSize(code) != number(object, "co_stacksize") ||
      code->co_flags != number(object, "co_flags"))
    return "code objects";
  for (int i = 0; i < compat::numUnits(code);) {
    compat::Instruction instruction = compat::decode(code, i);
    if (instruction.opcode != static_cast<uint8_t>(PyBytes_AS_STRING(
                                  bytes.object)[2 * instruction.unit]))
      return "instructions of code objects";
    i = instruction.next;
  }
  if (compat::numLocals(code) != 4 || !compat::isLocal(code, 0) ||
      compat::isCell(code, 0) || !compat::isCell(code, 1) ||
      !compat::isLocal(code, 1) || !cells || !PyTuple_Check(cells) ||
      PyTuple_GET_SIZE(cells.object) != 2)
    return "local variables of code objects";
  Owned copy(reinterpret_cast<PyObject *>(compat::copyCode(code, true)));
  if (!copy || PyObject_RichCompareBool(copy, object, Py_EQ) != 1)
    return "copies of code objects";

  // Dicts, types and instances.
  Owned dict(PyDict_New());
  if (!dict)
    return "dicts";
  uint64_t before = compat::dictVersion(dict);
  if (PyDict_SetItemString(dict, "x", Py_None) < 0 ||
      compat::dictVersion(dict) == before)
    return "versions of dicts";
  auto *type = reinterpret_cast<PyTypeObject *>(get("C"));
  PyObject *instance = get("c");
  if (!type || !PyType_Check(get("C")) || !instance)
    return "types";
  uint32_t version = compat::typeVersion(type);
  if (!version || compat::typeVersion(type) != version ||
      PyObject_SetAttrString(get("C"), "z", Py_None) < 0 ||
      compat::typeVersion(type) == version)
    return "versions of types";
  for (const char *each : {"x", "y"}) {
    Owned key(PyUnicode_InternFromString(each));
    if (!compat::hasInlineValues(instance) || compat::instanceDict(instance) ||
        compat::instanceAttribute(instance, key) != key.object)
      return "attributes of instances";
  }
  Owned x(PyUnicode_InternFromString("x"));
  // Each of these makes its dict, and is then looked up there.
  for (const char *each : {"c", "l", "i"}) {
    Owned made(attribute(get(each), "__dict__"));
    if (!made || compat::hasInlineValues(get(each)) ||
        compat::instanceDict(get(each)) != made.object ||
        compat::instanceAttribute(get(each), x) != x.object)
      return "dicts of instances";
  }

  // Frames and threads.
  PyObject *generator = get("generator");
  Owned frame(attribute(generator, "gi_frame"));
  Owned five(PyLong_FromLong(5));
  if (!frame || !PyFrame_Check(frame.object) ||
      compat::generatorFrame(generator) !=
          compat::frameOf(reinterpret_cast<PyFrameObject *>(frame.object)) ||
      compat::frameGenerator(compat::generatorFrame(generator)) != generator ||
      compat::locals(compat::generatorFrame(generator))[0] != five.object ||
      compat::stackDepth(compat::generatorFrame(generator)) != 0)
    return "frames of generators";
  Owned check(PyCFunction_New(&checkFrameMethod, nullptr));
  if (!check || PyDict_SetItemString(globals, "check", check) < 0)
    return "built-in functions";
  seenProblem.clear();
  Owned ran(PyRun_String("def outer(a):\n"
                         "    check(a)\n"
                         "def outmost():\n"
                         "    outer(globals())\n"
                         "outmost()\n",
                         Py_file_input, globals, globals));
  PyDict_DelItemString(globals, "check");
  if (!ran)
    return "frames";
  if (!seenProblem.empty())
    return seenProblem;
  PyThreadState *thread = PyThreadState_Get();
  if (compat::traceFunction(thread) && !thread->c_traceobj)
    return "trace functions";
  return "";
}

bool compat::supported(std::string *reason) {
  static int known = -1;
  static std::string problem;
  if (known < 0) {
    PyObject *type, *raised, *traceback;
    PyErr_Fetch(&type, &raised, &traceback);
    PyObject *hexversion = PySys_GetObject("hexversion");
    long version = hexversion ? PyLong_AsLong(hexversion) : 0;
    if (version >> 16 != PY_VERSION_HEX >> 16) {
      problem = "this is CPython " + std::to_string(version >> 24) + "." +
                std::to_string((version >> 16) & 255) + ", not 3.11";
    } else {
      Owned globals(PyDict_New());
      if (globals && PyDict_SetItemString(globals, "__builtins__",
                                          PyEval_GetBuiltins()) == 0) {
        Owned ran(PyRun_String(sample, Py_file_input, globals, globals));
        problem = ran ? calibrate(globals) : "the sample program does not run";
      } else {
        problem = "no memory";
      }
      if (!problem.empty())
        problem += " differ from CPython 3.11 as it was compiled for";
    }
    known = problem.empty();
    PyErr_Restore(type, raised, traceback);
  }
  if (reason)
    *reason = problem;
  return known;
}
