//===- Buffers.cpp - Inputs and results of dynamo-run ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <cstring>

using namespace dynamo;
using namespace dynamo::run;
using dynamo::runtime::DType;
using dynamo::runtime::TensorSpec;

Buffer::Buffer(TensorSpec wanted) : spec(std::move(wanted)) {
  size_t bytes = (spec.bytes() + 63) / 64 * 64 + 64;
  memory.reset(std::aligned_alloc(64, bytes));
  if (!memory)
    llvm::report_fatal_error("out of memory", /*gen_crash_diag=*/false);
  memset(memory.get(), 0, bytes);
}

template <typename T> static T load(const void *data, int64_t index) {
  T value;
  memcpy(&value, static_cast<const char *>(data) + index * sizeof(T),
         sizeof(T));
  return value;
}

template <typename T> static void store(void *data, int64_t index, T value) {
  memcpy(static_cast<char *>(data) + index * sizeof(T), &value, sizeof(T));
}

static const llvm::fltSemantics &halfSemantics(DType dtype) {
  return dtype == DType::Float16 ? llvm::APFloat::IEEEhalf()
                                 : llvm::APFloat::BFloat();
}

static double elementAt(DType dtype, const void *data, int64_t index) {
  switch (dtype) {
  case DType::UInt8:
  case DType::Bool:
    return load<uint8_t>(data, index);
  case DType::Int8:
    return load<int8_t>(data, index);
  case DType::Int16:
    return load<int16_t>(data, index);
  case DType::Int32:
    return load<int32_t>(data, index);
  case DType::Int64:
    return static_cast<double>(load<int64_t>(data, index));
  case DType::Float32:
    return load<float>(data, index);
  case DType::Float64:
    return load<double>(data, index);
  case DType::Float16:
  case DType::BFloat16: {
    llvm::APFloat value(halfSemantics(dtype),
                        llvm::APInt(16, load<uint16_t>(data, index)));
    bool lost;
    value.convert(llvm::APFloat::IEEEdouble(),
                  llvm::APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  }
  return 0;
}

double Buffer::at(int64_t index) const {
  return elementAt(spec.dtype, data(), index);
}

void Buffer::set(int64_t index, double value) {
  switch (spec.dtype) {
  case DType::Bool:
    return store<uint8_t>(data(), index, value != 0);
  case DType::UInt8:
    return store(data(), index, static_cast<uint8_t>(value));
  case DType::Int8:
    return store(data(), index, static_cast<int8_t>(value));
  case DType::Int16:
    return store(data(), index, static_cast<int16_t>(value));
  case DType::Int32:
    return store(data(), index, static_cast<int32_t>(value));
  case DType::Int64:
    return store(data(), index, static_cast<int64_t>(value));
  case DType::Float32:
    return store(data(), index, static_cast<float>(value));
  case DType::Float64:
    return store(data(), index, value);
  case DType::Float16:
  case DType::BFloat16: {
    llvm::APFloat half(value);
    bool lost;
    half.convert(halfSemantics(spec.dtype), llvm::APFloat::rmNearestTiesToEven,
                 &lost);
    return store(data(), index,
                 static_cast<uint16_t>(half.bitcastToAPInt().getZExtValue()));
  }
  }
}

static bool isFloat(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16 ||
         dtype == DType::Float32 || dtype == DType::Float64;
}

std::string dynamo::run::describe(const TensorSpec &spec) {
  std::string text;
  for (int64_t size : spec.sizes)
    absl::StrAppend(&text, size, "x");
  switch (spec.dtype) {
  case DType::UInt8:
    return text + "ui8";
  case DType::Int8:
    return text + "i8";
  case DType::Int16:
    return text + "i16";
  case DType::Int32:
    return text + "i32";
  case DType::Int64:
    return text + "i64";
  case DType::Float16:
    return text + "f16";
  case DType::Float32:
    return text + "f32";
  case DType::Float64:
    return text + "f64";
  case DType::Bool:
    return text + "i1";
  case DType::BFloat16:
    return text + "bf16";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// splitmix64: small, and the same everywhere.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

static void fillRandom(Buffer &buffer, double low, double high, uint64_t seed) {
  uint64_t state = seed * 0x2545f4914f6cdd1d + 1;
  bool real = isFloat(buffer.spec.dtype);
  for (int64_t i = 0, e = buffer.spec.numElements(); i < e; ++i) {
    double unit = static_cast<double>(nextRandom(state) >> 11) * 0x1p-53;
    double value = low + unit * (high - low);
    buffer.set(i, real ? value : std::floor(value));
  }
}

static absl::Status fillFromFile(Buffer &buffer, llvm::StringRef path) {
  absl::StatusOr<NpyArray> array = readNpy(path);
  if (!array.ok())
    return array.status();
  if (array->spec.dtype != buffer.spec.dtype ||
      array->spec.sizes != buffer.spec.sizes)
    return absl::InvalidArgumentError(
        absl::StrCat(path.str(), ": holds ", describe(array->spec),
                     ", the program takes ", describe(buffer.spec)));
  memcpy(buffer.data(), array->data.data(), array->data.size());
  return absl::OkStatus();
}

absl::Status dynamo::run::fill(Buffer &buffer, llvm::StringRef source,
                               uint64_t seed) {
  bool real = isFloat(buffer.spec.dtype);
  if (source == "random") {
    bool flag = buffer.spec.dtype == DType::Bool;
    fillRandom(buffer, real ? -1 : 0, real ? 1 : flag ? 2 : 8, seed);
    return absl::OkStatus();
  }
  if (llvm::StringRef range = source; range.consume_front("random:")) {
    auto [first, second] = range.split(':');
    double low, high;
    if (first.getAsDouble(low) || second.getAsDouble(high) || !(low < high))
      return absl::InvalidArgumentError(absl::StrCat(
          "'", source.str(), "' is not random:<low>:<high> with low < high"));
    fillRandom(buffer, low, high, seed);
    return absl::OkStatus();
  }
  double value;
  if (!source.getAsDouble(value)) {
    for (int64_t i = 0, e = buffer.spec.numElements(); i < e; ++i)
      buffer.set(i, value);
    return absl::OkStatus();
  }
  if (source.ends_with(".npy"))
    return fillFromFile(buffer, source);
  return absl::InvalidArgumentError(absl::StrCat(
      "input '", source.str(),
      "' is neither random, random:<low>:<high>, a number nor an .npy file"));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static void printElement(llvm::raw_ostream &os, const Buffer &buffer,
                         int64_t index) {
  if (buffer.spec.dtype == DType::Int64)
    os << load<int64_t>(buffer.data(), index);
  else if (isFloat(buffer.spec.dtype))
    os << llvm::format("%.6g", buffer.at(index));
  else
    os << llvm::format("%.0f", buffer.at(index));
}

void dynamo::run::print(llvm::raw_ostream &os, const Buffer &buffer,
                        int64_t limit) {
  int64_t count = buffer.spec.numElements();
  os << describe(buffer.spec) << " [";
  bool all = count <= limit;
  int64_t head = all ? count : (limit + 1) / 2, tail = all ? 0 : limit / 2;
  for (int64_t i = 0; i < head; ++i) {
    os << (i ? ", " : "");
    printElement(os, buffer, i);
  }
  if (!all)
    os << (head ? ", " : "") << "...";
  for (int64_t i = count - tail; i < count; ++i) {
    os << ", ";
    printElement(os, buffer, i);
  }
  os << "]";
  if (!all && isFloat(buffer.spec.dtype)) {
    double low = INFINITY, high = -INFINITY, sum = 0;
    int64_t nans = 0;
    for (int64_t i = 0; i < count; ++i) {
      double value = buffer.at(i);
      nans += std::isnan(value);
      low = std::fmin(low, value);
      high = std::fmax(high, value);
      sum += value;
    }
    os << llvm::format(" min %.6g max %.6g mean %.6g", low, high,
                       sum / static_cast<double>(count));
    if (nans)
      os << " nan " << nans;
  }
  os << "\n";
}

absl::Status dynamo::run::compare(const Buffer &found, const NpyArray &expected,
                                  double rtol, double atol) {
  if (expected.spec.sizes != found.spec.sizes ||
      isFloat(expected.spec.dtype) != isFloat(found.spec.dtype))
    return absl::InvalidArgumentError(absl::StrCat("is ", describe(found.spec),
                                                   ", the reference ",
                                                   describe(expected.spec)));
  int64_t wrong = 0, worst = -1;
  double worstError = -1;
  for (int64_t i = 0, e = found.spec.numElements(); i < e; ++i) {
    double value = found.at(i);
    double reference = elementAt(expected.spec.dtype, expected.data.data(), i);
    // Equal infinities have no difference that is a number.
    if (value == reference || (std::isnan(value) && std::isnan(reference)))
      continue;
    double error = std::fabs(value - reference);
    if (error <= atol + rtol * std::fabs(reference) && !std::isinf(reference))
      continue;
    ++wrong;
    if (std::isnan(error))
      error = INFINITY;
    if (error > worstError) {
      worstError = error;
      worst = i;
    }
  }
  if (wrong == 0)
    return absl::OkStatus();
  std::vector<int64_t> index(found.spec.sizes.size());
  int64_t rest = worst;
  for (size_t dim = index.size(); dim-- > 0;) {
    index[dim] = rest % found.spec.sizes[dim];
    rest /= found.spec.sizes[dim];
  }
  std::string where;
  for (int64_t i : index)
    absl::StrAppend(&where, where.empty() ? "" : ", ", i);
  return absl::FailedPreconditionError(absl::StrCat(
      wrong, " of ", found.spec.numElements(),
      " elements differ; the largest error is ", worstError, " at [", where,
      "]: ", found.at(worst), " instead of ",
      elementAt(expected.spec.dtype, expected.data.data(), worst)));
}
