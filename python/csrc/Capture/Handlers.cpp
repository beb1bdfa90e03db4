//===- Handlers.cpp - What each instruction reads, makes and changes ------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One case per instruction of CPython 3.11.  An instruction that only moves
// what is there needs nothing; what is not handled ends the segment.
//
//===----------------------------------------------------------------------===//

#include "Capture/CPythonCompatInline.h"
#include "Capture/Kinds.h"
#include "Capture/Observer.h"

#include <opcode.h>

namespace py = pybind11;
using namespace dynamo::capture;

/// The root's local comes from outside if nothing was stored there yet.
void Observer::readLocal(int index) {
  PyObject *value = local(index);
  if (!isRoot() || !untouched[index] || !value)
    return;
  untouched[index] = false;
  objects.read(value, objects.root(Access::Local, index));
}

PyObject *Observer::readCell(int slot, bool contents) {
  PyObject *cell = local(slot);
  if (!cell || !PyCell_Check(cell))
    stop("reads a cell that is not there");
  Known *known = objects.find(cell);
  if (!known) {
    PyCodeObject *co = code();
    if (compat::isFree(co, slot)) {
      // Copied from the closure of the function that runs.
      int at = 0;
      for (int i = 0; i < slot; ++i)
        at += compat::isFree(co, i);
      PyObject *function = compat::function(watched().frame);
      Known *owner = objects.find(function);
      if (isRoot())
        known =
            objects.read(cell, objects.step(objects.root(Access::Function, 0),
                                            Access::Closure, at));
      else if (owner && !owner->fresh())
        known = objects.read(cell,
                             objects.step(owner->source, Access::Closure, at));
      else
        stop("reads a variable of a function that C code made");
    } else if (isRoot()) {
      known = objects.read(cell, objects.root(Access::Local, slot));
    } else {
      stop("reads a cell of unknown origin");
    }
  }
  if (isRoot())
    untouched[slot] = false;
  if (!contents)
    return cell;
  PyObject *value = PyCell_GET(cell);
  if (known->fresh() || !known->written.empty())
    return value;
  Source *source = objects.step(known->source, Access::CellContents, 0);
  if (value)
    objects.read(value, source);
  else
    objects.absent(source);
  return value;
}

/// The dict of globals of the frame, known.
PyObject *Observer::globals() {
  PyObject *globals = compat::globals(current->frame);
  if (objects.find(globals))
    return globals;
  if (!isRoot()) {
    PyObject *function = compat::function(current->frame);
    Known *known = objects.find(function);
    // A closure made here has the globals of the code that made it.
    if (!known)
      stop("uses globals of a function that C code made");
  } else {
    objects.root(Access::Function, 0);
    objects.identity(globals, objects.step(objects.root(Access::Function, 0),
                                           Access::Globals, 0));
  }
  objects.addConstant(globals);
  return globals;
}

PyObject *Observer::readGlobal(PyObject *name) {
  PyObject *globals = this->globals();
  if (!PyDict_CheckExact(globals))
    stop("uses globals that are no dict");
  if (PyObject *value = objects.dictItem(globals, name))
    return value;
  PyObject *builtins = compat::builtins(watched().frame);
  if (!PyDict_CheckExact(builtins))
    stop("uses builtins that are no dict");
  objects.addConstant(builtins);
  return objects.dictItem(builtins, name);
}

//===----------------------------------------------------------------------===//
// Operations on objects
//===----------------------------------------------------------------------===//

void Observer::truth(PyObject *object) {
  if (isValue(object))
    return;
  if (isTensor(object)) {
    if (!settled(object))
      stop("branches on a tensor's value",
           "torch.where keeps the choice in tensors");
    plan().operators = true;
    return;
  }
  objects.need(object);
  if (special(object, "__bool__"))
    return;
  PyTypeObject *definer;
  if (classAttribute(object, "__bool__"))
    stop("takes the truth of " + describe(object));
  if (special(object, "__len__", &definer))
    return;
  if (!definer)
    return; // always true
  if (PyList_Check(object) || PyTuple_Check(object) || PyDict_Check(object) ||
      PyAnySet_Check(object) || Kinds::get().isDeque(object))
    return objects.sized(object);
  if (Known *known = objects.find(object); known && known->fresh())
    return;
  stop("takes the truth of " + describe(object));
}

void Observer::iterate(PyObject *object) {
  freshResult();
  if (isValue(object))
    return;
  Known *known = objects.need(object);
  const Kinds &kinds = Kinds::get();
  PyTypeObject *type = Py_TYPE(object);
  if (kinds.iterators.count(type) || kinds.callingIterators.count(type) ||
      PyGen_CheckExact(object)) {
    if (!known->fresh())
      stop("goes on with an iterator that was started outside");
    return;
  }
  if (kinds.views.count(type)) {
    if (!known->fresh())
      stop("goes over " + describe(object));
    return;
  }
  PyTypeObject *definer;
  if (special(object, "__iter__", &definer))
    return;
  if (!definer) {
    if (special(object, "__getitem__"))
      return;
    stop("goes over " + describe(object));
  }
  if (PyType_Check(object))
    stop("goes over a class");
  objects.whole(object);
}

void Observer::advance(PyObject *iterator) {
  plan().hasResult = true;
  plan().result = Plan::FreshTuple;
  const Kinds &kinds = Kinds::get();
  PyTypeObject *type = Py_TYPE(iterator);
  Known *known = objects.need(iterator);
  bool isIterator = kinds.iterators.count(type);
  if (isIterator || kinds.callingIterators.count(type) ||
      PyGen_CheckExact(iterator)) {
    if (!known || !known->fresh())
      stop("goes on with an iterator that was started outside");
    // Those that go over others may get at a generator.
    plan().calls = true;
    return;
  }
  if (special(iterator, "__next__"))
    return;
  stop("goes on with " + describe(iterator));
}

static bool isContainer(PyObject *object) {
  return PyList_Check(object) || PyTuple_Check(object) ||
         PyDict_Check(object) || PyAnySet_Check(object) ||
         Kinds::get().isDeque(object);
}

void Observer::subscript(PyObject *object, PyObject *key) {
  objects.need(object);
  objects.need(key);
  if (isTensor(object)) {
    if (PyList_Check(key) || PyTuple_Check(key))
      objects.whole(key);
    plan().operators = true;
    return freshResult();
  }
  if (isValue(object)) {
    if (isTensor(key))
      stop("uses a tensor as an index");
    if (!isValue(key) && !PySlice_Check(key))
      special(key, "__index__");
    return;
  }
  if (PyType_Check(object)) {
    if (objects.find(object)->pinned && Py_TYPE(object) == &PyType_Type &&
        isValue(key) == false && PyType_Check(key))
      return freshResult();
    stop("makes a type: " + describe(object) + "[...]");
  }
  if (Py_TYPE(object) == Kinds::get().mappingProxy)
    return freshResult();
  PyTypeObject *definer;
  if (special(object, "__getitem__", &definer))
    return;
  if (PyDict_Check(object)) {
    PyObject *found = objects.dictItem(object, key);
    if (found)
      return expect(found);
    if (Py_TYPE(object) == &PyDict_Type)
      return; // KeyError
    if (special(object, "__missing__", &definer))
      return;
    if (definer) {
      // defaultdict: the factory's object is put there.
      Known *known = objects.find(object);
      if (!known->fresh())
        stop("makes an item of a defaultdict from outside");
      plan().calls = true;
      return freshResult();
    }
    return;
  }
  if (PyList_Check(object) || PyTuple_Check(object) ||
      Kinds::get().isDeque(object)) {
    if (isTensor(key))
      stop("uses a tensor as an index");
    Py_ssize_t n = PyObject_Length(object);
    if (n < 0)
      throw py::error_already_set();
    if (PyLong_Check(key)) {
      Py_ssize_t i = PyLong_AsSsize_t(key);
      if (i == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        objects.sized(object);
        return;
      }
      if (i < 0) {
        objects.sized(object);
        i += n;
      }
      if (i < 0 || i >= n) {
        objects.sized(object);
        return; // IndexError
      }
      objects.typed(object);
      return expect(objects.item(object, i));
    }
    if (PySlice_Check(key)) {
      auto *slice = reinterpret_cast<PySliceObject *>(key);
      for (PyObject *part : {slice->start, slice->stop, slice->step})
        if (!isValue(part))
          stop("slices with " + describe(part));
      objects.whole(object);
      return freshResult();
    }
    special(key, "__index__");
    stop("uses " + describe(key) + " as an index");
  }
  stop("reads an item of " + describe(object));
}

void Observer::storeSubscript(PyObject *object, PyObject *key,
                              PyObject *value) {
  Known *known = objects.need(object);
  objects.need(key);
  if (value)
    objects.need(value);
  if (isTensor(object)) {
    if (PyList_Check(key) || PyTuple_Check(key))
      objects.whole(key);
    if (!isTensor(value) && !isValue(value))
      stop("stores " + describe(value) + " in a tensor");
    plan().operators = true;
    return;
  }
  if (special(object, value ? "__setitem__" : "__delitem__"))
    return;
  if (known && known->fresh()) {
    if (PyDict_Check(object) && !isValue(key))
      objects.hashable(key);
    if (known->owner)
      return;
    if (isContainer(object))
      return;
  }
  if (known && PyDict_Check(object)) {
    // The key's place counts if the dict is gone over later; then all of it is
    // guarded there.
    bool has = objects.dictHas(object, key);
    if (!value && !has)
      return; // KeyError
    PyObject *target = object;
    if (value)
      objects.effect(Effect::SetItem, target, nullptr, {key, value});
    else
      objects.effect(Effect::DelItem, target, nullptr, {key});
    objects.markWritten(object, key);
    return;
  }
  if (known && (PyList_Check(object) || Kinds::get().isDeque(object))) {
    if (!PyLong_Check(key) || !value) {
      if (isTensor(key))
        stop("uses a tensor as an index");
      if (value && PySlice_Check(key))
        iterate(value);
      plan().hasResult = false;
      return objects.rewritten(object);
    }
    Py_ssize_t i = PyLong_AsSsize_t(key), n = PyObject_Length(object);
    if (i == -1 && PyErr_Occurred())
      PyErr_Clear();
    objects.sized(object);
    if (i < 0)
      i += n;
    if (i < 0 || i >= n)
      return; // IndexError
    Ref index = py::reinterpret_steal<py::object>(PyLong_FromSsize_t(i));
    objects.effect(Effect::SetItem, object, nullptr, {index.ptr(), value});
    objects.markWritten(object, index.ptr());
    return;
  }
  stop("changes an item of " + describe(object));
}

void Observer::compare(PyObject *left, PyObject *right, int op) {
  objects.need(left);
  objects.need(right);
  if (isTensor(left) || isTensor(right)) {
    PyObject *other = isTensor(left) ? right : left;
    if (!isTensor(other) && !isValue(other) && !special(other, "__eq__") &&
        isContainer(other))
      objects.whole(other);
    plan().operators = plan().calls = true;
    return freshResult();
  }
  if (isValue(left) && isValue(right))
    return;
  static const char *names[] = {"__lt__", "__le__", "__eq__",
                                "__ne__", "__gt__", "__ge__"};
  bool calls = false;
  for (PyObject *side : {left, right}) {
    if (isValue(side))
      continue;
    for (const char *name : {names[op], op == Py_NE ? "__eq__" : names[op]})
      calls |= special(side, name);
    static const int swapped[] = {Py_GT, Py_GE, Py_EQ, Py_NE, Py_LT, Py_LE};
    calls |= special(side, names[swapped[op]]);
  }
  if (calls)
    return;
  if (isContainer(left) || isContainer(right)) {
    for (PyObject *side : {left, right})
      if (isContainer(side))
        objects.deep(side, "compares");
    return;
  }
  const Kinds &kinds = Kinds::get();
  if (kinds.views.count(Py_TYPE(left)) || kinds.views.count(Py_TYPE(right))) {
    if (Py_TYPE(left) == Py_TYPE(right))
      return; // what they show was guarded when they were made
    stop("compares " + describe(left));
  }
  // Members of enumerations over str or int, and the like.
  auto isValueLike = [&](PyObject *side) {
    Known *known = objects.find(side);
    return isValue(side) || (known && (known->pinned || known->fresh()) &&
                             (PyUnicode_Check(side) || PyLong_Check(side) ||
                              PyFloat_Check(side)));
  };
  if (isValueLike(left) && isValueLike(right))
    return;
  auto byIdentity = [&](PyObject *side) {
    return isValue(side) || isValueLike(side) ||
           Py_TYPE(side)->tp_richcompare == PyBaseObject_Type.tp_richcompare ||
           PyType_Check(side) || PyFunction_Check(side) ||
           PyModule_Check(side) || PyMethod_Check(side) ||
           PyCFunction_Check(side);
  };
  if ((op == Py_EQ || op == Py_NE) && byIdentity(left) && byIdentity(right)) {
    if (PyMethod_Check(left) && PyMethod_Check(right))
      return objects.related(PyMethod_GET_SELF(left), PyMethod_GET_SELF(right));
    return objects.related(left, right);
  }
  // A method in C of a class that compares: str subclasses, paths, ...
  stop("compares " + describe(isValue(left) ? right : left));
}

void Observer::binary(PyObject *left, PyObject *right, int op) {
  Known *l = objects.need(left);
  objects.need(right);
  bool inPlace = op >= NB_INPLACE_ADD;
  if (isTensor(left) || isTensor(right)) {
    for (PyObject *side : {left, right})
      if (!isTensor(side) && !isValue(side)) {
        special(side, "__add__");
        if (isContainer(side))
          objects.whole(side);
      }
    plan().operators = plan().calls = true;
    return freshResult();
  }
  if (isValue(left) && isValue(right))
    return;
  if (PyUnicode_CheckExact(left) && op % NB_INPLACE_ADD == NB_REMAINDER) {
    objects.deep(right, "formats");
    return;
  }
  static const char *names[] = {
      "add", "and", "floordiv", "lshift", "matmul",  "mul", "mod",
      "or",  "pow", "rshift",   "sub",    "truediv", "xor"};
  std::string name = names[op % NB_INPLACE_ADD];
  bool calls = false;
  if (inPlace && !isValue(left))
    calls |= special(left, ("__i" + name + "__").c_str());
  if (!isValue(left))
    calls |= special(left, ("__" + name + "__").c_str());
  if (!isValue(right))
    calls |= special(right, ("__r" + name + "__").c_str());
  if (calls)
    return freshResult();
  const Kinds &kinds = Kinds::get();
  bool known = true;
  for (PyObject *side : {left, right})
    known &= isValue(side) || isContainer(side) ||
             kinds.views.count(Py_TYPE(side)) || PyType_Check(side);
  if (!known)
    stop("computes with " + describe(isValue(left) ? right : left));
  if (PyType_Check(left) || PyType_Check(right))
    stop("makes a type");
  if (inPlace && isContainer(left) && !l->fresh() && !PyTuple_Check(left))
    objects.rewritten(left);
  for (PyObject *side : {left, right})
    if (isContainer(side))
      objects.whole(side);
  freshResult();
}

void Observer::contains(PyObject *container, PyObject *item) {
  objects.need(container);
  objects.need(item);
  if (isTensor(container)) {
    special(container, "__contains__");
    return;
  }
  if (isTensor(item) && !PyDict_Check(container)) {
    if (isValue(container) || PyList_Check(container) ||
        PyTuple_Check(container))
      stop("looks for a tensor in a sequence, which compares values");
  }
  if (isValue(container)) {
    if (!isValue(item))
      objects.deep(item, "compares");
    return;
  }
  PyTypeObject *definer;
  if (special(container, "__contains__", &definer))
    return;
  if (!definer) {
    if (special(container, "__iter__") || special(container, "__getitem__"))
      return;
    stop("looks into " + describe(container));
  }
  if (PyDict_Check(container)) {
    objects.dictHas(container, item);
    return;
  }
  const Kinds &kinds = Kinds::get();
  if (kinds.views.count(Py_TYPE(container))) {
    objects.deep(item, "compares");
    return;
  }
  if (Py_TYPE(container) == kinds.mappingProxy &&
      objects.find(container)->fresh())
    return;
  if (PyAnySet_Check(container)) {
    objects.hashable(item);
    return objects.whole(container);
  }
  if (PyList_Check(container) || PyTuple_Check(container) ||
      kinds.isDeque(container)) {
    objects.whole(container);
    Ref items = py::reinterpret_steal<py::object>(PySequence_Tuple(container));
    if (!items)
      throw py::error_already_set();
    for (py::handle element : items) {
      if (element.ptr() == item)
        continue;
      if (isTensor(element.ptr()))
        stop("looks for something among tensors");
      bool had = plan().hasResult;
      compare(element.ptr(), item, Py_EQ);
      plan().hasResult = had;
    }
    return;
  }
  stop("looks into " + describe(container));
}

void Observer::format(PyObject *object, const char *method) {
  if (isValue(object))
    return;
  if (isTensor(object))
    stop("turns a tensor into text");
  Known *known = objects.need(object);
  if (special(object, method))
    return;
  for (const char *name : {"__str__", "__repr__"})
    if (special(object, name))
      return;
  if (PyType_Check(object)) {
    objects.classGuard(reinterpret_cast<PyTypeObject *>(object));
    return;
  }
  if (known && known->pinned && !PyModule_Check(object) &&
      !PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE))
    return;
  if (isContainer(object) || PyExceptionInstance_Check(object)) {
    if (PyExceptionInstance_Check(object)) {
      if (known && known->fresh())
        return;
      stop("turns an exception into text");
    }
    return objects.deep(object, "turns into text");
  }
  stop("turns " + describe(object) + " into text");
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void Observer::loadAttribute(PyObject *object, PyObject *name, bool method,
                             bool generic) {
  Plan &plan = this->plan();
  Attribute found = attribute(object, name, generic);
  using A = Attribute;
  switch (found.kind) {
  case A::Missing:
    return;
  case A::Computed:
    plan.calls = true;
    return;
  case A::Found:
    if (isValue(found.object)) {
      plan.hasResult = false;
      return;
    }
    return expect(found.object);
  case A::Value:
    return;
  case A::Operator:
    plan.operators = true;
    return freshResult();
  case A::Dict:
    plan.hasResult = true;
    plan.result = Plan::InstanceDict;
    plan.expected = object;
    return;
  case A::Unbound:
    plan.hasResult = true;
    plan.after = [this, function = found.object, method,
                  object](PyObject *top) {
      // LOAD_METHOD leaves the function and the instance, or (for what is no
      // method) NULL and what was read.
      if (method && this->top(2)) {
        if (this->top(2) != function || top != object)
          stop("reads something else than was looked up");
        return;
      }
      if (!objects.isKnown(top))
        objects.addFresh(top);
    };
    return;
  case A::Bound:
  case A::Fresh:
    return freshResult();
  }
}

void Observer::handle() {
  const compat::Instruction &in = current->instruction;
  Plan &plan = current->plan;
  switch (in.opcode) {
  // Moves.
  case NOP:
  case RESUME:
  case CACHE:
  case PUSH_NULL:
  case POP_TOP:
  case COPY:
  case SWAP:
  case LOAD_CONST:
  case LOAD_ASSERTION_ERROR:
  case JUMP_FORWARD:
  case JUMP_BACKWARD:
  case JUMP_BACKWARD_NO_INTERRUPT:
  case POP_JUMP_FORWARD_IF_NONE:
  case POP_JUMP_BACKWARD_IF_NONE:
  case POP_JUMP_FORWARD_IF_NOT_NONE:
  case POP_JUMP_BACKWARD_IF_NOT_NONE:
  case PUSH_EXC_INFO:
  case POP_EXCEPT:
  case RERAISE:
  case PRECALL:
  case COPY_FREE_VARS:
  case MAKE_CELL:
  case RETURN_GENERATOR:
    if (in.opcode == LOAD_ASSERTION_ERROR)
      objects.addConstant(PyExc_AssertionError);
    if (in.opcode >= POP_JUMP_FORWARD_IF_NOT_NONE &&
        in.opcode <= POP_JUMP_FORWARD_IF_NONE)
      objects.need(top());
    if (in.opcode == POP_EXCEPT && isRoot() && trace->start)
      if (!isValue(top()) && !objects.find(top()))
        stop("leaves an except block that it was not seen entering");
    return;
  case RETURN_VALUE:
  case YIELD_VALUE:
    // To C code that looks at what it gets.
    if (frames.size() > 1)
      if (auto consume = frames[frames.size() - 2].plan.consume)
        consume(*this, top());
    return;
  case KW_NAMES:
    current->kwNames = constant(in.oparg);
    return;

  // Locals.
  case LOAD_FAST:
    return readLocal(in.oparg);
  case STORE_FAST:
  case DELETE_FAST:
    if (isRoot())
      untouched[in.oparg] = false;
    return;
  case LOAD_CLOSURE:
    readCell(in.oparg, false);
    return;
  case LOAD_DEREF:
    readCell(in.oparg, true);
    return;
  case STORE_DEREF:
  case DELETE_DEREF: {
    PyObject *cell = readCell(in.oparg, false);
    if (objects.find(cell)->fresh())
      return;
    if (in.opcode == STORE_DEREF)
      objects.effect(Effect::SetCell, cell, nullptr, {top()});
    else
      objects.effect(Effect::SetCell, cell, nullptr, {});
    objects.markWritten(cell, Py_None);
    return;
  }

  // Names.
  case LOAD_GLOBAL:
    if (PyObject *value = readGlobal(name(in.oparg >> 1)))
      if (!isValue(value))
        expect(value);
    return;
  case STORE_GLOBAL:
  case DELETE_GLOBAL: {
    readGlobal(name(in.oparg));
    PyObject *globals = compat::globals(current->frame);
    if (in.opcode == STORE_GLOBAL)
      objects.effect(Effect::SetItem, globals, nullptr,
                     {name(in.oparg), top()});
    else
      objects.effect(Effect::DelItem, globals, nullptr, {name(in.oparg)});
    objects.markWritten(globals, name(in.oparg));
    plan.mayRaise = false;
    return;
  }

  // Attributes and items.
  case LOAD_ATTR:
    return loadAttribute(top(), name(in.oparg), false);
  case LOAD_METHOD:
    return loadAttribute(top(), name(in.oparg), true);
  case STORE_ATTR:
    return storeAttribute(top(), name(in.oparg), top(2));
  case DELETE_ATTR:
    return storeAttribute(top(), name(in.oparg), nullptr);
  case BINARY_SUBSCR:
    return subscript(top(2), top());
  case STORE_SUBSCR:
    return storeSubscript(top(2), top(), top(3));
  case DELETE_SUBSCR:
    return storeSubscript(top(2), top(), nullptr);

  // Operators.
  case UNARY_NOT:
  case POP_JUMP_FORWARD_IF_FALSE:
  case POP_JUMP_FORWARD_IF_TRUE:
  case POP_JUMP_BACKWARD_IF_FALSE:
  case POP_JUMP_BACKWARD_IF_TRUE:
  case JUMP_IF_FALSE_OR_POP:
  case JUMP_IF_TRUE_OR_POP:
    return truth(top());
  case UNARY_POSITIVE:
  case UNARY_NEGATIVE:
  case UNARY_INVERT: {
    PyObject *operand = top();
    if (isValue(operand))
      return;
    objects.need(operand);
    if (isTensor(operand)) {
      plan.operators = plan.calls = true;
      return freshResult();
    }
    if (special(operand, in.opcode == UNARY_POSITIVE   ? "__pos__"
                         : in.opcode == UNARY_NEGATIVE ? "__neg__"
                                                       : "__invert__"))
      return;
    stop("computes with " + describe(operand));
  }
  case BINARY_OP:
    return binary(top(2), top(), in.oparg);
  case COMPARE_OP:
    return compare(top(2), top(), in.oparg);
  case IS_OP:
    return objects.related(top(2), top());
  case CONTAINS_OP:
    return contains(top(), top(2));

  // Containers.
  case BUILD_TUPLE:
  case BUILD_LIST:
  case BUILD_SET:
  case BUILD_MAP:
  case BUILD_CONST_KEY_MAP:
  case BUILD_SLICE:
    if (in.opcode == BUILD_SET)
      for (int i = 1; i <= in.oparg; ++i)
        objects.hashable(top(i));
    if (in.opcode == BUILD_MAP)
      for (int i = 1; i <= in.oparg; ++i)
        objects.hashable(top(2 * i));
    return freshResult();
  case BUILD_STRING:
    return;
  case FORMAT_VALUE: {
    PyObject *value = top((in.oparg & 4) ? 2 : 1);
    if ((in.oparg & 4) && !isValue(top()))
      stop("formats with " + describe(top()));
    return format(value, (in.oparg & 3) == 2   ? "__repr__"
                         : (in.oparg & 3) == 1 ? "__str__"
                                               : "__format__");
  }
  case LIST_APPEND:
  case MAP_ADD:
    return;
  case SET_ADD:
    return objects.hashable(top());
  case LIST_EXTEND:
  case SET_UPDATE:
    iterate(top());
    plan.hasResult = false;
    return;
  case DICT_UPDATE:
  case DICT_MERGE: {
    PyObject *mapping = top();
    objects.need(mapping);
    if (!PyDict_Check(mapping) || special(mapping, "__iter__") ||
        special(mapping, "keys") || special(mapping, "__getitem__"))
      stop("unpacks " + describe(mapping));
    return objects.whole(mapping);
  }
  case LIST_TO_TUPLE:
    return freshResult();
  case UNPACK_SEQUENCE:
  case UNPACK_EX: {
    PyObject *sequence = top();
    if (isValue(sequence))
      return;
    iterate(sequence);
    plan.hasResult = false;
    // What is left over becomes a list.
    if (in.opcode == UNPACK_EX) {
      int rest = in.oparg & 0xff;
      plan.hasResult = true;
      plan.after = [this, rest](PyObject *) {
        PyObject *list = top(rest + 1);
        if (list && PyList_CheckExact(list) && !objects.find(list))
          objects.addFresh(list);
      };
    }
    return;
  }
  case GET_ITER:
    return iterate(top());
  case FOR_ITER: {
    advance(top());
    int depth = current->depth;
    plan.after = [this, depth](PyObject *result) {
      if (compat::stackDepth(current->frame) > depth && result &&
          PyTuple_Check(result) && !objects.isKnown(result))
        objects.addFresh(result);
    };
    return;
  }
  case GET_LEN:
    if (!isValue(top()))
      objects.sized(top());
    return;

  // Calls.
  case CALL:
    return handleCall();
  case CALL_FUNCTION_EX:
    return handleCall();
  case MAKE_FUNCTION:
    return freshResult();

  // Exceptions.
  case RAISE_VARARGS:
    if (in.oparg == 0)
      return;
    for (int i = 1; i <= in.oparg; ++i)
      objects.need(top(i));
    plan.calls = true;
    return;
  case CHECK_EXC_MATCH: {
    objects.need(top(2));
    PyObject *classes = top();
    objects.need(classes);
    if (PyTuple_Check(classes))
      objects.whole(classes);
    return;
  }

  // with.
  case BEFORE_WITH: {
    PyObject *manager = top();
    objects.need(manager);
    if (!special(manager, "__exit__") || !special(manager, "__enter__"))
      stop("enters " + describe(manager));
    plan.hasResult = true;
    plan.after = [this](PyObject *) {
      if (PyObject *exit = top(2); exit && !objects.isKnown(exit))
        objects.addFresh(exit);
    };
    return;
  }
  case WITH_EXCEPT_START: {
    Call call;
    call.callable = top(4);
    PyObject *exception = top();
    PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(exception));
    objects.addConstant(type);
    PyObject *traceback = PyException_GetTraceback(exception);
    if (traceback && !objects.find(traceback))
      objects.addFresh(traceback);
    call.args = {type, exception, traceback ? traceback : Py_None};
    if (traceback)
      call.keep.push_back(py::reinterpret_steal<py::object>(traceback));
    return this->call(call);
  }

  // Generators.
  case SEND:
    return advance(top(2));
  case GET_YIELD_FROM_ITER:
    return iterate(top());

  case IMPORT_NAME:
    return importName();
  case IMPORT_FROM:
    return loadAttribute(top(), name(in.oparg), false);

  case LOAD_BUILD_CLASS:
    stop("defines a class");
  case BEFORE_ASYNC_WITH:
  case GET_AITER:
  case GET_ANEXT:
  case END_ASYNC_FOR:
  case GET_AWAITABLE:
  case ASYNC_GEN_WRAP:
    stop("runs asynchronous code");
  case MATCH_CLASS:
    objects.need(top(3));
    objects.need(top(2));
    return matchClass(top(3), top(2), top(), in.oparg);
  case MATCH_KEYS: {
    PyObject *subject = top(2);
    objects.need(subject);
    if (!PyDict_CheckExact(subject))
      stop("matches the keys of " + describe(subject));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(top()); ++i)
      objects.dictItem(subject, PyTuple_GET_ITEM(top(), i));
    plan.hasResult = true;
    plan.result = Plan::FreshTuple;
    return;
  }
  case MATCH_SEQUENCE:
  case MATCH_MAPPING:
    objects.need(top());
    if (!isValue(top()))
      objects.typed(top());
    return;
  default:
    stop("uses an instruction that is not recorded (opcode " +
         std::to_string(in.opcode) + ")");
  }
}

void Observer::importName() {
  PyObject *wanted = name(current->instruction.oparg);
  if (!isValue(top(2)) || !PyLong_Check(top(2)) || PyLong_AsLong(top(2)) != 0)
    stop("imports relative to its package",
         "an import at the top of the file runs once");
  PyObject *modules = PyImport_GetModuleDict();
  objects.addConstant(modules);
  PyObject *module = objects.dictItem(modules, wanted);
  if (!module || !PyModule_Check(module))
    stop("imports " + std::string(PyUnicode_AsUTF8(wanted)));
  // "import a.b" gives a.
  PyObject *from = top();
  Py_ssize_t dot =
      PyUnicode_FindChar(wanted, '.', 0, PyUnicode_GET_LENGTH(wanted), 1);
  bool isTop =
      from == Py_None || (PyTuple_Check(from) && PyTuple_GET_SIZE(from) == 0);
  if (dot > 0 && isTop) {
    Ref first =
        py::reinterpret_steal<py::object>(PyUnicode_Substring(wanted, 0, dot));
    module = objects.dictItem(modules, first.ptr());
    if (!module)
      stop("imports " + std::string(PyUnicode_AsUTF8(wanted)));
  }
  plan().calls = false;
  expect(module);
}
