//===- Expr.cpp - formulas of bodies, written as formulas
//---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Expr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

/// The result of a scalar helper, with x's dtype.
static Expr like(Expr x, Value value) { return {x.b(), x.dtype(), value}; }

static Expr compare(Compare kind, Expr x, Expr y) {
  return {x.b(), x.b().getI1Type(),
          compareScalar(x.b(), kind, x.dtype(), x, y)};
}

template <typename MathOp> static Expr math1(Expr x) {
  return like(x, MathOp::create(x.b(), x.value()));
}

template <typename MathOp> static Expr math2(Expr x, Expr y) {
  return like(x, MathOp::create(x.b(), x.value(), y.value()));
}

Expr lowering::operator+(Expr x, Expr y) {
  return like(x, addScalar(x.b(), x.dtype(), x, y));
}
Expr lowering::operator-(Expr x, Expr y) {
  return like(x, subScalar(x.b(), x.dtype(), x, y));
}
Expr lowering::operator*(Expr x, Expr y) {
  return like(x, mulScalar(x.b(), x.dtype(), x, y));
}
Expr lowering::operator/(Expr x, Expr y) {
  return like(x, x.b().createOrFold<arith::DivFOp>(x.value(), y.value()));
}
Expr lowering::operator-(Expr x) {
  if (isFloat(x.dtype()))
    return like(x, x.b().createOrFold<arith::NegFOp>(x.value()));
  return x.constant(0) - x;
}

Expr lowering::operator<(Expr x, Expr y) { return compare(Compare::Lt, x, y); }
Expr lowering::operator<=(Expr x, Expr y) { return compare(Compare::Le, x, y); }
Expr lowering::operator>(Expr x, Expr y) { return compare(Compare::Gt, x, y); }
Expr lowering::operator>=(Expr x, Expr y) { return compare(Compare::Ge, x, y); }
Expr lowering::operator==(Expr x, Expr y) { return compare(Compare::Eq, x, y); }
Expr lowering::operator!=(Expr x, Expr y) { return compare(Compare::Ne, x, y); }

Expr lowering::operator&(Expr x, Expr y) {
  return like(x, x.b().createOrFold<arith::AndIOp>(x.value(), y.value()));
}
Expr lowering::operator|(Expr x, Expr y) {
  return like(x, x.b().createOrFold<arith::OrIOp>(x.value(), y.value()));
}
Expr lowering::operator^(Expr x, Expr y) {
  return like(x, x.b().createOrFold<arith::XOrIOp>(x.value(), y.value()));
}
Expr lowering::operator!(Expr x) {
  return x ^ like(x, intConstant(x.b(), x.dtype(), -1));
}

Expr lowering::where(Expr condition, Expr yes, Expr no) {
  return like(yes, select(yes.b(), condition, yes, no));
}
Expr lowering::max(Expr x, Expr y) {
  return like(x, maxScalar(x.b(), x.dtype(), x, y));
}
Expr lowering::min(Expr x, Expr y) {
  return like(x, minScalar(x.b(), x.dtype(), x, y));
}
Expr lowering::isNan(Expr x) {
  return {x.b(), x.b().getI1Type(), isNanScalar(x.b(), x.dtype(), x)};
}

Expr lowering::abs(Expr x) {
  if (isFloat(x.dtype()))
    return math1<math::AbsFOp>(x);
  if (isBool(x.dtype()) || isUnsigned(x.dtype()))
    return x;
  return max(x, -x);
}
Expr lowering::floor(Expr x) { return math1<math::FloorOp>(x); }
Expr lowering::ceil(Expr x) { return math1<math::CeilOp>(x); }
Expr lowering::trunc(Expr x) { return math1<math::TruncOp>(x); }
Expr lowering::roundEven(Expr x) { return math1<math::RoundEvenOp>(x); }
Expr lowering::sqrt(Expr x) { return math1<math::SqrtOp>(x); }
Expr lowering::exp(Expr x) { return math1<math::ExpOp>(x); }
Expr lowering::exp2(Expr x) { return math1<math::Exp2Op>(x); }
Expr lowering::expm1(Expr x) { return math1<math::ExpM1Op>(x); }
Expr lowering::log(Expr x) { return math1<math::LogOp>(x); }
Expr lowering::log2(Expr x) { return math1<math::Log2Op>(x); }
Expr lowering::log10(Expr x) { return math1<math::Log10Op>(x); }
Expr lowering::log1p(Expr x) { return math1<math::Log1pOp>(x); }
Expr lowering::sin(Expr x) { return math1<math::SinOp>(x); }
Expr lowering::cos(Expr x) { return math1<math::CosOp>(x); }
Expr lowering::tan(Expr x) { return math1<math::TanOp>(x); }
Expr lowering::asin(Expr x) { return math1<math::AsinOp>(x); }
Expr lowering::acos(Expr x) { return math1<math::AcosOp>(x); }
Expr lowering::atan(Expr x) { return math1<math::AtanOp>(x); }
Expr lowering::sinh(Expr x) { return math1<math::SinhOp>(x); }
Expr lowering::cosh(Expr x) { return math1<math::CoshOp>(x); }
Expr lowering::tanh(Expr x) { return math1<math::TanhOp>(x); }
Expr lowering::asinh(Expr x) { return math1<math::AsinhOp>(x); }
Expr lowering::acosh(Expr x) { return math1<math::AcoshOp>(x); }
Expr lowering::atanh(Expr x) { return math1<math::AtanhOp>(x); }
Expr lowering::erf(Expr x) { return math1<math::ErfOp>(x); }
Expr lowering::atan2(Expr y, Expr x) { return math2<math::Atan2Op>(y, x); }
Expr lowering::pow(Expr x, Expr y) { return math2<math::PowFOp>(x, y); }
Expr lowering::copysign(Expr magnitude, Expr sign) {
  return math2<math::CopySignOp>(magnitude, sign);
}
Expr lowering::fmod(Expr x, Expr y) { return math2<arith::RemFOp>(x, y); }
Expr lowering::sigmoid(Expr x) { return 1.0 / (1.0 + exp(-x)); }

LogicalResult
lowering::lowerFormula(Operation *op, Lowering &b, ArrayRef<Operand> operands,
                       Type compute,
                       function_ref<Expr(ArrayRef<Expr>)> formula) {
  RankedTensorType type = resultType(op);
  Type dtype = type.getElementType();
  return b.replace(
      op,
      elementwise(
          b, operands, type, compute,
          [&](ArrayRef<Value> in) -> Value {
            SmallVector<Expr> scalars;
            for (auto [scalar, operand] : llvm::zip_equal(in, operands))
              scalars.push_back({b, compute ? compute : operand.dtype, scalar});
            return formula(scalars).to(dtype);
          },
          dtype));
}

LogicalResult lowering::lowerFormulaRoundingNumbers(
    Operation *op, Lowering &b, ArrayRef<Operand> operands,
    function_ref<Expr(ArrayRef<Expr>)> formula) {
  Type dtype = resultType(op).getElementType(), compute = computeType(dtype);
  return lowerFormula(op, b, operands, {}, [&](ArrayRef<Expr> in) {
    SmallVector<Expr> scalars;
    for (auto [scalar, operand] : llvm::zip_equal(in, operands))
      scalars.push_back(operand.isNumber() ? scalar.to(dtype).to(compute)
                                           : scalar.to(compute));
    return formula(scalars);
  });
}
