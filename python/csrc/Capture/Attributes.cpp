//===- Attributes.cpp - Attribute lookup on guarded facts -----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `object.name` is going to give, found as CPython finds it but without
// running anything: the lookup in the class is covered by a guard on the class,
// what lies in the instance by a guard on that attribute.  Where Python code
// decides (properties, __getattr__), its frames are observed instead.
//
//===----------------------------------------------------------------------===//

#include "Capture/CPythonCompat.h"
#include "Capture/Kinds.h"
#include "Capture/Observer.h"

namespace py = pybind11;
using namespace dynamo::capture;
using Attribute = Observer::Attribute;

static PyObject *asObject(PyTypeObject *type) {
  return reinterpret_cast<PyObject *>(type);
}

/// An interned name, kept for good.
static PyObject *interned(const char *text) {
  static std::unordered_map<std::string, PyObject *> names;
  PyObject *&name = names[text];
  if (!name)
    name = PyUnicode_InternFromString(text);
  if (!name)
    throw py::error_already_set();
  return name;
}

/// What a slot wrapper calls in the end.
static void *wrapped(PyObject *descriptor) {
  if (Py_TYPE(descriptor) != &PyWrapperDescr_Type)
    return nullptr;
  return reinterpret_cast<PyWrapperDescrObject *>(descriptor)->d_wrapped;
}

/// Calls the C getter of a descriptor that is known to compute from what is
/// guarded only. Null if it raises AttributeError.
static Ref callGetter(PyObject *descriptor, PyObject *object) {
  PyObject *result =
      Py_TYPE(descriptor)
          ->tp_descr_get(descriptor, object, asObject(Py_TYPE(object)));
  if (!result) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      throw py::error_already_set();
    PyErr_Clear();
    return Ref();
  }
  return py::reinterpret_steal<py::object>(result);
}

/// How much of a tensor an attribute in C tells.
enum class TensorAttribute { Unknown, Metadata, Operator, Field };
static TensorAttribute tensorAttribute(const char *name) {
  static const std::unordered_map<std::string, TensorAttribute> all = [] {
    std::unordered_map<std::string, TensorAttribute> all;
    for (const char *n : {"shape",
                          "ndim",
                          "dtype",
                          "device",
                          "layout",
                          "requires_grad",
                          "is_leaf",
                          "is_cpu",
                          "is_cuda",
                          "is_ipu",
                          "is_maia",
                          "is_meta",
                          "is_mkldnn",
                          "is_mps",
                          "is_mtia",
                          "is_nested",
                          "is_quantized",
                          "is_sparse",
                          "is_sparse_csr",
                          "is_vulkan",
                          "is_xla",
                          "is_xpu",
                          "itemsize",
                          "nbytes",
                          "_has_symbolic_sizes_strides",
                          "_python_dispatch"})
      all[n] = TensorAttribute::Metadata;
    for (const char *n : {"H", "T", "mH", "mT", "real", "imag"})
      all[n] = TensorAttribute::Operator;
    for (const char *n : {"grad", "_grad"})
      all[n] = TensorAttribute::Field;
    return all;
  }();
  auto at = all.find(name);
  return at == all.end() ? TensorAttribute::Unknown : at->second;
}

/// Whether the C descriptors of this builtin class compute from what can't
/// change, or from what a guard on the result covers.
static bool isPlainGetter(PyTypeObject *owner) {
  const Kinds &kinds = Kinds::get();
  return owner == &PyFunction_Type || owner == &PyMethod_Type ||
         owner == &PyType_Type || owner == &PyCode_Type ||
         owner == &PySlice_Type || owner == &PyProperty_Type ||
         owner == &PyStaticMethod_Type || owner == &PyClassMethod_Type ||
         owner == &PyCFunction_Type || owner == &PyMethodDescr_Type ||
         owner == &PyWrapperDescr_Type || owner == &PyRange_Type ||
         owner == &PySuper_Type || owner == &PyComplex_Type ||
         owner == &PyLong_Type || owner == &PyFloat_Type ||
         owner == kinds.partial || owner == kinds.deque ||
         owner == kinds.lruCache ||
         owner == reinterpret_cast<PyTypeObject *>(PyExc_BaseException) ||
         owner == reinterpret_cast<PyTypeObject *>(PyExc_StopIteration) ||
         owner == reinterpret_cast<PyTypeObject *>(PyExc_KeyError) ||
         kinds.values.count(owner);
}

/// A C descriptor with a setter (or without one, `isData` tells) found in the
/// class.
static Attribute dataDescriptor(Observer &self, PyObject *object,
                                PyObject *descriptor, PyObject *name) {
  Objects &objects = self.objects;
  PyTypeObject *kind = Py_TYPE(descriptor);
  const char *text = PyUnicode_AsUTF8(name);
  if (!text)
    throw py::error_already_set();
  if (kind == &PyProperty_Type) {
    Ref getter = py::handle(descriptor).attr("fget");
    if (PyFunction_Check(getter.ptr())) {
      objects.addConstant(getter.ptr());
      objects.functionGuard(getter.ptr());
      return {Attribute::Computed, getter.ptr()};
    }
    stop("reads the property " + std::string(text) + " of " + describe(object) +
         ", which is not a Python function");
  }
  if (kind == &PyMemberDescr_Type || kind == &PyGetSetDescr_Type) {
    PyTypeObject *owner = PyDescr_TYPE(descriptor);
    if (kind == &PyGetSetDescr_Type && !strcmp(text, "__dict__"))
      return {Attribute::Dict, object};
    if (!strcmp(text, "__class__")) {
      objects.addConstant(asObject(Py_TYPE(object)));
      return {Attribute::Found, asObject(Py_TYPE(object))};
    }
    if (isTensor(object)) {
      switch (tensorAttribute(text)) {
      case TensorAttribute::Metadata:
        return {Attribute::Value};
      case TensorAttribute::Operator:
        return {Attribute::Operator};
      case TensorAttribute::Field: {
        Known *known = objects.find(object);
        if (!known || known->fresh())
          stop("reads " + std::string(text) + " of a tensor made here");
        Ref result = callGetter(descriptor, object);
        objects.read(result.ptr(),
                     objects.step(known->source, Access::Getter, 0, name));
        return {Attribute::Found, result.ptr()};
      }
      default:
        stop("reads the attribute " + std::string(text) + " of a tensor");
      }
    }
    // Fields of what operators return: torch.return_types.max and the like.
    if (PyTuple_Check(object) && kind == &PyMemberDescr_Type) {
      Ref result = callGetter(descriptor, object);
      if (!result)
        return {Attribute::Missing};
      Known *sequence = objects.need(object);
      if (sequence && !sequence->fresh())
        objects.whole(object);
      return {Attribute::Value};
    }
    bool isSlot = kind == &PyMemberDescr_Type &&
                  PyType_HasFeature(owner, Py_TPFLAGS_HEAPTYPE) &&
                  !PyType_HasFeature(owner, Py_TPFLAGS_IMMUTABLETYPE);
    if (!isSlot && !isPlainGetter(owner))
      stop("reads the attribute " + std::string(text) + " of " +
           describe(object));
    Ref result = callGetter(descriptor, object);
    Known *known = objects.need(object);
    if (!known || known->fresh()) {
      if (!result)
        return {Attribute::Missing};
      if (isValue(result.ptr()) || objects.isKnown(result.ptr()))
        return {Attribute::Value};
      return {isSlot ? Attribute::Value : Attribute::Fresh};
    }
    if (objects.isWritten(*known, name))
      return {result ? Attribute::Value : Attribute::Missing};
    Source *source =
        isSlot ? objects.step(known->source, Access::Slot, 0, descriptor)
               : objects.step(known->source, Access::Getter, 0, name);
    if (!result) {
      objects.absent(source);
      return {Attribute::Missing};
    }
    // What the getter makes anew at each call has no place of its own.
    if (!isValue(result.ptr()) && Py_REFCNT(result.ptr()) == 1)
      stop("reads the attribute " + std::string(text) + " of " +
           describe(object));
    objects.read(result.ptr(), source);
    if (isValue(result.ptr()))
      return {Attribute::Value};
    return {Attribute::Found, result.ptr()};
  }
  if (!strcmp(kind->tp_name, "_collections._tuplegetter") &&
      PyTuple_Check(object)) {
    py::tuple parts = py::handle(descriptor).attr("__reduce__")();
    Py_ssize_t at = py::cast<Py_ssize_t>(py::tuple(parts[1])[0]);
    if (at >= PyTuple_GET_SIZE(object))
      return {Attribute::Missing};
    return {Attribute::Found, objects.item(object, at)};
  }
  // A descriptor of the user's.
  PyTypeObject *unused = nullptr;
  if (self.special(descriptor, "__get__", &unused)) {
    objects.addConstant(descriptor);
    return {Attribute::Computed, descriptor};
  }
  stop("reads the attribute " + std::string(text) + " of " + describe(object) +
       " through a descriptor in C");
}

/// A class attribute that no instance attribute hides, bound to the object
/// (null: to the class `type`).
static Attribute bind(Observer &self, PyObject *object, PyTypeObject *type,
                      PyObject *found, PyObject *name) {
  Objects &objects = self.objects;
  PyTypeObject *kind = Py_TYPE(found);
  if (PyFunction_Check(found)) {
    objects.addConstant(found);
    return {object ? Attribute::Unbound : Attribute::Found, found};
  }
  if (kind == &PyMethodDescr_Type || kind == &PyWrapperDescr_Type) {
    objects.addConstant(found);
    return {object ? Attribute::Unbound : Attribute::Found, found};
  }
  if (kind == &PyStaticMethod_Type) {
    Ref function = py::handle(found).attr("__func__");
    objects.addConstant(function.ptr());
    return {Attribute::Found, function.ptr()};
  }
  if (kind == &PyClassMethod_Type) {
    Ref function = py::handle(found).attr("__func__");
    objects.addConstant(function.ptr());
    objects.addConstant(asObject(type));
    if (!PyFunction_Check(function.ptr()))
      stop("calls the class method " + describe(function.ptr()));
    return {Attribute::Bound, function.ptr()};
  }
  if (kind == &PyClassMethodDescr_Type) {
    objects.addConstant(asObject(type));
    return {Attribute::Fresh};
  }
  descrgetfunc get = kind->tp_descr_get;
  if (!get) {
    objects.addConstant(found);
    return {Attribute::Found, found};
  }
  if (!object && (kind == &PyProperty_Type || kind == &PyMemberDescr_Type ||
                  kind == &PyGetSetDescr_Type)) {
    objects.addConstant(found);
    return {Attribute::Found, found};
  }
  if (kind == &PyProperty_Type || kind == &PyGetSetDescr_Type ||
      kind == &PyMemberDescr_Type)
    return dataDescriptor(self, object, found, name);
  if (kind == Kinds::get().partial || kind == Kinds::get().lruCache) {
    objects.addConstant(found);
    if (kind == Kinds::get().lruCache && object)
      return {Attribute::Fresh};
    return {Attribute::Found, found};
  }
  objects.addConstant(found);
  if (self.special(found, "__get__"))
    return {Attribute::Computed, found};
  stop("reads the attribute " + describe(name) + " through " + describe(found));
}

bool Observer::special(PyObject *object, const char *name,
                       PyTypeObject **definer) {
  PyTypeObject *type = Py_TYPE(object);
  PyObject *found = compat::typeLookup(type, interned(name));
  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
    objects.typed(object);
  if (definer)
    *definer = nullptr;
  if (!found || found == Py_None)
    return false;
  if (PyFunction_Check(found)) {
    objects.addConstant(found);
    objects.functionGuard(found);
    plan().calls = true;
    return true;
  }
  if (Py_TYPE(found) == &PyWrapperDescr_Type ||
      Py_TYPE(found) == &PyMethodDescr_Type) {
    if (definer)
      *definer = PyDescr_TYPE(found);
    return false;
  }
  if (PyCFunction_Check(found) || Py_TYPE(found) == &PyClassMethodDescr_Type) {
    if (definer)
      *definer = &PyBaseObject_Type;
    return false;
  }
  // __iter__ = something callable, a classmethod, a partial ...
  if (Py_TYPE(found) == &PyClassMethod_Type ||
      Py_TYPE(found) == &PyStaticMethod_Type) {
    plan().calls = true;
    return true;
  }
  stop("uses " + std::string(name) + " of " + describe(object));
}

PyObject *Observer::classAttribute(PyObject *object, const char *name) {
  objects.typed(object);
  return compat::typeLookup(Py_TYPE(object), interned(name));
}

static Attribute ofType(Observer &self, PyTypeObject *type, PyObject *name) {
  Objects &objects = self.objects;
  PyTypeObject *meta = Py_TYPE(type);
  objects.need(asObject(type));
  objects.classGuard(type);
  objects.classGuard(meta);
  PyObject *inMeta = compat::typeLookup(meta, name);
  if (inMeta && Py_TYPE(inMeta)->tp_descr_get &&
      Py_TYPE(inMeta)->tp_descr_set) {
    if (Py_TYPE(inMeta) == &PyGetSetDescr_Type ||
        Py_TYPE(inMeta) == &PyMemberDescr_Type) {
      if (PyDescr_TYPE(inMeta) != &PyType_Type)
        stop("reads " + describe(name) + " of a class");
      if (!PyUnicode_CompareWithASCIIString(name, "__dict__"))
        return {Attribute::Fresh};
      Ref result = callGetter(inMeta, asObject(type));
      if (!result)
        return {Attribute::Missing};
      // Covered by the class's version, or never changed.
      if (!isValue(result.ptr())) {
        if (Py_REFCNT(result.ptr()) == 1)
          return {Attribute::Fresh};
        objects.addConstant(result.ptr());
        return {Attribute::Found, result.ptr()};
      }
      return {Attribute::Value};
    }
    return dataDescriptor(self, asObject(type), inMeta, name);
  }
  if (PyObject *found = compat::typeLookup(type, name))
    return bind(self, nullptr, type, found, name);
  if (inMeta)
    return bind(self, asObject(type), meta, inMeta, name);
  if (self.special(asObject(type), "__getattr__"))
    return {Attribute::Computed};
  return {Attribute::Missing};
}

static Attribute ofSuper(Observer &self, PyObject *super, PyObject *name) {
  Objects &objects = self.objects;
  if (!PyUnicode_CompareWithASCIIString(name, "__class__"))
    stop("reads __class__ of super()");
  auto member = [&](const char *text) {
    return callGetter(compat::typeLookup(&PySuper_Type, interned(text)), super);
  };
  Ref start = member("__thisclass__"), object = member("__self__"),
      type = member("__self_class__");
  if (!type || type.is_none())
    stop("uses an unbound super()");
  auto *startType = reinterpret_cast<PyTypeObject *>(type.ptr());
  objects.classGuard(startType);
  PyObject *mro = startType->tp_mro;
  Py_ssize_t i = 0, n = PyTuple_GET_SIZE(mro);
  while (i < n && PyTuple_GET_ITEM(mro, i) != start.ptr())
    ++i;
  for (++i; i < n; ++i) {
    PyObject *dict =
        reinterpret_cast<PyTypeObject *>(PyTuple_GET_ITEM(mro, i))->tp_dict;
    PyObject *found = PyDict_GetItemWithError(dict, name);
    if (!found) {
      if (PyErr_Occurred())
        throw py::error_already_set();
      continue;
    }
    bool isClass = object.ptr() == type.ptr();
    return bind(self, isClass ? nullptr : object.ptr(), startType, found, name);
  }
  PyObject *own = compat::typeLookup(&PySuper_Type, name);
  if (own)
    return bind(self, super, &PySuper_Type, own, name);
  return {Attribute::Missing};
}

Attribute Observer::attribute(PyObject *object, PyObject *name, bool generic) {
  PyTypeObject *type = Py_TYPE(object);
  if (!PyUnicode_CheckExact(name))
    stop("reads an attribute whose name is no str");
  objects.need(object);
  PyObject *getter = compat::typeLookup(type, interned("__getattribute__"));
  void *how = getter ? wrapped(getter) : nullptr;
  if (!generic && getter && PyFunction_Check(getter)) {
    special(object, "__getattribute__");
    return {Attribute::Computed, getter};
  }
  static void *ofTypes = wrapped(compat::typeLookup(
                  &PyType_Type, interned("__getattribute__"))),
              *ofSupers = wrapped(compat::typeLookup(
                  &PySuper_Type, interned("__getattribute__"))),
              *ofModules = wrapped(compat::typeLookup(
                  &PyModule_Type, interned("__getattribute__"))),
              *ofMethods = wrapped(compat::typeLookup(
                  &PyMethod_Type, interned("__getattribute__")));
  if (!generic && how == ofTypes && PyType_Check(object))
    return ofType(*this, reinterpret_cast<PyTypeObject *>(object), name);
  if (!generic && how == ofSupers && PyObject_TypeCheck(object, &PySuper_Type))
    return ofSuper(*this, object, name);
  bool known = generic ||
               how == reinterpret_cast<void *>(PyObject_GenericGetAttr) ||
               how == ofModules || how == ofMethods;
  if (!known)
    stop("reads the attribute " + std::string(PyUnicode_AsUTF8(name)) + " of " +
         describe(object));

  if (PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
    objects.typed(object);
  PyObject *found = compat::typeLookup(type, name);
  if (found && Py_TYPE(found)->tp_descr_get && Py_TYPE(found)->tp_descr_set) {
    Attribute result = dataDescriptor(*this, object, found, name);
    // A property that raises AttributeError leads to __getattr__.
    if (result.kind == Attribute::Missing && !generic &&
        special(object, "__getattr__"))
      return {Attribute::Computed};
    return result;
  }
  bool hasStorage = type->tp_dictoffset != 0 ||
                    PyType_HasFeature(type, Py_TPFLAGS_MANAGED_DICT);
  if (hasStorage && !isValue(object)) {
    // Results of operators have nothing but what was put there here.
    PyObject *own = isTensor(object) && !objects.find(object)
                        ? compat::instanceAttribute(object, name)
                        : objects.instanceItem(object, name);
    if (own)
      return {Attribute::Found, own};
  }
  if (found)
    return bind(*this, object, type, found, name);
  if (how == ofMethods && PyMethod_Check(object))
    return attribute(PyMethod_GET_FUNCTION(object), name);
  if (how == ofModules && PyModule_Check(object)) {
    if (PyObject *hook =
            objects.instanceItem(object, interned("__getattr__"))) {
      if (!PyFunction_Check(hook))
        stop("reads an attribute through a module's __getattr__");
      objects.functionGuard(hook);
      plan().calls = true;
      return {Attribute::Computed};
    }
  }
  if (!generic && special(object, "__getattr__"))
    return {Attribute::Computed};
  return {Attribute::Missing};
}

void Observer::storeAttribute(PyObject *object, PyObject *name, PyObject *value,
                              bool generic) {
  PyTypeObject *type = Py_TYPE(object);
  Known *known = objects.need(object);
  if (value)
    objects.need(value);
  if (!generic && special(object, value ? "__setattr__" : "__delattr__"))
    return;
  objects.typed(object);
  PyObject *setter =
      compat::typeLookup(type, interned(value ? "__setattr__" : "__delattr__"));
  void *how = setter ? wrapped(setter) : nullptr;
  const char *text = PyUnicode_AsUTF8(name);
  if (!text)
    throw py::error_already_set();
  if (!generic && how != reinterpret_cast<void *>(PyObject_GenericSetAttr)) {
    if (PyType_Check(object))
      stop("changes a class: " + describe(object) + "." + text);
    stop("sets the attribute " + std::string(text) + " of " + describe(object));
  }
  PyObject *found = compat::typeLookup(type, name);
  if (found && Py_TYPE(found)->tp_descr_set) {
    if (Py_TYPE(found) == &PyProperty_Type) {
      Ref function = py::handle(found).attr(value ? "fset" : "fdel");
      if (!PyFunction_Check(function.ptr()))
        stop("sets the property " + std::string(text));
      objects.functionGuard(function.ptr());
      plan().calls = true;
      return;
    }
    PyTypeObject *owner = PyDescr_TYPE(found);
    bool isSlot = Py_TYPE(found) == &PyMemberDescr_Type &&
                  PyType_HasFeature(owner, Py_TPFLAGS_HEAPTYPE) &&
                  !PyType_HasFeature(owner, Py_TPFLAGS_IMMUTABLETYPE);
    if (!isSlot) {
      if (special(found, value ? "__set__" : "__delete__"))
        return;
      // __doc__ and the like of functions made here are rebuilt with them.
      if (!(known && known->fresh() && !isTensor(object)))
        stop("sets the attribute " + std::string(text) + " of " +
             describe(object));
      if (!strcmp(text, "__class__") || !strcmp(text, "__code__") ||
          !strcmp(text, "__dict__"))
        stop("sets the attribute " + std::string(text));
      return;
    }
  }
  if (isTensor(object))
    stop("sets the attribute " + std::string(text) + " of a tensor");
  if (!known || known->fresh())
    return;
  if (value)
    objects.effect(Effect::SetAttr, object, name, {value});
  else
    objects.effect(Effect::DelAttr, object, name, {});
  objects.markWritten(object, name);
  plan().mayRaise = false;
}
