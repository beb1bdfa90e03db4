//===- Calls.cpp - What is called -----------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows a call through bound methods, partials, classes and instances with
// __call__ to a Python function, whose frame is then observed, or to a function
// in C, for which the table of C functions speaks.
//
//===----------------------------------------------------------------------===//

#include "Capture/CFunctions.h"
#include "Capture/CPythonCompat.h"
#include "Capture/Kinds.h"

#include <opcode.h>

namespace py = pybind11;
using namespace dynamo::capture;

static PyObject *asObject(PyTypeObject *type) {
  return reinterpret_cast<PyObject *>(type);
}

static PyObject *lookup(PyTypeObject *type, const char *text) {
  PyObject *name = PyUnicode_InternFromString(text);
  if (!name)
    throw py::error_already_set();
  PyObject *found = compat::typeLookup(type, name);
  Py_DECREF(name);
  return found;
}

void Observer::handleCall() {
  const compat::Instruction &in = current->instruction;
  Call call;
  if (in.opcode == CALL) {
    int count = in.oparg;
    PyObject *method = top(count + 2);
    call.callable = method ? method : top(count + 1);
    for (int i = method ? count + 1 : count; i >= 1; --i)
      call.args.push_back(top(i));
    if (PyObject *names = current->kwNames)
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i)
        call.names.push_back(PyTuple_GET_ITEM(names, i));
    return this->call(call);
  }
  bool hasKw = in.oparg & 1;
  PyObject *positional = top(hasKw ? 2 : 1);
  call.callable = top(hasKw ? 3 : 2);
  objects.need(positional);
  if (!PyTuple_Check(positional)) {
    iterate(positional);
    bool calls = plan().calls || PyGen_CheckExact(positional);
    plan() = Plan();
    // C code gathers what a generator yields; a Python function sees it as its
    // own arguments.
    if (calls && PyFunction_Check(call.callable)) {
      if (hasKw)
        objects.whole(top());
      return this->call(call);
    }
    if (!PyList_Check(positional))
      stop("unpacks " + describe(positional) + " into a call");
  }
  if (!isValue(positional))
    objects.whole(positional);
  Ref items = py::reinterpret_steal<py::object>(PySequence_Tuple(positional));
  if (!items)
    throw py::error_already_set();
  for (py::handle item : items)
    call.args.push_back(item.ptr());
  call.keep.push_back(items);
  if (hasKw) {
    PyObject *named = top();
    objects.need(named);
    if (!PyDict_CheckExact(named))
      stop("unpacks " + describe(named) + " into a call");
    objects.whole(named);
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(named, &at, &key, &value);) {
      call.names.push_back(key);
      call.args.push_back(value);
    }
  }
  this->call(call);
}

void Observer::call(Call &call) {
  for (int depth = 0; depth < 20; ++depth) {
    PyObject *callable = call.callable;
    PyTypeObject *type = Py_TYPE(callable);
    Known *known = objects.need(callable);
    if (PyFunction_Check(callable)) {
      objects.functionGuard(callable);
      auto *code =
          reinterpret_cast<PyCodeObject *>(PyFunction_GetCode(callable));
      if (code->co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR))
        stop("calls the coroutine function " + describe(callable));
      plan().calls = true;
      if (code->co_flags & CO_GENERATOR) {
        plan().hasResult = true;
        plan().after = [this, callable](PyObject *result) {
          if (PyGen_CheckExact(result))
            objects.addFresh(result);
          (void)callable;
        };
      }
      return;
    }
    if (PyMethod_Check(callable)) {
      PyObject *function = PyMethod_GET_FUNCTION(callable),
               *self = PyMethod_GET_SELF(callable);
      if (known && !known->fresh()) {
        objects.read(function,
                     objects.step(known->source, Access::MethodFunc, 0));
        objects.read(self, objects.step(known->source, Access::MethodSelf, 0));
      } else if (!objects.isKnown(function)) {
        objects.addConstant(function);
      }
      call.args.insert(call.args.begin(), self);
      call.callable = function;
      continue;
    }
    if (PyType_Check(callable))
      return callClass(call, reinterpret_cast<PyTypeObject *>(callable));
    if (PyCFunction_Check(callable) || type == &PyMethodDescr_Type ||
        type == &PyWrapperDescr_Type || type == &PyClassMethodDescr_Type ||
        !strcmp(type->tp_name, "method-wrapper"))
      return callC(call);
    if (type == Kinds::get().partial) {
      Ref function = py::handle(callable).attr("func");
      Ref args = py::handle(callable).attr("args");
      Ref kwargs = py::handle(callable).attr("keywords");
      auto take = [&](const Ref &part, const char *name) {
        Ref key = py::str(name);
        if (known && !known->fresh())
          objects.read(part.ptr(), objects.step(known->source, Access::Getter,
                                                0, key.ptr()));
        else if (!objects.isKnown(part.ptr()))
          objects.addFresh(part.ptr());
      };
      take(function, "func");
      take(args, "args");
      take(kwargs, "keywords");
      if (!isValue(args.ptr()))
        objects.whole(args.ptr());
      objects.whole(kwargs.ptr());
      size_t at = 0;
      for (py::handle item : args)
        call.args.insert(call.args.begin() + at++, item.ptr());
      PyObject *key, *value;
      for (Py_ssize_t i = 0; PyDict_Next(kwargs.ptr(), &i, &key, &value);) {
        bool replaced = false;
        for (PyObject *name : call.names)
          replaced |= PyUnicode_Compare(name, key) == 0;
        if (!replaced) {
          call.names.insert(call.names.begin(), key);
          call.args.insert(call.args.begin() +
                               (call.args.size() - call.names.size() + 1),
                           value);
        }
      }
      call.keep.push_back(function);
      call.keep.push_back(args);
      call.keep.push_back(kwargs);
      call.callable = function.ptr();
      continue;
    }
    if (type == Kinds::get().lruCache) {
      // A cache of what a function gives for values: transparent for those.
      for (PyObject *argument : call.args)
        if (!isValue(argument)) {
          Known *what = objects.need(argument);
          if (!what || !what->pinned)
            stop("calls the cached function " + describe(callable) + " with " +
                 describe(argument));
        }
      plan().calls = true;
      plan().hasResult = true;
      plan().after = [this](PyObject *result) {
        if (!objects.isKnown(result))
          objects.addConstant(result);
      };
      return;
    }
    if (type == &PyStaticMethod_Type) {
      Ref function = py::handle(callable).attr("__func__");
      objects.addConstant(function.ptr());
      call.keep.push_back(function);
      call.callable = function.ptr();
      continue;
    }
    // An instance with __call__.
    PyObject *found = classAttribute(callable, "__call__");
    if (!found)
      stop("calls " + describe(callable));
    objects.addConstant(found);
    if (PyFunction_Check(found)) {
      call.args.insert(call.args.begin(), callable);
      call.callable = found;
      continue;
    }
    if (Py_TYPE(found) == &PyStaticMethod_Type) {
      call.callable = found;
      continue;
    }
    stop("calls " + describe(callable));
  }
  stop("calls something that leads to many others");
}

void Observer::callClass(Call &call, PyTypeObject *type) {
  objects.need(asObject(type));
  if (type != &PyType_Type || call.args.size() != 1) {
    PyTypeObject *definer;
    if (special(asObject(type), "__call__", &definer))
      return; // Python code of the metaclass
    if (definer != &PyType_Type)
      stop("makes an instance of " + describe(asObject(type)));
  }
  if (CHandler handler = findClass(type))
    return handler(*this, call);
  if (PyType_IsSubtype(type, &PyType_Type))
    stop("makes a class");
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
      !PyType_IsSubtype(type,
                        reinterpret_cast<PyTypeObject *>(PyExc_BaseException)))
    stop("makes an instance of " + describe(asObject(type)));
  objects.classGuard(type);
  if (lookup(type, "__del__"))
    stop("makes an instance of " + describe(asObject(type)) +
         ", which has a destructor");
  if (PyType_IsSubtype(type, Kinds::get().tensor))
    stop("makes a tensor of the class " + describe(asObject(type)));
  PyObject *make = lookup(type, "__new__"), *init = lookup(type, "__init__");
  if (make && Py_TYPE(make) == &PyStaticMethod_Type) {
    Ref function = py::handle(make).attr("__func__");
    objects.addConstant(function.ptr());
    objects.functionGuard(function.ptr());
    plan().calls = true;
  } else {
    PyTypeObject *base = nullptr;
    if (make && PyCFunction_Check(make) && PyCFunction_GET_SELF(make) &&
        PyType_Check(PyCFunction_GET_SELF(make)))
      base = reinterpret_cast<PyTypeObject *>(PyCFunction_GET_SELF(make));
    const Kinds &kinds = Kinds::get();
    bool isException =
        base && PyType_IsSubtype(base, reinterpret_cast<PyTypeObject *>(
                                           PyExc_BaseException));
    if (base == &PyTuple_Type || base == &PyFrozenSet_Type) {
      for (PyObject *argument : call.args)
        iterate(argument);
      plan() = Plan();
    } else if (base == &PyUnicode_Type || base == &PyLong_Type ||
               base == &PyFloat_Type) {
      for (PyObject *argument : call.args)
        if (!isValue(argument))
          stop("makes an instance of " + describe(asObject(type)) + " of " +
               describe(argument));
    } else if (base != &PyBaseObject_Type && base != &PyDict_Type &&
               base != &PyList_Type && base != &PySet_Type &&
               base != kinds.orderedDict && base != kinds.deque &&
               base != kinds.defaultDict && !isException) {
      stop("makes an instance of " + describe(asObject(type)));
    }
  }
  if (init && PyFunction_Check(init)) {
    objects.addConstant(init);
    objects.functionGuard(init);
    plan().calls = true;
  } else if (init && Py_TYPE(init) == &PyWrapperDescr_Type) {
    PyTypeObject *definer = PyDescr_TYPE(init);
    if (definer != &PyBaseObject_Type) {
      CHandler handler = findWrapper(init);
      bool isException = PyType_IsSubtype(
          definer, reinterpret_cast<PyTypeObject *>(PyExc_BaseException));
      if (!handler && !isException)
        stop("makes an instance of " + describe(asObject(type)));
      if (handler) {
        // The instance does not exist yet: a fresh one needs no effect.
        Call rest = call;
        rest.args.insert(rest.args.begin(), nullptr);
        bool calls = plan().calls;
        handler(*this, rest);
        plan().calls |= calls;
      }
    }
  } else if (init) {
    stop("makes an instance of " + describe(asObject(type)));
  }
  plan().constructs = type;
  plan().hasResult = true;
  plan().after = nullptr;
  plan().result = Plan::Fresh;
  if (plan().calls && make && Py_TYPE(make) == &PyStaticMethod_Type)
    plan().result = Plan::None; // __new__ may give anything
}

void Observer::operands(const Call &call) {
  for (PyObject *argument : call.args) {
    if (isValue(argument) || isTensor(argument))
      continue;
    if (PyList_Check(argument) || PyTuple_Check(argument)) {
      objects.whole(argument);
      Ref items = py::reinterpret_steal<py::object>(PySequence_Tuple(argument));
      if (!items)
        throw py::error_already_set();
      for (py::handle item : items)
        if (PyList_Check(item.ptr()) || PyTuple_Check(item.ptr()))
          objects.deep(item.ptr(), "calls an operator with");
      continue;
    }
    Known *known = objects.need(argument);
    if (known && known->pinned)
      continue;
    stop("calls " + describe(call.callable) + " with " + describe(argument));
  }
}

void Observer::callC(Call &call) {
  PyObject *callable = call.callable;
  PyTypeObject *type = Py_TYPE(callable);
  CHandler handler = nullptr;
  if (PyCFunction_Check(callable)) {
    auto *function = reinterpret_cast<PyCFunctionObject *>(callable);
    handler = findMethod(function->m_ml);
    PyObject *self = PyCFunction_GET_SELF(callable);
    if (self && !PyModule_Check(self) && !PyType_Check(self) &&
        !isFunctionRecord(self)) {
      Known *known = objects.find(callable);
      if (known && !known->fresh() && !known->pinned)
        objects.read(self, objects.step(known->source, Access::MethodSelf, 0));
      call.args.insert(call.args.begin(), self);
    } else if (self && PyType_Check(self) &&
               (function->m_ml->ml_flags & METH_CLASS)) {
      call.args.insert(call.args.begin(), self);
    }
  } else if (type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type) {
    handler =
        findMethod(reinterpret_cast<PyMethodDescrObject *>(callable)->d_method);
  } else if (type == &PyWrapperDescr_Type) {
    handler = findWrapper(callable);
  } else {
    // A method-wrapper: a slot bound to an instance.
    Ref self = py::handle(callable).attr("__self__");
    Ref name = py::handle(callable).attr("__name__");
    PyObject *wrapper = compat::typeLookup(Py_TYPE(self.ptr()), name.ptr());
    if (Ref owner = py::handle(callable).attr("__objclass__");
        !wrapper || Py_TYPE(wrapper) != &PyWrapperDescr_Type ||
        PyDescr_TYPE(wrapper) != reinterpret_cast<PyTypeObject *>(owner.ptr()))
      wrapper = compat::typeLookup(
          reinterpret_cast<PyTypeObject *>(owner.ptr()), name.ptr());
    if (wrapper && Py_TYPE(wrapper) == &PyWrapperDescr_Type)
      handler = findWrapper(wrapper);
    call.args.insert(call.args.begin(), self.ptr());
    call.keep.push_back(self);
  }
  if (!handler)
    stop("calls " + describe(callable));
  // Called with another class's instance it raises; handlers rely on the class.
  if ((type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type) &&
      !PyObject_TypeCheck(call.args[0], PyDescr_TYPE(callable)))
    stop("calls " + describe(callable) + " of " + describe(call.args[0]));
  for (PyObject *argument : call.args)
    objects.need(argument);
  handler(*this, call);
}
