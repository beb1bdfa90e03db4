//===- Kinds.cpp - The classes that capture knows by name -----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/Kinds.h"

#include "Capture/Objects.h"

#include <pybind11/eval.h>

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;

static PyTypeObject *classOf(const char *module, const char *name) {
  py::object result = py::module_::import(module).attr(name);
  return reinterpret_cast<PyTypeObject *>(result.release().ptr());
}

static void add(std::unordered_set<PyTypeObject *> &types,
                const char *expression) {
  py::dict names;
  names["collections"] = py::module_::import("collections");
  names["itertools"] = py::module_::import("itertools");
  py::tuple all = py::eval(expression, names);
  for (py::handle type : all)
    types.insert(reinterpret_cast<PyTypeObject *>(
        py::object(py::reinterpret_borrow<py::object>(type)).release().ptr()));
}

const Kinds &Kinds::get() {
  static const Kinds *kinds = [] {
    auto kinds = std::make_unique<Kinds>();
    kinds->tensor = classOf("torch._C", "TensorBase");
    kinds->plainTensors = {classOf("torch", "Tensor"),
                           classOf("torch.nn", "Parameter")};
    kinds->module = classOf("torch.nn", "Module");
    kinds->enumMeta = classOf("enum", "EnumMeta");
    kinds->deque = classOf("collections", "deque");
    kinds->orderedDict = classOf("collections", "OrderedDict");
    kinds->defaultDict = classOf("collections", "defaultdict");
    kinds->partial = classOf("functools", "partial");
    kinds->lruCache = classOf("functools", "_lru_cache_wrapper");
    kinds->mappingProxy = classOf("types", "MappingProxyType");
    for (const char *name : {"dtype", "device", "layout", "memory_format",
                             "finfo", "iinfo", "qscheme"})
      kinds->values.insert(classOf("torch", name));
    add(kinds->iterators,
        "tuple(map(type, (iter([]), iter(()), iter(range(0)), iter(''), "
        "iter('\\u1234'), iter(b''), iter({}), iter({}.values()), "
        "iter({}.items()), reversed({}), reversed({}.values()), "
        "reversed({}.items()), iter(set()), reversed([]), reversed(()), "
        "iter(range(1 << 70)), iter(collections.deque()), "
        "reversed(collections.deque()), iter(collections.OrderedDict()), "
        "zip(), enumerate(()), itertools.chain(), itertools.islice((), 0), "
        "itertools.count(), itertools.repeat(0), itertools.product(), "
        "itertools.combinations((), 0), itertools.permutations(()), "
        "itertools.cycle(()), itertools.zip_longest(), "
        "itertools.pairwise(()), itertools.compress((), ()))))");
    add(kinds->callingIterators,
        "tuple(map(type, (map(len, ()), filter(None, ()), "
        "itertools.starmap(max, ()), itertools.takewhile(len, ()), "
        "itertools.dropwhile(len, ()), iter(len, 0))))");
    add(kinds->views,
        "tuple(map(type, ({}.keys(), {}.values(), {}.items(), "
        "collections.OrderedDict().keys(), collections.OrderedDict().values(),"
        " collections.OrderedDict().items())))");
    return kinds.release();
  }();
  return *kinds;
}

bool capture::isTensor(PyObject *object) {
  static PyTypeObject *tensor = Kinds::get().tensor;
  return PyObject_TypeCheck(object, tensor);
}

bool capture::isModuleInstance(PyObject *object) {
  return PyObject_TypeCheck(object, Kinds::get().module);
}

bool capture::isValue(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  if (type == &PyUnicode_Type || type == &PyLong_Type || type == &PyBool_Type ||
      type == &PyFloat_Type || object == Py_None || type == &PyBytes_Type ||
      type == &PyComplex_Type || object == Py_Ellipsis ||
      object == Py_NotImplemented || type == &PyRange_Type)
    return true;
  if (type == &PyTuple_Type) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
      if (!isValue(PyTuple_GET_ITEM(object, i)))
        return false;
    return true;
  }
  if (type == &PySlice_Type) {
    auto *slice = reinterpret_cast<PySliceObject *>(object);
    return isValue(slice->start) && isValue(slice->stop) &&
           isValue(slice->step);
  }
  if (type == &PyFrozenSet_Type) {
    Py_ssize_t at = 0;
    PyObject *item;
    Py_hash_t hash;
    while (_PySet_NextEntry(object, &at, &item, &hash))
      if (!isValue(item))
        return false;
    return true;
  }
  static PyTypeObject *size = [] { return classOf("torch", "Size"); }();
  return type == size || Kinds::get().values.count(type);
}

bool capture::isFunctionRecord(PyObject *object) {
  return PyCapsule_CheckExact(object) ||
         !strncmp(Py_TYPE(object)->tp_name, "pybind11_builtins.", 18);
}

bool capture::isPinned(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  if (PyFunction_Check(object) || PyType_Check(object) ||
      PyModule_Check(object) || isModuleInstance(object))
    return true;
  const Kinds &kinds = Kinds::get();
  if (PyObject_TypeCheck(reinterpret_cast<PyObject *>(type), kinds.enumMeta) ||
      type == kinds.lruCache)
    return true;
  if (PyCFunction_Check(object)) {
    PyObject *self = PyCFunction_GET_SELF(object);
    return !self || PyModule_Check(self) || PyType_Check(self) ||
           isFunctionRecord(self);
  }
  if (type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type ||
      type == &PyGetSetDescr_Type || type == &PyMemberDescr_Type ||
      type == &PyClassMethodDescr_Type || type == &PyProperty_Type ||
      type == &PyStaticMethod_Type || type == &PyClassMethod_Type ||
      type == &PyCode_Type)
    return true;
  if (PyObject_TypeCheck(object, kinds.partial) || PyMethod_Check(object))
    return false;
  if (PyList_Check(object) || PyTuple_Check(object) || PyDict_Check(object) ||
      PyAnySet_Check(object) || kinds.isDeque(object) || PyCell_Check(object) ||
      PyIter_Check(object) || PyGen_Check(object) ||
      PyExceptionInstance_Check(object))
    return false;
  // Instances of Python classes are reached by path; what C made is opaque but
  // for what it is.
  return !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ||
         PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE);
}

static std::string stringAttribute(PyObject *object, const char *name) {
  PyObject *value = PyObject_GetAttrString(object, name);
  std::string text;
  if (value && PyUnicode_Check(value))
    if (const char *utf8 = PyUnicode_AsUTF8(value))
      text = utf8;
  Py_XDECREF(value);
  PyErr_Clear();
  return text;
}

std::string capture::describe(PyObject *object) {
  if (PyFunction_Check(object) || PyType_Check(object) ||
      PyCFunction_Check(object) || Py_TYPE(object) == &PyMethodDescr_Type ||
      Py_TYPE(object) == &PyWrapperDescr_Type) {
    std::string name = stringAttribute(object, "__qualname__");
    std::string module = stringAttribute(object, "__module__");
    if (name.empty())
      name = Py_TYPE(object)->tp_name;
    if (module.empty() || module == "builtins")
      return name;
    return module + "." + name;
  }
  if (PyMethod_Check(object))
    return describe(PyMethod_GET_FUNCTION(object));
  if (isValue(object)) {
    PyObject *text = PyObject_Repr(object);
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : nullptr;
    std::string result = utf8 ? utf8 : Py_TYPE(object)->tp_name;
    Py_XDECREF(text);
    PyErr_Clear();
    if (result.size() > 40)
      result = result.substr(0, 37) + "...";
    return result;
  }
  std::string type = stringAttribute(
      reinterpret_cast<PyObject *>(Py_TYPE(object)), "__qualname__");
  return "a " + (type.empty() ? std::string(Py_TYPE(object)->tp_name) : type);
}
