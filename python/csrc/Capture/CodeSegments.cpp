//===- CodeSegments.cpp - Records and runs what a code object does --------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/CodeSegments.h"

#include "Capture/CPythonCompatInline.h"

namespace py = pybind11;
using namespace dynamo::capture;

/// Places of one code object where segments may start, and recordings of it.
static constexpr size_t kMaxPlaces = 32;
static constexpr int kMaxRecordings = 64;
/// Recordings in a row that gave nothing at one place.
static constexpr int kMaxFailures = 3;

CodeSegments::CodeSegments(PyCodeObject *code,
                           std::shared_ptr<const Options> options)
    : code(code), options(std::move(options)), entry(entryUnit(code)),
      table(this->options->limit) {}

CodeSegments::~CodeSegments() = default;

Step CodeSegments::onStop(StoppedFrame &frame, int unit) {
  FrameDriver &driver = FrameDriver::get();
  FrameView view;
  view.locals = frame.locals();
  view.numLocals = frame.numLocals();
  view.stack = frame.stack();
  view.stackDepth = frame.stackDepth();
  view.function = frame.function();
  PyObject *result = nullptr;
  std::shared_ptr<Segment> used;
  switch (table.run(keyOf(unit), view, &result, &used)) {
  case SegmentResult::Done:
    if (result)
      return Step::returns(result);
    if (PyErr_Occurred())
      return Step::raise(unit);
    frame.setStackDepth(view.stackDepth);
    return Step::resume(view.next == 0 ? entry : view.next);
  case SegmentResult::Refused:
    return Step::original();
  case SegmentResult::Miss:
    break;
  }
  // CPython runs what can't be recorded; what comes behind it may be.
  if (blocked.count(unit))
    return Step::single();
  if (!wantsRecording(frame, unit)) {
    if (driver.hasStop(frame.code(), unit) && !table.has(keyOf(unit)) &&
        places[unit].hopeless)
      driver.removeStop(frame.code(), unit);
    return Step::original();
  }
  if (!driver.addStop(frame.code(), unit))
    return Step::original();
  return Step::observe();
}

bool CodeSegments::wantsRecording(StoppedFrame &frame, int unit) {
  auto found = places.find(unit);
  if (found == places.end()) {
    if (places.size() >= kMaxPlaces)
      return false;
    found = places.emplace(unit, Place()).first;
  }
  Place &place = found->second;
  ++place.arrivals;
  return !place.hopeless && !isRecording() && recordings < kMaxRecordings &&
         table.hasRoom(keyOf(unit)) && isWarm(frame, unit, place.arrivals);
}

bool CodeSegments::isHopeless() const {
  if (!table.empty() || !observing.empty())
    return false;
  for (auto &[unit, place] : places)
    if (!place.hopeless)
      return false;
  return !places.empty();
}

void CodeSegments::note(int unit, const std::string &text) const {
  if (!options->note || options->note.is_none())
    return;
  try {
    options->note(py::handle(reinterpret_cast<PyObject *>(code)), unit, text);
  } catch (py::error_already_set &error) {
    error.discard_as_unraisable("dynamo_mlir: a note on a recording");
  }
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

bool CodeSegments::startObserving(StoppedFrame &frame) {
  // What the driver has set is the unit before the first one.
  int last = compat::lastUnit(frame.raw());
  int start = last < entry ? entry : last + 1;
  RecordOptions record;
  for (auto &[unit, why] : blocked)
    record.stops.emplace_back(unit, why);
  auto observer = std::make_unique<Observer>(record, frame.thread());
  bool fromEntry = start == entry;
  ++recordings;
  if (!observer->start(frame.code(), fromEntry ? nullptr : frame.raw())) {
    observer->finish(nullptr);
    return false;
  }
  observing.push_back({frame.raw(), start, std::move(observer)});
  return true;
}

void CodeSegments::onObserved(StoppedFrame &frame, bool left,
                              PyObject *result) {
  std::unique_ptr<Observer> observer;
  int start = -1;
  for (size_t i = observing.size(); i-- > 0;)
    if (observing[i].frame == frame.raw()) {
      observer = std::move(observing[i].observer);
      start = observing[i].start;
      observing.erase(observing.begin() + i);
      break;
    }
  if (!observer)
    return;
  Outcome recording = observer->finish(left ? result : nullptr);
  if (recording.trace) {
    add(start, *recording.trace);
    return;
  }
  Place &place = places[start];
  std::string why = recording.why ? recording.why->reason : "nothing was run";
  if (recording.blockedAt < 0 || !recording.why) {
    if (++place.failures >= kMaxFailures)
      giveUp(start, why);
    return;
  }
  int unit = stopBefore(code, recording.blockedAt);
  note(unit, why);
  // The same place twice: the recording did not end in front of it.
  if (unit < 0 || !blocked.emplace(unit, *recording.why).second)
    giveUp(start, why);
}

void CodeSegments::add(int unit, Trace &trace) {
  Place &place = places[unit];
  if (trace.ended) {
    int end = stopBefore(code, trace.exit.next);
    if (end >= 0)
      blocked.emplace(end, *trace.ended);
    if (trace.exit.next == (unit == entry ? 0 : unit)) {
      giveUp(unit, trace.ended->reason);
      return;
    }
  }
  py::object program = py::none();
  std::string error;
  try {
    program = options->compile(trace.record);
  } catch (py::error_already_set &raised) {
    error = raised.what();
  }
  if (error.empty() && program.is_none() && !options->keepPlain) {
    if (++place.failures >= kMaxFailures)
      giveUp(unit, "no tensor work");
    return;
  }
  std::unique_ptr<Segment> segment;
  if (error.empty())
    segment = Segment::create(trace, program, error);
  if (!segment) {
    note(unit, error);
    if (++place.failures >= kMaxFailures)
      giveUp(unit, error);
    return;
  }
  place.failures = 0;
  useful += !program.is_none();
  table.add(std::move(segment));
}

void CodeSegments::giveUp(int unit, const std::string &why) {
  places[unit].hopeless = true;
  note(unit, why);
}
