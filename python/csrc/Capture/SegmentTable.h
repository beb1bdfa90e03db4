//===- SegmentTable.h - The segments of a code object ------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Several segments may start at one instruction, for arguments of different
// kinds; they are tried with the last one that fitted first.  Their number is
// limited: a function whose guards fail at every call is better off in eager.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_SEGMENTTABLE_H
#define DYNAMO_PYTHON_CAPTURE_SEGMENTTABLE_H

#include "Capture/Segment.h"

namespace dynamo::capture {

class SegmentTable {
public:
  explicit SegmentTable(int32_t limit = 8) : limit(limit) {}

  /// Tries the segments that start at a unit. `used`, if given, is the one that
  /// did not miss; it lives as long as this table or a copy of the pointer.
  SegmentResult run(int32_t start, FrameView &frame, PyObject **result,
                    std::shared_ptr<Segment> *used = nullptr);

  void add(std::shared_ptr<Segment> segment);
  /// Whether one more may be added at this unit. Segments that were dropped
  /// because an object died do not count, but for one in a row of them.
  bool hasRoom(int32_t start) const;
  bool has(int32_t start) const { return find(start) != nullptr; }
  /// What failed at each recompilation at this unit, in order.
  std::vector<std::string> misses(int32_t start) const;
  /// True once, when the limit is met for the first time.
  bool takeNotice(int32_t start);

  std::vector<std::shared_ptr<Segment>> all() const;
  void clear() { places.clear(); }
  bool empty() const { return places.empty(); }
  void setLimit(int32_t to) { limit = to; }

  int traverse(visitproc visit, void *arg) const;

private:
  struct Place {
    int32_t start = 0;
    int32_t dropped = 0;
    bool noticed = false;
    std::vector<std::shared_ptr<Segment>> segments;
    std::vector<std::string> misses;
  };
  const Place *find(int32_t start) const {
    for (const Place &place : places)
      if (place.start == start)
        return &place;
    return nullptr;
  }
  Place *find(int32_t start) {
    return const_cast<Place *>(
        static_cast<const SegmentTable *>(this)->find(start));
  }
  bool hasRoom(const Place &place) const;

  int32_t limit;
  std::vector<Place> places;
};

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_SEGMENTTABLE_H
