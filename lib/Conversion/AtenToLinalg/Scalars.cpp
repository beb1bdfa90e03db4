//===- Scalars.cpp - scalar code with torch's dtype rules
//---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scalar half of Utils.h: what bodies are made of. Everything is built with
// createOrFold, so that code on constants is a constant at once.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

Type lowering::storageType(Type dtype) {
  if (auto type = dyn_cast<IntegerType>(dtype)) {
    if (type.getWidth() == 1)
      return IntegerType::get(dtype.getContext(), 8);
    if (!type.isSignless())
      return IntegerType::get(dtype.getContext(), type.getWidth());
  }
  return dtype;
}

Type lowering::convertType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.clone(storageType(tensor.getElementType())) : type;
}

Type lowering::changedDtype(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor ||
      storageType(tensor.getElementType()) == tensor.getElementType())
    return {};
  return tensor.getElementType();
}

Type lowering::computeType(Type dtype) {
  return isHalf(dtype) ? Float32Type::get(dtype.getContext()) : dtype;
}

Type lowering::scalarType(Type dtype) {
  return isBool(dtype) ? dtype : storageType(dtype);
}

//===----------------------------------------------------------------------===//
// Promotion
//===----------------------------------------------------------------------===//

static Type promoteDtypes(Type a, Type b) {
  if (!a || !b || a == b)
    return a ? a : b;
  if (isBool(a) || isBool(b))
    return isBool(a) ? b : a;
  if (isFloat(a) != isFloat(b))
    return isFloat(a) ? a : b;
  unsigned widthA = a.getIntOrFloatBitWidth(),
           widthB = b.getIntOrFloatBitWidth();
  if (isFloat(a) && widthA == widthB)
    return Float32Type::get(a.getContext()); // f16 with bf16
  if (isUnsigned(a) != isUnsigned(b) && widthA == widthB)
    return IntegerType::get(a.getContext(), std::min(2 * widthA, 64u));
  return widthA > widthB ? a : b;
}

/// Combines a dtype of higher priority with one of lower: the lower counts only
/// if it is of a higher category (bool < integer < float).
static Type combine(Type higher, Type lower) {
  if (!higher || !lower)
    return higher ? higher : lower;
  if (isFloat(higher))
    return higher;
  if (isBool(higher) || isFloat(lower))
    return promoteDtypes(higher, lower);
  return higher;
}

Type lowering::promote(Operand a, Operand b) {
  Type dims, zeroDims, numbers;
  for (const Operand &operand : {a, b}) {
    Type dtype = operand.dtype;
    if (operand.isNumber()) {
      // A Python float has the default dtype.
      if (isFloat(dtype))
        dtype = Float32Type::get(dtype.getContext());
      numbers = promoteDtypes(numbers, dtype);
    } else if (operand.rank() == 0) {
      zeroDims = promoteDtypes(zeroDims, dtype);
    } else {
      dims = promoteDtypes(dims, dtype);
    }
  }
  return combine(dims, combine(zeroDims, numbers));
}

//===----------------------------------------------------------------------===//
// Constants and conversion
//===----------------------------------------------------------------------===//

Value lowering::floatConstant(Lowering &b, Type dtype, double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(dtype, value));
}

Value lowering::intConstant(Lowering &b, Type dtype, int64_t value) {
  Type type = scalarType(dtype);
  APInt bits(64, value, /*isSigned=*/true);
  return arith::ConstantOp::create(
      b, b.getIntegerAttr(type, bits.trunc(type.getIntOrFloatBitWidth())));
}

Value lowering::numberConstant(Lowering &b, Type dtype, double value) {
  return isFloat(dtype) ? floatConstant(b, dtype, value)
                        : intConstant(b, dtype, int64_t(value));
}

static Value extremeConstant(Lowering &b, Type dtype, bool highest) {
  if (auto type = dyn_cast<FloatType>(dtype))
    return arith::ConstantOp::create(
        b, b.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(),
                                                /*Negative=*/!highest)));
  unsigned width = dtype.getIntOrFloatBitWidth();
  bool isSigned = !isBool(dtype) && !isUnsigned(dtype);
  APInt value = highest ? (isSigned ? APInt::getSignedMaxValue(width)
                                    : APInt::getMaxValue(width))
                        : (isSigned ? APInt::getSignedMinValue(width)
                                    : APInt::getMinValue(width));
  return arith::ConstantOp::create(b,
                                   b.getIntegerAttr(scalarType(dtype), value));
}

Value lowering::lowestConstant(Lowering &b, Type dtype) {
  return extremeConstant(b, dtype, /*highest=*/false);
}

Value lowering::highestConstant(Lowering &b, Type dtype) {
  return extremeConstant(b, dtype, /*highest=*/true);
}

static Value resizeInt(Lowering &b, Value scalar, Type from, Type to) {
  unsigned widthFrom = scalar.getType().getIntOrFloatBitWidth();
  unsigned widthTo = to.getIntOrFloatBitWidth();
  Type type = scalarType(to);
  if (widthFrom == widthTo)
    return scalar;
  if (widthFrom > widthTo)
    return b.createOrFold<arith::TruncIOp>(type, scalar);
  if (isBool(from) || isUnsigned(from))
    return b.createOrFold<arith::ExtUIOp>(type, scalar);
  return b.createOrFold<arith::ExtSIOp>(type, scalar);
}

Value lowering::convertScalar(Lowering &b, Value scalar, Type from, Type to) {
  if (from == to)
    return scalar;
  Type f32 = b.getF32Type(), i32 = b.getI32Type();

  if (isBool(to)) {
    Value zero = numberConstant(b, from, 0);
    if (isFloat(from))
      return b.createOrFold<arith::CmpFOp>(arith::CmpFPredicate::UNE, scalar,
                                           zero);
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ne, scalar,
                                         zero);
  }

  if (isFloat(from) && isFloat(to)) {
    unsigned widthFrom = from.getIntOrFloatBitWidth();
    unsigned widthTo = to.getIntOrFloatBitWidth();
    // Eager's half types convert through float, also from double.
    bool viaF32 = (isHalf(from) && to != f32) || (isHalf(to) && from != f32);
    if (viaF32)
      return convertScalar(b, convertScalar(b, scalar, from, f32), f32, to);
    // The folder refuses to round constants.
    APFloat constant(0.0);
    if (matchPattern(scalar, m_ConstantFloat(&constant))) {
      bool lossy;
      constant.convert(cast<FloatType>(to).getFloatSemantics(),
                       APFloat::rmNearestTiesToEven, &lossy);
      return arith::ConstantOp::create(b, b.getFloatAttr(to, constant));
    }
    if (widthFrom < widthTo)
      return b.createOrFold<arith::ExtFOp>(to, scalar);
    return b.createOrFold<arith::TruncFOp>(to, scalar);
  }

  if (isFloat(to)) {
    if (isHalf(to))
      return convertScalar(b, convertScalar(b, scalar, from, f32), f32, to);
    if (isBool(from) || isUnsigned(from))
      return b.createOrFold<arith::UIToFPOp>(to, scalar);
    return b.createOrFold<arith::SIToFPOp>(to, scalar);
  }

  if (isFloat(from)) {
    if (isHalf(from))
      return convertScalar(b, convertScalar(b, scalar, from, f32), f32, to);
    // Narrow results go through i32, as a C++ compiler does it: a value out of
    // their range then wraps instead of being undefined.
    if (to.getIntOrFloatBitWidth() < 32)
      return resizeInt(b, b.createOrFold<arith::FPToSIOp>(i32, scalar), i32,
                       to);
    if (isUnsigned(to) && to.getIntOrFloatBitWidth() == 64)
      return b.createOrFold<arith::FPToUIOp>(scalarType(to), scalar);
    if (isUnsigned(to))
      return resizeInt(b,
                       b.createOrFold<arith::FPToSIOp>(b.getI64Type(), scalar),
                       b.getI64Type(), to);
    return b.createOrFold<arith::FPToSIOp>(to, scalar);
  }

  return resizeInt(b, scalar, from, to);
}

Value lowering::loadScalar(Lowering &b, Value stored, Type dtype) {
  if (!isBool(dtype) || stored.getType().isInteger(1))
    return stored;
  Type i8 = b.getI8Type();
  return convertScalar(b, stored, i8, dtype);
}

Value lowering::storeScalar(Lowering &b, Value scalar, Type dtype) {
  return isBool(dtype) ? resizeInt(b, scalar, dtype, b.getI8Type()) : scalar;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value lowering::addScalar(Lowering &b, Type dtype, Value x, Value y) {
  if (isFloat(dtype))
    return b.createOrFold<arith::AddFOp>(x, y);
  if (isBool(dtype))
    return b.createOrFold<arith::OrIOp>(x, y);
  return b.createOrFold<arith::AddIOp>(x, y);
}

Value lowering::subScalar(Lowering &b, Type dtype, Value x, Value y) {
  if (isFloat(dtype))
    return b.createOrFold<arith::SubFOp>(x, y);
  return b.createOrFold<arith::SubIOp>(x, y);
}

Value lowering::mulScalar(Lowering &b, Type dtype, Value x, Value y) {
  if (isFloat(dtype))
    return b.createOrFold<arith::MulFOp>(x, y);
  if (isBool(dtype))
    return b.createOrFold<arith::AndIOp>(x, y);
  return b.createOrFold<arith::MulIOp>(x, y);
}

Value lowering::maxScalar(Lowering &b, Type dtype, Value x, Value y) {
  if (isFloat(dtype))
    return b.createOrFold<arith::MaximumFOp>(x, y);
  if (isBool(dtype) || isUnsigned(dtype))
    return b.createOrFold<arith::MaxUIOp>(x, y);
  return b.createOrFold<arith::MaxSIOp>(x, y);
}

Value lowering::minScalar(Lowering &b, Type dtype, Value x, Value y) {
  if (isFloat(dtype))
    return b.createOrFold<arith::MinimumFOp>(x, y);
  if (isBool(dtype) || isUnsigned(dtype))
    return b.createOrFold<arith::MinUIOp>(x, y);
  return b.createOrFold<arith::MinSIOp>(x, y);
}

Value lowering::compareScalar(Lowering &b, Compare kind, Type dtype, Value x,
                              Value y) {
  if (isFloat(dtype)) {
    static const arith::CmpFPredicate predicates[] = {
        arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
        arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
        arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return b.createOrFold<arith::CmpFOp>(predicates[int(kind)], x, y);
  }
  static const arith::CmpIPredicate signedPredicates[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
      arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  static const arith::CmpIPredicate unsignedPredicates[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::ult, arith::CmpIPredicate::ule,
      arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  bool useUnsigned = isBool(dtype) || isUnsigned(dtype);
  return b.createOrFold<arith::CmpIOp>(
      useUnsigned ? unsignedPredicates[int(kind)] : signedPredicates[int(kind)],
      x, y);
}

Value lowering::isNanScalar(Lowering &b, Type dtype, Value x) {
  if (!isFloat(dtype))
    return intConstant(b, b.getI1Type(), 0);
  return b.createOrFold<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
}

Value lowering::select(Lowering &b, Value condition, Value yes, Value no) {
  return b.createOrFold<arith::SelectOp>(condition, yes, no);
}
