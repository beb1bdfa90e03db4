//===- Factory.cpp - lower ops that make tensors from numbers
//-----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constant tensors are a linalg.fill, which the readers' bodies take as a
// constant; sequences are generics without inputs.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Expr.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

/// Sizes of the op's result; dynamic ones are those of `like`.
static FailureOr<SmallVector<OpFoldResult>>
sizesOfResult(Operation *op, Lowering &b, Value like = {}) {
  RankedTensorType type = resultType(op);
  if (like &&
      cast<RankedTensorType>(like.getType()).getShape() == type.getShape())
    return sizesOf(b, like);
  if (!type.hasStaticShape())
    return b.fail(op, "dynamic size");
  return getAsIndexOpFoldResult(b.getContext(), type.getShape());
}

/// A result that holds `number` throughout.
static LogicalResult lowerFull(Operation *op, Lowering &b, Operand number,
                               Value like = {}) {
  Type dtype = resultType(op).getElementType();
  FailureOr<SmallVector<OpFoldResult>> sizes = sizesOfResult(op, b, like);
  if (failed(sizes))
    return failure();
  Value scalar = convertScalar(b, number.value, number.dtype, dtype);
  return b.replace(op, filledTensor(b, *sizes, dtype, scalar));
}

static LogicalResult lowerConstant(Operation *op, Lowering &b, double number,
                                   Value like = {}) {
  Type i64 = b.getI64Type();
  return lowerFull(op, b, {intConstant(b, i64, int64_t(number)), i64}, like);
}

/// A tensor of rank 1 made of an element's position (an i64).
static LogicalResult lowerSequence(Operation *op, Lowering &b,
                                   function_ref<Expr(Expr)> formula) {
  Type dtype = resultType(op).getElementType(), i64 = b.getI64Type();
  FailureOr<SmallVector<OpFoldResult>> sizes = sizesOfResult(op, b);
  if (failed(sizes))
    return failure();
  return b.replace(
      op, parallel(b, {}, *sizes, dtype,
                   [&](ArrayRef<Value>) -> SmallVector<Value> {
                     Value index = linalg::IndexOp::create(b, 0);
                     Value position = arith::IndexCastOp::create(b, i64, index);
                     return {formula(Expr(b, i64, position)).to(dtype)};
                   })
              .front());
}

static Expr scalarOf(Lowering &b, Operand number, Type dtype) {
  return Expr(b, number.dtype, number.value).to(dtype);
}

static LogicalResult lowerArange(aten::ArangeOp op, Lowering &b) {
  Type dtype = dtypeOf(op.getResult());
  // As eager's kernel: floats in double, integers in 64 bits.
  Type compute = isFloat(dtype) ? Type(b.getF64Type()) : Type(b.getI64Type());
  Expr start = scalarOf(b, b.operand(op.getStart()), compute);
  Expr step = scalarOf(b, b.operand(op.getStep()), compute);
  return lowerSequence(op, b, [&](Expr position) {
    return start + position.to(compute) * step;
  });
}

static LogicalResult lowerLinspace(aten::LinspaceOp op, Lowering &b) {
  Type dtype = dtypeOf(op.getResult()), f64 = b.getF64Type();
  std::optional<double> start = knownNumber(b.operand(op.getStart()));
  std::optional<double> end = knownNumber(b.operand(op.getEnd()));
  if (!start || !end)
    return b.fail(op, "the ends are not constants");
  int64_t steps = op.getSteps();
  // From both ends, so that the last one is exact.
  return lowerSequence(op, b, [&](Expr position) {
    Type compute = isFloat(dtype) ? computeType(dtype) : f64;
    Expr x = position.to(compute);
    Expr first = x.constant(*start), last = x.constant(*end);
    if (steps == 1)
      return first;
    Expr step = (last - first) / double(steps - 1);
    return where(position < double(steps / 2), first + step * x,
                 last - step * (x.constant(double(steps - 1)) - x));
  });
}

static LogicalResult lowerEye(aten::EyeOp op, Lowering &b) {
  Type dtype = dtypeOf(op.getResult()), i1 = b.getI1Type();
  FailureOr<SmallVector<OpFoldResult>> sizes = sizesOfResult(op, b);
  if (failed(sizes))
    return failure();
  return b.replace(op, parallel(b, {}, *sizes, dtype,
                                [&](ArrayRef<Value>) -> SmallVector<Value> {
                                  Value row = linalg::IndexOp::create(b, 0);
                                  Value column = linalg::IndexOp::create(b, 1);
                                  Value same = arith::CmpIOp::create(
                                      b, arith::CmpIPredicate::eq, row, column);
                                  return {convertScalar(b, same, i1, dtype)};
                                })
                           .front());
}

static LogicalResult lowerFillOp(aten::FillOp op, Lowering &b) {
  Operand value = b.operand(op.getValue());
  if (value.isNumber())
    return lowerFull(op, b, value, b.get(op.getSelf()));
  FailureOr<SmallVector<OpFoldResult>> sizes =
      sizesOfResult(op, b, b.get(op.getSelf()));
  if (failed(sizes))
    return failure();
  Type dtype = dtypeOf(op.getResult());
  Input input{value, broadcastMap(b.getContext(), value.shape(),
                                  resultType(op).getShape())};
  return b.replace(
      op, parallel(b, input, *sizes, dtype,
                   [&](ArrayRef<Value> in) -> SmallVector<Value> {
                     return {convertScalar(b, in[0], value.dtype, dtype)};
                   })
              .front());
}

void lowering::populateFactoryLowerings(LoweringTable &table) {
  using namespace dynamo::aten;
  table.add<FullOp>([](FullOp op, Lowering &b) {
    return lowerFull(op, b, b.operand(op.getFillValue()));
  });
  table.add<FullLikeOp>([](FullLikeOp op, Lowering &b) {
    return lowerFull(op, b, b.operand(op.getFillValue()), b.get(op.getSelf()));
  });
  table.add<ScalarTensorOp>([](ScalarTensorOp op, Lowering &b) {
    return lowerFull(op, b, b.operand(op.getS()));
  });
  table.add<FillOp>(lowerFillOp);
  table.add<ZerosOp>(
      [](ZerosOp op, Lowering &b) { return lowerConstant(op, b, 0); });
  table.add<ZerosLikeOp>([](ZerosLikeOp op, Lowering &b) {
    return lowerConstant(op, b, 0, b.get(op.getSelf()));
  });
  table.add<OnesOp>(
      [](OnesOp op, Lowering &b) { return lowerConstant(op, b, 1); });
  table.add<OnesLikeOp>([](OnesLikeOp op, Lowering &b) {
    return lowerConstant(op, b, 1, b.get(op.getSelf()));
  });
  // No particular content: zeros make runs repeatable.
  table.add<EmptyOp>(
      [](EmptyOp op, Lowering &b) { return lowerConstant(op, b, 0); });
  table.add<EmptyLikeOp>([](EmptyLikeOp op, Lowering &b) {
    return lowerConstant(op, b, 0, b.get(op.getSelf()));
  });
  table.add<ArangeOp>(lowerArange);
  table.add<LinspaceOp>(lowerLinspace);
  table.add<EyeOp>(lowerEye);
}
