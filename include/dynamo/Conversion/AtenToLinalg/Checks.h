//===- Checks.h - what data must hold for a program to be right -- C++ -*--===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Eager raises where an index is out of range or an integer divisor is 0. A
// kernel can't; its lowering emits the condition as `rt.refuse_if` instead, and
// keeps its own accesses and divisions harmless whatever the data is. What is
// known without looking at the data is not checked.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CONVERSION_ATENTOLINALG_CHECKS_H
#define DYNAMO_CONVERSION_ATENTOLINALG_CHECKS_H

#include "dynamo/Conversion/AtenToLinalg/Utils.h"

#include <optional>

namespace dynamo::lowering {

/// Bounds of integers, both included.
struct IntRange {
  int64_t low, high;
  bool contains(int64_t value) const { return low <= value && value <= high; }
  bool within(IntRange other) const {
    return other.low <= low && high <= other.high;
  }
};

/// Bounds of the elements of `original` (a P1 tensor or number of integers or
/// bool), from how it is computed; those of its type if nothing is known.
IntRange rangeOf(Value original);

/// The run is refused if an element of the P1 tensor `original` is outside of
/// `accepted` and not `exception`. Emits nothing where that can't happen or was
/// checked before.
void checkRange(Lowering &b, Value original, IntRange accepted,
                std::optional<int64_t> exception = std::nullopt);

/// Elements are indices into `size` elements (not 0); with `wraps` negative
/// ones count from the end.
void checkIndices(Lowering &b, Value original, int64_t size, bool wraps);

/// The run is refused if an element of the P1 tensor `original` is 0 when
/// converted to `dtype` (an integer type).
void checkNoZero(Lowering &b, Value original, Type dtype);

} // namespace dynamo::lowering

#endif // DYNAMO_CONVERSION_ATENTOLINALG_CHECKS_H
