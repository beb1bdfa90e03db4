//===- Division.cpp - lower division and remainders
//---------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer division by zero is an error in torch and a trap of the machine: a
// check (Checks.h) refuses the run, and the division itself is by 1 then. -1 is
// a negation: the lowest integer over -1 would trap too (it does in eager).
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Checks.h"
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

/// How integers are divided.
struct IntDivision {
  Rounding rounding;
  /// What is known of the divisor.
  bool mayBeZero = true, mayBeMinusOne = true, isMinusOne = false;
};

/// y, or 1 where the machine's division could trap.
static Expr harmless(Expr y, const IntDivision &how) {
  if (how.mayBeZero && how.mayBeMinusOne && !isUnsigned(y.dtype())) {
    Expr traps = (y == 0.0) | (y == -1.0);
    return where(traps, y.constant(1), y);
  }
  if (how.mayBeZero)
    return where(y == 0.0, y.constant(1), y);
  if (how.mayBeMinusOne && !isUnsigned(y.dtype()))
    return where(y == -1.0, y.constant(1), y);
  return y;
}

static Expr intQuotient(Expr x, Expr divisor, const IntDivision &how) {
  if (how.isMinusOne)
    return -x;
  Expr y = harmless(divisor, how);
  Expr quotient = divideInts<arith::DivSIOp, arith::DivUIOp>(x, y);
  if (isUnsigned(x.dtype()))
    return quotient;
  if (how.rounding == Rounding::Floor) {
    Expr rest = x - quotient * y;
    Expr isBelow = (rest != 0.0) & ((rest < 0.0) ^ (y < 0.0));
    quotient = where(isBelow, quotient - 1.0, quotient);
  }
  return how.mayBeMinusOne ? where(divisor == -1.0, -x, quotient) : quotient;
}

/// The remainder with the sign of x (Trunc) or of y (Floor). By -1 it is 0, as
/// by 1.
static Expr intRemainder(Expr x, Expr divisor, const IntDivision &how) {
  if (how.isMinusOne)
    return x.constant(0);
  Expr y = harmless(divisor, how);
  Expr rest = divideInts<arith::RemSIOp, arith::RemUIOp>(x, y);
  if (how.rounding == Rounding::Trunc || isUnsigned(x.dtype()))
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

/// Checks the divisor (a P1 value) where integers of `dtype` are divided;
/// nullopt for what has no lowering: a number that is 0 or wraps in the dtype.
static std::optional<IntDivision> checkDivisor(Lowering &b, Value other,
                                               Type dtype, Rounding rounding) {
  if (rounding == Rounding::None || !isInt(dtype) ||
      !isa<IntegerType>(dtypeOf(other)))
    return std::nullopt;
  IntRange known = rangeOf(other);
  unsigned width = dtype.getIntOrFloatBitWidth();
  IntRange whole =
      isUnsigned(dtype)
          ? IntRange{0, int64_t(llvm::maxUIntN(std::min(width, 63u)))}
          : IntRange{llvm::minIntN(width), llvm::maxIntN(width)};
  if (!known.within(whole)) {
    if (b.operand(other).isNumber())
      return std::nullopt;
    known = whole;
  }
  IntDivision how{rounding};
  how.mayBeZero = known.contains(0);
  how.mayBeMinusOne = known.contains(-1);
  how.isMinusOne = known.low == -1 && known.high == -1;
  if (how.mayBeZero) {
    if (b.operand(other).isNumber())
      return std::nullopt;
    checkNoZero(b, other, dtype);
  }
  return how;
}

static LogicalResult lowerQuotient(Operation *op, Lowering &b, Value x,
                                   Value divisor, Rounding rounding) {
  Operand self = b.operand(x), other = b.operand(divisor);
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
  std::optional<IntDivision> how = checkDivisor(b, divisor, dtype, rounding);
  if (!how)
    return b.fail(op, "integer division by the number 0, or of bools");
  return lowerFormula(op, b, operands, dtype, [&](ArrayRef<Expr> in) {
    return intQuotient(in[0], in[1], *how);
  });
}

static LogicalResult lowerRemainder(Operation *op, Lowering &b, Value x,
                                    Value divisor, Rounding rounding) {
  Operand self = b.operand(x), other = b.operand(divisor);
  Type dtype = resultType(op).getElementType();
  SmallVector<Operand> operands = {self, other};
  if (isFloat(dtype))
    return lowerFormula(
        op, b, operands, computeType(dtype), [&](ArrayRef<Expr> in) {
          return rounding == Rounding::Trunc ? fmod(in[0], in[1])
                                             : floorRemainder(in[0], in[1]);
        });
  std::optional<IntDivision> how = checkDivisor(b, divisor, dtype, rounding);
  if (!how)
    return b.fail(op, "integer remainder by the number 0, or of bools");
  return lowerFormula(op, b, operands, dtype, [&](ArrayRef<Expr> in) {
    return intRemainder(in[0], in[1], *how);
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
    return lowerQuotient(op, b, op.getSelf(), op.getOther(), rounding);
  });
  table.add<FloorDivideOp>([](FloorDivideOp op, Lowering &b) {
    return lowerQuotient(op, b, op.getSelf(), op.getOther(), Rounding::Floor);
  });
  table.add<FmodOp>([](FmodOp op, Lowering &b) {
    return lowerRemainder(op, b, op.getSelf(), op.getOther(), Rounding::Trunc);
  });
  table.add<RemainderOp>([](RemainderOp op, Lowering &b) {
    return lowerRemainder(op, b, op.getSelf(), op.getOther(), Rounding::Floor);
  });
}
