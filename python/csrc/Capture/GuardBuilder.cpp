//===- GuardBuilder.cpp - Makes a guard program from a trace --------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/CPythonCompatInline.h"
#include "Capture/Guards.h"
#include "Capture/TorchState.h"

#include <map>
#include <set>

namespace py = pybind11;
using namespace dynamo::capture;

static const char kCapsule[] = "dynamo.capture.guards";

static PyObject *objectDied(PyObject *capsule, PyObject *) {
  if (void *flag = PyCapsule_GetPointer(capsule, kCapsule))
    *static_cast<bool *>(flag) = true;
  else
    PyErr_Clear();
  Py_RETURN_NONE;
}

static PyMethodDef objectDiedMethod = {"object_died", objectDied, METH_O,
                                       nullptr};

PyObject *GuardProgram::keep(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  bool permanent = PyType_Check(object) &&
                   !(reinterpret_cast<PyTypeObject *>(object)->tp_flags &
                     Py_TPFLAGS_HEAPTYPE);
  if (!permanent && PyType_SUPPORTS_WEAKREFS(type)) {
    if (!onDeath) {
      // Lives no longer than the weak references, which are ours alone.
      py::object capsule = py::reinterpret_steal<py::object>(
          PyCapsule_New(&isDead, kCapsule, nullptr));
      if (capsule)
        onDeath = py::reinterpret_steal<py::object>(
            PyCFunction_New(&objectDiedMethod, capsule.ptr()));
      if (!onDeath)
        throw py::error_already_set();
    }
    py::object ref = py::reinterpret_steal<py::object>(
        PyWeakref_NewRef(object, onDeath.ptr()));
    if (ref) {
      weak.push_back(std::move(ref));
      return object;
    }
    PyErr_Clear();
  }
  strong.push_back(py::reinterpret_borrow<py::object>(object));
  return object;
}

struct GuardProgram::Builder {
  const Trace &trace;
  GuardProgram &program;
  std::string &error;
  std::vector<std::vector<const Source *>> children;
  std::vector<std::vector<int32_t>> guardsOf; // by source
  std::vector<bool> needed;
  std::map<PyObject *, uint32_t> versions;
  std::set<PyObject *> kept, values;
  /// Steps of groups, and whether these are being made.
  std::vector<Step> cold;
  bool inCold = false;
  std::vector<Step> &target() { return inCold ? cold : program.steps; }

  PyObject *keep(PyObject *object) {
    return kept.insert(object).second ? program.keep(object) : object;
  }
  /// For values: an equal one may come when this object is gone.
  PyObject *keepValue(PyObject *object) {
    if (values.insert(object).second)
      program.strong.push_back(py::reinterpret_borrow<py::object>(object));
    return object;
  }

  const Guard *find(const Source &source, Check check, int32_t *at = nullptr) {
    for (int32_t g : guardsOf[source.number])
      if (trace.guards[g].check == check) {
        if (at)
          *at = g;
        return &trace.guards[g];
      }
    return nullptr;
  }
  /// The number that a failure to reach a source reports.
  int32_t reachGuard(const Source &source) {
    if (!guardsOf[source.number].empty())
      return guardsOf[source.number][0];
    return program.numGuards() + static_cast<int32_t>(source.number);
  }
  Step &add(Op op, const Source &from, int32_t guard) {
    Step step;
    step.op = op;
    step.access = from.access;
    step.from = static_cast<int32_t>(from.number);
    step.guard = guard;
    target().push_back(step);
    return target().back();
  }
  bool fail(const char *what) {
    error = what;
    return false;
  }

  /// Checks that nothing but a change of the dict can break, where the guarded
  /// object was read from one.
  bool coveredByDict(const Guard &guard) {
    switch (guard.check) {
    case Check::Identity:
    case Check::Equal:
    case Check::Absent:
    case Check::Present:
      return true;
    case Check::Type: // only instances of mutable types change their class
      return reinterpret_cast<PyTypeObject *>(guard.object.ptr())->tp_flags &
             Py_TPFLAGS_IMMUTABLETYPE;
    default:
      return false;
    }
  }

  bool typeVersion(PyObject *object, int32_t guard) {
    auto *type = reinterpret_cast<PyTypeObject *>(object);
    if (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE)
      return true;
    auto [at, isNew] = versions.try_emplace(object, 0);
    if (!isNew)
      return true;
    at->second = compat::typeVersion(type);
    if (!at->second)
      return fail("Python has no version left for a type");
    Step step;
    step.op = Op::TypeVersion;
    step.access = Access::Type;
    step.guard = guard;
    step.object = keep(object);
    step.word = at->second;
    program.steps.push_back(step);
    return true;
  }

  bool check(int32_t number) {
    const Guard &guard = trace.guards[number];
    const Source &on = *guard.source;
    bool names = guard.check == Check::Identity ||
                 guard.check == Check::Equal || guard.check == Check::Keys;
    if (names && !guard.object)
      return fail("a guard without its object");
    switch (guard.check) {
    case Check::Type:
      add(Op::Type, on, number).object = keep(guard.object.ptr());
      return true;
    case Check::Identity:
      add(Op::Is, on, number).object = keep(guard.object.ptr());
      return true;
    case Check::Equal:
      add(Op::Equal, on, number).object = keepValue(guard.object.ptr());
      return true;
    case Check::Length:
      add(Op::Length, on, number).word = guard.index;
      return true;
    case Check::Keys:
      if (!PyTuple_Check(guard.object.ptr()))
        return fail("keys that are no tuple");
      add(Op::Keys, on, number).object = keepValue(guard.object.ptr());
      return true;
    case Check::Tensor:
      add(Op::Tensor, on, number).word = program.tensors.size();
      program.tensors.push_back(guard.tensor);
      program.tensorAt.push_back(
          static_cast<int32_t>(program.tensorWords.size()));
      packTensor(*guard.tensor, program.tensorWords);
      return true;
    case Check::Function: {
      py::object state = guard.object;
      if (state && PyFunction_Check(state.ptr())) {
        PyObject *f = state.ptr();
        state =
            py::make_tuple(py::handle(PyFunction_GET_CODE(f)),
                           py::handle(orNone(PyFunction_GET_DEFAULTS(f))),
                           py::handle(orNone(PyFunction_GET_KW_DEFAULTS(f))));
      }
      if (!state || !PyTuple_Check(state.ptr()) ||
          PyTuple_GET_SIZE(state.ptr()) != 3)
        return fail("a function guard without the function's state");
      // Keyword defaults are a dict, whose content counts.
      py::tuple given(state);
      py::object content = given[2];
      if (PyDict_Check(content.ptr())) {
        content = py::reinterpret_steal<py::object>(PyDict_Copy(content.ptr()));
        if (!content)
          throw py::error_already_set();
      }
      state = py::make_tuple(given[0], given[1], given[2], content);
      add(Op::Function, on, number).object = keepValue(state.ptr());
      return true;
    }
    case Check::Class:
      return true; // at the start
    case Check::Absent:
    case Check::Present:
      return true; // at the load
    case Check::Same:
    case Check::Distinct:
    case Check::NoOverlap:
      return true; // at the end
    }
    return true;
  }

  /// One group of members of `source`, with the checks that it covers.
  bool group(const Source &source, Access access, Op enter,
             const std::vector<int32_t> &own) {
    std::vector<const Source *> members;
    for (const Source *child : children[source.number])
      if (child->access == access && needed[child->number])
        members.push_back(child);
    if (members.empty() && own.empty())
      return true;
    size_t start = program.steps.size();
    int32_t typeGuard = own.empty() ? reachGuard(*members[0]) : own[0];
    const Guard *type = find(source, Check::Type, &typeGuard);
    Step &step = add(enter, source, typeGuard);
    PyTypeObject *known = nullptr;
    if (enter == Op::EnterAttrs && type) {
      known = reinterpret_cast<PyTypeObject *>(type->object.ptr());
      step.object = keep(type->object.ptr());
    }
    program.steps[start].to = static_cast<int32_t>(cold.size());
    inCold = true;
    for (int32_t number : own)
      if (!check(number))
        return false;
    for (const Source *child : members) {
      PyObject *key = child->key.ptr();
      if (!key || (access == Access::InstanceAttr && !PyUnicode_Check(key)))
        return fail("an attribute whose name is no str");
      bool absent = find(*child, Check::Absent);
      Step &load = add(absent ? Op::MemberAbsent : Op::Member, source,
                       reachGuard(*child));
      load.to = static_cast<int32_t>(child->number);
      load.object = keepValue(key);
      load.word = static_cast<uint64_t>(
          static_cast<int64_t>(known ? compat::inlineIndex(known, key) : -1));
      for (int32_t g : guardsOf[child->number])
        if (coveredByDict(trace.guards[g]) && !check(g))
          return false;
    }
    add(Op::Adopt, source, 0);
    inCold = false;
    return true;
  }

  bool emit(const Source &source, bool inGroup) {
    if (find(source, Check::Absent))
      return true;
    bool hasAttrs = false, hasItems = false;
    for (const Source *child : children[source.number]) {
      hasAttrs |=
          child->access == Access::InstanceAttr && needed[child->number];
      hasItems |= child->access == Access::DictItem && needed[child->number];
    }
    const Guard *type = find(source, Check::Type);
    bool plainDict = type && type->object.ptr() ==
                                 reinterpret_cast<PyObject *>(&PyDict_Type);
    std::vector<int32_t> byDict;
    for (int32_t number : guardsOf[source.number]) {
      const Guard &guard = trace.guards[number];
      if (inGroup && coveredByDict(guard))
        continue;
      if (guard.check == Check::Type && hasAttrs)
        continue; // the group compares it
      if (plainDict && (guard.check == Check::Keys ||
                        (guard.check == Check::Length && hasItems))) {
        byDict.push_back(number);
        continue;
      }
      if (!check(number))
        return false;
    }
    if (!group(source, Access::InstanceAttr, Op::EnterAttrs, {}) ||
        !group(source, Access::DictItem, Op::EnterDict, byDict))
      return false;
    for (const Source *child : children[source.number]) {
      if (!needed[child->number])
        continue;
      bool grouped = child->access == Access::InstanceAttr ||
                     child->access == Access::DictItem;
      if (!grouped)
        load(*child);
      if (!emit(*child, grouped))
        return false;
    }
    return true;
  }

  void load(const Source &source) {
    bool absent = find(source, Check::Absent);
    int32_t number = static_cast<int32_t>(source.number);
    if (source.access == Access::Constant) {
      program.registers[number] = keep(source.key.ptr());
      return;
    }
    Step &step =
        add(absent ? Op::LoadAbsent : Op::Load, source, reachGuard(source));
    step.to = number;
    step.from = source.parent ? static_cast<int32_t>(source.parent->number) : 0;
    step.object = source.key ? keepValue(source.key.ptr()) : nullptr;
    step.word = source.index;
  }

  void need(const Source *source) {
    for (; source && !needed[source->number]; source = source->parent)
      needed[source->number] = true;
  }
  void need(const Value *value, std::set<const Value *> &seen) {
    if (!value || !seen.insert(value).second)
      return;
    if (value->kind == Value::Source)
      need(value->source);
    for (const Value *item : value->items)
      need(item, seen);
    for (auto &attribute : value->attributes)
      need(attribute.second, seen);
    for (auto &slot : value->slots)
      need(slot.second, seen);
  }

  bool run() {
    size_t n = trace.sources.size();
    children.resize(n);
    guardsOf.resize(n);
    needed.resize(n);
    program.registers.resize(n ? n : 1);
    for (size_t i = 0; i < n; ++i) {
      const Source &source = trace.sources[i];
      if (source.number != static_cast<int64_t>(i) ||
          (source.parent && source.parent->number >= source.number))
        return fail("sources out of order");
      if (source.access == Access::Constant && !source.key)
        return fail("a constant source without its object");
      if ((source.access > Access::Constant) != (source.parent != nullptr))
        return fail("a source without its parent");
      if (source.parent)
        children[source.parent->number].push_back(&source);
      program.sources.push_back(
          {source.access,
           source.parent ? static_cast<int32_t>(source.parent->number) : -1,
           source.index,
           !source.key                         ? nullptr
           : source.access == Access::Constant ? keep(source.key.ptr())
                                               : keepValue(source.key.ptr())});
    }
    for (size_t g = 0; g < trace.guards.size(); ++g) {
      const Guard &guard = trace.guards[g];
      guardsOf[guard.source->number].push_back(static_cast<int32_t>(g));
      need(guard.source);
      need(guard.other);
      PyObject *object = guard.object.ptr();
      if (object &&
          (guard.check == Check::Type || guard.check == Check::Identity ||
           guard.check == Check::Class))
        keep(object);
      else if (object && guard.check != Check::Function)
        keepValue(object);
      program.guards.push_back(
          {guard.check, static_cast<int32_t>(guard.source->number),
           guard.other ? static_cast<int32_t>(guard.other->number) : -1,
           guard.index, object, guard.tensor, guard.file, guard.line});
    }
    for (const Source *input : trace.inputs)
      need(input);
    std::set<const Value *> seen;
    need(trace.exit.result, seen);
    for (const Value *value : trace.exit.locals)
      need(value, seen);
    for (const Value *value : trace.exit.stack)
      need(value, seen);
    for (const Effect &effect : trace.effects) {
      need(effect.target, seen);
      for (const Value *operand : effect.operands)
        need(operand, seen);
    }
    if (trace.code) {
      auto *code = reinterpret_cast<PyCodeObject *>(trace.code.ptr());
      py::list names;
      for (int i = 0; i < compat::numLocals(code); ++i)
        names.append(py::handle(compat::localName(code, i)));
      program.localNames = py::tuple(names);
    }

    // Versions of types first: once per type, however many objects it has.
    for (size_t g = 0; g < trace.guards.size(); ++g) {
      const Guard &guard = trace.guards[g];
      PyObject *type = nullptr;
      if (guard.check == Check::Type || guard.check == Check::Class) {
        type = guard.object ? guard.object.ptr() : guard.source->key.ptr();
        if (!type || !PyType_Check(type))
          return fail("a type guard without a type");
      } else if (guard.check == Check::Tensor) {
        if (!guard.tensor)
          return fail("a tensor guard without a description");
        type = guard.tensor->type.ptr();
      }
      if (type && !typeVersion(type, static_cast<int32_t>(g)))
        return false;
    }
    for (const Source &source : trace.sources)
      if (!source.parent && needed[source.number]) {
        load(source);
        if (!emit(source, false))
          return false;
      }
    for (size_t g = 0; g < trace.guards.size(); ++g) {
      const Guard &guard = trace.guards[g];
      Op op = guard.check == Check::Same        ? Op::Same
              : guard.check == Check::Distinct  ? Op::Distinct
              : guard.check == Check::NoOverlap ? Op::NoOverlap
                                                : Op::Load;
      if (op == Op::Load)
        continue;
      if (!guard.other)
        return fail("a guard on two sources that has one");
      add(op, *guard.source, static_cast<int32_t>(g)).to =
          static_cast<int32_t>(guard.other->number);
    }
    Step end;
    end.op = Op::End;
    end.access = Access::Constant;
    program.steps.push_back(end);
    int32_t hot = static_cast<int32_t>(program.steps.size());
    for (Step &step : program.steps)
      if (step.op == Op::EnterAttrs || step.op == Op::EnterDict)
        step.to += hot;
    program.steps.insert(program.steps.end(), cold.begin(), cold.end());
    return true;
  }
};

std::unique_ptr<GuardProgram> GuardProgram::create(const Trace &trace,
                                                   std::string &error) {
  std::unique_ptr<GuardProgram> program(new GuardProgram);
  // The number that a dead program reports is behind all others.
  program->guards.reserve(trace.guards.size());
  Builder builder{trace, *program, error, {}, {}, {}, {}, {}, {}, {}, false};
  if (!builder.run())
    return nullptr;
  return program;
}
