//===- CFunctions.cpp - The table, and the builtin functions --------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/CFunctions.h"

#include "Capture/CPythonCompat.h"
#include "Capture/Kinds.h"

#include <opcode.h>

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const CTable &table() {
  static const CTable *all = [] {
    auto *all = new CTable;
    addBuiltins(*all);
    addContainers(*all);
    addTorch(*all);
    return all;
  }();
  return *all;
}

/// What identifies a function: its definition, so that bound forms of a method
/// are found too.
static void *keyOf(PyObject *function) {
  if (PyCFunction_Check(function))
    return reinterpret_cast<PyCFunctionObject *>(function)->m_ml;
  if (Py_TYPE(function) == &PyMethodDescr_Type ||
      Py_TYPE(function) == &PyClassMethodDescr_Type)
    return reinterpret_cast<PyMethodDescrObject *>(function)->d_method;
  return function;
}

static CHandler find(void *key) {
  auto at = table().handlers.find(key);
  return at == table().handlers.end() ? nullptr : at->second;
}
CHandler capture::findMethod(PyMethodDef *method) { return find(method); }
CHandler capture::findWrapper(PyObject *wrapper) { return find(wrapper); }
CHandler capture::findClass(PyTypeObject *type) { return find(type); }

void CTable::addObject(PyObject *function, CHandler handler, bool replace) {
  void *key = keyOf(function);
  if (replace)
    handlers[key] = handler;
  else
    handlers.try_emplace(key, handler);
  if (key == function)
    Py_INCREF(function); // kept for good
}

void CTable::add(const char *path, const char *names, CHandler handler) {
  py::object owner;
  try {
    std::string text = path;
    size_t dot = text.find(':');
    owner = py::module_::import(text.substr(0, dot).c_str());
    if (dot != std::string::npos)
      owner = owner.attr(text.substr(dot + 1).c_str());
  } catch (py::error_already_set &) {
    return; // not in this version
  }
  std::string all = names;
  for (size_t at = 0; at < all.size();) {
    size_t end = std::min(all.find(' ', at), all.size());
    std::string name = all.substr(at, end - at);
    at = end + 1;
    if (name.empty())
      continue;
    PyObject *found;
    if (PyType_Check(owner.ptr())) {
      // As it lies in this class: not bound, and not what a base defines.
      found = PyDict_GetItemString(
          reinterpret_cast<PyTypeObject *>(owner.ptr())->tp_dict, name.c_str());
      Py_XINCREF(found);
      if (found && Py_TYPE(found) == &PyStaticMethod_Type) {
        py::object inner = py::reinterpret_steal<py::object>(found);
        found = py::object(inner.attr("__func__")).release().ptr();
      }
    } else {
      found = PyObject_GetAttrString(owner.ptr(), name.c_str());
    }
    if (!found) {
      PyErr_Clear();
      continue;
    }
    if (!PyFunction_Check(found))
      addObject(found, handler);
    Py_DECREF(found);
  }
}

//===----------------------------------------------------------------------===//
// Groups of functions
//===----------------------------------------------------------------------===//

static Ref elementsOf(PyObject *container) {
  Ref items = py::reinterpret_steal<py::object>(PySequence_Tuple(container));
  if (!items)
    throw py::error_already_set();
  return items;
}

static bool isSequence(PyObject *object) {
  return PyList_Check(object) || PyTuple_Check(object) ||
         PyAnySet_Check(object) || PyDict_Check(object) ||
         Kinds::get().isDeque(object) ||
         Kinds::get().views.count(Py_TYPE(object));
}

static std::string named(const Call &call) {
  return "calls " + describe(call.callable) + " with";
}

/// Computes from the content of its arguments, all the way down, which are
/// values.
static void pure(Observer &self, Call &call) {
  self.freshResult();
  std::string text = named(call);
  for (PyObject *argument : call.args)
    if (argument)
      self.objects.deep(argument, text.c_str());
}

/// Stops unless what a generator yields to C code is a value.
static void consumeValue(Observer &self, PyObject *object) {
  if (!isValue(object))
    self.objects.deep(object, "hands to code in C");
}
static void consumeTruth(Observer &self, PyObject *object) {
  self.truth(object);
}
static void consumeNumber(Observer &self, PyObject *object) {
  if (!isTensor(object))
    consumeValue(self, object);
}

/// Goes over an iterable and looks at each element with `look`.
static void over(Observer &self, PyObject *iterable,
                 void (*look)(Observer &, PyObject *)) {
  self.iterate(iterable);
  bool calls = self.plan().calls;
  if (isValue(iterable))
    return;
  if (isSequence(iterable) && !calls) {
    for (py::handle item : elementsOf(iterable)) {
      bool had = self.plan().hasResult;
      look(self, item.ptr());
      self.plan().hasResult = had;
    }
    return;
  }
  if (!PyGen_CheckExact(iterable) &&
      !Kinds::get().callingIterators.count(Py_TYPE(iterable)) && !calls)
    stop("hands " + describe(iterable) + " to code in C");
  self.plan().calls = true;
  self.plan().consume = look;
}

static PyObject *keyword(const Call &call, const char *name) {
  for (size_t i = 0; i < call.names.size(); ++i)
    if (!PyUnicode_CompareWithASCIIString(call.names[i], name))
      return call.args[call.positional() + i];
  return nullptr;
}

/// A function that C code calls on elements: Python code is observed; what it
/// gives is looked at where it returns.
static void callback(Observer &self, PyObject *function) {
  if (!function || function == Py_None)
    return;
  Call inner;
  inner.callable = function;
  self.objects.need(function);
  if (PyFunction_Check(function) || PyMethod_Check(function) ||
      Py_TYPE(function) == Kinds::get().partial) {
    Plan saved = self.plan();
    self.call(inner);
    saved.calls |= self.plan().calls;
    self.plan() = saved;
    return;
  }
  for (PyTypeObject *type :
       {&PyLong_Type, &PyFloat_Type, &PyUnicode_Type, &PyBool_Type})
    if (function == reinterpret_cast<PyObject *>(type))
      return;
  stop("hands " + describe(function) + " to code in C");
}

//===----------------------------------------------------------------------===//
// builtins
//===----------------------------------------------------------------------===//

static void isInstance(Observer &self, Call &call) {
  PyObject *object = call.args[0], *classes = call.args[1];
  self.objects.typed(object);
  bool calls = false;
  std::function<void(PyObject *, int)> look = [&](PyObject *type, int depth) {
    if (PyTuple_Check(type)) {
      if (!isValue(type))
        self.objects.whole(type);
      if (depth < 5)
        for (py::handle item : elementsOf(type))
          look(item.ptr(), depth + 1);
      return;
    }
    self.objects.need(type);
    if (Py_TYPE(type) != &PyType_Type)
      for (const char *name : {"__instancecheck__", "__subclasscheck__"})
        calls |= self.special(type, name);
    else
      self.objects.classGuard(reinterpret_cast<PyTypeObject *>(type));
  };
  look(classes, 0);
  if (PyType_Check(object))
    self.objects.classGuard(reinterpret_cast<PyTypeObject *>(object));
  // Objects that pretend by a property __class__.
  PyObject *pretends = self.classAttribute(object, "__class__");
  if (pretends && Py_TYPE(pretends) != &PyGetSetDescr_Type) {
    self.plan().calls = true;
    if (Py_TYPE(pretends) != &PyProperty_Type)
      stop(named(call) + " an object with a __class__ of its own");
  }
}

/// What a class pattern asks: isinstance, then attributes.
void Observer::matchClass(PyObject *subject, PyObject *type, PyObject *names,
                          int positional) {
  if (!PyType_Check(type))
    stop("matches " + describe(type));
  Call call;
  call.callable = type;
  call.args = {subject, type};
  isInstance(*this, call);
  if (plan().calls)
    stop("matches a class that decides itself what its instances are");
  int is = PyObject_IsInstance(subject, type);
  if (is < 0)
    throw py::error_already_set();
  plan().hasResult = true;
  plan().result = Plan::FreshTuple;
  if (!is)
    return;
  std::vector<Ref> all;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i)
    all.push_back(
        py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(names, i)));
  if (positional) {
    static PyObject *matchArgs = PyUnicode_InternFromString("__match_args__");
    PyObject *found =
        compat::typeLookup(reinterpret_cast<PyTypeObject *>(type), matchArgs);
    if (found && PyTuple_Check(found))
      for (int i = 0; i < positional && i < PyTuple_GET_SIZE(found); ++i)
        all.push_back(
            py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(found, i)));
    else if (found || positional > 1)
      stop("matches " + describe(type));
  }
  for (Ref &name : all) {
    Attribute::Kind kind = attribute(subject, name.ptr()).kind;
    if (kind != Attribute::Found && kind != Attribute::Value &&
        kind != Attribute::Missing)
      stop("matches an attribute that is computed");
  }
}

static void length(Observer &self, Call &call) {
  PyObject *object = call.args[0];
  if (isValue(object))
    return;
  PyTypeObject *definer;
  if (self.special(object, "__len__", &definer) || !definer)
    return;
  if (isTensor(object))
    return;
  if (Kinds::get().views.count(Py_TYPE(object)))
    return;
  if (isSequence(object))
    return self.objects.sized(object);
  if (Known *known = self.objects.find(object);
      known && known->fresh() && Py_TYPE(object) == Kinds::get().mappingProxy)
    return;
  stop("takes the length of " + describe(object));
}

static void getAttribute(Observer &self, Call &call) {
  if (!isValue(call.args[1]))
    stop("reads an attribute whose name is no str");
  if (call.args.size() < 3)
    return self.loadAttribute(call.args[0], call.args[1]);
  Observer::Attribute found = self.attribute(call.args[0], call.args[1]);
  if (found.kind == Observer::Attribute::Missing)
    return;
  // Not twice: guards are made once.
  self.loadAttribute(call.args[0], call.args[1]);
  if (self.plan().calls)
    self.plan().hasResult = false;
}

static void hasAttribute(Observer &self, Call &call) {
  Observer::Attribute found = self.attribute(call.args[0], call.args[1]);
  if (found.kind == Observer::Attribute::Computed)
    self.plan().calls = true;
  if (found.kind == Observer::Attribute::Operator)
    self.plan().operators = true;
}

static void setAttribute(Observer &self, Call &call) {
  self.storeAttribute(call.args[0], call.args[1], call.args[2]);
}
static void deleteAttribute(Observer &self, Call &call) {
  self.storeAttribute(call.args[0], call.args[1], nullptr);
}
static void objectSetAttribute(Observer &self, Call &call) {
  self.storeAttribute(call.args[0], call.args[1], call.args[2], true);
}
static void objectDeleteAttribute(Observer &self, Call &call) {
  self.storeAttribute(call.args[0], call.args[1], nullptr, true);
}
static void objectGetAttribute(Observer &self, Call &call) {
  self.loadAttribute(call.args[0], call.args[1], false,
                     !PyType_Check(call.args[0]));
}

static void typeOf(Observer &self, Call &call) {
  if (call.args.size() != 1)
    stop("makes a class");
  self.objects.typed(call.args[0]);
  PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(call.args[0]));
  self.objects.addConstant(type);
  self.expect(type);
}

static void isCallable(Observer &self, Call &call) {
  self.objects.typed(call.args[0]);
}

static void nothing(Observer &, Call &) {}

static void fresh(Observer &self, Call &) { self.freshResult(); }

/// Iterators over all arguments.
static void overAll(Observer &self, Call &call) {
  for (size_t i = 0; i < call.positional(); ++i)
    self.iterate(call.args[i]);
  self.freshResult();
}

static void overFirst(Observer &self, Call &call) {
  if (!call.args.empty() && call.positional())
    self.iterate(call.args[0]);
  for (size_t i = 1; i < call.args.size(); ++i)
    if (!isValue(call.args[i]))
      stop(named(call) + " " + describe(call.args[i]));
  self.freshResult();
}

static void iter(Observer &self, Call &call) {
  if (call.args.size() > 1)
    callback(self, call.args[0]);
  else
    self.iterate(call.args[0]);
  self.freshResult();
}

static void next(Observer &self, Call &call) { self.advance(call.args[0]); }

static void reversed(Observer &self, Call &call) {
  PyTypeObject *definer;
  if (!isValue(call.args[0]) &&
      self.special(call.args[0], "__reversed__", &definer))
    return;
  self.iterate(call.args[0]);
  self.freshResult();
}

static void map(Observer &self, Call &call) {
  callback(self, call.args[0]);
  for (size_t i = 1; i < call.args.size(); ++i) {
    self.iterate(call.args[i]);
    if (!PyFunction_Check(call.args[0]) && !PyMethod_Check(call.args[0])) {
      if (!isSequence(call.args[i]) && !isValue(call.args[i]))
        stop(named(call) + " " + describe(call.args[0]) + " over " +
             describe(call.args[i]));
      for (py::handle item : elementsOf(call.args[i]))
        if (!isValue(item.ptr()))
          stop(named(call) + " " + describe(call.args[0]) + " on " +
               describe(item.ptr()));
    }
  }
  self.freshResult();
}

static void filter(Observer &self, Call &call) {
  callback(self, call.args[0]);
  self.iterate(call.args[1]);
  if (call.args[0] == Py_None)
    over(self, call.args[1], consumeTruth);
  self.freshResult();
}

static void anyAll(Observer &self, Call &call) {
  over(self, call.args[0], consumeTruth);
  self.plan().hasResult = false;
}

static void sum(Observer &self, Call &call) {
  over(self, call.args[0], consumeNumber);
  self.plan().operators = true;
  self.plan().calls = true;
  self.freshResult();
}

/// min, max, sorted: of comparable values, or by a key.
static void ordered(Observer &self, Call &call) {
  PyObject *key = keyword(call, "key");
  callback(self, key);
  bool calls = self.plan().calls;
  if (call.positional() == 1) {
    over(self, call.args[0],
         key && key != Py_None ? [](Observer &, PyObject *) {} : consumeValue);
    if (key && key != Py_None)
      self.plan().consume = consumeValue;
  } else {
    for (size_t i = 0; i < call.positional(); ++i) {
      if (isTensor(call.args[i]))
        stop("compares tensors in " + describe(call.callable));
      if (!key || key == Py_None)
        self.objects.deep(call.args[i], "compares");
    }
    if (key && key != Py_None)
      self.plan().consume = consumeValue;
  }
  self.plan().calls |= calls;
  self.freshResult();
}

/// abs, round, divmod, pow, neg: of numbers or tensors.
static void number(Observer &self, Call &call) {
  for (PyObject *argument : call.args) {
    if (isValue(argument))
      continue;
    if (isTensor(argument)) {
      self.plan().operators = self.plan().calls = true;
      continue;
    }
    std::string name = "__" + describe(call.callable) + "__";
    if (!self.special(argument, name.c_str()))
      stop(named(call) + " " + describe(argument));
  }
  self.freshResult();
}

/// int, float, complex, ...: takes a value.
static void toNumber(Observer &self, Call &call) {
  for (PyObject *argument : call.args) {
    if (isValue(argument))
      continue;
    if (isTensor(argument) && self.settled(argument)) {
      self.plan().operators = true;
      continue;
    }
    if (isTensor(argument))
      stop("takes a number out of a tensor (" + describe(call.callable) + ")",
           "keep it a tensor");
    bool calls = false;
    for (const char *name : {"__int__", "__float__", "__index__"})
      calls |= self.special(argument, name);
    if (!calls)
      stop(named(call) + " " + describe(argument));
  }
}

static void toBool(Observer &self, Call &call) {
  if (!call.args.empty())
    self.truth(call.args[0]);
}

static void toText(Observer &self, Call &call) {
  if (call.args.empty())
    return;
  if (call.args.size() > 1)
    return pure(self, call);
  self.format(call.args[0],
              call.callable == reinterpret_cast<PyObject *>(&PyUnicode_Type)
                  ? "__str__"
                  : "__repr__");
}

static void formatFunction(Observer &self, Call &call) {
  self.format(call.args[0], "__format__");
}

static void hashOf(Observer &self, Call &call) {
  if (isValue(call.args[0]))
    return;
  if (self.special(call.args[0], "__hash__"))
    return;
  // The number is an address: another object would have another.
  stop("takes the hash of " + describe(call.args[0]));
}

static void range(Observer &, Call &call) {
  for (PyObject *argument : call.args)
    if (!isValue(argument))
      stop(named(call) + " " + describe(argument));
}

static void superObject(Observer &self, Call &call) {
  if (call.args.empty()) {
    // It takes them from the frame.
    PyCodeObject *code = self.code();
    for (int i = 0, n = code->co_nlocalsplus; i < n; ++i)
      if (compat::isFree(code, i) &&
          !PyUnicode_CompareWithASCIIString(compat::localName(code, i),
                                            "__class__"))
        self.readCell(i, true);
    PyObject *first = self.local(0);
    if (first && PyCell_Check(first) && compat::isCell(code, 0))
      first = PyCell_GET(first);
    else
      self.readLocal(0);
    if (first)
      self.objects.need(first);
  }
  self.freshResult();
}

static void issubclass(Observer &self, Call &call) {
  if (!PyType_Check(call.args[0]))
    stop(named(call) + " " + describe(call.args[0]));
  isInstance(self, call);
}

static void varsOf(Observer &self, Call &call) {
  if (call.args.size() != 1)
    stop("calls locals()");
  static PyObject *name = PyUnicode_InternFromString("__dict__");
  self.loadAttribute(call.args[0], name);
}

static void globalsFunction(Observer &self, Call &) {
  self.expect(self.globals());
}

static void newObject(Observer &self, Call &call) {
  if (call.args.empty() || !PyType_Check(call.args[0]))
    stop("calls __new__");
  auto *type = reinterpret_cast<PyTypeObject *>(call.args[0]);
  self.objects.classGuard(type);
  static PyObject *del = PyUnicode_InternFromString("__del__");
  if (compat::typeLookup(type, del))
    stop("makes an instance with a destructor");
  if (PyType_IsSubtype(type, Kinds::get().tensor))
    stop("makes a tensor of the class " + describe(call.args[0]));
  for (size_t i = 1; i < call.args.size(); ++i)
    if (!isValue(call.args[i]))
      if (isSequence(call.args[i]))
        self.objects.whole(call.args[i]);
  self.freshResult();
}

static void abcInstanceCheck(Observer &self, Call &call) {
  // A cache of what __subclasshook__ and registrations say for classes.
  PyObject *object = call.args.back();
  self.objects.typed(object);
  self.plan().calls = true;
}

static void partial(Observer &self, Call &call) {
  (void)call;
  self.freshResult();
}

static void reduce(Observer &self, Call &call) {
  callback(self, call.args[0]);
  self.iterate(call.args[1]);
  self.plan().hasResult = false;
}

static void callableMethod(Observer &self, Call &call) {
  Call inner = call;
  inner.callable = call.args[0];
  inner.args.erase(inner.args.begin());
  self.call(inner);
}

template <int Op> static void binaryOperator(Observer &self, Call &call) {
  self.binary(call.args[0], call.args[1], Op);
}
template <int Op> static void comparison(Observer &self, Call &call) {
  self.compare(call.args[0], call.args[1], Op);
}
static void getItem(Observer &self, Call &call) {
  self.subscript(call.args[0], call.args[1]);
}
static void containsItem(Observer &self, Call &call) {
  self.contains(call.args[0], call.args[1]);
}

/// str.join and the like: values, or an iterable of values.
static void textMethod(Observer &self, Call &call) {
  for (PyObject *argument : call.args) {
    if (isValue(argument))
      continue;
    if (PyGen_CheckExact(argument) ||
        Kinds::get().callingIterators.count(Py_TYPE(argument))) {
      over(self, argument, consumeValue);
      continue;
    }
    if (Kinds::get().iterators.count(Py_TYPE(argument)))
      stop(named(call) + " " + describe(argument));
    if (isSequence(argument)) {
      over(self, argument, consumeValue);
      continue;
    }
    self.objects.deep(argument, named(call).c_str());
  }
  self.freshResult();
}

static void formatMethod(Observer &self, Call &call) {
  for (size_t i = 1; i < call.args.size(); ++i)
    self.format(call.args[i], "__format__");
}

/// MappingProxyType(dict), and its methods; what it shows is guarded when it is
/// made.
static void mappingProxy(Observer &self, Call &call) {
  if (!PyDict_Check(call.args[0]))
    stop(named(call) + " " + describe(call.args[0]));
  self.objects.whole(call.args[0]);
  self.freshResult();
}
static void ofProxy(Observer &self, Call &call) {
  Known *known = self.objects.need(call.args[0]);
  if (!known || !known->fresh())
    stop("reads " + describe(call.args[0]));
  if (!PyUnicode_CompareWithASCIIString(
          py::handle(call.callable).attr("__name__").ptr(), "get"))
    return; // one of the items
  self.freshResult();
}

static void sendTo(Observer &self, Call &call) {
  Known *known = self.objects.need(call.args[0]);
  if (!known || !known->fresh())
    stop("goes on with a generator that was started outside");
  self.plan().calls = true;
}

static void idOf(Observer &self, Call &call) {
  self.objects.identified(call.args[0]);
}

/// object.__reduce_ex__(4), as copy.copy and copy.deepcopy call it:
/// (copyreg.__newobj__, (class,), state, None, None).
static void reduceObject(Observer &self, Call &call) {
  PyObject *object = call.args[0];
  Objects &objects = self.objects;
  objects.typed(object);
  if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) ||
      isModuleInstance(object) || isTensor(object) || isSequence(object))
    stop("copies " + describe(object));
  for (const char *name : {"__getstate__", "__getnewargs_ex__",
                           "__getnewargs__", "__reduce__", "__slots__"})
    if (PyObject *own = self.classAttribute(object, name))
      if (Py_TYPE(own) != &PyMethodDescr_Type)
        stop("copies " + describe(object) + ", which has " + name);
  self.plan().calls = true;
  self.plan().hasResult = true;
  self.plan().expected = object;
  self.plan().after = [&self, object](PyObject *result) {
    if (!PyTuple_Check(result))
      return;
    Objects &objects = self.objects;
    objects.addFresh(result);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(result); ++i) {
      PyObject *part = PyTuple_GET_ITEM(result, i);
      if (objects.isKnown(part))
        continue;
      if (PyDict_Check(part))
        self.addInstanceDict(object, part);
      else if (PyFunction_Check(part))
        objects.addConstant(part);
      else
        objects.addFresh(part);
    }
  };
}

static void setContext(Observer &self, Call &call) {
  ++self.objects.contextDepth[call.args[0]];
  self.freshResult();
}
static void getContext(Observer &self, Call &call) {
  // What was put there here is known; what lay there before has no path.
  if (self.objects.contextDepth[call.args[0]] <= 0)
    stop("reads the context variable " +
         py::cast<std::string>(py::handle(call.args[0]).attr("name")));
}
static void resetContext(Observer &self, Call &call) {
  if (--self.objects.contextDepth[call.args[0]] < 0)
    stop("resets a context variable that was set outside");
}

/// All methods in C of a builtin class.
static void addMethods(CTable &table, PyTypeObject *type, CHandler handler) {
  for (auto item : py::reinterpret_borrow<py::dict>(type->tp_dict)) {
    PyObject *value = item.second.ptr();
    if (Py_TYPE(value) == &PyMethodDescr_Type ||
        Py_TYPE(value) == &PyWrapperDescr_Type ||
        Py_TYPE(value) == &PyClassMethodDescr_Type)
      table.addObject(value, handler, false);
  }
}

void capture::addBuiltins(CTable &t) {
  const char *b = "builtins";
  t.add(b, "isinstance", isInstance);
  t.add(b, "issubclass", issubclass);
  t.add(b, "len", length);
  t.add(b, "getattr", getAttribute);
  t.add(b, "hasattr", hasAttribute);
  t.add(b, "setattr", setAttribute);
  t.add(b, "delattr", deleteAttribute);
  t.add(b, "type", typeOf);
  t.add(b, "callable", isCallable);
  t.add(b, "zip", overAll);
  t.add(b, "enumerate", overFirst);
  t.add(b, "iter", iter);
  t.add(b, "next", next);
  t.add(b, "reversed", reversed);
  t.add(b, "map", map);
  t.add(b, "filter", filter);
  t.add(b, "any all", anyAll);
  t.add(b, "sum", sum);
  t.add(b, "min max sorted", ordered);
  t.add(b, "abs round divmod pow", number);
  t.add(b, "int float complex", toNumber);
  t.add(b, "bool", toBool);
  t.add(b, "str repr ascii", toText);
  t.add(b, "format", formatFunction);
  t.add(b, "hash", hashOf);
  t.add(b, "range", range);
  t.add(b, "super", superObject);
  t.add(b, "vars", varsOf);
  t.add(b, "globals", globalsFunction);
  t.add(b, "bytes ord chr hex bin oct", pure);
  t.add(b, "slice object", fresh);
  t.add("builtins:object", "__init__ __init_subclass__", nothing);
  t.add("builtins:object", "__setattr__", objectSetAttribute);
  t.add("builtins:object", "__delattr__", objectDeleteAttribute);
  t.add("builtins:object", "__getattribute__", objectGetAttribute);
  t.add("builtins:object", "__new__", newObject);
  t.add("builtins:dict", "__new__", newObject);
  t.add("builtins:tuple", "__new__", newObject);
  t.add("builtins:list", "__new__", newObject);
  t.add("collections:OrderedDict", "__new__", newObject);
  t.add("builtins:object", "__eq__", comparison<Py_EQ>);
  t.add("builtins:object", "__ne__", comparison<Py_NE>);
  t.add("builtins:type", "__call__", callableMethod);
  t.add("builtins:type", "__instancecheck__ __subclasscheck__",
        abcInstanceCheck);
  t.add("_abc", "_abc_instancecheck _abc_subclasscheck", abcInstanceCheck);
  t.add("types:FunctionType", "__get__", fresh);
  t.add("types:FunctionType", "__call__", callableMethod);
  t.add("types", "MethodType", fresh);
  for (PyTypeObject *type :
       {&PyLong_Type, &PyFloat_Type, &PyComplex_Type, &PyBytes_Type,
        &PyRange_Type, &PyBool_Type, &PySlice_Type})
    addMethods(t, type, pure);
  t.add("builtins:str", "format", formatMethod);
  addMethods(t, &PyUnicode_Type, textMethod);
  for (auto item :
       py::module_::import("math").attr("__dict__").cast<py::dict>())
    if (PyCFunction_Check(item.second.ptr()))
      t.addObject(item.second.ptr(), pure);
  t.add("functools", "partial", partial);
  t.add("functools", "reduce", reduce);
  t.add("itertools", "chain zip_longest product", overAll);
  t.add("itertools:chain", "from_iterable", overFirst);
  t.add("itertools", "islice cycle combinations permutations pairwise compress",
        overFirst);
  t.add("itertools", "count repeat", fresh);
  t.add("itertools", "starmap takewhile dropwhile filterfalse", map);
  const char *o = "operator";
  t.add(o, "add concat", binaryOperator<NB_ADD>);
  t.add(o, "sub", binaryOperator<NB_SUBTRACT>);
  t.add(o, "mul", binaryOperator<NB_MULTIPLY>);
  t.add(o, "truediv", binaryOperator<NB_TRUE_DIVIDE>);
  t.add(o, "floordiv", binaryOperator<NB_FLOOR_DIVIDE>);
  t.add(o, "mod", binaryOperator<NB_REMAINDER>);
  t.add(o, "pow", binaryOperator<NB_POWER>);
  t.add(o, "matmul", binaryOperator<NB_MATRIX_MULTIPLY>);
  t.add(o, "and_", binaryOperator<NB_AND>);
  t.add(o, "or_", binaryOperator<NB_OR>);
  t.add(o, "eq", comparison<Py_EQ>);
  t.add(o, "ne", comparison<Py_NE>);
  t.add(o, "lt", comparison<Py_LT>);
  t.add(o, "le", comparison<Py_LE>);
  t.add(o, "gt", comparison<Py_GT>);
  t.add(o, "ge", comparison<Py_GE>);
  t.add(o, "getitem", getItem);
  t.add(o, "contains", containsItem);
  t.add(o, "neg pos invert index", number);
  t.add("sys", "intern getrecursionlimit", pure);
  t.add("types", "MappingProxyType", mappingProxy);
  t.add("types:MappingProxyType", "get items values keys copy", ofProxy);
  t.add("types:GeneratorType", "send __next__ close throw", sendTo);
  t.add(b, "id", idOf);
  t.add("builtins:object", "__reduce_ex__", reduceObject);
  t.add("contextvars:ContextVar", "set", setContext);
  t.add("contextvars:ContextVar", "get", getContext);
  t.add("contextvars:ContextVar", "reset", resetContext);
}
