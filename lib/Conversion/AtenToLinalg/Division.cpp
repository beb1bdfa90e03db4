//===- Division.cpp - lower division and remainders
//---------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer division by zero is an error in torch and a trap of the machine, so
// an integer divisor must be a known constant other than 0; anything else has
// no lowering and runs as an extern call, which raises. -1 is a negation: the
// lowest integer over -1 would trap too.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Expr.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

namespace {
enum class Rounding { None, Trunc, Floor };
} // namespace

template <typename SignedOp, typename UnsignedOp>
static Expr divideInts(Expr x, Expr y) {
  Lowering &b = x.b();
  return {b, x.dtype(),
          isUnsigned(x.dtype())
              ? b.createOrFold<UnsignedOp>(x.value(), y.value())
              : b.createOrFold<SignedOp>(x.value(), y.value())};
}

static Expr intQuotient(Expr x, Expr y, double divisor, Rounding rounding) {
  if (divisor == -1.0)
    return -x;
  Expr quotient = divideInts<arith::DivSIOp, arith::DivUIOp>(x, y);
  if (rounding == Rounding::Trunc || isUnsigned(x.dtype()))
    return quotient;
  Expr rest = divideInts<arith::RemSIOp, arith::RemUIOp>(x, y);
  Expr isBelow = (rest != 0.0) & ((rest < 0.0) ^ (y < 0.0));
  return where(isBelow, quotient - 1.0, quotient);
}

/// The remainder with the sign of x (Trunc) or of y (Floor).
static Expr intRemainder(Expr x, Expr y, double divisor, Rounding rounding) {
  if (divisor == -1.0)
    return x.constant(0);
  Expr rest = divideInts<arith::RemSIOp, arith::RemUIOp>(x, y);
  if (rounding == Rounding::Trunc || isUnsigned(x.dtype()))
    return rest;
  Expr isBelow = (rest != 0.0) & ((rest < 0.0) ^ (y < 0.0));
  return where(isBelow, rest + y, rest);
}

/// Python's floor division of floats: not floor(x / y), whose quotient may have
/// been rounded up to a whole number. Each step is rounded to `dtype`.
static Expr floorQuotient(Expr x, Expr y, Type dtype) {
  Expr exact = (x / y).rounded(dtype);
  Expr rest = fmod(x, y);
  Expr quotient = ((x - rest).rounded(dtype) / y).rounded(dtype);
  Expr isBelow = (rest != 0.0) & ((y < 0.0) ^ (rest < 0.0));
  quotient = where(isBelow, (quotient - 1.0).rounded(dtype), quotient);
  Expr whole = floor(quotient);
  whole = where(quotient - whole > 0.5, whole + 1.0, whole);
  // Then |exact| is below 1, and this is a zero of its sign.
  whole = where(quotient == 0.0, exact * 0.0, whole);
  return where(y == 0.0, exact, whole);
}

static Expr floorRemainder(Expr x, Expr y) {
  Expr rest = fmod(x, y);
  Expr isBelow = (rest != 0.0) & ((y < 0.0) ^ (rest < 0.0));
  return where(isBelow, rest + y, rest);
}

/// The integer divisor as it is in the result's dtype, or nullopt if it is
/// not a constant or 0.
static std::optional<double> intDivisor(Operand other, Type dtype) {
  std::optional<double> value = knownNumber(other);
  if (!value || *value == 0.0)
    return std::nullopt;
  // It must not wrap in the dtype.
  unsigned width = dtype.getIntOrFloatBitWidth();
  double limit = std::ldexp(1.0, isUnsigned(dtype) ? width : width - 1);
  double low = isUnsigned(dtype) ? 0.0 : -limit;
  if (*value < low || *value >= limit)
    return std::nullopt;
  return value;
}

static LogicalResult lowerQuotient(Operation *op, Lowering &b, Operand self,
                                   Operand other, Rounding rounding) {
  Type dtype = resultType(op).getElementType();
  SmallVector<Operand> operands = {self, other};
  // By a number eager computes half types in float, by a tensor in themselves.
  Type step = other.isNumber() ? computeType(dtype) : dtype;
  if (isFloat(dtype))
    return lowerFormula(op, b, operands, computeType(dtype),
                        [&](ArrayRef<Expr> in) {
                          switch (rounding) {
                          case Rounding::None:
                            return in[0] / in[1];
                          case Rounding::Trunc:
                            return trunc((in[0] / in[1]).rounded(step));
                          case Rounding::Floor:
                            return floorQuotient(in[0], in[1], step);
                          }
                          llvm_unreachable("all roundings are handled");
                        });
  std::optional<double> divisor = intDivisor(other, dtype);
  if (rounding == Rounding::None || !isInt(dtype) || !divisor)
    return b.fail(op, "integer division by what is not a constant");
  return lowerFormula(op, b, operands, dtype, [&](ArrayRef<Expr> in) {
    return intQuotient(in[0], in[1], *divisor, rounding);
  });
}

static LogicalResult lowerRemainder(Operation *op, Lowering &b, Operand self,
                                    Operand other, Rounding rounding) {
  Type dtype = resultType(op).getElementType();
  SmallVector<Operand> operands = {self, other};
  if (isFloat(dtype))
    return lowerFormula(
        op, b, operands, computeType(dtype), [&](ArrayRef<Expr> in) {
          return rounding == Rounding::Trunc ? fmod(in[0], in[1])
                                             : floorRemainder(in[0], in[1]);
        });
  std::optional<double> divisor = intDivisor(other, dtype);
  if (!isInt(dtype) || !divisor)
    return b.fail(op, "integer remainder of what is not a constant");
  return lowerFormula(op, b, operands, dtype, [&](ArrayRef<Expr> in) {
    return intRemainder(in[0], in[1], *divisor, rounding);
  });
}

void lowering::populateDivisionLowerings(LoweringTable &table) {
  using namespace dynamo::aten;
  table.add<DivOp>([](DivOp op, Lowering &b) -> LogicalResult {
    Rounding rounding = Rounding::None;
    if (std::optional<StringRef> mode = op.getRoundingMode()) {
      if (*mode != "trunc" && *mode != "floor")
        return b.fail(op, "unknown rounding mode");
      rounding = *mode == "trunc" ? Rounding::Trunc : Rounding::Floor;
    }
    return lowerQuotient(op, b, b.operand(op.getSelf()),
                         b.operand(op.getOther()), rounding);
  });
  table.add<FloorDivideOp>([](FloorDivideOp op, Lowering &b) {
    return lowerQuotient(op, b, b.operand(op.getSelf()),
                         b.operand(op.getOther()), Rounding::Floor);
  });
  table.add<FmodOp>([](FmodOp op, Lowering &b) {
    return lowerRemainder(op, b, b.operand(op.getSelf()),
                          b.operand(op.getOther()), Rounding::Trunc);
  });
  table.add<RemainderOp>([](RemainderOp op, Lowering &b) {
    return lowerRemainder(op, b, b.operand(op.getSelf()),
                          b.operand(op.getOther()), Rounding::Floor);
  });
}
