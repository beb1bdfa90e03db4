//===- RuntimeSymbols.cpp - Functions that compiled code may call ---------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeSymbols.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstdint>
#include <cstring>

using namespace dynamo::engine;

//===----------------------------------------------------------------------===//
// Conversions between half types and float
//===----------------------------------------------------------------------===//
//
// Half arguments and results are in the low 16 bits of a vector register, as
// the calling conventions of x86-64 and AArch64 have it; declared as float
// here, since not every compiler has the types.

static float fromBits16(uint16_t bits) {
  return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
}

static uint16_t toBits16(float low) {
  return static_cast<uint16_t>(llvm::bit_cast<uint32_t>(low));
}

/// Rounds a number with sign, exponent of 8 bits and `fraction` to bf16, where
/// `sticky` says that bits below the fraction's were lost.
static uint16_t roundToBF16(uint32_t bits, bool sticky) {
  if ((bits & 0x7fffffff) > 0x7f800000)
    return static_cast<uint16_t>(bits >> 16 | 0x40); // keep NaN quiet
  uint32_t rest = bits & 0xffff;
  uint32_t result = bits >> 16;
  bool up = rest > 0x8000 || (rest == 0x8000 && (sticky || (result & 1)));
  return static_cast<uint16_t>(result + up);
}

/// As float rounded towards zero, with a note whether that lost anything, so
/// that the second rounding does not round twice.
static uint32_t truncateToFloat(double value, bool &sticky) {
  float rounded = static_cast<float>(value);
  if (std::isnan(value) || std::isinf(value)) {
    sticky = false;
    return llvm::bit_cast<uint32_t>(rounded);
  }
  if (std::fabs(static_cast<double>(rounded)) > std::fabs(value))
    rounded = llvm::bit_cast<float>(llvm::bit_cast<uint32_t>(rounded) - 1);
  sticky = static_cast<double>(rounded) != value;
  return llvm::bit_cast<uint32_t>(rounded);
}

static uint16_t roundToHalf(uint32_t bits, bool sticky) {
  uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00 | static_cast<uint16_t>(magnitude >> 13 & 0x1ff);
  if (magnitude >= 0x47800000) // 65536 and more
    return sign | 0x7c00;
  uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  uint32_t result, rest, half;
  if (exponent >= -14) {
    result = (static_cast<uint32_t>(exponent + 15) << 10) |
             (significand >> 13 & 0x3ff);
    rest = significand & 0x1fff;
    half = 0x1000;
  } else {
    int shift = -exponent - 14 + 13; // denormal
    if (shift > 25)
      return sign | 0;
    result = significand >> shift;
    rest = significand & ((1u << shift) - 1);
    half = 1u << (shift - 1);
  }
  bool up = rest > half || (rest == half && (sticky || (result & 1)));
  return sign | static_cast<uint16_t>(result + up); // a carry reaches infinity
}

static float halfToFloat(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0) // fraction * 2^-24, exact
    return llvm::bit_cast<float>(
        sign |
        llvm::bit_cast<uint32_t>(static_cast<float>(fraction) * 0x1p-24f));
  if (exponent == 31)
    return llvm::bit_cast<float>(sign | 0x7f800000 | fraction << 13 |
                                 (fraction ? 0x400000 : 0));
  return llvm::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

static float truncsfhf2(float value) {
  return fromBits16(roundToHalf(llvm::bit_cast<uint32_t>(value), false));
}
static float truncsfbf2(float value) {
  return fromBits16(roundToBF16(llvm::bit_cast<uint32_t>(value), false));
}
static float truncdfhf2(double value) {
  bool sticky;
  uint32_t bits = truncateToFloat(value, sticky);
  return fromBits16(roundToHalf(bits, sticky));
}
static float truncdfbf2(double value) {
  bool sticky;
  uint32_t bits = truncateToFloat(value, sticky);
  return fromBits16(roundToBF16(bits, sticky));
}
static float extendhfsf2(float half) { return halfToFloat(toBits16(half)); }
static double extendhfdf2(float half) { return halfToFloat(toBits16(half)); }

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

// clang-format off
#define DYNAMO_MATH(name, type64, type32)                                      \
  {#name, reinterpret_cast<void *>(static_cast<type64>(::name))},              \
  {#name "f", reinterpret_cast<void *>(static_cast<type32>(::name##f))}
#define UNARY(name) DYNAMO_MATH(name, double (*)(double), float (*)(float))
#define BINARY(name)                                                           \
  DYNAMO_MATH(name, double (*)(double, double), float (*)(float, float))
#define OWN(symbol, function) {symbol, reinterpret_cast<void *>(&function)}

static const RuntimeSymbol table[] = {
    UNARY(acos), UNARY(acosh), UNARY(asin), UNARY(asinh), UNARY(atan),
    UNARY(atanh), UNARY(cbrt), UNARY(ceil), UNARY(cos), UNARY(cosh),
    UNARY(erf), UNARY(erfc), UNARY(exp), UNARY(exp2), UNARY(expm1),
    UNARY(fabs), UNARY(floor), UNARY(lgamma), UNARY(log), UNARY(log10),
    UNARY(log1p), UNARY(log2), UNARY(nearbyint), UNARY(rint), UNARY(round),
    UNARY(sin), UNARY(sinh), UNARY(sqrt), UNARY(tan), UNARY(tanh),
    UNARY(tgamma), UNARY(trunc),
    BINARY(atan2), BINARY(copysign), BINARY(fmax), BINARY(fmin), BINARY(fmod),
    BINARY(hypot), BINARY(pow), BINARY(remainder),
    DYNAMO_MATH(fma, double (*)(double, double, double),
                float (*)(float, float, float)),
    DYNAMO_MATH(ldexp, double (*)(double, int), float (*)(float, int)),
    OWN("memcpy", ::memcpy), OWN("memmove", ::memmove),
    OWN("memset", ::memset), OWN("memcmp", ::memcmp),
    OWN("__truncsfhf2", truncsfhf2), OWN("__truncdfhf2", truncdfhf2),
    OWN("__truncsfbf2", truncsfbf2), OWN("__truncdfbf2", truncdfbf2),
    OWN("__extendhfsf2", extendhfsf2), OWN("__extendhfdf2", extendhfdf2),
};
// clang-format on

llvm::ArrayRef<RuntimeSymbol> dynamo::engine::runtimeSymbols() { return table; }
