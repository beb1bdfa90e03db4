//===- RuntimeSymbolsTest.cpp - Conversions of half types round once ------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeSymbols.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <cmath>
#include <vector>

using namespace dynamo::engine;
using llvm::APFloat;

template <typename Function> static Function *find(llvm::StringRef name) {
  for (const RuntimeSymbol &symbol : runtimeSymbols())
    if (symbol.name == name)
      return reinterpret_cast<Function *>(symbol.address);
  return nullptr;
}

/// Bits of `value` rounded once by LLVM's software arithmetic.
template <typename T>
static uint16_t expected(T value, const llvm::fltSemantics &semantics) {
  APFloat number(value);
  bool lost;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

static uint16_t low(float value) {
  return static_cast<uint16_t>(llvm::bit_cast<uint32_t>(value));
}

static bool isNaN16(uint16_t bits, const llvm::fltSemantics &semantics) {
  return APFloat(semantics, llvm::APInt(16, bits)).isNaN();
}

/// Values around every rounding boundary of both half types, denormals and
/// overflow included.
static std::vector<double> interesting() {
  std::vector<double> values = {
      0.0,      -0.0,     INFINITY,       -INFINITY,  NAN,       65504.0,
      65519.9,  65520.0,  3.4e38,         1e300,      1e-300,    6e-8,
      2.9e-8,   3e-8,     0x1p-24,        0x1p-25,    0x1.8p-25, 0x1p-126,
      0x1p-133, 0x1p-149, 0x1.fffffep127, 0x1.ff8p127};
  uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    int exponent = static_cast<int>(state >> 40) % 290 - 150;
    double fraction = 1 + static_cast<double>(state >> 52) / 4096;
    // On, just above and just below what halves can tell apart.
    for (double nudge : {0.0, 0x1p-12, 0x1p-9, 0x1p-40, -0x1p-40})
      values.push_back(std::ldexp(fraction + nudge, exponent));
  }
  size_t count = values.size();
  for (size_t i = 0; i < count; ++i)
    values.push_back(-values[i]);
  return values;
}

template <typename T>
static void check(llvm::StringRef name, const llvm::fltSemantics &semantics) {
  auto *convert = find<float(T)>(name);
  ASSERT_TRUE(convert);
  for (double value : interesting()) {
    T argument = static_cast<T>(value);
    uint16_t found = low(convert(argument));
    uint16_t wanted = expected(argument, semantics);
    if (std::isnan(argument))
      EXPECT_TRUE(isNaN16(found, semantics));
    else
      ASSERT_EQ(found, wanted) << name.str() << " of " << argument;
  }
}

// Rounding to half and bfloat16 equals software arithmetic bit by bit, from
// float and from double (where rounding by way of float would round twice).
TEST(RuntimeSymbols, Truncations) {
  check<float>("__truncsfhf2", APFloat::IEEEhalf());
  check<float>("__truncsfbf2", APFloat::BFloat());
  check<double>("__truncdfhf2", APFloat::IEEEhalf());
  check<double>("__truncdfbf2", APFloat::BFloat());
}

// All 65,536 halves widen exactly.
TEST(RuntimeSymbols, Extensions) {
  auto *toFloat = find<float(float)>("__extendhfsf2");
  auto *toDouble = find<double(float)>("__extendhfdf2");
  ASSERT_TRUE(toFloat && toDouble);
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    APFloat half(APFloat::IEEEhalf(), llvm::APInt(16, bits));
    bool lost;
    half.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lost);
    float argument = llvm::bit_cast<float>(bits);
    if (half.isNaN()) {
      EXPECT_TRUE(std::isnan(toFloat(argument)));
      EXPECT_TRUE(std::isnan(toDouble(argument)));
      continue;
    }
    ASSERT_EQ(llvm::bit_cast<uint32_t>(toFloat(argument)),
              llvm::bit_cast<uint32_t>(half.convertToFloat()));
    ASSERT_EQ(toDouble(argument), double(half.convertToFloat()));
  }
}
