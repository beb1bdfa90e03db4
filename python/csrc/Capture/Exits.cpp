//===- Exits.cpp - Leaves a segment: effects and results ------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/Exits.h"
#include "TorchShim.h"

#include <map>

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;

/// An attribute of a Python module, kept for good.
static PyObject *permanent(const char *module, const char *name) {
  return py::object(py::module_::import(module).attr(name)).release().ptr();
}

static PyTypeObject *dequeType() {
  static PyObject *type = permanent("collections", "deque");
  return reinterpret_cast<PyTypeObject *>(type);
}

/// The type in C that a Python class is built on.
static PyTypeObject *baseInC(PyTypeObject *type) {
  while (type->tp_flags & Py_TPFLAGS_HEAPTYPE && type->tp_base)
    type = type->tp_base;
  return type;
}

/// A named tuple of C's, such as torch.return_types.max.
static bool isStructSequence(PyTypeObject *type) {
  return PyType_IsSubtype(type, &PyTuple_Type) && type->tp_dict &&
         PyDict_GetItemString(type->tp_dict, "n_sequence_fields");
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

struct ExitProgram::Builder {
  const Trace &trace;
  ExitProgram &program;
  std::string &error;
  enum State { Unseen, Open, Done };
  std::map<const Value *, State> state;
  std::map<const Value *, int32_t> number;
  std::map<int64_t, int32_t> sourceIndex;
  std::vector<const Value *> order, later; ///< later: filled when all are made

  bool fail(const std::string &what) {
    error = what;
    return false;
  }

  /// Made empty first and filled later, so that it can be part of a cycle.
  static bool isMutable(const Value &value) {
    switch (value.kind) {
    case Value::List:
    case Value::Dict:
    case Value::Deque:
    case Value::Object:
    case Value::Cell:
      return true;
    case Value::Set:
      return !PyType_IsSubtype(
          reinterpret_cast<PyTypeObject *>(value.type.ptr()),
          &PyFrozenSet_Type);
    default:
      return false;
    }
  }

  bool needsType(const Value &value) {
    switch (value.kind) {
    case Value::List:
    case Value::Tuple:
    case Value::Set:
    case Value::Dict:
    case Value::Deque:
    case Value::Object:
      return !value.type || !PyType_Check(value.type.ptr());
    default:
      return false;
    }
  }

  /// Puts a value behind those that must exist before it.
  bool visit(const Value *value) {
    if (!value)
      return fail("a null value");
    State &now = state[value];
    if (now == Done)
      return true;
    if (now == Open)
      return fail("a cycle of objects that can't be changed");
    if (needsType(*value))
      return fail("a container without its type");
    bool open = isMutable(*value);
    now = open ? Done : Open;
    if (open) {
      number[value] = static_cast<int32_t>(order.size());
      order.push_back(value);
      later.push_back(value);
      return true;
    }
    for (const Value *item : value->items)
      if (!visit(item))
        return false;
    number[value] = static_cast<int32_t>(order.size());
    order.push_back(value);
    // Attributes of a tuple's or function's subclass come later.
    if (!value->attributes.empty() || !value->slots.empty())
      later.push_back(value);
    state[value] = Done;
    return true;
  }

  bool visitAll(const Value *root) {
    if (!visit(root))
      return false;
    while (!later.empty()) {
      const Value *value = later.back();
      later.pop_back();
      for (const Value *item : value->items)
        if (!visit(item))
          return false;
      for (auto &attribute : value->attributes)
        if (!visit(attribute.second))
          return false;
      for (auto &slot : value->slots)
        if (!visit(slot.second))
          return false;
    }
    return true;
  }

  /// Whether equality and hash of a key are C's.
  static bool plainKey(const Value &key) {
    if (key.kind == Value::Object || key.kind == Value::Constant) {
      PyTypeObject *type =
          key.kind == Value::Object
              ? reinterpret_cast<PyTypeObject *>(key.type.ptr())
              : Py_TYPE(key.object.ptr());
      return !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) ||
             type->tp_hash == PyBaseObject_Type.tp_hash ||
             type->tp_hash == baseInC(type)->tp_hash;
    }
    return true;
  }

  bool node(const Value &value) {
    Node node;
    node.kind = value.kind;
    node.object = value.object;
    node.type = value.type;
    node.index = static_cast<int32_t>(value.index);
    for (const Value *item : value.items)
      node.items.push_back(number.at(item));
    for (auto &[name, attribute] : value.attributes)
      node.attributes.emplace_back(name, number.at(attribute));
    for (auto &[descriptor, slot] : value.slots) {
      if (!Py_TYPE(descriptor.ptr())->tp_descr_set)
        return fail("a slot without its descriptor");
      node.slots.emplace_back(descriptor, number.at(slot));
    }
    auto *type = reinterpret_cast<PyTypeObject *>(value.type.ptr());
    size_t items = value.items.size();
    auto built = [&](PyTypeObject *on) {
      if (!PyType_IsSubtype(type, on))
        return fail(std::string("a value of type ") + type->tp_name +
                    " that is no " + on->tp_name);
      node.make = baseInC(type)->tp_new;
      if (!node.make)
        return fail(std::string("instances of ") + type->tp_name +
                    " can't be made");
      return true;
    };
    switch (value.kind) {
    case Value::Constant:
      if (!value.object)
        return fail("a constant without its object");
      break;
    case Value::Source: {
      if (!value.source)
        return fail("a value without its source");
      auto [at, isNew] = sourceIndex.try_emplace(
          value.source->number, static_cast<int32_t>(program.outside.size()));
      if (isNew)
        program.outside.push_back(static_cast<int32_t>(value.source->number));
      node.index = at->second;
      break;
    }
    case Value::Tensor:
      if (value.index < 0)
        return fail("a tensor without its number");
      program.tensors = std::max(program.tensors, node.index + 1);
      break;
    case Value::List:
      if (!built(&PyList_Type))
        return false;
      break;
    case Value::Tuple:
      if (!built(&PyTuple_Type))
        return false;
      break;
    case Value::Set:
      if (!PyType_IsSubtype(type, &PySet_Type) && !built(&PyFrozenSet_Type))
        return false;
      if (!node.make && !built(&PySet_Type))
        return false;
      for (const Value *item : value.items)
        if (!plainKey(*item))
          return fail("an element whose hash is the user's");
      break;
    case Value::Dict:
      if (!built(&PyDict_Type))
        return false;
      if (items % 2)
        return fail("a dict with a key that has no value");
      for (size_t i = 0; i < items; i += 2)
        if (!plainKey(*value.items[i]))
          return fail("a key whose hash is the user's");
      break;
    case Value::Deque:
      if (!built(dequeType()))
        return false;
      break;
    case Value::Object:
      if (!built(&PyBaseObject_Type))
        return false;
      if (baseInC(type) != &PyBaseObject_Type)
        return fail(std::string("an instance of ") + type->tp_name +
                    ", which is built on a type in C");
      break;
    case Value::Cell:
      if (items > 1)
        return fail("a cell with several contents");
      break;
    case Value::Function: {
      if (!value.object || !PyFunction_Check(value.object.ptr()))
        return fail("a function without its template");
      auto *given = reinterpret_cast<PyFunctionObject *>(value.object.ptr());
      if (items !=
          static_cast<size_t>(
              reinterpret_cast<PyCodeObject *>(given->func_code)->co_nfreevars))
        return fail("a function with another number of cells than its code");
      // A copy without the closure, which may hold what the first call made.
      PyObject *bare = copyFunction(value.object.ptr());
      if (!bare)
        throw py::error_already_set();
      node.object = py::reinterpret_steal<py::object>(bare);
      break;
    }
    case Value::BoundMethod:
      if (items != 2)
        return fail("a bound method without function or self");
      break;
    case Value::Slice:
      if (items != 3)
        return fail("a slice without its parts");
      break;
    }
    program.nodes.push_back(std::move(node));
    return true;
  }

  bool run() {
    const Exit &exit = trace.exit;
    std::vector<const Value *> roots;
    for (const Effect &effect : trace.effects) {
      if (effect.target)
        roots.push_back(effect.target);
      roots.insert(roots.end(), effect.operands.begin(), effect.operands.end());
    }
    if (exit.returns)
      roots.push_back(exit.result);
    for (const auto *list : {&exit.locals, &exit.stack})
      for (const Value *value : *list)
        if (value)
          roots.push_back(value);
    for (const Value *root : roots)
      if (!visitAll(root))
        return false;
    for (const Value *value : order)
      if (!node(*value))
        return false;
    program.doesReturn = exit.returns;
    program.next = exit.next;
    if (exit.returns)
      program.result = number.at(exit.result);
    for (const Value *value : exit.locals)
      program.locals.push_back(value ? number.at(value) : -1);
    for (const Value *value : exit.stack)
      program.stack.push_back(value ? number.at(value) : -1);
    for (const Effect &effect : trace.effects)
      if (!change(effect))
        return false;
    return true;
  }

  bool change(const Effect &effect) {
    Change change;
    change.kind = effect.kind;
    change.name = effect.name;
    change.target = effect.target ? number.at(effect.target) : -1;
    for (const Value *operand : effect.operands)
      change.operands.push_back(number.at(operand));
    size_t expected = 0;
    switch (effect.kind) {
    case Effect::SetAttr:
    case Effect::CopyTensor:
    case Effect::DelItem:
    case Effect::GradMode:
      expected = 1;
      break;
    case Effect::SetItem:
      expected = 2;
      break;
    case Effect::DelAttr:
      break;
    case Effect::SetCell:
      expected = change.operands.empty() ? 0 : 1;
      break;
    case Effect::Call:
      expected = change.operands.size();
      break;
    }
    bool named = effect.kind == Effect::SetAttr ||
                 effect.kind == Effect::DelAttr || effect.kind == Effect::Call;
    if (change.operands.size() != expected || (named && !effect.name) ||
        (!effect.target && effect.kind != Effect::GradMode))
      return fail("an effect without its operands");
    program.effects.push_back(std::move(change));
    return true;
  }

  /// New reference, or null with an exception set.
  static PyObject *copyFunction(PyObject *object) {
    auto *given = reinterpret_cast<PyFunctionObject *>(object);
    PyObject *made = PyFunction_NewWithQualName(
        given->func_code, given->func_globals, given->func_qualname);
    auto *copy = reinterpret_cast<PyFunctionObject *>(made);
    if (!made ||
        PyObject_SetAttrString(made, "__name__", given->func_name) < 0 ||
        PyObject_SetAttrString(made, "__doc__", given->func_doc) < 0 ||
        (given->func_defaults &&
         PyFunction_SetDefaults(made, given->func_defaults) < 0) ||
        (given->func_annotations && PyDict_Check(given->func_annotations) &&
         PyFunction_SetAnnotations(made, given->func_annotations) < 0)) {
      Py_XDECREF(made);
      return nullptr;
    }
    if (given->func_module)
      PyObject_SetAttrString(made, "__module__", given->func_module);
    if (given->func_kwdefaults) {
      PyObject *defaults = PyDict_Copy(given->func_kwdefaults);
      if (!defaults || PyFunction_SetKwDefaults(made, defaults) < 0) {
        Py_XDECREF(defaults);
        Py_DECREF(made);
        return nullptr;
      }
      Py_DECREF(defaults);
    }
    (void)copy;
    return made;
  }
};

std::unique_ptr<ExitProgram> ExitProgram::create(const Trace &trace,
                                                 std::string &error) {
  std::unique_ptr<ExitProgram> program(new ExitProgram);
  Builder builder{trace, *program, error, {}, {}, {}, {}, {}};
  if (trace.exit.returns && !trace.exit.result) {
    error = "a return without a result";
    return nullptr;
  }
  if (!builder.run())
    return nullptr;
  return program;
}

ExitProgram::~ExitProgram() = default;

int ExitProgram::traverse(visitproc visit, void *arg) const {
  for (const Node &node : nodes) {
    Py_VISIT(node.object.ptr());
    Py_VISIT(node.type.ptr());
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static PyObject *newReference(PyObject *object) {
  Py_INCREF(object);
  return object;
}

/// An instance through the C constructor below a subclass: `argument` may be
/// null.
static PyObject *construct(newfunc make, PyObject *type, PyObject *argument) {
  PyObject *arguments = argument ? PyTuple_Pack(1, argument) : PyTuple_New(0);
  if (!arguments)
    return nullptr;
  PyObject *made =
      make(reinterpret_cast<PyTypeObject *>(type), arguments, nullptr);
  Py_DECREF(arguments);
  return made;
}

PyObject *ExitProgram::make(const Node &node, const Objects &made,
                            PyObject *const *objects,
                            PyObject *const *results) const {
  PyObject *type = node.type.ptr();
  auto item = [&](size_t i) { return made[node.items[i]]; };
  Py_ssize_t n = static_cast<Py_ssize_t>(node.items.size());
  auto tuple = [&] {
    PyObject *items = PyTuple_New(n);
    for (Py_ssize_t i = 0; items && i < n; ++i)
      PyTuple_SET_ITEM(items, i, newReference(item(i)));
    return items;
  };
  switch (node.kind) {
  case Value::Constant:
    return newReference(node.object.ptr());
  case Value::Source:
    return newReference(objects[node.index]);
  case Value::Tensor:
    return newReference(results[node.index]);
  case Value::List:
    return type == reinterpret_cast<PyObject *>(&PyList_Type)
               ? PyList_New(0)
               : construct(node.make, type, nullptr);
  case Value::Dict:
    return type == reinterpret_cast<PyObject *>(&PyDict_Type)
               ? PyDict_New()
               : construct(node.make, type, nullptr);
  case Value::Deque: {
    PyObject *deque = construct(node.make, type, nullptr);
    if (!deque)
      return nullptr;
    // The length is settled by its __init__ alone.
    PyObject *arguments = PyTuple_New(0);
    PyObject *named = PyDict_New();
    int failed = !arguments || !named;
    if (!failed && node.object && !node.object.is_none())
      failed = PyDict_SetItemString(named, "maxlen", node.object.ptr()) < 0;
    failed = failed || dequeType()->tp_init(deque, arguments, named) < 0;
    Py_XDECREF(arguments);
    Py_XDECREF(named);
    if (failed)
      Py_CLEAR(deque);
    return deque;
  }
  case Value::Object:
  case Value::Set: {
    if (node.kind == Value::Object ||
        !PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(type),
                          &PyFrozenSet_Type))
      return construct(node.make, type, nullptr);
    PyObject *items = tuple();
    PyObject *set = items ? construct(node.make, type, items) : nullptr;
    Py_XDECREF(items);
    return set;
  }
  case Value::Tuple: {
    PyObject *items = tuple();
    if (!items || type == reinterpret_cast<PyObject *>(&PyTuple_Type))
      return items;
    PyObject *instance =
        isStructSequence(reinterpret_cast<PyTypeObject *>(type))
            ? PyObject_CallOneArg(type, items)
            : construct(node.make, type, items);
    Py_DECREF(items);
    return instance;
  }
  case Value::Cell:
    return PyCell_New(nullptr);
  case Value::Function: {
    PyObject *function = Builder::copyFunction(node.object.ptr());
    if (!function || !n)
      return function;
    PyObject *closure = tuple();
    if (!closure || PyFunction_SetClosure(function, closure) < 0)
      Py_CLEAR(function);
    Py_XDECREF(closure);
    return function;
  }
  case Value::BoundMethod:
    return PyMethod_New(item(0), item(1));
  case Value::Slice:
    return PySlice_New(item(0), item(1), item(2));
  }
  return nullptr;
}

/// As type(object).__dict__ would be bypassed by writing into the instance.
static bool setOwnAttribute(PyObject *object, PyObject *name, PyObject *value) {
  PyObject *descriptor = _PyType_Lookup(Py_TYPE(object), name);
  if (!descriptor || !Py_TYPE(descriptor)->tp_descr_set)
    return PyObject_GenericSetAttr(object, name, value) == 0;
  // A property of this name would take it.
  PyObject *dict = PyObject_GenericGetDict(object, nullptr);
  bool done = dict && PyDict_SetItem(dict, name, value) == 0;
  Py_XDECREF(dict);
  return done;
}

bool ExitProgram::fill(const Node &node, PyObject *object,
                       const Objects &made) const {
  const std::vector<int32_t> &items = node.items;
  switch (node.kind) {
  case Value::List:
    for (int32_t item : items)
      if (PyList_Append(object, made[item]) < 0)
        return false;
    break;
  case Value::Dict:
    for (size_t i = 0; i < items.size(); i += 2)
      if ((PyODict_Check(object)
               ? PyODict_SetItem(object, made[items[i]], made[items[i + 1]])
               : PyDict_SetItem(object, made[items[i]], made[items[i + 1]])) <
          0)
        return false;
    break;
  case Value::Set:
    if (PyFrozenSet_Check(object))
      break;
    for (int32_t item : items)
      if (PySet_Add(object, made[item]) < 0)
        return false;
    break;
  case Value::Deque: {
    static PyObject *append = permanent("collections", "deque");
    static PyObject *method = py::getattr(append, "append").release().ptr();
    for (int32_t item : items) {
      PyObject *arguments[] = {object, made[item]};
      PyObject *none = PyObject_Vectorcall(method, arguments, 2, nullptr);
      if (!none)
        return false;
      Py_DECREF(none);
    }
    break;
  }
  case Value::Cell:
    if (!items.empty() && PyCell_Set(object, made[items[0]]) < 0)
      return false;
    break;
  default:
    break;
  }
  for (const auto &[name, value] : node.attributes)
    if (!setOwnAttribute(object, name.ptr(), made[value]))
      return false;
  for (const auto &[descriptor, value] : node.slots)
    if (Py_TYPE(descriptor.ptr())
            ->tp_descr_set(descriptor.ptr(), object, made[value]) < 0)
      return false;
  return true;
}

/// Drops the result of a call; false if it raised.
static bool succeeded(PyObject *result) {
  Py_XDECREF(result);
  return result != nullptr;
}

bool ExitProgram::apply(const Change &change, const Objects &made) const {
  PyObject *target = change.target >= 0 ? made[change.target] : nullptr;
  auto operand = [&](size_t i) { return made[change.operands[i]]; };
  switch (change.kind) {
  case Effect::SetAttr:
    if (PyType_Check(target))
      return PyType_Type.tp_setattro(target, change.name.ptr(), operand(0)) ==
             0;
    return PyObject_GenericSetAttr(target, change.name.ptr(), operand(0)) == 0;
  case Effect::DelAttr:
    if (PyType_Check(target))
      return PyType_Type.tp_setattro(target, change.name.ptr(), nullptr) == 0;
    return PyObject_GenericSetAttr(target, change.name.ptr(), nullptr) == 0;
  case Effect::SetItem:
  case Effect::DelItem: {
    PyObject *value = change.kind == Effect::SetItem ? operand(1) : nullptr;
    if (PyDict_Check(target)) {
      if (PyODict_Check(target))
        return (value ? PyODict_SetItem(target, operand(0), value)
                      : PyODict_DelItem(target, operand(0))) == 0;
      return (value ? PyDict_SetItem(target, operand(0), value)
                    : PyDict_DelItem(target, operand(0))) == 0;
    }
    if (PyList_Check(target))
      return PyList_Type.tp_as_mapping->mp_ass_subscript(target, operand(0),
                                                         value) == 0;
    Py_ssize_t index = PyNumber_AsSsize_t(operand(0), PyExc_IndexError);
    if (index == -1 && PyErr_Occurred())
      return false;
    if (!PyObject_TypeCheck(target, dequeType())) {
      PyErr_SetString(PyExc_TypeError, "an effect on an unknown container");
      return false;
    }
    if (index < 0)
      index += Py_TYPE(target)->tp_as_sequence->sq_length(target);
    return dequeType()->tp_as_sequence->sq_ass_item(target, index, value) == 0;
  }
  case Effect::SetCell:
    return PyCell_Set(target, change.operands.empty() ? nullptr : operand(0)) ==
           0;
  case Effect::Call: {
    PyObject *method = _PyType_Lookup(Py_TYPE(target), change.name.ptr());
    if (!method) {
      PyErr_SetObject(PyExc_AttributeError, change.name.ptr());
      return false;
    }
    std::vector<PyObject *> arguments{target};
    for (size_t i = 0; i < change.operands.size(); ++i)
      arguments.push_back(operand(i));
    Py_INCREF(method);
    PyObject *result = PyObject_Vectorcall(method, arguments.data(),
                                           arguments.size(), nullptr);
    Py_DECREF(method);
    return succeeded(result);
  }
  case Effect::CopyTensor: {
    static PyObject *copy =
        permanent("dynamo_mlir.capture.torch_state", "copy_below_autograd");
    PyObject *arguments[] = {target, operand(0)};
    return succeeded(PyObject_Vectorcall(copy, arguments, 2, nullptr));
  }
  case Effect::GradMode: {
    static PyObject *set = permanent("torch._C", "_set_grad_enabled");
    return succeeded(PyObject_CallOneArg(set, operand(0)));
  }
  }
  return false;
}

bool ExitProgram::run(FrameView &frame, PyObject *const *objects,
                      PyObject *const *results, PyObject **out) const {
  *out = nullptr;
  if (doesReturn && effects.empty() && nodes.size() == 1) {
    static const Objects none;
    *out = make(nodes[0], none, objects, results);
    return *out && fill(nodes[0], *out, none);
  }
  Objects made;
  made.reserve(nodes.size());
  bool good = true;
  for (const Node &node : nodes) {
    PyObject *object = make(node, made, objects, results);
    if (!(good = object != nullptr))
      break;
    made.push_back(object);
  }
  for (size_t i = 0; good && i < nodes.size(); ++i)
    good = fill(nodes[i], made[i], made);
  for (size_t i = 0; good && i < effects.size(); ++i)
    good = apply(effects[i], made);
  if (good && doesReturn) {
    *out = newReference(made[result]);
  } else if (good) {
    // All slots are written before anything is dropped: a destructor may look
    // at the frame.
    Objects dropped;
    auto put = [&](PyObject *&slot, int32_t node) {
      dropped.push_back(slot);
      slot = node < 0 ? nullptr : newReference(made[node]);
    };
    for (size_t i = 0; i < locals.size(); ++i)
      put(frame.locals[i], locals[i]);
    for (size_t i = 0; i < stack.size(); ++i) {
      if (static_cast<int32_t>(i) >= frame.stackDepth)
        frame.stack[i] = nullptr;
      put(frame.stack[i], stack[i]);
    }
    for (int32_t i = static_cast<int32_t>(stack.size()); i < frame.stackDepth;
         ++i) {
      dropped.push_back(frame.stack[i]);
      frame.stack[i] = nullptr;
    }
    frame.stackDepth = static_cast<int32_t>(stack.size());
    frame.next = next;
    for (PyObject *object : dropped)
      Py_XDECREF(object);
  }
  for (PyObject *object : made)
    Py_DECREF(object);
  return good;
}
