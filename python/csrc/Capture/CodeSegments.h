//===- CodeSegments.h - Records and runs what a code object does -- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The handler of a code object whose frames are captured.  At each stop a
// segment that fits is run; where none does, the stretch is observed and
// becomes one.  What can't be recorded is left to CPython, one instruction at a
// time, and the next segment begins behind it.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_CODESEGMENTS_H
#define DYNAMO_PYTHON_CAPTURE_CODESEGMENTS_H

#include "Capture/FrameDriver.h"
#include "Capture/Observer.h"
#include "Capture/SegmentTable.h"

#include <map>
#include <set>

namespace dynamo::capture {

class CodeSegments : public StopHandler {
public:
  struct Options {
    /// compile(record) gives a segment's tensor program, None if it has none.
    pybind11::object compile;
    /// Called with (code, unit, text) for what explain shows; may be null.
    pybind11::object note;
    /// Whether segments without tensor work are kept.
    bool keepPlain = false;
    int32_t limit = 8;
  };

  CodeSegments(PyCodeObject *code, std::shared_ptr<const Options> options);
  ~CodeSegments() override;

  Step onStop(StoppedFrame &frame, int unit) override;
  bool startObserving(StoppedFrame &frame) override;
  void onObserved(StoppedFrame &frame, bool left, PyObject *result) override;

  const SegmentTable &segments() const { return table; }
  int numRecordings() const { return recordings; }
  /// Recordings that had tensor work.
  int numUseful() const { return useful; }
  /// No place is left where recording could be tried.
  bool isHopeless() const;

protected:
  /// Whether it is time to record from a unit where no segment fits, at which
  /// frames have arrived `arrivals` times.
  virtual bool isWarm(StoppedFrame &frame, int unit, int arrivals) {
    (void)frame, (void)unit, (void)arrivals;
    return true;
  }

private:
  /// A unit where a segment may start.
  struct Place {
    int arrivals = 0, failures = 0;
    bool hopeless = false;
  };
  struct Current {
    Frame *frame;
    int start;
    std::unique_ptr<Observer> observer;
  };

  /// RESUME does nothing: a segment from behind it is one from the start.
  int keyOf(int unit) const { return unit <= entry + 1 ? 0 : unit; }
  bool wantsRecording(StoppedFrame &frame, int unit);
  void add(int unit, Trace &trace);
  void giveUp(int unit, const std::string &why);
  void note(int unit, const std::string &text) const;

  PyCodeObject *code; ///< borrowed: this hangs on it
  std::shared_ptr<const Options> options;
  int entry;
  SegmentTable table;
  std::map<int, Place> places;
  /// Units in front of which recordings end, with the reason.
  std::map<int, Break> blocked;
  std::vector<Current> observing;
  int recordings = 0, useful = 0;
};

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_CODESEGMENTS_H
