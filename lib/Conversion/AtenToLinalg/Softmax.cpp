//===- Softmax.cpp - lower softmax and its backward
//---------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generics over one iteration space, with statistics of the rows read by their
// maps, so that dispatch formation makes one pass over rows of them. Half types
// stay in f32 until the result.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Expr.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

namespace {
/// The iteration space of a softmax: all dims, one of them reduced.
struct Rows {
  Rows(Lowering &b, Operand self, int64_t dim)
      : b(b), sizes(sizesOf(b, self.value)),
        all(b.getMultiDimIdentityMap(self.rank())) {
    dims = normalizeDims({dim}, self.rank(), /*emptyIsAll=*/false);
    outer = droppedDimsMap(b.getContext(), self.rank(), dims);
  }

  Value reduceRows(ArrayRef<Input> inputs, Type acc, Value init,
                   function_ref<Expr(ArrayRef<Expr>, Expr)> body) {
    return reduce(b, inputs, sizes, dims, init, acc,
                  [&](ArrayRef<Value> in,
                      ArrayRef<Value> out) -> SmallVector<Value> {
                    return {
                        body(converted(inputs, in, acc), Expr(b, acc, out[0]))};
                  })
        .front();
  }

  Value map(ArrayRef<Input> inputs, Type compute, Type dtype,
            function_ref<Expr(ArrayRef<Expr>)> body) {
    return parallel(b, inputs, sizes, dtype,
                    [&](ArrayRef<Value> in) -> SmallVector<Value> {
                      return {body(converted(inputs, in, compute)).to(dtype)};
                    })
        .front();
  }

  SmallVector<Expr> converted(ArrayRef<Input> inputs, ArrayRef<Value> scalars,
                              Type compute) {
    SmallVector<Expr> result;
    for (auto [input, scalar] : llvm::zip_equal(inputs, scalars))
      result.push_back(Expr(b, input.operand.dtype, scalar).to(compute));
    return result;
  }

  Lowering &b;
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> dims;
  AffineMap all, outer;
};
} // namespace

static Value rowMaximum(Rows &rows, Operand self, Type compute) {
  return rows.reduceRows(
      Input{self, rows.all}, compute, lowestConstant(rows.b, compute),
      [](ArrayRef<Expr> in, Expr acc) { return max(acc, in[0]); });
}

/// `isSafe`: rows of nothing but -inf give 0, not nan.
static LogicalResult lowerSoftmax(Operation *op, Lowering &b, Operand self,
                                  int64_t dim, bool isSafe) {
  Type dtype = dtypeOf(op->getResult(0)), compute = computeType(dtype);
  Rows rows(b, self, dim);
  Operand largest(rowMaximum(rows, self, compute));
  Operand power(rows.map({{self, rows.all}, {largest, rows.outer}}, compute,
                         compute,
                         [](ArrayRef<Expr> in) { return exp(in[0] - in[1]); }));
  Operand sum(rows.reduceRows(
      Input{power, rows.all}, compute, numberConstant(b, compute, 0),
      [](ArrayRef<Expr> in, Expr acc) { return acc + in[0]; }));
  SmallVector<Input> inputs = {{power, rows.all}, {sum, rows.outer}};
  if (isSafe)
    inputs.push_back({largest, rows.outer});
  return b.replace(op, rows.map(inputs, compute, dtype, [&](ArrayRef<Expr> in) {
    Expr quotient = in[0] / in[1];
    if (!isSafe)
      return quotient;
    return where(in[2] == in[2].lowest(), in[2].constant(0), quotient);
  }));
}

static LogicalResult lowerLogSoftmax(aten::LogSoftmaxOp op, Lowering &b) {
  Type dtype = dtypeOf(op.getResult()), compute = computeType(dtype);
  Operand self = b.operand(op.getSelf());
  Rows rows(b, self, op.getDim());
  Operand largest(rowMaximum(rows, self, compute));
  Operand sum(rows.reduceRows(
      {{self, rows.all}, {largest, rows.outer}}, compute,
      numberConstant(b, compute, 0),
      [](ArrayRef<Expr> in, Expr acc) { return acc + exp(in[0] - in[1]); }));
  auto rowType = sum.type();
  Operand logSum(
      elementwise(b, sum, rowType, compute, [&](ArrayRef<Value> in) -> Value {
        return log(Expr(b, compute, in[0]));
      }));
  SmallVector<Input> inputs = {
      {self, rows.all}, {largest, rows.outer}, {logSum, rows.outer}};
  return b.replace(op, rows.map(inputs, compute, dtype, [](ArrayRef<Expr> in) {
    return in[0] - in[1] - in[2];
  }));
}

static LogicalResult lowerSoftmaxBackward(aten::SoftmaxBackwardDataOp op,
                                          Lowering &b) {
  Operand grad = b.operand(op.getGradOutput());
  Operand output = b.operand(op.getOutput());
  Type compute = computeType(grad.dtype);
  Rows rows(b, grad, op.getDim());
  Operand sum(rows.reduceRows(
      {{grad, rows.all}, {output, rows.all}}, compute,
      numberConstant(b, compute, 0),
      [](ArrayRef<Expr> in, Expr acc) { return acc + in[0] * in[1]; }));
  SmallVector<Input> inputs = {
      {grad, rows.all}, {output, rows.all}, {sum, rows.outer}};
  return b.replace(
      op, rows.map(inputs, compute, dtypeOf(op.getResult()),
                   [](ArrayRef<Expr> in) { return (in[0] - in[2]) * in[1]; }));
}

static LogicalResult lowerLogSoftmaxBackward(aten::LogSoftmaxBackwardDataOp op,
                                             Lowering &b) {
  Operand grad = b.operand(op.getGradOutput());
  Operand output = b.operand(op.getOutput());
  Type compute = computeType(grad.dtype);
  Rows rows(b, grad, op.getDim());
  Operand sum(rows.reduceRows(
      Input{grad, rows.all}, compute, numberConstant(b, compute, 0),
      [](ArrayRef<Expr> in, Expr acc) { return acc + in[0]; }));
  SmallVector<Input> inputs = {
      {grad, rows.all}, {output, rows.all}, {sum, rows.outer}};
  return b.replace(op, rows.map(inputs, compute, dtypeOf(op.getResult()),
                                [](ArrayRef<Expr> in) {
                                  return in[0] - exp(in[1]) * in[2];
                                }));
}

void lowering::populateSoftmaxLowerings(LoweringTable &table) {
  using namespace dynamo::aten;
  table.add<SoftmaxOp>([](SoftmaxOp op, Lowering &b) {
    return lowerSoftmax(op, b, b.operand(op.getSelf()), op.getDim(),
                        /*isSafe=*/false);
  });
  table.add<SafeSoftmaxOp>([](SafeSoftmaxOp op, Lowering &b) {
    return lowerSoftmax(op, b, b.operand(op.getSelf()), op.getDim(),
                        /*isSafe=*/true);
  });
  table.add<LogSoftmaxOp>(lowerLogSoftmax);
  table.add<SoftmaxBackwardDataOp>(lowerSoftmaxBackward);
  table.add<LogSoftmaxBackwardDataOp>(lowerLogSoftmaxBackward);
}
