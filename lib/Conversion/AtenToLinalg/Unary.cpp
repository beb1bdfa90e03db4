//===- Unary.cpp - lower elementwise functions of one tensor
//------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions f(self), and copies that change dtype. erfc, which needs its own
// approximation, has no lowering: 1 - erf(x) would cancel.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Expr.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

/// A rounding function: the identity on integers and bool.
template <typename OpT>
static void addRounding(LoweringTable &table, Expr (*round)(Expr)) {
  table.add<OpT>([round](OpT op, Lowering &b) -> LogicalResult {
    Type dtype = dtypeOf(op.getSelf());
    if (!isFloat(dtype))
      return b.replace(op, b.get(op.getSelf()));
    return lowerFormula(op, b, b.operand(op.getSelf()), computeType(dtype),
                        [&](ArrayRef<Expr> in) { return round(in[0]); });
  });
}

/// A predicate on the operand as it is (half types in f32), result bool.
template <typename OpT>
static void addPredicate(LoweringTable &table, Expr (*predicate)(Expr)) {
  table.add<OpT>([predicate](OpT op, Lowering &b) {
    return lowerFormula(op, b, b.operand(op.getSelf()),
                        computeType(dtypeOf(op.getSelf())),
                        [&](ArrayRef<Expr> in) { return predicate(in[0]); });
  });
}

static Expr boolean(Expr x, bool value) {
  return {x.b(), x.b().getI1Type(),
          intConstant(x.b(), x.b().getI1Type(), value)};
}

static Expr isInfinite(Expr x) {
  return isFloat(x.dtype()) ? abs(x) == x.highest() : boolean(x, false);
}

static Expr isFinite(Expr x) {
  return isFloat(x.dtype()) ? abs(x) < x.highest() : boolean(x, true);
}

static Expr signOf(Expr x) {
  if (isBool(x.dtype()))
    return x;
  Expr zero = x.constant(0), one = x.constant(1);
  if (isUnsigned(x.dtype()))
    return where(x != 0.0, one, zero);
  return where(x > 0.0, one, zero) - where(x < 0.0, one, zero);
}

static LogicalResult lowerRound(aten::RoundOp op, Lowering &b) {
  Type dtype = dtypeOf(op.getSelf());
  int64_t decimals = op.getDecimals();
  if (!isFloat(dtype)) {
    if (decimals < 0)
      return b.fail(op, "round of integers to tens");
    return b.replace(op, b.get(op.getSelf()));
  }
  double scale = std::pow(10.0, double(std::abs(decimals)));
  return lowerFormula(op, b, b.operand(op.getSelf()), computeType(dtype),
                      [&](ArrayRef<Expr> in) {
                        if (decimals > 0)
                          return roundEven(in[0] * scale) / scale;
                        if (decimals < 0)
                          return roundEven(in[0] / scale) * scale;
                        return roundEven(in[0]);
                      });
}

static LogicalResult lowerNanToNum(aten::NanToNumOp op, Lowering &b) {
  auto dtype = dyn_cast<FloatType>(dtypeOf(op.getSelf()));
  if (!dtype)
    return b.replace(op, b.get(op.getSelf()));
  APFloat largest = APFloat::getLargest(dtype.getFloatSemantics());
  bool lossy;
  largest.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
  double highest = largest.convertToDouble();
  auto number = [](std::optional<APFloat> given, double otherwise) {
    return given ? given->convertToDouble() : otherwise;
  };
  double nan = number(op.getNan(), 0.0);
  double posinf = number(op.getPosinf(), highest);
  double neginf = number(op.getNeginf(), -highest);
  return lowerFormula(op, b, b.operand(op.getSelf()), computeType(dtype),
                      [&](ArrayRef<Expr> in) {
                        Expr x = in[0];
                        Expr r = where(isNan(x), x.constant(nan), x);
                        r = where(x == x.highest(), x.constant(posinf), r);
                        return where(x == x.lowest(), x.constant(neginf), r);
                      });
}

void lowering::populateUnaryLowerings(LoweringTable &table) {
  using namespace dynamo::aten;
  addUnary<AbsOp>(table, [](Expr x) { return abs(x); });
  addUnary<AcosOp>(table, [](Expr x) { return acos(x); });
  addUnary<AcoshOp>(table, [](Expr x) { return acosh(x); });
  addUnary<AsinOp>(table, [](Expr x) { return asin(x); });
  addUnary<AsinhOp>(table, [](Expr x) { return asinh(x); });
  addUnary<AtanOp>(table, [](Expr x) { return atan(x); });
  addUnary<AtanhOp>(table, [](Expr x) { return atanh(x); });
  addUnary<CosOp>(table, [](Expr x) { return cos(x); });
  addUnary<CoshOp>(table, [](Expr x) { return cosh(x); });
  addUnary<ErfOp>(table, [](Expr x) { return erf(x); });
  addUnary<ExpOp>(table, [](Expr x) { return exp(x); });
  addUnary<Exp2Op>(table, [](Expr x) { return exp2(x); });
  addUnary<Expm1Op>(table, [](Expr x) { return expm1(x); });
  addUnary<FracOp>(table, [](Expr x) { return x - trunc(x); });
  addUnary<LogOp>(table, [](Expr x) { return log(x); });
  addUnary<Log10Op>(table, [](Expr x) { return log10(x); });
  addUnary<Log1pOp>(table, [](Expr x) { return log1p(x); });
  addUnary<Log2Op>(table, [](Expr x) { return log2(x); });
  addUnary<NegOp>(table, [](Expr x) { return -x; });
  addUnary<ReciprocalOp>(table, [](Expr x) { return 1.0 / x; });
  // Not math.rsqrt: eager divides, and both steps are correctly rounded.
  addUnary<RsqrtOp>(table, [](Expr x) { return 1.0 / sqrt(x); });
  addUnary<SigmoidOp>(table, [](Expr x) { return sigmoid(x); });
  addUnary<SignOp>(table, signOf);
  addUnary<SinOp>(table, [](Expr x) { return sin(x); });
  addUnary<SinhOp>(table, [](Expr x) { return sinh(x); });
  addUnary<SqrtOp>(table, [](Expr x) { return sqrt(x); });
  addUnary<TanOp>(table, [](Expr x) { return tan(x); });
  addUnary<TanhOp>(table, [](Expr x) { return tanh(x); });
  addUnary<BitwiseNotOp>(table, [](Expr x) { return !x; });

  addRounding<CeilOp>(table, [](Expr x) { return ceil(x); });
  addRounding<FloorOp>(table, [](Expr x) { return floor(x); });
  addRounding<TruncOp>(table, [](Expr x) { return trunc(x); });
  table.add<RoundOp>(lowerRound);

  addPredicate<LogicalNotOp>(table, [](Expr x) { return x == 0.0; });
  addPredicate<IsnanOp>(table, [](Expr x) { return isNan(x); });
  addPredicate<IsinfOp>(table, isInfinite);
  addPredicate<IsfiniteOp>(table, isFinite);
  table.add<NanToNumOp>(lowerNanToNum);

  table.add<ToCopyOp>([](ToCopyOp op, Lowering &b) {
    return b.replace(
        op, convertTensor(b, b.operand(op.getSelf()), dtypeOf(op.getResult())));
  });
  table.add<AliasOp>([](AliasOp op, Lowering &b) {
    return b.replace(op, b.get(op.getSelf()));
  });
  table.add<CopyOp>([](CopyOp op, Lowering &b) -> LogicalResult {
    Operand src = b.operand(op.getSrc());
    auto type = cast<RankedTensorType>(op.getResult().getType());
    if (src.type().getShape() == type.getShape() && type.hasStaticShape())
      return b.replace(op, convertTensor(b, src, type.getElementType()));
    if (!type.hasStaticShape())
      return b.fail(op, "copy to a tensor of dynamic size");
    return lowerFormula(op, b, src, {},
                        [](ArrayRef<Expr> in) { return in[0]; });
  });
}
