//===- ObserverBindings.cpp - Recording, for Python -----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the record of operators calls back, and a way to look at one recording
// for tests and explain.
//
//===----------------------------------------------------------------------===//

#include "Capture/Bindings.h"
#include "Capture/Observer.h"

namespace py = pybind11;
using namespace dynamo::capture;

namespace {
/// One recording, for Python.
struct Recording {
  py::object result = py::none(), error = py::none(), code = py::none();
  std::unique_ptr<Trace> trace;
  std::unique_ptr<Break> why;
  int32_t blockedAt = -1;

  const Break *end() const { return trace ? trace->ended.get() : why.get(); }
};
} // namespace

static std::unique_ptr<Recording>
record(py::object callable, const py::tuple &args, const py::dict &kwargs,
       py::object recordClass, const std::map<int32_t, std::string> &stops) {
  RecordOptions options;
  if (!recordClass.is_none())
    options.recordClass = recordClass;
  for (auto &[unit, reason] : stops) {
    Break why;
    why.reason = reason;
    options.stops.emplace_back(unit, why);
  }
  std::vector<PyObject *> all{nullptr};
  for (py::handle item : args)
    all.push_back(item.ptr());
  py::tuple names(kwargs.size());
  size_t at = 0;
  for (auto item : kwargs) {
    names[at++] = item.first;
    all.push_back(item.second.ptr());
  }
  Outcome outcome = recordCall(callable.ptr(), all.data() + 1,
                               args.size() | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               names.empty() ? nullptr : names.ptr(), options);
  auto recording = std::make_unique<Recording>();
  if (outcome.result) {
    recording->result = py::reinterpret_steal<py::object>(outcome.result);
  } else {
    py::error_already_set error;
    recording->error = error.value();
  }
  recording->trace = std::move(outcome.trace);
  recording->why = std::move(outcome.why);
  recording->blockedAt = outcome.blockedAt;
  recording->code = outcome.code;
  return recording;
}

void dynamo::capture::bindObserver(py::module_ &m) {
  py::class_<Observer>(m, "Observer")
      .def(
          "input_of",
          [](Observer &self, py::handle tensor) {
            return self.inputOf(tensor.ptr());
          },
          "Number of the input that this tensor is; -1 if it does not come "
          "from outside the trace.")
      .def("input_of_grad",
           [](Observer &self, int64_t number) {
             return self.objects.inputOfGrad(number);
           })
      .def("location", &Observer::location)
      .def("refuse", &Observer::refuse,
           "The running operator can't be recorded, and why.");

  py::class_<Recording>(m, "Recording")
      .def_readonly("result", &Recording::result)
      .def_readonly("error", &Recording::error)
      .def_readonly("code", &Recording::code)
      .def_readonly("blocked_at", &Recording::blockedAt)
      .def_property_readonly("recorded",
                             [](const Recording &self) { return !!self.trace; })
      .def_property_readonly("complete",
                             [](const Recording &self) {
                               return self.trace && self.trace->exit.returns;
                             })
      .def_property_readonly("text",
                             [](const Recording &self) {
                               return self.trace ? traceText(*self.trace)
                                                 : std::string();
                             })
      .def_property_readonly("reason",
                             [](const Recording &self) {
                               return self.end() ? self.end()->reason
                                                 : std::string();
                             })
      .def_property_readonly("where",
                             [](const Recording &self) {
                               const Break *end = self.end();
                               return end ? py::make_tuple(end->file, end->line,
                                                           end->depth)
                                          : py::tuple();
                             })
      .def_property_readonly("record",
                             [](const Recording &self) -> py::object {
                               if (!self.trace || !self.trace->record)
                                 return py::none();
                               return self.trace->record;
                             })
      .def_property_readonly("start",
                             [](const Recording &self) {
                               return self.trace ? self.trace->start : -1;
                             })
      .def_property_readonly("counts", [](const Recording &self) {
        py::dict counts;
        if (self.trace) {
          counts["instructions"] = self.trace->instructions;
          counts["frames"] = self.trace->frames;
          counts["guards"] = self.trace->guards.size();
          counts["sources"] = self.trace->sources.size();
          counts["inputs"] = self.trace->inputs.size();
          counts["effects"] = self.trace->effects.size();
        }
        return counts;
      });

  m.def("record", &record, py::arg("callable"), py::arg("args") = py::tuple(),
        py::arg("kwargs") = py::dict(), py::arg("record_class") = py::none(),
        py::arg("stops") = std::map<int32_t, std::string>(),
        "Calls the function and records it; for tests and explain.");
}
