//===- SegmentBindings.cpp - Traces and segments, seen from Python --------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Traces made by hand, so that guards and exits are tested apart from the
// observer, and what reports show of a segment.
//
//===----------------------------------------------------------------------===//

#include "Capture/Bindings.h"
#include "Capture/SegmentTable.h"
#include "Capture/TorchState.h"

#include "Pybind.h"
#include <cstring>

namespace py = pybind11;
using namespace dynamo::capture;

static const char *const accessNames[] = {
    "Local",        "Stack",        "Function",   "Constant",   "Type",
    "InstanceAttr", "InstanceDict", "DictItem",   "Item",       "DequeItem",
    "Slot",         "CellContents", "Closure",    "Code",       "Globals",
    "Defaults",     "KwDefaults",   "MethodSelf", "MethodFunc", "Getter"};
static const char *const checkNames[] = {
    "Type", "Identity", "Equal",    "Absent", "Present",  "Class",    "Length",
    "Keys", "Tensor",   "Function", "Same",   "Distinct", "NoOverlap"};
static const char *const valueNames[] = {
    "Constant", "Source", "Tensor", "List",     "Tuple",       "Set",  "Dict",
    "Deque",    "Object", "Cell",   "Function", "BoundMethod", "Slice"};
static const char *const effectNames[] = {"SetAttr",    "DelAttr", "SetItem",
                                          "DelItem",    "SetCell", "Call",
                                          "CopyTensor", "GradMode"};

template <typename Enum, size_t n>
static Enum named(const char *const (&names)[n], const std::string &name) {
  for (size_t i = 0; i < n; ++i)
    if (name == names[i])
      return static_cast<Enum>(i);
  throw py::value_error("unknown name " + name);
}

namespace {
/// A trace in the making. Numbers stand for sources and values.
struct TraceMaker {
  std::shared_ptr<Trace> trace = std::make_shared<Trace>();

  TraceMaker(py::object code, int32_t start) {
    trace->code = std::move(code);
    trace->start = start;
    trace->state = readTorchState();
  }
  Source *source(int64_t at) {
    return at < 0 ? nullptr : &trace->sources.at(at);
  }
  Value *value(int64_t at) { return at < 0 ? nullptr : &trace->values.at(at); }
  std::vector<Value *> valuesAt(const std::vector<int64_t> &numbers) {
    std::vector<Value *> list;
    for (int64_t number : numbers)
      list.push_back(value(number));
    return list;
  }
  using Pairs = std::vector<std::pair<py::object, int64_t>>;
};
} // namespace

static Ref orNull(py::object object) {
  return object.is_none() ? Ref() : Ref(std::move(object));
}

static py::object runSegment(Segment &segment, py::list locals, py::list stack,
                             py::object function) {
  // As a frame would: slots own what they hold, null is unbound.
  std::vector<PyObject *> slots, values(64, nullptr);
  py::object unbound = py::ellipsis();
  for (py::handle item : locals)
    slots.push_back(item.is(unbound) ? nullptr : item.inc_ref().ptr());
  slots.resize(std::max<size_t>(slots.size(), 64), nullptr);
  for (size_t i = 0; i < stack.size(); ++i)
    values[i] = py::handle(stack[i]).inc_ref().ptr();
  FrameView frame;
  frame.locals = slots.data();
  frame.numLocals = static_cast<int32_t>(locals.size());
  frame.stack = values.data();
  frame.stackDepth = static_cast<int32_t>(stack.size());
  frame.function = function.ptr();
  PyObject *result = nullptr;
  SegmentResult outcome = segment.run(frame, &result);
  py::object given = py::reinterpret_steal<py::object>(result);
  py::object answer;
  if (outcome == SegmentResult::Miss)
    answer = py::make_tuple("miss", segment.missText());
  else if (outcome == SegmentResult::Refused)
    answer = py::make_tuple("refused", segment.refusal);
  else if (given)
    answer = py::make_tuple("done", given);
  py::object raised;
  if (!answer && !PyErr_Occurred()) {
    py::list after, left;
    for (int32_t i = 0; i < frame.numLocals; ++i)
      after.append(slots[i] ? py::reinterpret_borrow<py::object>(slots[i])
                            : unbound);
    for (int32_t i = 0; i < frame.stackDepth; ++i)
      left.append(py::reinterpret_borrow<py::object>(values[i]));
    answer = py::make_tuple("done", frame.next, after, left);
  }
  for (PyObject *slot : slots)
    Py_XDECREF(slot);
  for (int32_t i = 0; i < frame.stackDepth; ++i)
    Py_XDECREF(values[i]);
  if (!answer)
    throw py::error_already_set();
  return answer;
}

static py::dict describeSegment(const Segment &segment) {
  py::list guards;
  const GuardProgram &program = segment.guardProgram();
  for (int32_t i = 0; i < program.numGuards(); ++i)
    guards.append(py::make_tuple(program.describe(i), program.where(i)));
  py::dict all;
  all["start"] = segment.start();
  all["guards"] = guards;
  all["steps"] = program.numSteps();
  all["hits"] = segment.hits;
  all["refusals"] = segment.refusals;
  all["refusal"] = segment.refusal;
  all["instructions"] = segment.instructions;
  all["frames"] = segment.frames;
  all["program"] =
      segment.tensorProgram() ? segment.tensorProgram() : py::none();
  all["returns"] = segment.returns();
  return all;
}

void dynamo::capture::bindSegments(py::module_ &m) {
  py::class_<TensorSpec, std::shared_ptr<TensorSpec>>(m, "TensorSpec")
      .def_readonly("type", &TensorSpec::type)
      .def_readonly("dtype", &TensorSpec::dtype)
      .def_readonly("device_type", &TensorSpec::deviceType)
      .def_readonly("device_index", &TensorSpec::deviceIndex)
      .def_readonly("sizes", &TensorSpec::sizes)
      .def_readonly("strides", &TensorSpec::strides)
      .def_readonly("offset", &TensorSpec::offset)
      .def_readonly("keys", &TensorSpec::keys)
      .def_readonly("requires_grad", &TensorSpec::requiresGrad)
      .def_readonly("is_leaf", &TensorSpec::isLeaf)
      .def("__str__", &tensorText);
  m.def("describe_tensor",
        [](py::object tensor) { return describeTensor(tensor.ptr()); });
  m.def("is_recordable", &isRecordable);

  py::class_<Segment, std::shared_ptr<Segment>>(m, "Segment")
      .def("run", &runSegment, py::arg("locals") = py::list(),
           py::arg("stack") = py::list(), py::arg("function") = py::none())
      .def("describe", &describeSegment)
      .def("check_many",
           [](const Segment &self, py::list locals, int64_t times) {
             // For measuring: the guards alone.
             std::vector<PyObject *> slots;
             for (py::handle item : locals)
               slots.push_back(item.ptr());
             FrameView frame;
             frame.locals = slots.data();
             frame.numLocals = static_cast<int32_t>(slots.size());
             auto &guards = const_cast<GuardProgram &>(self.guardProgram());
             int64_t held = 0;
             for (int64_t i = 0; i < times; ++i)
               held += guards.run(frame) == GuardProgram::kHit;
             return held;
           })
      .def_property_readonly("dead", &Segment::dead);

  py::class_<TraceMaker>(m, "TraceMaker")
      .def(py::init<py::object, int32_t>(), py::arg("code"),
           py::arg("start") = 0)
      .def(
          "source",
          [](TraceMaker &self, const std::string &access, int64_t parent,
             int64_t index, py::object key) {
            self.trace->sources.emplace_back();
            Source &made = self.trace->sources.back();
            made.access = named<Access>(accessNames, access);
            made.parent = self.source(parent);
            made.index = index;
            made.key = key.is(py::ellipsis()) ? Ref() : Ref(key);
            made.number = static_cast<int64_t>(self.trace->sources.size()) - 1;
            return made.number;
          },
          py::arg("access"), py::arg("parent") = -1, py::arg("index") = 0,
          py::arg("key") = py::ellipsis())
      .def(
          "guard",
          [](TraceMaker &self, const std::string &check, int64_t source,
             py::object object, int64_t index, py::object tensor, int64_t other,
             py::object file, int32_t line) {
            Guard guard;
            guard.check = named<Check>(checkNames, check);
            guard.source = self.source(source);
            guard.object = object.is(py::ellipsis()) ? Ref() : Ref(object);
            guard.index = index;
            if (!tensor.is_none())
              guard.tensor = describeTensor(tensor.ptr());
            guard.other = self.source(other);
            guard.file = orNull(file);
            guard.line = line;
            self.trace->guards.push_back(std::move(guard));
          },
          py::arg("check"), py::arg("source"),
          py::arg("object") = py::ellipsis(), py::arg("index") = 0,
          py::arg("tensor") = py::none(), py::arg("other") = -1,
          py::arg("file") = py::none(), py::arg("line") = 0)
      .def("input",
           [](TraceMaker &self, int64_t source) {
             self.trace->inputs.push_back(self.source(source));
           })
      .def(
          "value",
          [](TraceMaker &self, const std::string &kind, py::object object,
             py::object type, int64_t source, int64_t index,
             const std::vector<int64_t> &items) {
            self.trace->values.emplace_back();
            Value &made = self.trace->values.back();
            made.kind = named<Value::Kind>(valueNames, kind);
            made.object = object.is(py::ellipsis()) ? Ref() : Ref(object);
            made.type = orNull(type);
            made.source = self.source(source);
            made.index = index;
            made.items = self.valuesAt(items);
            return static_cast<int64_t>(self.trace->values.size()) - 1;
          },
          py::arg("kind"), py::arg("object") = py::ellipsis(),
          py::arg("type") = py::none(), py::arg("source") = -1,
          py::arg("index") = 0, py::arg("items") = std::vector<int64_t>())
      .def(
          "contents",
          [](TraceMaker &self, int64_t value, const std::vector<int64_t> &items,
             const TraceMaker::Pairs &attributes,
             const TraceMaker::Pairs &slots) {
            Value &filled = *self.value(value);
            filled.items = self.valuesAt(items);
            for (auto &[name, at] : attributes)
              filled.attributes.emplace_back(name, self.value(at));
            for (auto &[descriptor, at] : slots)
              filled.slots.emplace_back(descriptor, self.value(at));
          },
          py::arg("value"), py::arg("items") = std::vector<int64_t>(),
          py::arg("attributes") = TraceMaker::Pairs(),
          py::arg("slots") = TraceMaker::Pairs())
      .def(
          "effect",
          [](TraceMaker &self, const std::string &kind, int64_t target,
             py::object name, const std::vector<int64_t> &operands) {
            Effect effect;
            effect.kind = named<Effect::Kind>(effectNames, kind);
            effect.target = self.value(target);
            effect.name = orNull(name);
            effect.operands = self.valuesAt(operands);
            self.trace->effects.push_back(std::move(effect));
          },
          py::arg("kind"), py::arg("target") = -1, py::arg("name") = py::none(),
          py::arg("operands") = std::vector<int64_t>())
      .def("returns",
           [](TraceMaker &self, int64_t value) {
             self.trace->exit.returns = true;
             self.trace->exit.result = self.value(value);
           })
      .def("goes_on",
           [](TraceMaker &self, int32_t next,
              const std::vector<int64_t> &locals,
              const std::vector<int64_t> &stack) {
             Exit &exit = self.trace->exit;
             exit.returns = false;
             exit.next = next;
             exit.locals = self.valuesAt(locals);
             exit.stack = self.valuesAt(stack);
           })
      .def(
          "segment",
          [](TraceMaker &self, py::object program) -> std::shared_ptr<Segment> {
            std::string error;
            std::shared_ptr<Segment> made =
                Segment::create(*self.trace, std::move(program), error);
            if (!made)
              throw py::value_error(error);
            self.trace->values.clear();
            return made;
          },
          py::arg("program") = py::none());
}
