//===- Expr.h - formulas of bodies, written as formulas
//-----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scalar with its dtype and operators, so that a lowering reads like the
// definition of the operation: `0.5 * x * (1.0 + erf(x * M_SQRT1_2))`. Each
// operator builds one op; nothing is reordered or contracted.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CONVERSION_ATENTOLINALG_EXPR_H
#define DYNAMO_CONVERSION_ATENTOLINALG_EXPR_H

#include "dynamo/Conversion/AtenToLinalg/Utils.h"

namespace dynamo::lowering {

/// A scalar of a body. Copies are cheap.
class Expr {
public:
  Expr(Lowering &b, Type dtype, Value value)
      : builder(&b), type(dtype), scalar(value) {}

  operator Value() const { return scalar; }
  Value value() const { return scalar; }
  Type dtype() const { return type; }
  Lowering &b() const { return *builder; }

  /// A number of the same dtype.
  Expr constant(double number) const {
    return {*builder, type, numberConstant(*builder, type, number)};
  }
  Expr lowest() const {
    return {*builder, type, lowestConstant(*builder, type)};
  }
  Expr highest() const {
    return {*builder, type, highestConstant(*builder, type)};
  }
  Expr to(Type dtype) const {
    return {*builder, dtype, convertScalar(*builder, scalar, type, dtype)};
  }

  /// Rounded to `dtype` as an op of eager's that ends here would: the same
  /// unless `dtype` is a half type.
  Expr rounded(Type dtype) const { return to(dtype).to(type); }

private:
  Lowering *builder;
  Type type;
  Value scalar;
};

Expr operator+(Expr x, Expr y);
Expr operator-(Expr x, Expr y);
Expr operator*(Expr x, Expr y);
/// Floats only: integer division traps on zero.
Expr operator/(Expr x, Expr y);
Expr operator-(Expr x);
/// bool
Expr operator<(Expr x, Expr y);
Expr operator<=(Expr x, Expr y);
Expr operator>(Expr x, Expr y);
Expr operator>=(Expr x, Expr y);
Expr operator==(Expr x, Expr y);
Expr operator!=(Expr x, Expr y);
/// Bitwise on integers, logical on bool.
Expr operator&(Expr x, Expr y);
Expr operator|(Expr x, Expr y);
Expr operator^(Expr x, Expr y);
Expr operator!(Expr x);

#define DYNAMO_EXPR_NUMBER(op)                                                 \
  inline Expr operator op(Expr x, double y) { return x op x.constant(y); }     \
  inline Expr operator op(double x, Expr y) { return y.constant(x) op y; }
DYNAMO_EXPR_NUMBER(+)
DYNAMO_EXPR_NUMBER(-)
DYNAMO_EXPR_NUMBER(*)
DYNAMO_EXPR_NUMBER(/)
DYNAMO_EXPR_NUMBER(<)
DYNAMO_EXPR_NUMBER(<=)
DYNAMO_EXPR_NUMBER(>)
DYNAMO_EXPR_NUMBER(>=)
DYNAMO_EXPR_NUMBER(==)
DYNAMO_EXPR_NUMBER(!=)
#undef DYNAMO_EXPR_NUMBER

/// yes where `condition` (bool), else no.
Expr where(Expr condition, Expr yes, Expr no);
/// nan propagates; of two zeros either.
Expr max(Expr x, Expr y);
Expr min(Expr x, Expr y);
/// x unless it is below (above) the bound; a nan in x stays, a nan bound has no
/// effect. One instruction on most machines, where max with nan is several.
inline Expr atLeast(Expr x, Expr bound) { return where(x < bound, bound, x); }
inline Expr atMost(Expr x, Expr bound) { return where(x > bound, bound, x); }
Expr isNan(Expr x);

// Floats. Named as in the math dialect.
Expr abs(Expr x); ///< also integers (the lowest wraps) and bool
Expr floor(Expr x);
Expr ceil(Expr x);
Expr trunc(Expr x);
Expr roundEven(Expr x);
Expr sqrt(Expr x);
Expr exp(Expr x);
Expr exp2(Expr x);
Expr expm1(Expr x);
Expr log(Expr x);
Expr log2(Expr x);
Expr log10(Expr x);
Expr log1p(Expr x);
Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr tanh(Expr x);
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);
Expr erf(Expr x);
Expr atan2(Expr y, Expr x);
Expr pow(Expr x, Expr y);
Expr copysign(Expr magnitude, Expr sign);
/// C's fmod: the sign is x's.
Expr fmod(Expr x, Expr y);
/// 1 / (1 + exp(-x))
Expr sigmoid(Expr x);

//===----------------------------------------------------------------------===//
// Pointwise ops by formula
//===----------------------------------------------------------------------===//

/// The P1 type of the op's first result.
inline RankedTensorType resultType(mlir::Operation *op) {
  return llvm::cast<RankedTensorType>(op->getResult(0).getType());
}

/// Lowers `op` (one result) to one elementwise generic over `operands`, which
/// are converted to `compute` (left as they are if null); the formula's dtype
/// is converted to the result's.
LogicalResult lowerFormula(mlir::Operation *op, Lowering &b,
                           ArrayRef<Operand> operands, Type compute,
                           llvm::function_ref<Expr(ArrayRef<Expr>)> formula);

/// The same computed in the compute type of the result, with numbers first
/// rounded to the result's dtype: what eager does where it makes a tensor of
/// the number.
LogicalResult
lowerFormulaRoundingNumbers(mlir::Operation *op, Lowering &b,
                            ArrayRef<Operand> operands,
                            llvm::function_ref<Expr(ArrayRef<Expr>)> formula);

/// Registers `OpT` with a formula over all its operands, computed in the
/// compute type of the result.
template <typename OpT>
void addFormula(LoweringTable &table, Expr (*formula)(ArrayRef<Expr>)) {
  table.add<OpT>([formula](OpT op, Lowering &b) {
    SmallVector<Operand> operands;
    for (Value operand : op->getOperands())
      operands.push_back(b.operand(operand));
    return lowerFormula(op, b, operands, computeType(dtypeOf(op->getResult(0))),
                        formula);
  });
}

template <typename OpT>
void addUnary(LoweringTable &table, Expr (*formula)(Expr)) {
  table.add<OpT>([formula](OpT op, Lowering &b) {
    return lowerFormula(op, b, b.operand(op->getOperand(0)),
                        computeType(dtypeOf(op->getResult(0))),
                        [&](ArrayRef<Expr> in) { return formula(in[0]); });
  });
}

template <typename OpT>
void addBinary(LoweringTable &table, Expr (*formula)(Expr, Expr)) {
  table.add<OpT>([formula](OpT op, Lowering &b) {
    SmallVector<Operand> operands = {b.operand(op->getOperand(0)),
                                     b.operand(op->getOperand(1))};
    return lowerFormula(
        op, b, operands, computeType(dtypeOf(op->getResult(0))),
        [&](ArrayRef<Expr> in) { return formula(in[0], in[1]); });
  });
}

} // namespace dynamo::lowering

#endif // DYNAMO_CONVERSION_ATENTOLINALG_EXPR_H
