//===- Segment.cpp - A compiled trace -------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/Segment.h"
#include "Capture/TorchState.h"
#include "Runner.h"

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;

std::unique_ptr<Segment> Segment::create(const Trace &trace, py::object program,
                                         std::string &error) {
  std::unique_ptr<Segment> segment(new Segment);
  segment->unit = trace.start;
  segment->state = trace.state;
  segment->instructions = trace.instructions;
  segment->frames = trace.frames;
  segment->guards = GuardProgram::create(trace, error);
  if (!segment->guards)
    return nullptr;
  segment->exit = ExitProgram::create(trace, error);
  if (!segment->exit)
    return nullptr;
  if (trace.ended)
    segment->end = std::make_unique<Break>(*trace.ended);
  for (const Source *input : trace.inputs)
    segment->inputs.push_back(static_cast<int32_t>(input->number));
  if (!program || program.is_none()) {
    if (segment->exit->numTensors()) {
      error = "tensor results without tensor work";
      return nullptr;
    }
    return segment;
  }
  segment->method = program.attr("run");
  py::object plain = py::getattr(program, "plain", py::bool_(false));
  py::object runner = py::getattr(program, "runner", py::none());
  if (plain.ptr() == Py_True && py::isinstance<python::Runner>(runner))
    segment->runner = py::cast<const python::Runner *>(runner);
  segment->program = std::move(program);
  return segment;
}

/// The tensor work failed: whatever was raised, the instructions themselves
/// raise it again. An interrupt has no instruction: it is kept for later.
void Segment::refused() {
  ++refusals;
  if (!PyErr_Occurred())
    return;
  bool interrupt = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject *text = value ? PyObject_Str(value) : nullptr;
  const char *chars = text ? PyUnicode_AsUTF8(text) : nullptr;
  refusal = std::string(reinterpret_cast<PyTypeObject *>(type)->tp_name) +
            ": " + (chars ? chars : "");
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  PyErr_Clear();
  if (interrupt) // behind everything that looks for signals
    PyErr_SetInterrupt();
}

PyObject *const *Segment::runTensors(PyObject *const *arguments,
                                     py::object &keep) {
  py::list list(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Py_INCREF(arguments[i]);
    PyList_SET_ITEM(list.ptr(), i, arguments[i]);
  }
  try {
    keep = runner ? runner->run(list) : method(list);
  } catch (py::error_already_set &raised) {
    raised.restore();
  } catch (python::CompilerFailure &failure) {
    refusal = failure.message;
  } catch (std::exception &failure) {
    refusal = failure.what();
  }
  if (!keep || keep.is_none() || PyErr_Occurred()) {
    refused();
    return nullptr;
  }
  if (!PyList_Check(keep.ptr()) && !PyTuple_Check(keep.ptr())) {
    refusal = "the tensor program returned no list";
    refused();
    return nullptr;
  }
  if (PySequence_Fast_GET_SIZE(keep.ptr()) < exit->numTensors()) {
    refusal = "the tensor program has too few results";
    refused();
    return nullptr;
  }
  return PySequence_Fast_ITEMS(keep.ptr());
}

SegmentResult Segment::run(FrameView &frame, PyObject **result) {
  *result = nullptr;
  failed = kState;
  if (!matchesTorchState(state))
    return SegmentResult::Miss;
  failed = guards->run(frame);
  if (failed != GuardProgram::kHit) {
    guards->release();
    return SegmentResult::Miss;
  }
  // What the exit needs must live through the tensor work, which may run
  // Python code and other threads.
  const std::vector<int32_t> &outside = exit->sources();
  constexpr size_t kInline = 24;
  PyObject *inlineStore[kInline];
  std::vector<PyObject *> store;
  PyObject **objects = inlineStore;
  if (outside.size() + inputs.size() > kInline) {
    store.resize(outside.size() + inputs.size());
    objects = store.data();
  }
  for (size_t i = 0; i < outside.size(); ++i) {
    objects[i] = guards->value(outside[i]);
    Py_INCREF(objects[i]);
  }
  PyObject **arguments = objects + outside.size();
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments[i] = guards->value(inputs[i]);
  SegmentResult outcome = SegmentResult::Done;
  {
    py::object keep;
    PyObject *const *tensors = nullptr;
    if (program && !(tensors = runTensors(arguments, keep)))
      outcome = SegmentResult::Refused;
    if (outcome == SegmentResult::Done) {
      ++hits;
      exit->run(frame, objects, tensors, result);
    }
  }
  guards->release();
  for (size_t i = 0; i < outside.size(); ++i)
    Py_DECREF(objects[i]);
  return outcome;
}

std::string Segment::missText() const {
  if (failed == kState)
    return "torch's state (grad mode, inference mode, autocast, default dtype, "
           "modes) is as it was";
  std::string text = guards->describe(failed);
  if (!guards->dead())
    text += ", found " + guards->found(failed);
  std::string where = guards->where(failed);
  return where.empty() ? text : text + " (" + where + ")";
}

int Segment::traverse(visitproc visit, void *arg) const {
  if (int stop = guards->traverse(visit, arg))
    return stop;
  if (int stop = exit->traverse(visit, arg))
    return stop;
  Py_VISIT(program.ptr());
  Py_VISIT(method.ptr());
  return 0;
}
