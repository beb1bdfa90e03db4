//===- Leaving.cpp - Objects as values, at the end of a recording ---------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What leaves the segment is described by walking the objects themselves, as
// they are when it ends: from outside, results of operators, values, or made
// here, in which case what they hold is described too.
//
//===----------------------------------------------------------------------===//

#include "Capture/CPythonCompat.h"
#include "Capture/Kinds.h"
#include "Capture/Objects.h"

namespace py = pybind11;
using namespace dynamo::capture;

static Ref borrow(PyObject *object) {
  return py::reinterpret_borrow<py::object>(object);
}

Value *Objects::newValue(Value::Kind kind, PyObject *object) {
  trace.values.emplace_back();
  Value *value = &trace.values.back();
  value->kind = kind;
  // Before its parts, which may refer back to it.
  values[object] = value;
  return value;
}

Value *Objects::valueOfSource(Source *source) {
  Value *&value = sourceValues[source];
  if (!value) {
    trace.values.emplace_back();
    value = &trace.values.back();
    value->kind = Value::Source;
    value->source = source;
  }
  return value;
}

/// Attributes in the instance's own storage, and slots.
void Objects::attributesOf(Value *value, PyObject *object) {
  struct Context {
    Objects *self;
    Value *value;
    std::vector<std::pair<Ref, Ref>> all;
  } context{this, value, {}};
  compat::forEachAttribute(object, &context,
                           [](void *context, PyObject *name, PyObject *item) {
                             static_cast<Context *>(context)->all.emplace_back(
                                 borrow(name), borrow(item));
                             return true;
                           });
  for (auto &[name, item] : context.all)
    value->attributes.emplace_back(name, this->value(item.ptr()));
  PyObject *mro = Py_TYPE(object)->tp_mro;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(mro); ++i) {
    auto *type = reinterpret_cast<PyTypeObject *>(PyTuple_GET_ITEM(mro, i));
    if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ||
        PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE))
      continue;
    PyObject *key, *descriptor;
    for (Py_ssize_t at = 0;
         PyDict_Next(type->tp_dict, &at, &key, &descriptor);) {
      if (Py_TYPE(descriptor) != &PyMemberDescr_Type)
        continue;
      PyObject *item = Py_TYPE(descriptor)
                           ->tp_descr_get(descriptor, object,
                                          reinterpret_cast<PyObject *>(type));
      if (!item) {
        PyErr_Clear(); // not set
        continue;
      }
      Ref owned = py::reinterpret_steal<py::object>(item);
      value->slots.emplace_back(borrow(descriptor), this->value(item));
    }
  }
}

Value *Objects::value(PyObject *object) {
  if (auto at = values.find(object); at != values.end())
    return at->second;
  if (isValue(object)) {
    if (!addresses.empty() && PyLong_CheckExact(object)) {
      auto number = reinterpret_cast<uintptr_t>(PyLong_AsVoidPtr(object));
      PyErr_Clear();
      if (addresses.count(number))
        stop("holds the id() of an object");
    }
    Value *value = newValue(Value::Constant, object);
    value->object = borrow(object);
    return value;
  }
  Known *known = find(object);
  if (known && !known->fresh()) {
    Value *value = valueOfSource(known->source);
    values[object] = value;
    return value;
  }
  if (isTensor(object)) {
    if (!Kinds::get().plainTensors.count(Py_TYPE(object)))
      stop("holds a tensor of the class " +
           describe(reinterpret_cast<PyObject *>(Py_TYPE(object))));
    if (PyObject *dict = compat::instanceDict(object);
        dict && PyDict_GET_SIZE(dict))
      stop("holds a tensor with attributes of its own");
    int64_t number = outputOf(object);
    if (number < 0)
      stop("holds a tensor of unknown origin");
    Value *value = newValue(Value::Tensor, object);
    value->index = number;
    return value;
  }
  if (!known) {
    // What the user's code can't have changed since the trace began.
    if (PyType_Check(object))
      if (Known *type = addConstant(object))
        return valueOfSource(type->source);
    stop("holds " + describe(object) + ", which can't be made again");
  }
  PyTypeObject *type = Py_TYPE(object);
  const Kinds &kinds = Kinds::get();
  auto container = [&](Value::Kind kind) {
    Value *value = newValue(kind, object);
    value->type = borrow(reinterpret_cast<PyObject *>(type));
    return value;
  };
  auto fill = [&](Value *value) {
    Ref items = py::reinterpret_steal<py::object>(PySequence_Tuple(object));
    if (!items)
      throw py::error_already_set();
    for (py::handle item : items)
      value->items.push_back(this->value(item.ptr()));
  };
  bool isHeap = PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE);
  if (PyList_Check(object)) {
    Value *value = container(Value::List);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object); ++i)
      value->items.push_back(this->value(PyList_GET_ITEM(object, i)));
    if (isHeap)
      attributesOf(value, object);
    return value;
  }
  if (PyTuple_Check(object)) {
    Value *value = container(Value::Tuple);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
      value->items.push_back(this->value(PyTuple_GET_ITEM(object, i)));
    if (isHeap && type->tp_dictoffset)
      attributesOf(value, object);
    return value;
  }
  if (PyDict_Check(object)) {
    if (known->owner)
      stop("holds the __dict__ of an object made here");
    Value *value = container(Value::Dict);
    if (PyObject_TypeCheck(object, kinds.defaultDict)) {
      Ref factory = py::handle(object).attr("default_factory");
      if (!isPinned(factory.ptr()) && !factory.is_none())
        stop("holds a defaultdict with an unusual factory");
      value->object = factory;
    }
    // The order of an OrderedDict is its own.
    Ref keys = py::reinterpret_steal<py::object>(PySequence_Tuple(object));
    if (!keys)
      throw py::error_already_set();
    for (py::handle key : keys) {
      PyObject *item = PyDict_GetItemWithError(object, key.ptr());
      if (!item)
        stop("holds a dict whose class hides its items");
      value->items.push_back(this->value(key.ptr()));
      value->items.push_back(this->value(item));
    }
    if (isHeap || type == kinds.orderedDict)
      attributesOf(value, object);
    return value;
  }
  if (PyAnySet_Check(object)) {
    Value *value = container(Value::Set);
    fill(value);
    return value;
  }
  if (kinds.isDeque(object)) {
    Value *value = container(Value::Deque);
    value->object = py::handle(object).attr("maxlen");
    fill(value);
    return value;
  }
  if (PyCell_Check(object)) {
    Value *value = newValue(Value::Cell, object);
    if (PyObject *content = PyCell_GET(object))
      value->items.push_back(this->value(content));
    return value;
  }
  if (PyFunction_Check(object)) {
    Value *value = newValue(Value::Function, object);
    value->object = borrow(object);
    if (PyObject *closure = PyFunction_GetClosure(object))
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(closure); ++i)
        value->items.push_back(this->value(PyTuple_GET_ITEM(closure, i)));
    // Defaults are the template's: they must not depend on the trace.
    for (PyObject *part :
         {PyFunction_GetDefaults(object), PyFunction_GetKwDefaults(object)})
      if (part && !isValue(part)) {
        Ref items;
        if (PyDict_Check(part))
          items = py::reinterpret_steal<py::object>(PyDict_Values(part));
        else
          items = borrow(part);
        for (py::handle item : items)
          if (!isValue(item.ptr()) && !isPinned(item.ptr()))
            stop("holds a function whose defaults were made here");
      }
    attributesOf(value, object);
    return value;
  }
  if (PyMethod_Check(object)) {
    Value *value = newValue(Value::BoundMethod, object);
    PyObject *function = PyMethod_GET_FUNCTION(object);
    if (!isKnown(function))
      addConstant(function);
    value->items.push_back(this->value(function));
    value->items.push_back(this->value(PyMethod_GET_SELF(object)));
    return value;
  }
  if (PySlice_Check(object)) {
    Value *value = newValue(Value::Slice, object);
    auto *slice = reinterpret_cast<PySliceObject *>(object);
    for (PyObject *part : {slice->start, slice->stop, slice->step})
      value->items.push_back(this->value(part));
    return value;
  }
  // An instance of a Python class over object.
  if (isHeap && type->tp_alloc == PyType_GenericAlloc &&
      !PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE)) {
    PyTypeObject *base = type;
    while (base && PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE))
      base = base->tp_base;
    if (base == &PyBaseObject_Type) {
      if (isModuleInstance(object))
        stop("holds a module that was made here");
      Value *value = container(Value::Object);
      attributesOf(value, object);
      return value;
    }
  }
  throw Stop{"holds " + describe(object) + ", which can't be made again", "",
             known->made};
}

void Objects::finishEffects() {
  for (auto &[variable, depth] : contextDepth)
    if (depth)
      stop("leaves a context variable set");
  for (size_t i = 0; i < apart.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      related(apart[i], apart[j]);
  // Objects that are reached by path may be one object at another call.
  std::unordered_set<PyObject *> changed;
  for (PendingEffect &effect : effects)
    changed.insert(effect.target.ptr());
  for (PyObject *container : rewrittenContainers)
    changed.insert(container);
  std::vector<Known *> outside;
  if (!changed.empty())
    for (auto &[object, known] : table)
      if (!known.fresh() && !known.pinned && known.strong &&
          known.source->access != Access::InstanceDict)
        outside.push_back(&known);
  for (PyObject *object : changed) {
    Known *known = find(object);
    if (!known || known->pinned || known->owner)
      continue;
    for (Known *other : outside)
      if (other != known && Py_TYPE(other->object) == Py_TYPE(object) &&
          !(changed.count(other->object) && other->object < object))
        guard(Check::Distinct, known->source).other = other->source;
  }
  for (PendingEffect &effect : effects) {
    trace.effects.emplace_back();
    // By index: values of operands add no effects, but be safe.
    Effect result;
    result.kind = effect.kind;
    result.target = value(effect.target.ptr());
    result.name = effect.name;
    for (Ref &operand : effect.operands)
      result.operands.push_back(value(operand.ptr()));
    trace.effects.back() = std::move(result);
  }
  auto call = [&](Value *target, const char *name,
                  std::vector<Value *> operands) {
    Effect effect;
    effect.kind = Effect::Call;
    effect.target = target;
    effect.name = py::str(name);
    effect.operands = std::move(operands);
    trace.effects.push_back(std::move(effect));
  };
  for (PyObject *container : rewrittenContainers) {
    Value *target = value(container);
    trace.values.emplace_back();
    Value *content = &trace.values.back();
    bool isDict = PyDict_Check(container);
    content->kind = isDict ? Value::Dict : Value::Tuple;
    content->type = borrow(
        reinterpret_cast<PyObject *>(isDict ? &PyDict_Type : &PyTuple_Type));
    if (isDict) {
      PyObject *key, *item;
      for (Py_ssize_t at = 0; PyDict_Next(container, &at, &key, &item);) {
        content->items.push_back(value(key));
        content->items.push_back(value(item));
      }
    } else {
      Ref items =
          py::reinterpret_steal<py::object>(PySequence_Tuple(container));
      if (!items)
        throw py::error_already_set();
      for (py::handle item : items)
        content->items.push_back(value(item.ptr()));
    }
    call(target, "clear", {});
    call(target, isDict || PyAnySet_Check(container) ? "update" : "extend",
         {content});
  }
}
