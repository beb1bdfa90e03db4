//===- Objects.cpp - What a recording knows of objects --------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/Objects.h"

#include "Capture/CPythonCompat.h"
#include "Capture/Kinds.h"
#include "Capture/TorchState.h"

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;

void capture::stop(std::string reason, std::string advice) {
  throw Stop{std::move(reason), std::move(advice)};
}

static Ref borrow(PyObject *object) {
  return py::reinterpret_borrow<py::object>(object);
}
/// Of a CPython call that returns a new reference.
static Ref checked(PyObject *object) {
  if (!object)
    throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

Known *Objects::find(PyObject *object) {
  auto at = table.find(object);
  if (at == table.end())
    return nullptr;
  Known &known = at->second;
  if (known.weak && PyWeakref_GET_OBJECT(known.weak.ptr()) == Py_None) {
    // Another object lives at this address now.
    table.erase(at);
    return nullptr;
  }
  return &known;
}

bool Objects::isKnown(PyObject *object) {
  return isValue(object) || isTensor(object) || find(object);
}

Known *Objects::need(PyObject *object) {
  Known *known = find(object);
  if (!known && !isValue(object) && !isTensor(object))
    stop("uses " + describe(object) + ", which code in C has made");
  return known;
}

Known &Objects::insert(PyObject *object, Source *source) {
  Known &known = table[object];
  known = Known();
  known.object = object;
  known.source = source;
  if (isTensor(object))
    known.weak = checked(PyWeakref_NewRef(object, nullptr));
  else
    known.strong = borrow(object);
  return known;
}

Known &Objects::addFresh(PyObject *object) {
  if (Known *known = find(object))
    return *known;
  Known &known = insert(object, nullptr);
  known.whole = true;
  known.made = unit;
  young.push_back(object);
  return known;
}

Known *Objects::addConstant(PyObject *object) {
  if (isValue(object))
    return nullptr;
  if (Known *known = find(object))
    return known;
  Source *source = root(Access::Constant, 0, object);
  if (isTensor(object))
    return read(object, source);
  Known &known = insert(object, source);
  known.pinned = true;
  return &known;
}

void Objects::sweep() {
  size_t kept = 0;
  for (size_t i = 0; i < young.size(); ++i) {
    auto at = table.find(young[i]);
    if (at == table.end() || !at->second.fresh() || !at->second.strong)
      continue;
    if (Py_REFCNT(young[i]) > 1) {
      young[kept++] = young[i];
      continue;
    }
    // Its end may run code that looks into the table.
    Known dead = std::move(at->second);
    table.erase(at);
  }
  young.resize(kept);
}

//===----------------------------------------------------------------------===//
// Sources and guards
//===----------------------------------------------------------------------===//

static bool sameKey(PyObject *a, PyObject *b) {
  if (a == b)
    return true;
  if (!a || !b || Py_TYPE(a) != Py_TYPE(b) || !isValue(a))
    return false;
  int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0)
    throw py::error_already_set();
  return equal;
}

Source *Objects::root(Access access, int64_t index, PyObject *key) {
  return step(nullptr, access, index, key);
}

Source *Objects::step(Source *parent, Access access, int64_t index,
                      PyObject *key) {
  Py_hash_t hash = 0;
  if (key) {
    hash = isValue(key)
               ? PyObject_Hash(key)
               : static_cast<Py_hash_t>(reinterpret_cast<intptr_t>(key) >> 4);
    if (hash == -1 && PyErr_Occurred())
      throw py::error_already_set();
  }
  auto &bucket = sourceIndex[{parent, access, index, hash}];
  for (Source *source : bucket)
    if (sameKey(source->key.ptr(), key))
      return source;
  Source source;
  source.access = access;
  source.parent = parent;
  source.index = index;
  if (key)
    source.key = borrow(key);
  source.number = static_cast<int64_t>(trace.sources.size());
  trace.sources.push_back(std::move(source));
  bucket.push_back(&trace.sources.back());
  guarded.push_back(false);
  return bucket.back();
}

Guard &Objects::guard(Check check, const Source *source, PyObject *object) {
  Guard guard;
  guard.check = check;
  guard.source = source;
  if (object)
    guard.object = borrow(object);
  if (locate)
    locate(guard);
  trace.guards.push_back(std::move(guard));
  return trace.guards.back();
}

Known *Objects::read(PyObject *object, Source *source) {
  bool first = !guarded[source->number];
  guarded[source->number] = true;
  if (isValue(object)) {
    if (first)
      guard(Check::Equal, source, object);
    return nullptr;
  }
  if (Known *known = find(object)) {
    if (!first || known->fresh() || known->source == source)
      return known;
    if (known->pinned)
      guard(Check::Identity, source, object);
    else
      guard(Check::Same, source).other = known->source;
    return known;
  }
  if (isTensor(object) && !Kinds::get().plainTensors.count(Py_TYPE(object)))
    stop("uses a tensor of the class " +
         describe(reinterpret_cast<PyObject *>(Py_TYPE(object))));
  Known &known = insert(object, source);
  if (isTensor(object)) {
    guard(Check::Tensor, source).tensor = describeTensor(object);
    known.typed = true;
  } else if (source->access == Access::Constant) {
    known.pinned = true;
  } else if (isPinned(object)) {
    guard(Check::Identity, source, object);
    known.pinned = true;
  } else {
    guard(Check::Type, source, reinterpret_cast<PyObject *>(Py_TYPE(object)));
    known.typed = true;
  }
  return &known;
}

void Objects::identity(PyObject *object, Source *source) {
  if (!guarded[source->number])
    guard(Check::Identity, source, object);
  guarded[source->number] = true;
}

void Objects::absent(Source *source) {
  if (guarded[source->number])
    return;
  guarded[source->number] = true;
  guard(Check::Absent, source);
}

void Objects::present(Source *source) {
  // Not noted as read: a later read still has to look at what is there.
  if (!guarded[source->number])
    guard(Check::Present, source);
}

void Objects::classGuard(PyTypeObject *type) {
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ||
      PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE))
    return;
  PyObject *object = reinterpret_cast<PyObject *>(type);
  if (!classes.insert(object).second)
    return;
  guard(Check::Class, root(Access::Constant, 0, object));
}

void Objects::typed(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE))
    return;
  Known *known = find(object);
  if (!known || known->fresh() || isTensor(object))
    return classGuard(type);
  if (known->typed)
    return;
  known->typed = true;
  guard(Check::Type, known->source, reinterpret_cast<PyObject *>(type));
}

void Objects::functionGuard(PyObject *function) {
  Known *known = find(function);
  if (!known || known->fresh() || known->function)
    return;
  known->function = true;
  guard(Check::Function, root(Access::Constant, 0, function), function);
}

void Objects::related(PyObject *a, PyObject *b) {
  if (isValue(a) || isValue(b))
    return;
  Known *x = find(a), *y = find(b);
  // Results of operators are told apart by the operators that made them.
  if (!x || !y) {
    need(a);
    need(b);
    return;
  }
  if (a == b || x->fresh() || y->fresh() || (x->pinned && y->pinned) ||
      Py_TYPE(a) != Py_TYPE(b))
    return;
  guard(Check::Distinct, x->source).other = y->source;
}

void Objects::identified(PyObject *object) {
  Known *known = need(object);
  addresses.insert(reinterpret_cast<uintptr_t>(object));
  if (!known || known->fresh() || known->pinned)
    return;
  for (PyObject *other : apart)
    if (other == object)
      return;
  if (apart.size() > 40)
    stop("takes the id() of many objects");
  apart.push_back(object);
}

//===----------------------------------------------------------------------===//
// Content of containers
//===----------------------------------------------------------------------===//

static Py_ssize_t lengthOf(PyObject *object) {
  if (PyList_Check(object))
    return PyList_GET_SIZE(object);
  if (PyTuple_Check(object))
    return PyTuple_GET_SIZE(object);
  if (PyDict_Check(object))
    return PyDict_GET_SIZE(object);
  if (PyAnySet_Check(object))
    return PySet_GET_SIZE(object);
  return Py_SIZE(object); // a deque
}

void Objects::sized(PyObject *object) {
  Known *known = need(object);
  if (!known || known->fresh() || known->whole || known->sized)
    return;
  if (known->appended)
    stop("reads a list from outside after appending to it");
  if (!known->written.empty() && !PyList_Check(object))
    stop("takes the length of a dict that it has written to");
  typed(object);
  known->sized = true;
  guard(Check::Length, known->source).index = lengthOf(object);
}

bool Objects::isWritten(const Known &known, PyObject *key) const {
  for (const Ref &written : known.written)
    if (sameKey(written.ptr(), key))
      return true;
  return false;
}

void Objects::markWritten(PyObject *object, PyObject *key) {
  Known *known = find(object);
  if (known && known->owner)
    known = find(known->owner);
  if (known && !known->fresh() && !isWritten(*known, key))
    known->written.push_back(borrow(key));
}

PyObject *Objects::item(PyObject *sequence, Py_ssize_t index) {
  Ref deque;
  PyObject *result;
  if (PyList_Check(sequence))
    result = PyList_GET_ITEM(sequence, index);
  else if (PyTuple_Check(sequence))
    result = PyTuple_GET_ITEM(sequence, index);
  else {
    deque = checked(PySequence_GetItem(sequence, index));
    result = deque.ptr(); // the deque keeps it
  }
  Known *known = need(sequence);
  if (!known || known->fresh() || known->whole)
    return result;
  if (known->appended)
    stop("reads a list from outside after appending to it");
  if (!known->written.empty() &&
      isWritten(*known, checked(PyLong_FromSsize_t(index)).ptr()))
    return result;
  bool isDeque = !PyList_Check(sequence) && !PyTuple_Check(sequence);
  read(result,
       step(known->source, isDeque ? Access::DequeItem : Access::Item, index));
  return result;
}

/// dict's own lookup; borrowed.
static PyObject *plainItem(PyObject *dict, PyObject *key) {
  PyObject *result = PyDict_GetItemWithError(dict, key);
  if (!result && PyErr_Occurred())
    throw py::error_already_set();
  return result;
}

static Source *itemSource(Objects &objects, Known &known, PyObject *key) {
  if (known.owner) {
    Known *owner = objects.find(known.owner);
    if (owner && !owner->fresh() && PyUnicode_CheckExact(key))
      return objects.step(owner->source, Access::InstanceAttr, 0, key);
  }
  return objects.step(known.source, Access::DictItem, 0, key);
}

void Objects::hashable(PyObject *key) {
  if (isValue(key))
    return;
  Known *known = find(key);
  if (known && (known->pinned || known->fresh()) &&
      Py_TYPE(key)->tp_hash == PyBaseObject_Type.tp_hash)
    return;
  if (known && known->pinned &&
      !PyType_HasFeature(Py_TYPE(key), Py_TPFLAGS_HEAPTYPE))
    return;
  stop("uses " + describe(key) + " as a key");
}

/// True if the content at this key is the trace's own, or needs no guard.
static bool isOwn(Objects &objects, Known &known, PyObject *key) {
  if (known.fresh() || known.whole || objects.isWritten(known, key))
    return true;
  if (!known.owner)
    return false;
  Known *owner = objects.find(known.owner);
  return owner && (owner->fresh() || objects.isWritten(*owner, key));
}

PyObject *Objects::dictItem(PyObject *dict, PyObject *key) {
  hashable(key);
  PyObject *result = plainItem(dict, key);
  Known *known = need(dict);
  if (!known || isOwn(*this, *known, key))
    return result;
  typed(dict);
  Source *source = itemSource(*this, *known, key);
  if (result)
    read(result, source);
  else
    absent(source);
  return result;
}

bool Objects::dictHas(PyObject *dict, PyObject *key) {
  hashable(key);
  bool has = plainItem(dict, key) != nullptr;
  Known *known = need(dict);
  if (!known || isOwn(*this, *known, key))
    return has;
  typed(dict);
  Source *source = itemSource(*this, *known, key);
  if (has)
    present(source);
  else
    absent(source);
  return has;
}

PyObject *Objects::instanceItem(PyObject *object, PyObject *name) {
  PyObject *result = compat::instanceAttribute(object, name);
  Known *known = need(object);
  if (!known || known->fresh() || isWritten(*known, name))
    return result;
  Source *source = step(known->source, Access::InstanceAttr, 0, name);
  if (result)
    read(result, source);
  else
    absent(source);
  return result;
}

void Objects::whole(PyObject *object) {
  Known *known = need(object);
  if (!known || known->fresh() || known->whole)
    return;
  if (known->appended)
    stop("reads a list from outside after appending to it");
  typed(object);
  if (PyDict_Check(object) || PyAnySet_Check(object)) {
    if (!known->written.empty() ||
        (known->owner && !find(known->owner)->written.empty()))
      stop("goes over a dict that it has written to");
    Ref keys = checked(PySequence_Tuple(object));
    Source *source = known->source;
    for (py::handle key : keys) {
      if (isValue(key.ptr()))
        continue;
      if (!isPinned(key.ptr()))
        stop("goes over a dict or set with " + describe(key.ptr()) +
             " as a key");
    }
    guard(Check::Keys, source, keys.ptr());
    for (py::handle key : keys) {
      addConstant(key.ptr());
      if (PyDict_Check(object)) {
        PyObject *item = plainItem(object, key.ptr());
        read(item, itemSource(*this, *find(object), key.ptr()));
      }
    }
    find(object)->whole = true;
    return;
  }
  if (!PyList_Check(object) && !PyTuple_Check(object) &&
      !Kinds::get().isDeque(object))
    stop("goes over " + describe(object));
  sized(object);
  for (Py_ssize_t i = 0, n = lengthOf(object); i < n; ++i)
    item(object, i);
  find(object)->whole = true;
}

void Objects::deep(PyObject *object, const char *what, int depth) {
  if (isValue(object))
    return;
  if (depth > 20)
    stop(std::string(what) + " something deeply nested");
  Known *known = need(object);
  if (PyList_Check(object) || PyTuple_Check(object) ||
      Kinds::get().isDeque(object)) {
    whole(object);
    Ref items = checked(PySequence_Tuple(object));
    for (py::handle item : items)
      deep(item.ptr(), what, depth + 1);
    return;
  }
  if (PyAnySet_Check(object)) {
    whole(object);
    Ref items = checked(PySequence_Tuple(object));
    for (py::handle item : items)
      deep(item.ptr(), what, depth + 1);
    return;
  }
  if (PyDict_Check(object)) {
    whole(object);
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value);) {
      deep(key, what, depth + 1);
      deep(value, what, depth + 1);
    }
    return;
  }
  if (known && known->pinned &&
      !PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE))
    return;
  if (known && known->pinned && PyType_Check(object))
    return;
  stop(std::string(what) + " " + describe(object));
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

void Objects::effect(Effect::Kind kind, PyObject *target, PyObject *name,
                     std::initializer_list<PyObject *> operands) {
  Known *known = need(target);
  if (!known || known->fresh())
    return;
  // What hangs on a fresh instance is written with the instance.
  if (known->owner && find(known->owner)->fresh())
    return;
  PendingEffect effect;
  effect.kind = kind;
  effect.target = borrow(target);
  if (name)
    effect.name = borrow(name);
  for (PyObject *operand : operands) {
    need(operand);
    effect.operands.push_back(borrow(operand));
  }
  effects.push_back(std::move(effect));
}

void Objects::rewritten(PyObject *container) {
  Known *known = need(container);
  if (!known || known->fresh())
    return;
  whole(container);
  rewrittenContainers.insert(container);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

int64_t Objects::inputOf(PyObject *tensor) {
  Known *known = find(tensor);
  if (!known || known->fresh())
    return -1;
  auto [at, isNew] =
      inputs.try_emplace(known->source, (int64_t)trace.inputs.size());
  if (isNew)
    trace.inputs.push_back(known->source);
  return at->second;
}

int64_t Objects::inputOfGrad(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(trace.inputs.size()))
    return -1;
  Source *tensor = &trace.sources[trace.inputs[number]->number];
  PyObject *object = nullptr;
  for (auto &[candidate, known] : table)
    if (known.source == tensor && find(candidate)) {
      object = candidate;
      break;
    }
  if (!object)
    return -1;
  Ref name = py::str("grad");
  Ref grad = py::handle(object).attr("grad");
  Source *source = step(tensor, Access::Getter, 0, name.ptr());
  read(grad.ptr(), source);
  return grad.is_none() ? -1 : inputOf(grad.ptr());
}
