//===- Pointwise.cpp - lower elementwise ops of several operands
//--------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic, comparison, bits and selection with broadcast. Division is in
// Division.cpp.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Expr.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// combine(self, alpha * other), with no multiplication for alpha 1.
template <typename OpT>
static void addScaled(LoweringTable &table, Expr (*combine)(Expr, Expr),
                      bool scaleSelf = false) {
  table.add<OpT>([=](OpT op, Lowering &b) {
    SmallVector<Operand> operands = {b.operand(op.getSelf()),
                                     b.operand(op.getOther()),
                                     b.operand(op.getAlpha())};
    bool alphaIsOne = knownNumber(operands[2]) == 1.0;
    return lowerFormulaRoundingNumbers(op, b, operands, [&](ArrayRef<Expr> in) {
      Expr self = in[0], other = in[1];
      if (!alphaIsOne)
        (scaleSelf ? self : other) = (scaleSelf ? self : other) * in[2];
      return combine(self, other);
    });
  });
}

/// base to the power of a known integer, by repeated squaring; wraps.
static Expr intPower(Expr base, uint64_t exponent) {
  Expr result = base.constant(1);
  bool isFirst = true;
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) {
      result = isFirst ? base : result * base;
      isFirst = false;
    }
    if (exponent > 1)
      base = base * base;
  }
  return result;
}

/// The exponents that eager's kernel of a scalar exponent treats apart.
/// For float16 it takes powers all the same, which differ at -inf.
static std::optional<Expr> specialPower(Expr x, double exponent, Type dtype) {
  if (exponent == 0.0)
    return x.constant(1);
  if (exponent == 0.5 && !dtype.isF16())
    return sqrt(x);
  if (exponent == 1.0)
    return x;
  if (exponent == 2.0)
    return x * x;
  if (exponent == 3.0 && !dtype.isF16())
    return (x * x).rounded(dtype) * x;
  if (exponent == -0.5 && !dtype.isF16())
    return 1.0 / sqrt(x);
  if (exponent == -1.0)
    return 1.0 / x;
  if (exponent == -2.0 && !dtype.isF16())
    return 1.0 / (x * x).rounded(dtype);
  return std::nullopt;
}

static LogicalResult lowerPow(aten::PowOp op, Lowering &b) {
  Type dtype = dtypeOf(op.getResult()), compute = computeType(dtype);
  SmallVector<Operand> operands = {b.operand(op.getSelf()),
                                   b.operand(op.getExponent())};
  // Only a number: the kernel of a tensor exponent knows no special cases.
  std::optional<double> exponent;
  if (operands[1].isNumber())
    exponent = knownNumber(operands[1]);
  if (isFloat(dtype))
    return lowerFormulaRoundingNumbers(op, b, operands, [&](ArrayRef<Expr> in) {
      if (exponent)
        if (std::optional<Expr> special = specialPower(in[0], *exponent, dtype))
          return *special;
      return pow(in[0], in[1]);
    });
  if (!exponent || *exponent < 0 || *exponent != std::floor(*exponent))
    return b.fail(op, "integer power with an exponent that is not a constant");
  return lowerFormula(op, b, operands[0], compute, [&](ArrayRef<Expr> in) {
    return intPower(in[0], uint64_t(*exponent));
  });
}

/// The operand that is not nan; of two numbers the larger (smaller).
static Expr fmaxOf(Expr x, Expr y) { return where(isNan(x) | (x < y), y, x); }
static Expr fminOf(Expr x, Expr y) { return where(isNan(x) | (x > y), y, x); }

static Expr logaddexp(Expr x, Expr y) {
  // Of two equal infinities the difference would be nan.
  Expr larger = where(x < y, y, x);
  Expr sum = larger + log1p(exp(-abs(x - y)));
  return where((x == y) & (abs(x) == x.highest()), x, sum);
}

/// The logarithm is an operation of its own in half types.
static LogicalResult lowerXlogy(aten::XlogyOp op, Lowering &b) {
  Type dtype = dtypeOf(op.getResult());
  SmallVector<Operand> operands = {b.operand(op.getSelf()),
                                   b.operand(op.getOther())};
  return lowerFormulaRoundingNumbers(op, b, operands, [&](ArrayRef<Expr> in) {
    Expr x = in[0], y = in[1];
    Expr product = where(x == 0.0, x.constant(0), x * log(y).rounded(dtype));
    return where(isNan(y), y, product);
  });
}

static Expr lerp(ArrayRef<Expr> in) {
  Expr difference = in[1] - in[0], weight = in[2];
  return where(abs(weight) < 0.5, in[0] + weight * difference,
               in[1] - difference * (1.0 - weight));
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// LLVM's shifts are undefined from the width on; the amount is put in range
/// first and the result chosen after.
static Expr shiftLeft(Expr x, Expr amount) {
  unsigned width = x.dtype().getIntOrFloatBitWidth();
  Lowering &b = x.b();
  Expr inRange = (amount >= 0.0) & (amount < double(width));
  if (isUnsigned(x.dtype()))
    inRange = amount < double(width);
  Expr safe = where(inRange, amount, amount.constant(0));
  Expr shifted = {b, x.dtype(),
                  b.createOrFold<arith::ShLIOp>(x.value(), safe.value())};
  return where(inRange, shifted, x.constant(0));
}

static Expr shiftRight(Expr x, Expr amount) {
  unsigned width = x.dtype().getIntOrFloatBitWidth();
  Lowering &b = x.b();
  if (isUnsigned(x.dtype())) {
    Expr inRange = amount < double(width);
    Expr safe = where(inRange, amount, amount.constant(0));
    Expr shifted = {b, x.dtype(),
                    b.createOrFold<arith::ShRUIOp>(x.value(), safe.value())};
    return where(inRange, shifted, x.constant(0));
  }
  // A shift by width - 1 leaves the sign everywhere.
  Expr inRange = (amount >= 0.0) & (amount < double(width - 1));
  Expr safe = where(inRange, amount, amount.constant(width - 1));
  return {b, x.dtype(),
          b.createOrFold<arith::ShRSIOp>(x.value(), safe.value())};
}

template <typename OpT>
static void addShift(LoweringTable &table, Expr (*shift)(Expr, Expr)) {
  table.add<OpT>([shift](OpT op, Lowering &b) -> LogicalResult {
    Type dtype = dtypeOf(op.getResult());
    if (!isInt(dtype))
      return b.fail(op, "shift of a dtype that is not an integer");
    SmallVector<Operand> operands = {b.operand(op.getSelf()),
                                     b.operand(op.getOther())};
    return lowerFormula(op, b, operands, dtype,
                        [&](ArrayRef<Expr> in) { return shift(in[0], in[1]); });
  });
}

//===----------------------------------------------------------------------===//
// Comparison and selection
//===----------------------------------------------------------------------===//

/// Compared in the common dtype of both operands. A number takes part as a
/// value of that dtype: 0.1 is first rounded to a half type.
template <typename OpT>
static void addComparison(LoweringTable &table, Expr (*compare)(Expr, Expr)) {
  table.add<OpT>([compare](OpT op, Lowering &b) {
    SmallVector<Operand> operands = {b.operand(op.getSelf()),
                                     b.operand(op.getOther())};
    Type common = promote(operands[0], operands[1]);
    return lowerFormula(op, b, operands, {}, [&](ArrayRef<Expr> in) {
      Type compute = computeType(common);
      return compare(in[0].to(common).to(compute),
                     in[1].to(common).to(compute));
    });
  });
}

template <typename OpT>
static void addLogical(LoweringTable &table, Expr (*combine)(Expr, Expr)) {
  table.add<OpT>([combine](OpT op, Lowering &b) {
    SmallVector<Operand> operands = {b.operand(op.getSelf()),
                                     b.operand(op.getOther())};
    return lowerFormula(op, b, operands, b.getI1Type(), [&](ArrayRef<Expr> in) {
      return combine(in[0], in[1]);
    });
  });
}

/// Whether a bound is a number that is not nan; then a compare and a select do.
static bool isPlainBound(Operand bound) {
  std::optional<double> number = knownNumber(bound);
  return number && !std::isnan(*number);
}

static LogicalResult lowerClampTo(Operation *op, Lowering &b, Operand self,
                                  Operand low, Operand high) {
  Type compute = computeType(resultType(op).getElementType());
  SmallVector<Operand> operands = {self};
  for (const Operand &bound : {low, high})
    if (bound)
      operands.push_back(bound);
  return lowerFormula(op, b, operands, compute, [&](ArrayRef<Expr> in) {
    Expr x = in[0];
    if (low)
      x = isPlainBound(low) ? atLeast(x, in[1]) : max(x, in[1]);
    if (high)
      x = isPlainBound(high) ? atMost(x, in.back()) : min(x, in.back());
    return x;
  });
}

static LogicalResult lowerWhere(Operation *op, Lowering &b, Operand condition,
                                Operand yes, Operand no) {
  // Nothing is computed, so half types stay what they are.
  Type dtype = resultType(op).getElementType();
  return lowerFormula(op, b, {condition, yes, no}, {}, [&](ArrayRef<Expr> in) {
    return where(in[0].to(b.getI1Type()), in[1].to(dtype), in[2].to(dtype));
  });
}

void lowering::populatePointwiseLowerings(LoweringTable &table) {
  using namespace dynamo::aten;
  addScaled<AddOp>(table, [](Expr x, Expr y) { return x + y; });
  addScaled<SubOp>(table, [](Expr x, Expr y) { return x - y; });
  addScaled<RsubOp>(
      table, [](Expr x, Expr y) { return y - x; }, /*scaleSelf=*/true);
  addBinary<MulOp>(table, [](Expr x, Expr y) { return x * y; });
  addBinary<Atan2Op>(table, [](Expr y, Expr x) { return atan2(y, x); });
  addBinary<MaximumOp>(table, [](Expr x, Expr y) { return max(x, y); });
  addBinary<MinimumOp>(table, [](Expr x, Expr y) { return min(x, y); });
  addBinary<FmaxOp>(table, fmaxOf);
  addBinary<FminOp>(table, fminOf);
  addBinary<LogaddexpOp>(table, logaddexp);
  table.add<XlogyOp>(lowerXlogy);
  table.add<PowOp>(lowerPow);
  addFormula<LerpOp>(table, lerp);
  addFormula<AddcmulOp>(
      table, [](ArrayRef<Expr> in) { return in[0] + in[3] * in[1] * in[2]; });
  table.add<AddcdivOp>([](AddcdivOp op, Lowering &b) -> LogicalResult {
    if (!isFloat(dtypeOf(op.getResult())))
      return b.fail(op, "integer division");
    SmallVector<Operand> operands;
    for (Value operand : op->getOperands())
      operands.push_back(b.operand(operand));
    return lowerFormula(
        op, b, operands, computeType(dtypeOf(op.getResult())),
        [](ArrayRef<Expr> in) { return in[0] + in[3] * (in[1] / in[2]); });
  });

  addBinary<BitwiseAndOp>(table, [](Expr x, Expr y) { return x & y; });
  addBinary<BitwiseOrOp>(table, [](Expr x, Expr y) { return x | y; });
  addBinary<BitwiseXorOp>(table, [](Expr x, Expr y) { return x ^ y; });
  addShift<BitwiseLeftShiftOp>(table, shiftLeft);
  addShift<BitwiseRightShiftOp>(table, shiftRight);

  addComparison<EqOp>(table, [](Expr x, Expr y) { return x == y; });
  addComparison<NeOp>(table, [](Expr x, Expr y) { return x != y; });
  addComparison<LtOp>(table, [](Expr x, Expr y) { return x < y; });
  addComparison<LeOp>(table, [](Expr x, Expr y) { return x <= y; });
  addComparison<GtOp>(table, [](Expr x, Expr y) { return x > y; });
  addComparison<GeOp>(table, [](Expr x, Expr y) { return x >= y; });
  addLogical<LogicalAndOp>(table, [](Expr x, Expr y) { return x & y; });
  addLogical<LogicalOrOp>(table, [](Expr x, Expr y) { return x | y; });
  addLogical<LogicalXorOp>(table, [](Expr x, Expr y) { return x ^ y; });

  table.add<ClampOp>([](ClampOp op, Lowering &b) {
    return lowerClampTo(op, b, b.operand(op.getSelf()), b.operand(op.getMin()),
                        b.operand(op.getMax()));
  });
  table.add<ClampMinOp>([](ClampMinOp op, Lowering &b) {
    return lowerClampTo(op, b, b.operand(op.getSelf()), b.operand(op.getMin()),
                        {});
  });
  table.add<ClampMaxOp>([](ClampMaxOp op, Lowering &b) {
    return lowerClampTo(op, b, b.operand(op.getSelf()), {},
                        b.operand(op.getMax()));
  });
  table.add<WhereOp>([](WhereOp op, Lowering &b) {
    return lowerWhere(op, b, b.operand(op.getCondition()),
                      b.operand(op.getSelf()), b.operand(op.getOther()));
  });
  table.add<MaskedFillOp>([](MaskedFillOp op, Lowering &b) {
    return lowerWhere(op, b, b.operand(op.getMask()), b.operand(op.getValue()),
                      b.operand(op.getSelf()));
  });
}
