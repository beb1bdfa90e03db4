//===- GuardTexts.cpp - Guards for people to read -------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/Guards.h"
#include "Capture/TorchState.h"

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;
using dynamo::python::TorchShim;

static std::string shortRepr(PyObject *object, size_t limit = 60) {
  if (!object)
    return "?";
  if (PyType_Check(object))
    return reinterpret_cast<PyTypeObject *>(object)->tp_name;
  if (PyModule_Check(object)) {
    const char *name = PyModule_GetName(object);
    if (name)
      return name;
    PyErr_Clear();
  }
  std::string text;
  // repr only where it is C's own: texts must not run the user's code.
  PyTypeObject *type = Py_TYPE(object);
  bool plain = !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
               !PyDict_Check(object) && !PyList_Check(object) &&
               !PyAnySet_Check(object);
  if (PyFunction_Check(object)) {
    text = PyUnicode_AsUTF8(
        reinterpret_cast<PyFunctionObject *>(object)->func_qualname);
  } else if (plain && sameValue(object, object) && !PyTuple_Check(object) &&
             !PyMethod_Check(object)) {
    PyObject *repr = PyObject_Repr(object);
    const char *chars = repr ? PyUnicode_AsUTF8(repr) : nullptr;
    text = chars ? chars : "?";
    Py_XDECREF(repr);
    PyErr_Clear();
  } else if (PyTuple_CheckExact(object)) {
    text = "(";
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object) && i < 8; ++i)
      text += (i ? ", " : "") + shortRepr(PyTuple_GET_ITEM(object, i), 20);
    text += PyTuple_GET_SIZE(object) > 8 ? ", ...)" : ")";
  } else {
    text = std::string("<") + type->tp_name + ">";
  }
  if (text.size() > limit)
    text = text.substr(0, limit) + "...";
  return text;
}

static std::string nameOf(PyObject *key) {
  const char *text =
      key && PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : nullptr;
  PyErr_Clear();
  return text ? text : shortRepr(key);
}

std::string GuardProgram::sourceText(int32_t number) const {
  if (number < 0 || number >= static_cast<int32_t>(sources.size()) || isDead)
    return "?";
  const SourceNote &note = sources[number];
  std::string parent = note.parent >= 0 ? sourceText(note.parent) : "";
  std::string index = std::to_string(note.index);
  switch (note.access) {
  case Access::Local:
    if (localNames && note.index >= 0 &&
        note.index < PyTuple_GET_SIZE(localNames.ptr()))
      return nameOf(PyTuple_GET_ITEM(localNames.ptr(), note.index));
    return "local " + index;
  case Access::Stack:
    return "stack[" + index + "]";
  case Access::Function:
    return "<this function>";
  case Access::Constant:
    if (PyDict_Check(note.key)) {
      PyObject *name = PyDict_GetItemString(note.key, "__name__");
      return name && PyUnicode_Check(name) ? nameOf(name) : "<dict>";
    }
    return shortRepr(note.key);
  case Access::Type:
    return "type(" + parent + ")";
  case Access::InstanceAttr:
    return parent + "." + nameOf(note.key);
  case Access::InstanceDict:
    return parent + ".__dict__";
  case Access::DictItem: {
    const SourceNote &dict = sources[note.parent];
    bool isName = note.key && PyUnicode_Check(note.key);
    if (dict.access == Access::Globals && isName)
      return nameOf(note.key);
    if (dict.access == Access::Constant && isName) // of a module
      return parent + "." + nameOf(note.key);
    if (dict.access == Access::InstanceDict && isName)
      return sourceText(dict.parent) + "." + nameOf(note.key);
    if (dict.access == Access::InstanceAttr && isName) {
      // As a user writes the parts of an nn.Module.
      std::string table = nameOf(dict.key);
      if (table == "_modules" || table == "_parameters" || table == "_buffers")
        return sourceText(dict.parent) + "." + nameOf(note.key);
    }
    return parent + "[" + shortRepr(note.key) + "]";
  }
  case Access::Item:
  case Access::DequeItem:
    return parent + "[" + index + "]";
  case Access::Slot: {
    PyObject *name = PyDescr_NAME(note.key);
    return parent + "." + nameOf(name);
  }
  case Access::CellContents:
    return parent;
  case Access::Closure:
    return parent + ".__closure__[" + index + "]";
  case Access::Code:
    return parent + ".__code__";
  case Access::Globals:
    return parent + ".__globals__";
  case Access::Defaults:
    return parent + ".__defaults__";
  case Access::KwDefaults:
    return parent + ".__kwdefaults__";
  case Access::MethodSelf:
    return parent + ".__self__";
  case Access::MethodFunc:
    return parent + ".__func__";
  case Access::Getter:
    return parent + "." + nameOf(note.key);
  }
  return "?";
}

std::string GuardProgram::describe(int32_t number) const {
  if (isDead)
    return "an object that was read is gone";
  if (number >= numGuards())
    return sourceText(number - numGuards()) + " exists";
  if (number < 0)
    return "";
  const GuardNote &guard = guards[number];
  std::string x = sourceText(guard.source), y = sourceText(guard.other);
  switch (guard.check) {
  case Check::Type:
    return "type(" + x + ") is " + shortRepr(guard.object) + ", unchanged";
  case Check::Identity:
    return x + " is " + shortRepr(guard.object);
  case Check::Equal:
    return x + " == " + shortRepr(guard.object);
  case Check::Absent:
    return x + " does not exist";
  case Check::Present:
    return x + " exists";
  case Check::Class:
    return "class " + x + " is unchanged";
  case Check::Length:
    return "len(" + x + ") == " + std::to_string(guard.index);
  case Check::Keys:
    return "list(" + x + ") == " + shortRepr(guard.object, 100);
  case Check::Tensor:
    return x + " is " + shortRepr(guard.tensor->type.ptr()) + " " +
           tensorText(*guard.tensor);
  case Check::Function:
    return x + " has the same code and defaults";
  case Check::Same:
    return x + " is " + y;
  case Check::Distinct:
    return x + " is not " + y;
  case Check::NoOverlap:
    return x + " and " + y + " share no memory";
  }
  return "?";
}

std::string GuardProgram::where(int32_t number) const {
  if (number < 0 || number >= numGuards() || !guards[number].file)
    return "";
  return nameOf(guards[number].file.ptr()) + ":" +
         std::to_string(guards[number].line);
}

std::string GuardProgram::found(int32_t number) const {
  if (isDead || !met)
    return "nothing";
  if (number >= 0 && number < numGuards()) {
    switch (guards[number].check) {
    case Check::Type:
      return shortRepr(reinterpret_cast<PyObject *>(Py_TYPE(met)));
    case Check::Length:
      return std::to_string(lengthOf(met));
    case Check::Tensor:
      if (TorchShim::get().isTensor(met)) {
        try {
          auto spec = describeTensor(met);
          return shortRepr(spec->type.ptr()) + " " + tensorText(*spec);
        } catch (py::error_already_set &) {
        }
      }
      break;
    default:
      break;
    }
  }
  return shortRepr(met);
}
