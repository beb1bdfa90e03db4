//===- Heat.cpp - What is recorded in a whole process ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/Heat.h"

#include "Capture/Bindings.h"
#include "Capture/CPythonCompatInline.h"

#include <opcode.h>

namespace py = pybind11;
using namespace dynamo::capture;

/// Calls after which a function is recorded, and those after which it is though
/// it runs below code that may still become warm.
static constexpr int kWarm = 2, kWarmBelow = 32;
/// Arrivals at the head of a loop.
static constexpr int kWarmLoop = 2;
/// Frames that are looked at for code that may become warm.
static constexpr int kMaxDepth = 100;

/// What co_extra holds for code that is left alone.
static char cold;

/// CPython has nothing to free.
static void freeNothing(void *) {}

Heat &Heat::get() {
  static Heat *heat = new Heat;
  return *heat;
}

bool Heat::enable(CodeSegments::Options given, py::object ours,
                  std::string *reason) {
  FrameDriver &driver = FrameDriver::get();
  if (!driver.start(reason))
    return false;
  if (index < 0)
    index = compat::requestCodeExtra(freeNothing);
  if (index < 0) {
    if (reason)
      *reason = "code objects have no room for extra data left";
    return false;
  }
  options = std::make_shared<const CodeSegments::Options>(std::move(given));
  isOurs = std::move(ours);
  files = py::dict();
  if (!isEnabled) {
    isEnabled = true;
    driver.setNewCode(onCode);
    driver.holdHook();
  }
  return true;
}

void Heat::disable() {
  if (!isEnabled)
    return;
  isEnabled = false;
  FrameDriver::get().setNewCode(nullptr);
  FrameDriver::get().releaseHook();
}

void Heat::onCode(PyCodeObject *code) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  Heat::get().call(code);
  PyErr_Restore(type, value, traceback);
}

bool Heat::torchIsLoaded() {
  if (torchLoaded)
    return true;
  PyObject *modules = PyImport_GetModuleDict();
  if (!modules || compat::dictVersion(modules) == modulesVersion)
    return false;
  PyObject *torch = PyDict_GetItemString(modules, "torch");
  if (!torch) {
    modulesVersion = compat::dictVersion(modules);
    return false;
  }
  // It is there before it has run.
  try {
    torchLoaded = !py::getattr(py::handle(torch).attr("__spec__"),
                               "_initializing", py::bool_(false))
                       .cast<bool>();
  } catch (py::error_already_set &) {
    return false;
  }
  return torchLoaded;
}

bool Heat::isCandidate(PyCodeObject *code) {
  // Class bodies and modules keep their names in dicts; the observer takes no
  // generators.
  if (!(code->co_flags & CO_OPTIMIZED) || compat::isGenerator(code))
    return false;
  const char *name = PyUnicode_AsUTF8(code->co_name);
  if (!name)
    return false;
  // Objects are made once; only calls come again and again.
  if (name[0] == '_' && name[1] == '_' && std::string(name) != "__call__")
    return false;
  PyObject *known = PyDict_GetItemWithError(files.ptr(), code->co_filename);
  if (!known) {
    PyErr_Clear();
    try {
      py::object answer =
          py::bool_(isOurs(py::handle(code->co_filename)).cast<bool>());
      files[py::handle(code->co_filename)] = answer;
      known = answer.is(py::bool_(true)) ? Py_True : Py_False;
    } catch (py::error_already_set &error) {
      error.discard_as_unraisable("dynamo_mlir: whose file this is");
      return false;
    }
  }
  return known == Py_True;
}

/// Calls `visit` with each unit that the code jumps back to.
template <typename Visit>
static void forEachLoop(PyCodeObject *code, Visit visit) {
  for (int unit = 0, count = compat::numUnits(code); unit < count;) {
    compat::Instruction instruction = compat::decode(code, unit);
    switch (instruction.opcode) {
    case JUMP_BACKWARD:
    case POP_JUMP_BACKWARD_IF_TRUE:
    case POP_JUMP_BACKWARD_IF_FALSE:
    case POP_JUMP_BACKWARD_IF_NONE:
    case POP_JUMP_BACKWARD_IF_NOT_NONE:
      visit(instruction.next - instruction.oparg);
    }
    unit = instruction.next;
  }
}

namespace {
/// Code that became known by being called.
class HeatSegments : public CodeSegments {
public:
  using CodeSegments::CodeSegments;

  Step onStop(StoppedFrame &frame, int unit) override {
    if (unit == entryUnit(frame.code()) && calls < kWarmBelow)
      ++calls;
    if (!Heat::get().enabled())
      return Step::original();
    Step step = CodeSegments::onStop(frame, unit);
    if (step.kind == Step::Original && isHopeless())
      Heat::get().leaveAlone(frame.code());
    return step;
  }
  bool mayBecomeWarm() const { return calls < kWarm; }

protected:
  bool isWarm(StoppedFrame &frame, int unit, int arrivals) override {
    PyCodeObject *code = frame.code();
    // Behind what a recording has ended at, nothing is cold.
    if (unit != entryUnit(code))
      return numRecordings() > 0 || arrivals >= kWarmLoop;
    return arrivals >= kWarmBelow ||
           (arrivals >= kWarm && !runsBelowNewCode(frame.raw()));
  }

private:
  static bool runsBelowNewCode(Frame *frame) {
    FrameDriver &driver = FrameDriver::get();
    for (int depth = 0; depth < kMaxDepth; ++depth) {
      frame = compat::previous(frame);
      if (!frame)
        return false;
      auto *handler = dynamic_cast<HeatSegments *>(
          driver.handler(FrameDriver::originalOf(compat::code(frame))));
      if (handler && handler->mayBecomeWarm())
        return true;
    }
    return false;
  }

  int calls = 0;
};
} // namespace

bool Heat::watch(PyCodeObject *code) {
  FrameDriver &driver = FrameDriver::get();
  if (!driver.setHandler(code, std::make_shared<HeatSegments>(code, options))) {
    PyErr_Clear();
    return false;
  }
  driver.addStop(code, entryUnit(code));
  forEachLoop(code, [&](int unit) { driver.addStop(code, unit); });
  ++numbers.watched;
  return true;
}

void Heat::leaveAlone(PyCodeObject *code) {
  ++numbers.cold;
  FrameDriver::get().removePlan(code);
  if (compat::setCodeExtra(code, index, &cold) < 0)
    PyErr_Clear();
}

void Heat::call(PyCodeObject *code) {
  if (compat::codeExtra(code, index) == &cold || !torchIsLoaded())
    return;
  ++numbers.seen;
  if (!isCandidate(code) || !watch(code))
    leaveAlone(code);
}

void dynamo::capture::bindHeat(py::module_ &m) {
  m.def(
      "enable",
      [](py::object compile, py::object note, py::object isOurs, int limit) {
        CodeSegments::Options options;
        options.compile = std::move(compile);
        options.note = std::move(note);
        options.limit = limit;
        std::string reason;
        bool good =
            Heat::get().enable(std::move(options), std::move(isOurs), &reason);
        return py::make_tuple(good, reason);
      },
      "Captures warm code of the whole process.");
  m.def("disable", [] { Heat::get().disable(); });
  m.def("heat", [] {
    Heat::Counts counts = Heat::get().counts();
    py::dict all;
    all["seen"] = counts.seen;
    all["watched"] = counts.watched;
    all["cold"] = counts.cold;
    return all;
  });
  m.def(
      "segments_of",
      [](py::object code) {
        py::list list;
        if (!PyCode_Check(code.ptr()))
          throw py::type_error("not a code object");
        auto *handler = dynamic_cast<CodeSegments *>(FrameDriver::get().handler(
            reinterpret_cast<PyCodeObject *>(code.ptr())));
        if (handler)
          for (auto &segment : handler->segments().all())
            list.append(py::cast(segment));
        return list;
      },
      "The segments of a code object that became warm.");
}
