//===- CFunctionsContainers.cpp - Methods of builtin containers -----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Methods of list, tuple, dict, set and deque.  What was made inside the trace
// may be changed freely.  In a dict from outside keys are followed one by one;
// a list, set or deque from outside is guarded as a whole before it is changed,
// and gets its new content at the end.
//
//===----------------------------------------------------------------------===//

#include "Capture/CFunctions.h"
#include "Capture/CPythonCompat.h"
#include "Capture/Kinds.h"

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;

static PyObject *keyword(const Call &call, const char *name) {
  for (size_t i = 0; i < call.names.size(); ++i)
    if (!PyUnicode_CompareWithASCIIString(call.names[i], name))
      return call.args[call.positional() + i];
  return nullptr;
}

static bool isContainer(PyObject *object) {
  return PyList_Check(object) || PyTuple_Check(object) ||
         PyDict_Check(object) || PyAnySet_Check(object) ||
         Kinds::get().isDeque(object);
}

/// A class's constructor, or __init__ with a null instance in front.
static void construct(Observer &self, Call &call) {
  size_t first = !call.args.empty() && !call.args[0] ? 1 : 0;
  bool calls = false;
  for (size_t i = first; i < call.positional(); ++i) {
    PyObject *argument = call.args[i];
    if (isValue(argument) || argument == Py_None)
      continue;
    self.iterate(argument);
    calls |= self.plan().calls;
    if (PyGen_CheckExact(argument) ||
        Kinds::get().callingIterators.count(Py_TYPE(argument)) ||
        Kinds::get().iterators.count(Py_TYPE(argument)))
      calls = true;
  }
  self.plan().calls = calls;
  self.freshResult();
}

/// An instance of a dict class: from a mapping or pairs.
static void constructDict(Observer &self, Call &call) {
  size_t first = !call.args.empty() && !call.args[0] ? 1 : 0;
  for (size_t i = first; i < call.positional(); ++i) {
    PyObject *argument = call.args[i];
    if (PyDict_Check(argument)) {
      if (self.special(argument, "keys") ||
          self.special(argument, "__getitem__") ||
          self.special(argument, "__iter__"))
        continue;
      self.objects.whole(argument);
    } else {
      self.iterate(argument);
      if (PyList_Check(argument) || PyTuple_Check(argument))
        for (py::handle item : py::reinterpret_borrow<py::sequence>(argument))
          if (isContainer(item.ptr()) && !isValue(item.ptr()))
            self.objects.whole(item.ptr());
      self.plan().calls = true;
    }
  }
  self.freshResult();
}

static void constructDefaultDict(Observer &self, Call &call) {
  size_t first = !call.args.empty() && !call.args[0] ? 1 : 0;
  Call rest = call;
  if (rest.positional() > first)
    rest.args.erase(rest.args.begin() + first);
  constructDict(self, rest);
}

//===----------------------------------------------------------------------===//
// list, deque
//===----------------------------------------------------------------------===//

static void append(Observer &self, Call &call) {
  PyObject *list = call.args[0];
  Known *known = self.objects.need(list);
  if (!known || known->fresh())
    return;
  if (known->whole || Py_TYPE(list) != &PyList_Type)
    return self.objects.rewritten(list);
  static PyObject *name = PyUnicode_InternFromString("append");
  self.objects.typed(list);
  self.objects.effect(Effect::Call, list, name, {call.args[1]});
  known->appended = true;
}

/// The container is changed; what it is given is gone over.
static void change(Observer &self, Call &call) {
  for (size_t i = 1; i < call.args.size(); ++i)
    if (!isValue(call.args[i]) && isContainer(call.args[i]))
      self.objects.whole(call.args[i]);
  self.objects.rewritten(call.args[0]);
}

static void extend(Observer &self, Call &call) {
  self.objects.rewritten(call.args[0]);
  for (size_t i = 1; i < call.args.size(); ++i) {
    PyObject *argument = call.args[i];
    if (Kinds::get().iterators.count(Py_TYPE(argument)) ||
        Kinds::get().callingIterators.count(Py_TYPE(argument)) ||
        PyGen_CheckExact(argument))
      self.plan().calls = true;
    self.iterate(argument);
  }
  self.plan().hasResult = false;
}

static void sort(Observer &self, Call &call) {
  PyObject *list = call.args[0];
  self.objects.rewritten(list);
  PyObject *key = keyword(call, "key");
  if (key && key != Py_None) {
    if (!PyFunction_Check(key))
      stop("sorts by " + describe(key));
    self.objects.need(key);
    self.objects.functionGuard(key);
    self.plan().calls = true;
    self.plan().consume = [](Observer &self, PyObject *value) {
      self.objects.deep(value, "sorts by");
    };
    return;
  }
  self.objects.deep(list, "sorts");
}

/// index, count, remove, __contains__: by ==.
static void search(Observer &self, Call &call) {
  PyObject *container = call.args[0];
  if (!isValue(container))
    self.objects.whole(container);
  self.contains(container, call.args[1]);
  self.plan().hasResult = false;
}
static void removeItem(Observer &self, Call &call) {
  search(self, call);
  self.objects.rewritten(call.args[0]);
}

static void copyWhole(Observer &self, Call &call) {
  for (PyObject *argument : call.args)
    if (isContainer(argument) && !isValue(argument))
      self.objects.whole(argument);
    else if (!isValue(argument))
      self.iterate(argument);
  self.freshResult();
}

//===----------------------------------------------------------------------===//
// dict
//===----------------------------------------------------------------------===//

static void get(Observer &self, Call &call) {
  PyObject *found = self.objects.dictItem(call.args[0], call.args[1]);
  if (found && !isValue(found))
    self.expect(found);
}

static void view(Observer &self, Call &call) {
  self.objects.whole(call.args[0]);
  self.freshResult();
}

static void put(Observer &self, PyObject *dict, PyObject *key,
                PyObject *value) {
  Objects &objects = self.objects;
  Known *known = objects.need(dict);
  objects.hashable(key);
  if (!known || known->fresh())
    return;
  objects.dictHas(dict, key);
  if (known->whole)
    return objects.rewritten(dict);
  objects.effect(Effect::SetItem, dict, nullptr, {key, value});
  objects.markWritten(dict, key);
}

static void setItem(Observer &self, Call &call) {
  put(self, call.args[0], call.args[1], call.args[2]);
}

static void remove(Observer &self, PyObject *dict, PyObject *key) {
  Objects &objects = self.objects;
  Known *known = objects.need(dict);
  bool has = objects.dictHas(dict, key);
  if (!has || !known || known->fresh())
    return;
  if (known->whole)
    return objects.rewritten(dict);
  objects.effect(Effect::DelItem, dict, nullptr, {key});
  objects.markWritten(dict, key);
}

static void deleteItem(Observer &self, Call &call) {
  remove(self, call.args[0], call.args[1]);
}

static void pop(Observer &self, Call &call) {
  PyObject *container = call.args[0];
  if (!PyDict_Check(container))
    return self.objects.rewritten(container);
  if (call.args.size() < 2)
    stop("calls " + describe(call.callable));
  PyObject *found = self.objects.dictItem(container, call.args[1]);
  remove(self, container, call.args[1]);
  if (found && !isValue(found))
    self.expect(found);
}

static void setDefault(Observer &self, Call &call) {
  PyObject *value = call.args.size() > 2 ? call.args[2] : Py_None;
  PyObject *found = self.objects.dictItem(call.args[0], call.args[1]);
  if (!found)
    put(self, call.args[0], call.args[1], value);
  else if (!isValue(found))
    self.expect(found);
}

static void update(Observer &self, Call &call) {
  PyObject *dict = call.args[0];
  Known *known = dict ? self.objects.need(dict) : nullptr;
  bool calls = dict && Py_TYPE(dict) != &PyDict_Type &&
               self.special(dict, "__setitem__");
  bool outside = known && !known->fresh() && !calls;
  for (size_t i = 1; i < call.positional(); ++i) {
    PyObject *other = call.args[i];
    if (!PyDict_Check(other)) {
      if (outside)
        stop("updates a dict from outside with " + describe(other));
      self.iterate(other);
      if (PyList_Check(other) || PyTuple_Check(other))
        for (py::handle item : py::reinterpret_borrow<py::sequence>(other))
          if (isContainer(item.ptr()) && !isValue(item.ptr()))
            self.objects.whole(item.ptr());
      calls = true;
      continue;
    }
    if (self.special(other, "keys") || self.special(other, "__getitem__"))
      stop("updates a dict with " + describe(other));
    self.objects.whole(other);
    if (!outside)
      continue;
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(other, &at, &key, &value);)
      put(self, dict, key, value);
  }
  if (outside)
    for (size_t i = 0; i < call.names.size(); ++i)
      put(self, dict, call.names[i], call.args[call.positional() + i]);
  self.plan().calls = calls;
  self.plan().hasResult = false;
}

/// __init__ of dict and OrderedDict on an instance that is there.
static void initDict(Observer &self, Call &call) {
  if (call.args[0]) {
    Known *known = self.objects.need(call.args[0]);
    if (known && !known->fresh())
      stop("initialises a dict from outside again");
  }
  if (call.args[0] == nullptr && call.positional() > 1)
    return constructDict(self, call);
  update(self, call);
}

//===----------------------------------------------------------------------===//
// set
//===----------------------------------------------------------------------===//

static void addToSet(Observer &self, Call &call) {
  self.objects.hashable(call.args[1]);
  self.objects.rewritten(call.args[0]);
}

static void lookIn(Observer &self, Call &call) {
  PyObject *container = call.args[0];
  self.objects.need(container);
  if (PyDict_Check(container)) {
    self.objects.dictHas(container, call.args[1]);
    return;
  }
  search(self, call);
}

static void lengthOf(Observer &self, Call &call) {
  if (!isValue(call.args[0]))
    self.objects.sized(call.args[0]);
}

static void itemOf(Observer &self, Call &call) {
  // list.__getitem__ itself, whatever the class has in its place.
  PyObject *object = call.args[0], *key = call.args[1];
  if (PyLong_Check(key)) {
    Py_ssize_t n = PyList_Check(object) ? PyList_GET_SIZE(object)
                                        : PyTuple_GET_SIZE(object),
               i = PyLong_AsSsize_t(key);
    if (i < 0)
      i += n;
    self.objects.sized(object);
    if (i >= 0 && i < n)
      if (PyObject *item = self.objects.item(object, i); !isValue(item))
        self.expect(item);
    return;
  }
  self.objects.whole(object);
  self.freshResult();
}

static void iterator(Observer &self, Call &call) {
  self.objects.whole(call.args[0]);
  self.freshResult();
}

void capture::addContainers(CTable &t) {
  t.add("builtins", "list tuple set frozenset", construct);
  t.add("collections", "deque", construct);
  t.add("builtins", "dict", constructDict);
  t.add("collections", "OrderedDict", constructDict);
  t.add("collections", "defaultdict", constructDefaultDict);

  const char *l = "builtins:list";
  t.add(l, "append", append);
  t.add(l, "extend __iadd__", extend);
  t.add(l, "insert reverse clear pop __imul__", change);
  t.add(l, "sort", sort);
  t.add(l, "index count __contains__", search);
  t.add(l, "remove", removeItem);
  t.add(l, "copy __add__ __mul__ __rmul__", copyWhole);
  t.add(l, "__len__", lengthOf);
  t.add(l, "__getitem__", itemOf);
  t.add(l, "__iter__ __reversed__", iterator);
  t.add(l, "__init__", construct);
  const char *u = "builtins:tuple";
  t.add(u, "index count __contains__", search);
  t.add(u, "__add__ __mul__", copyWhole);
  t.add(u, "__len__", lengthOf);
  t.add(u, "__getitem__", itemOf);
  t.add(u, "__iter__", iterator);

  for (const char *d : {"builtins:dict", "collections:OrderedDict",
                        "collections:defaultdict"}) {
    t.add(d, "get", get);
    t.add(d, "keys values items __iter__ __reversed__", view);
    t.add(d, "copy", copyWhole);
    t.add(d, "pop", pop);
    t.add(d, "setdefault", setDefault);
    t.add(d, "update", update);
    t.add(d, "clear popitem move_to_end", change);
    t.add(d, "__getitem__", get);
    t.add(d, "__setitem__", setItem);
    t.add(d, "__delitem__", deleteItem);
    t.add(d, "__contains__", lookIn);
    t.add(d, "__len__", lengthOf);
    t.add(d, "__init__", initDict);
    t.add(d, "fromkeys", copyWhole);
  }

  for (const char *s : {"builtins:set", "builtins:frozenset"}) {
    t.add(s, "add discard", addToSet);
    t.add(s, "remove", addToSet);
    t.add(s,
          "update difference_update intersection_update "
          "symmetric_difference_update clear pop",
          change);
    t.add(s,
          "union difference intersection symmetric_difference copy issubset "
          "issuperset isdisjoint __and__ __or__ __sub__ __xor__",
          copyWhole);
    t.add(s, "__contains__", search);
    t.add(s, "__len__", lengthOf);
    t.add(s, "__iter__", iterator);
    t.add(s, "__init__", construct);
  }

  const char *q = "collections:deque";
  t.add(q, "append appendleft insert pop popleft clear reverse rotate", change);
  t.add(q, "extend extendleft", extend);
  t.add(q, "index count __contains__", search);
  t.add(q, "copy", copyWhole);
  t.add(q, "__len__", lengthOf);
  t.add(q, "__iter__", iterator);
}
