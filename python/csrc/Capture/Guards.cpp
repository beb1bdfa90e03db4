//===- Guards.cpp - Checks a trace's guards at a call ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/Guards.h"
#include "Capture/CPythonCompatInline.h"
#include "Capture/TorchState.h"

#include <cstring>
#include <map>
#include <set>
#include <structmember.h>

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;
using dynamo::python::TorchShim;

//===----------------------------------------------------------------------===//
// Values and containers
//===----------------------------------------------------------------------===//

bool capture::sameValue(PyObject *a, PyObject *b) {
  if (a == b)
    return true;
  PyTypeObject *type = Py_TYPE(a);
  if (type != Py_TYPE(b))
    return false;
  if (type == &PyFloat_Type) {
    double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
    return std::memcmp(&x, &y, sizeof(x)) == 0;
  }
  if (type == &PyComplex_Type) {
    Py_complex x = PyComplex_AsCComplex(a), y = PyComplex_AsCComplex(b);
    return std::memcmp(&x, &y, sizeof(x)) == 0;
  }
  if (PyTuple_Check(a)) {
    // A subclass may hold attributes: only torch's own Size is a value.
    if (type != &PyTuple_Type && (type->tp_flags & Py_TPFLAGS_HEAPTYPE))
      return false;
    if (PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b))
      return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); ++i)
      if (!sameValue(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i)))
        return false;
    return true;
  }
  if (type == &PySlice_Type) {
    auto *x = reinterpret_cast<PySliceObject *>(a);
    auto *y = reinterpret_cast<PySliceObject *>(b);
    return sameValue(x->start, y->start) && sameValue(x->stop, y->stop) &&
           sameValue(x->step, y->step);
  }
  // C types whose comparison is one of values; anything else is its identity.
  bool value = type == &PyLong_Type || type == &PyUnicode_Type ||
               type == &PyBytes_Type || type == &PyRange_Type ||
               type == &PyFrozenSet_Type || type == &PyEllipsis_Type ||
               std::strcmp(type->tp_name, "torch.device") == 0 ||
               std::strcmp(type->tp_name, "torch.dtype") == 0;
  if (!value || (type->tp_flags & Py_TPFLAGS_HEAPTYPE))
    return false;
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0)
    PyErr_Clear();
  if (equal != 1 || type != &PyFrozenSet_Type)
    return equal == 1;
  // 1, 1.0 and True are equal members and different values.
  Py_ssize_t at = 0;
  PyObject *member;
  Py_hash_t hash;
  while (_PySet_NextEntry(a, &at, &member, &hash)) {
    Py_ssize_t other = 0;
    PyObject *candidate;
    bool found = false;
    while (!found && _PySet_NextEntry(b, &other, &candidate, &hash))
      found = sameValue(member, candidate);
    if (!found)
      return false;
  }
  return true;
}

static bool isDeque(PyObject *object) {
  static PyTypeObject *type = reinterpret_cast<PyTypeObject *>(
      py::object(py::module_::import("collections").attr("deque"))
          .release()
          .ptr());
  return PyObject_TypeCheck(object, type);
}

int64_t capture::lengthOf(PyObject *object) {
  if (PyDict_Check(object))
    return reinterpret_cast<PyDictObject *>(object)->ma_used;
  if (PyList_Check(object) || PyTuple_Check(object))
    return Py_SIZE(object);
  if (PyAnySet_Check(object))
    return PySet_GET_SIZE(object);
  if (PyUnicode_Check(object))
    return PyUnicode_GET_LENGTH(object);
  if (PyBytes_Check(object))
    return PyBytes_GET_SIZE(object);
  if (isDeque(object))
    return Py_TYPE(object)->tp_as_sequence->sq_length(object);
  return -1;
}

/// Borrowed; null where the key is missing. The key's hash is known or runs
/// no Python code.
static PyObject *dictItem(PyObject *dict, PyObject *key) {
  Py_hash_t hash = PyObject_Hash(key);
  PyObject *value =
      hash == -1 ? nullptr : _PyDict_GetItem_KnownHash(dict, key, hash);
  if (!value && PyErr_Occurred())
    PyErr_Clear();
  return value;
}

static bool sameKey(PyObject *a, PyObject *b) {
  return a == b || sameValue(a, b);
}

/// Whether dict or set `object` has these keys in this order.
static bool hasKeys(PyObject *object, PyObject *keys) {
  Py_ssize_t n = PyTuple_GET_SIZE(keys), i = 0, at = 0;
  if (lengthOf(object) != n)
    return false;
  PyObject *key, *value;
  Py_hash_t hash;
  if (PyODict_Check(object)) { // keeps its order apart from the dict
    py::object iterator =
        py::reinterpret_steal<py::object>(PyODict_Type.tp_iter(object));
    while (iterator && i < n) {
      py::object next =
          py::reinterpret_steal<py::object>(PyIter_Next(iterator.ptr()));
      if (!next || !sameKey(next.ptr(), PyTuple_GET_ITEM(keys, i)))
        break;
      ++i;
    }
    PyErr_Clear();
    return i == n;
  }
  if (PyDict_Check(object)) {
    while (PyDict_Next(object, &at, &key, &value))
      if (!sameKey(key, PyTuple_GET_ITEM(keys, i++)))
        return false;
    return true;
  }
  while (PyAnySet_Check(object) && _PySet_NextEntry(object, &at, &key, &hash))
    if (!sameKey(key, PyTuple_GET_ITEM(keys, i++)))
      return false;
  return i == n;
}

/// The first and the last byte but one that a tensor's elements take.
static bool extent(PyObject *tensor, uintptr_t &begin, uintptr_t &end) {
  if (!TorchShim::get().isTensor(tensor))
    return false;
  try {
    python::TensorView view;
    TorchShim::get().view(tensor, view);
    if (!view.cpuStrided)
      return false;
    int64_t last = 1;
    for (int64_t i = 0; i < view.rank; ++i) {
      if (view.sizes[i] == 0)
        last = 0;
      else if (last)
        last += (view.sizes[i] - 1) * view.strides[i];
    }
    begin = reinterpret_cast<uintptr_t>(view.data);
    end = begin + last * python::elementBytes(view.dtype);
    return true;
  } catch (...) {
    return false;
  }
}

/// What a step from `parent` finds, borrowed; null for nothing. New objects are
/// added to `made`.
static PyObject *follow(Access access, PyObject *parent, PyObject *key,
                        int64_t index, std::vector<PyObject *> &made) {
  switch (access) {
  case Access::Type:
    return reinterpret_cast<PyObject *>(Py_TYPE(parent));
  case Access::InstanceAttr:
    return compat::instanceAttribute(parent, key);
  case Access::InstanceDict: {
    PyObject *dict = PyObject_GenericGetDict(parent, nullptr);
    if (!dict)
      PyErr_Clear();
    Py_XDECREF(dict); // the instance keeps it
    return dict;
  }
  case Access::DictItem:
    return PyDict_Check(parent) ? dictItem(parent, key) : nullptr;
  case Access::Item:
    if (PyList_Check(parent))
      return index >= 0 && index < PyList_GET_SIZE(parent)
                 ? PyList_GET_ITEM(parent, index)
                 : nullptr;
    return PyTuple_Check(parent) && index >= 0 &&
                   index < PyTuple_GET_SIZE(parent)
               ? PyTuple_GET_ITEM(parent, index)
               : nullptr;
  case Access::DequeItem: {
    if (!isDeque(parent) || index < 0 || index >= lengthOf(parent))
      return nullptr;
    PyObject *item = Py_TYPE(parent)->tp_as_sequence->sq_item(parent, index);
    if (!item)
      PyErr_Clear();
    Py_XDECREF(item); // the deque keeps it
    return item;
  }
  case Access::Slot: {
    if (!Py_IS_TYPE(key, &PyMemberDescr_Type) ||
        !PyObject_TypeCheck(parent,
                            reinterpret_cast<PyDescrObject *>(key)->d_type))
      return nullptr;
    PyMemberDef *member =
        reinterpret_cast<PyMemberDescrObject *>(key)->d_member;
    if (member->type == T_OBJECT_EX || member->type == T_OBJECT)
      return *reinterpret_cast<PyObject **>(reinterpret_cast<char *>(parent) +
                                            member->offset);
    PyObject *value = PyMember_GetOne(reinterpret_cast<char *>(parent), member);
    if (value)
      made.push_back(value);
    else
      PyErr_Clear();
    return value;
  }
  case Access::CellContents:
    return PyCell_Check(parent) ? PyCell_GET(parent) : nullptr;
  case Access::Closure: {
    if (!PyFunction_Check(parent))
      return nullptr;
    PyObject *closure = PyFunction_GET_CLOSURE(parent);
    return closure && index >= 0 && index < PyTuple_GET_SIZE(closure)
               ? PyTuple_GET_ITEM(closure, index)
               : nullptr;
  }
  case Access::Code:
    return PyFunction_Check(parent) ? PyFunction_GET_CODE(parent) : nullptr;
  case Access::Globals:
    return PyFunction_Check(parent) ? PyFunction_GET_GLOBALS(parent) : nullptr;
  case Access::Defaults:
    return PyFunction_Check(parent) ? orNone(PyFunction_GET_DEFAULTS(parent))
                                    : nullptr;
  case Access::KwDefaults:
    return PyFunction_Check(parent) ? orNone(PyFunction_GET_KW_DEFAULTS(parent))
                                    : nullptr;
  case Access::MethodSelf:
    if (PyMethod_Check(parent))
      return PyMethod_GET_SELF(parent);
    return PyCFunction_Check(parent) ? PyCFunction_GET_SELF(parent) : nullptr;
  case Access::MethodFunc:
    return PyMethod_Check(parent) ? PyMethod_GET_FUNCTION(parent) : nullptr;
  case Access::Getter: {
    PyObject *descriptor = _PyType_Lookup(Py_TYPE(parent), key);
    if (!descriptor || (!Py_IS_TYPE(descriptor, &PyGetSetDescr_Type) &&
                        !Py_IS_TYPE(descriptor, &PyMemberDescr_Type)))
      return nullptr;
    PyObject *value =
        Py_TYPE(descriptor)
            ->tp_descr_get(descriptor, parent,
                           reinterpret_cast<PyObject *>(Py_TYPE(parent)));
    if (value)
      made.push_back(value);
    else
      PyErr_Clear();
    return value;
  }
  case Access::Local:
  case Access::Stack:
  case Access::Function:
  case Access::Constant:
    return nullptr; // roots
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

/// Whether a function has the code, defaults and keyword defaults of `state`;
/// `version` is that of the keyword defaults when they last were the same.
static bool isUnchanged(PyObject *object, PyObject *state, uint64_t &version) {
  auto was = [&](int i) { return PyTuple_GET_ITEM(state, i); };
  if (!PyFunction_Check(object) || PyFunction_GET_CODE(object) != was(0) ||
      orNone(PyFunction_GET_DEFAULTS(object)) != was(1))
    return false;
  PyObject *keywords = orNone(PyFunction_GET_KW_DEFAULTS(object));
  if (keywords != was(2))
    return false;
  if (!PyDict_Check(keywords) || compat::dictVersion(keywords) == version)
    return true;
  PyObject *key, *value, *name, *content;
  Py_ssize_t at = 0, in = 0;
  while (PyDict_Next(keywords, &at, &key, &value))
    if (!PyDict_Next(was(3), &in, &name, &content) || !sameValue(key, name) ||
        value != content)
      return false;
  if (PyDict_Next(was(3), &in, &name, &content))
    return false;
  version = compat::dictVersion(keywords);
  return true;
}

int32_t GuardProgram::run(const FrameView &frame) {
  release();
  if (isDead)
    return numGuards() + static_cast<int32_t>(sources.size());
  PyObject **r = registers.data();
  Step *const first = steps.data();
  const TorchShim &shim = TorchShim::get();
  const bool inPlace = shim.raw() != nullptr;
  // The group that is being checked, and where the calls' steps go on.
  PyObject **values = nullptr;
  PyObject *dict = nullptr, *owner = nullptr;
  Step *after = nullptr;
  auto member = [&](const Step &s) -> PyObject * {
    int64_t index = static_cast<int64_t>(s.word);
    if (values)
      return index >= 0 ? values[index]
                        : compat::instanceAttribute(owner, s.object);
    return dict ? dictItem(dict, s.object) : nullptr;
  };
  for (Step *step = first;; ++step) {
    const Step &s = *step;
    PyObject *object = r[s.from];
    bool holds = true;
    switch (s.op) {
    case Op::End:
      return kHit;
    case Op::Load:
    case Op::LoadAbsent:
      switch (s.access) {
      case Access::Local:
        object = static_cast<int64_t>(s.word) < frame.numLocals
                     ? frame.locals[s.word]
                     : nullptr;
        break;
      case Access::Stack:
        object = static_cast<int64_t>(s.word) < frame.stackDepth
                     ? frame.stack[s.word]
                     : nullptr;
        break;
      case Access::Function:
        object = frame.function;
        break;
      default:
        object = follow(s.access, object, s.object,
                        static_cast<int64_t>(s.word), made);
      }
      r[s.to] = object;
      holds = (object != nullptr) == (s.op == Op::Load);
      break;
    case Op::EnterAttrs:
      if (s.object &&
          reinterpret_cast<PyObject *>(Py_TYPE(object)) != s.object) {
        holds = false;
        break;
      }
      values = compat::inlineValues(object);
      dict = values ? nullptr : compat::instanceDict(object);
      if (dict && compat::dictVersion(dict) == s.word)
        break;
      owner = object;
      after = step;
      step = first + s.to - 1;
      break;
    case Op::EnterDict:
      holds = PyDict_Check(object);
      if (!holds || compat::dictVersion(object) == s.word)
        break;
      values = nullptr;
      owner = dict = object;
      after = step;
      step = first + s.to - 1;
      break;
    case Op::Member:
      object = r[s.to] = member(s);
      holds = object != nullptr;
      break;
    case Op::MemberAbsent:
      object = r[s.to] = member(s);
      holds = object == nullptr;
      break;
    case Op::Adopt:
      step = after;
      step->word = dict ? compat::dictVersion(dict) : 0;
      break;
    case Op::TypeVersion:
      object = s.object;
      holds = compat::currentTypeVersion(
                  reinterpret_cast<PyTypeObject *>(s.object)) == s.word;
      break;
    case Op::Type:
      holds = reinterpret_cast<PyObject *>(Py_TYPE(object)) == s.object;
      break;
    case Op::Is:
      holds = object == s.object;
      break;
    case Op::Equal:
      holds = object == s.object || sameValue(object, s.object);
      break;
    case Op::Length:
      holds = lengthOf(object) == static_cast<int64_t>(s.word);
      break;
    case Op::Keys:
      holds = hasKeys(object, s.object);
      break;
    case Op::Tensor:
      holds = inPlace
                  ? matchesPacked(object, shim, &tensorWords[tensorAt[s.word]])
                  : matchesTensor(object, *tensors[s.word]);
      break;
    case Op::Function:
      holds = isUnchanged(object, s.object, step->word);
      break;
    case Op::Same:
      holds = object == r[s.to];
      break;
    case Op::Distinct:
      holds = object != r[s.to];
      break;
    case Op::NoOverlap: {
      uintptr_t a, b, aEnd, bEnd;
      holds = extent(object, a, aEnd) && extent(r[s.to], b, bEnd) &&
              (aEnd <= b || bEnd <= a);
      break;
    }
    }
    if (!holds) {
      met = object;
      return s.guard;
    }
  }
  return kHit;
}

void GuardProgram::dropMade() {
  // Taken out first: a destructor may run this program.
  std::vector<PyObject *> dropped;
  dropped.swap(made);
  for (PyObject *object : dropped)
    Py_DECREF(object);
}

GuardProgram::~GuardProgram() { dropMade(); }

int GuardProgram::traverse(visitproc visit, void *arg) const {
  for (const Ref &object : strong)
    Py_VISIT(object.ptr());
  for (const auto &spec : tensors)
    Py_VISIT(spec->type.ptr());
  return 0;
}
