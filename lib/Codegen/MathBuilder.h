//===- MathBuilder.h - Arithmetic on f32 scalars or vectors ---- C++ -*----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Short names for what expansions of math functions are made of.  All values
// have the shape of one type: f32 or a vector of it, with i32 and i1 beside.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_MATHBUILDER_H
#define DYNAMO_LIB_CODEGEN_MATHBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace dynamo::codegen {

class MathBuilder {
public:
  using Value = mlir::Value;

  /// `type` is f32 or a vector of it. Without `fma` a product is rounded before
  /// it is added.
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
              bool fma)
      : b(builder), loc(loc), shape(type), fused(fma) {}

  bool isFused() const { return fused; }
  Value f(float value) { return splat(b.getF32FloatAttr(value)); }
  Value i(int32_t value) { return splat(b.getI32IntegerAttr(value)); }

  Value add(Value x, Value y) { return op<mlir::arith::AddFOp>(x, y); }
  Value sub(Value x, Value y) { return op<mlir::arith::SubFOp>(x, y); }
  Value mul(Value x, Value y) { return op<mlir::arith::MulFOp>(x, y); }
  Value div(Value x, Value y) { return op<mlir::arith::DivFOp>(x, y); }
  Value neg(Value x) { return mlir::arith::NegFOp::create(b, loc, x); }
  Value abs(Value x) { return mlir::math::AbsFOp::create(b, loc, x); }
  Value sqrt(Value x) { return mlir::math::SqrtOp::create(b, loc, x); }
  Value copysign(Value magnitude, Value sign) {
    return mlir::math::CopySignOp::create(b, loc, magnitude, sign);
  }
  /// x * y + z.
  Value fma(Value x, Value y, Value z) {
    if (!fused)
      return add(mul(x, y), z);
    return mlir::math::FmaOp::create(b, loc, x, y, z);
  }
  /// Horner: coefficients from the lowest power up.
  Value poly(Value x, llvm::ArrayRef<float> coefficients) {
    Value value = f(coefficients.back());
    for (float c : llvm::reverse(coefficients.drop_back()))
      value = fma(value, x, f(c));
    return value;
  }

  Value addi(Value x, Value y) { return op<mlir::arith::AddIOp>(x, y); }
  Value subi(Value x, Value y) { return op<mlir::arith::SubIOp>(x, y); }
  Value andi(Value x, Value y) { return op<mlir::arith::AndIOp>(x, y); }
  Value xori(Value x, Value y) { return op<mlir::arith::XOrIOp>(x, y); }
  Value maxi(Value x, Value y) { return op<mlir::arith::MaxSIOp>(x, y); }
  Value shl(Value x, int n) { return op<mlir::arith::ShLIOp>(x, i(n)); }
  Value sra(Value x, int n) { return op<mlir::arith::ShRSIOp>(x, i(n)); }

  Value toBits(Value x) {
    return cast<mlir::arith::BitcastOp>(x, b.getI32Type());
  }
  Value fromBits(Value x) {
    return cast<mlir::arith::BitcastOp>(x, b.getF32Type());
  }
  Value toFloat(Value x) {
    return cast<mlir::arith::SIToFPOp>(x, b.getF32Type());
  }

  Value select(Value c, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, loc, c, x, y);
  }
  /// Ordered comparisons: false for NaN.
  Value lt(Value x, Value y) {
    return cmp(mlir::arith::CmpFPredicate::OLT, x, y);
  }
  Value gt(Value x, Value y) {
    return cmp(mlir::arith::CmpFPredicate::OGT, x, y);
  }
  Value ge(Value x, Value y) {
    return cmp(mlir::arith::CmpFPredicate::OGE, x, y);
  }
  Value eq(Value x, Value y) {
    return cmp(mlir::arith::CmpFPredicate::OEQ, x, y);
  }
  Value eqi(Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::eq,
                                       x, y);
  }
  /// NaN stays NaN.
  Value clampAbove(Value x, float limit) {
    return select(gt(x, f(limit)), f(limit), x);
  }
  Value clampBelow(Value x, float limit) {
    return select(lt(x, f(limit)), f(limit), x);
  }
  /// x * 2^n for |n| <= 252, in two steps: 2^n itself may not be a float.
  Value scale(Value x, Value n) {
    Value half = sra(n, 1);
    Value rest = subi(n, half);
    return mul(mul(x, pow2(half)), pow2(rest));
  }
  /// 2^n for -127 < n < 128.
  Value pow2(Value n) { return fromBits(shl(addi(n, i(127)), 23)); }

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  mlir::Type withElement(mlir::Type element) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Value splat(mlir::TypedAttr value) {
    mlir::Type type = withElement(value.getType());
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      value = mlir::DenseElementsAttr::get(vector, mlir::Attribute(value));
    return mlir::arith::ConstantOp::create(b, loc, value);
  }
  template <typename Op> Value op(Value x, Value y) {
    return Op::create(b, loc, x, y);
  }
  template <typename Op> Value cast(Value x, mlir::Type element) {
    return Op::create(b, loc, withElement(element), x);
  }
  Value cmp(mlir::arith::CmpFPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, loc, predicate, x, y);
  }

  mlir::Type shape;
  bool fused;
};

} // namespace dynamo::codegen

#endif // DYNAMO_LIB_CODEGEN_MATHBUILDER_H
