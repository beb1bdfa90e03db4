//===- SegmentTable.cpp - The segments of a code object -------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/SegmentTable.h"

#include <algorithm>

using namespace dynamo::capture;

/// Objects that die and come anew (a model built per request) cost a recording
/// each; this many are borne.
static constexpr int32_t kMaxDropped = 64;

bool SegmentTable::hasRoom(const Place &place) const {
  return static_cast<int32_t>(place.segments.size()) < limit &&
         place.dropped < kMaxDropped;
}

bool SegmentTable::hasRoom(int32_t start) const {
  const Place *place = find(start);
  return place ? hasRoom(*place) : limit > 0;
}

SegmentResult SegmentTable::run(int32_t start, FrameView &frame,
                                PyObject **result,
                                std::shared_ptr<Segment> *used) {
  *result = nullptr;
  Place *place = find(start);
  if (!place)
    return SegmentResult::Miss;
  size_t n = place->segments.size();
  std::string missed;
  for (size_t i = 0; i < n; ++i) {
    // Kept alive: the tensor work may run code that changes this table.
    std::shared_ptr<Segment> segment = place->segments[i];
    SegmentResult outcome = segment->run(frame, result);
    if (outcome == SegmentResult::Miss) {
      if (missed.empty() && hasRoom(*place) && !segment->dead())
        missed = segment->missText();
      continue;
    }
    // Whatever ran may have added to the table.
    place = find(start);
    if (i && place && i < place->segments.size() &&
        place->segments[i] == segment)
      std::rotate(place->segments.begin(), place->segments.begin() + i,
                  place->segments.begin() + i + 1);
    if (used)
      *used = std::move(segment);
    return outcome;
  }
  // Taken out before they are destroyed: destroying runs Python code.
  std::vector<std::shared_ptr<Segment>> gone;
  size_t live = 0;
  for (std::shared_ptr<Segment> &segment : place->segments) {
    if (segment->dead())
      gone.push_back(std::move(segment));
    else
      place->segments[live++].swap(segment);
  }
  place->segments.resize(live);
  place->dropped += static_cast<int32_t>(gone.size());
  if (!missed.empty() && place->misses.size() < kMaxDropped)
    place->misses.push_back(std::move(missed));
  return SegmentResult::Miss;
}

void SegmentTable::add(std::shared_ptr<Segment> segment) {
  Place *place = find(segment->start());
  if (!place) {
    places.emplace_back();
    place = &places.back();
    place->start = segment->start();
  }
  place->segments.insert(place->segments.begin(), std::move(segment));
}

std::vector<std::string> SegmentTable::misses(int32_t start) const {
  const Place *place = find(start);
  return place ? place->misses : std::vector<std::string>();
}

bool SegmentTable::takeNotice(int32_t start) {
  Place *place = find(start);
  if (!place || place->noticed || hasRoom(*place))
    return false;
  return place->noticed = true;
}

std::vector<std::shared_ptr<Segment>> SegmentTable::all() const {
  std::vector<std::shared_ptr<Segment>> segments;
  for (const Place &place : places)
    segments.insert(segments.end(), place.segments.begin(),
                    place.segments.end());
  return segments;
}

int SegmentTable::traverse(visitproc visit, void *arg) const {
  for (const Place &place : places)
    for (const auto &segment : place.segments)
      if (int stop = segment->traverse(visit, arg))
        return stop;
  return 0;
}
