//===- DriverTesting.cpp - Frames stopped by tests ------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tests use in place of segments: handlers that ask a Python function, and
// the torture of `python -m dynamo_mlir.testing.cpython`, which stops every
// frame of the process at every instruction, or at some.
//
//===----------------------------------------------------------------------===//

#include "Capture/Bindings.h"
#include "Capture/CPythonCompatInline.h"
#include "Capture/FrameDriver.h"
#include "Capture/Observer.h"

#include <random>

namespace py = pybind11;
using namespace dynamo::capture;

namespace {

/// Stands for an empty slot.
py::object &null() {
  static auto *object =
      new py::object(py::module_::import("builtins").attr("object")());
  return *object;
}

py::tuple toTuple(PyObject *const *slots, int count) {
  py::tuple tuple(count);
  for (int i = 0; i < count; ++i)
    tuple[i] = slots[i] ? py::reinterpret_borrow<py::object>(slots[i]) : null();
  return tuple;
}

/// New references.
std::vector<PyObject *> fromTuple(const py::tuple &tuple) {
  std::vector<PyObject *> slots;
  for (py::handle item : tuple)
    slots.push_back(item.is(null()) ? nullptr : Py_NewRef(item.ptr()));
  return slots;
}

/// Calls watcher(event, code, unit) for every event of the thread; true ends
/// the observation.
int watch(PyObject *watcher, PyFrameObject *frame, int event, PyObject *) {
  PyThreadState *thread = PyThreadState_Get();
  if (event == PyTrace_CALL)
    compat::setEvents(frame, false, true);
  Frame *raw = compat::frameOf(frame);
  PyObject *over = PyObject_CallFunction(
      watcher, "iOi", event, FrameDriver::originalOf(compat::code(raw)),
      compat::lastUnit(raw));
  if (!over)
    return -1;
  int end = PyObject_IsTrue(over);
  Py_DECREF(over);
  if (end <= 0)
    return end;
  Py_INCREF(watcher);
  compat::setTrace(thread, nullptr, nullptr);
  Py_DECREF(watcher);
  FrameDriver::get().comeBack(thread);
  return 0;
}

/// Asks callback(code, unit, locals, stack); its answer is None, a name of a
/// step, or a tuple of it and its operands.
class PythonHandler : public StopHandler {
public:
  explicit PythonHandler(py::object callback) : callback(std::move(callback)) {}

  Step onStop(StoppedFrame &frame, int unit) override {
    try {
      return decide(frame, unit);
    } catch (py::error_already_set &error) {
      error.restore();
    } catch (std::exception &error) {
      PyErr_SetString(PyExc_TypeError, error.what());
    }
    return Step::raise(unit);
  }
  bool startObserving(StoppedFrame &frame) override {
    compat::setTrace(frame.thread(), watch, watcher.ptr());
    return true;
  }
  void onObserved(StoppedFrame &, bool, PyObject *) override { ++observed; }

  int observed = 0;

private:
  Step decide(StoppedFrame &frame, int unit) {
    auto code = py::reinterpret_borrow<py::object>(
        reinterpret_cast<PyObject *>(frame.code()));
    py::object answer =
        callback(code, unit, toTuple(frame.locals(), frame.numLocals()),
                 toTuple(frame.stack(), frame.stackDepth()));
    if (answer.is_none())
      return Step::original();
    auto tuple = py::cast<py::tuple>(answer);
    auto name = py::cast<std::string>(tuple[0]);
    if (name == "leave")
      return Step::leave();
    if (name == "single")
      return Step::single();
    if (name == "return")
      return Step::returns(py::object(tuple[1]).release().ptr());
    if (name == "raise") {
      py::object raised = tuple[2];
      int where = py::cast<int>(tuple[1]); // Casts clear exceptions.
      PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(raised.ptr())),
                      raised.ptr());
      return Step::raise(where);
    }
    if (name == "observe") {
      watcher = tuple[1];
      return Step::observe();
    }
    if (name != "resume")
      throw py::value_error("no such step: " + name);
    std::vector<PyObject *> locals = fromTuple(py::cast<py::tuple>(tuple[2]));
    std::vector<PyObject *> stack = fromTuple(py::cast<py::tuple>(tuple[3]));
    frame.replace(locals.data(), stack.data(), static_cast<int>(stack.size()));
    return Step::resume(py::cast<int>(tuple[1]));
  }

  py::object callback, watcher;
};

/// What torture does: stops at every instruction (0) or at one in n, or at none
/// (-1); observes every frame that no other recording includes.
int tortureOneIn = -1;
bool tortureRecords = false;
std::minstd_rand tortureRandom;
int64_t recordings = 0, traces = 0;

/// Lets every instruction run as it is, after the frame has been taken apart
/// and put together again.
class TortureHandler : public StopHandler {
public:
  Step onStop(StoppedFrame &frame, int unit) override {
    // Nothing may depend on what lies above the stack.
    PyObject **stack = frame.stack();
    for (int i = frame.stackDepth(), n = compat::stackSize(frame.code()); i < n;
         ++i)
      stack[i] = reinterpret_cast<PyObject *>(uintptr_t(0xdead0000dead0000));
    if (++count % 7 == 0) {
      std::vector<PyObject *> slots(frame.locals(), stack + frame.stackDepth());
      for (PyObject *slot : slots)
        Py_XINCREF(slot);
      frame.replace(slots.data(), slots.data() + frame.numLocals(),
                    frame.stackDepth());
    }
    // Not at every stop of every frame: a recording takes a while to start.
    if (tortureRecords && !isRecording() &&
        (unit == entryUnit(frame.code()) || tortureRandom() % 64 == 0))
      return Step::observe();
    return Step::original();
  }

  bool startObserving(StoppedFrame &frame) override {
    bool fromEntry =
        compat::lastUnit(frame.raw()) < compat::firstTraceable(frame.code());
    auto observer = std::make_unique<Observer>(options, frame.thread());
    ++recordings;
    if (!observer->start(frame.code(), fromEntry ? nullptr : frame.raw())) {
      observer->finish(nullptr);
      return false;
    }
    observing.emplace_back(frame.raw(), std::move(observer));
    return true;
  }

  void onObserved(StoppedFrame &frame, bool, PyObject *result) override {
    for (size_t i = observing.size(); i-- > 0;) {
      if (observing[i].first != frame.raw())
        continue;
      std::unique_ptr<Observer> observer = std::move(observing[i].second);
      observing.erase(observing.begin() + i);
      traces += observer->finish(result).trace != nullptr;
      return;
    }
  }

private:
  uint32_t count = 0;
  RecordOptions options;
  std::vector<std::pair<Frame *, std::unique_ptr<Observer>>> observing;
};

void tortureCode(PyCodeObject *code) {
  static auto *handler = new std::shared_ptr<StopHandler>(new TortureHandler);
  FrameDriver &driver = FrameDriver::get();
  if (!driver.setHandler(code, *handler)) {
    PyErr_Clear();
    return;
  }
  if (tortureRecords)
    driver.addStop(code, entryUnit(code));
  if (tortureOneIn < 0)
    return;
  for (int unit = compat::numUnits(code); --unit >= 0;) {
    unit = stopBefore(code, unit);
    if (unit < 0)
      break;
    if (!tortureOneIn || tortureRandom() % tortureOneIn == 0)
      driver.addStop(code, unit);
  }
}

PyCodeObject *toCode(py::handle object) {
  if (!PyCode_Check(object.ptr()))
    throw py::type_error("not a code object");
  return reinterpret_cast<PyCodeObject *>(object.ptr());
}

} // namespace

void dynamo::capture::bindDriverTesting(py::module_ &m) {
  m.attr("NULL") = null();
  m.def("start_driver", [] {
    std::string reason;
    bool yes = FrameDriver::get().start(&reason);
    return py::make_tuple(yes, reason);
  });
  m.def("hold_hook", [] { FrameDriver::get().holdHook(); });
  m.def("release_hook", [] { FrameDriver::get().releaseHook(); });
  m.def("stops", [] { return FrameDriver::get().stops(); });
  m.def("can_stop",
        [](py::object code, int unit) { return canStop(toCode(code), unit); });
  m.def("stop_before", [](py::object code, int unit) {
    return stopBefore(toCode(code), unit);
  });
  m.def("entry_unit", [](py::object code) { return entryUnit(toCode(code)); });
  m.def(
      "plan",
      [](py::object code, const std::vector<int> &stops, py::object callback) {
        FrameDriver &driver = FrameDriver::get();
        if (!driver.setHandler(toCode(code), std::make_shared<PythonHandler>(
                                                 std::move(callback))))
          throw py::error_already_set();
        for (int unit : stops)
          if (!driver.addStop(toCode(code), unit))
            throw py::value_error("frames cannot stop at unit " +
                                  std::to_string(unit));
      },
      "Stops of a code object, and the function that decides at them.");
  m.def("add_stop", [](py::object code, int unit) {
    return FrameDriver::get().addStop(toCode(code), unit);
  });
  m.def("remove_stop", [](py::object code, int unit) {
    FrameDriver::get().removeStop(toCode(code), unit);
  });
  m.def("remove_plan",
        [](py::object code) { FrameDriver::get().removePlan(toCode(code)); });
  m.def("observations", [](py::object code) {
    auto *handler =
        dynamic_cast<PythonHandler *>(FrameDriver::get().handler(toCode(code)));
    return handler ? handler->observed : -1;
  });
  m.def(
      "torture",
      [](int oneIn, bool records, uint32_t seed) {
        tortureOneIn = oneIn;
        tortureRecords = records;
        tortureRandom.seed(seed);
        FrameDriver::get().setNewCode(oneIn < 0 && !records ? nullptr
                                                            : tortureCode);
      },
      py::arg("one_in"), py::arg("records") = false, py::arg("seed") = 1,
      "Stops code that runs for the first time from now on at every "
      "instruction "
      "(0), at one in n, or at none (-1), and records every frame.");
  m.def("recordings", [] { return py::make_tuple(recordings, traces); });
}
