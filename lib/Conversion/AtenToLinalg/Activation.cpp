//===- Activation.cpp - lower activation functions and their backward
//---------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas are ATen's CPU kernels', in their order of operations, so that
// results differ by the rounding of single operations only.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Expr.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include <cmath>

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

// M_ constants of math.h are not in the C++ standard.
static constexpr double kSqrt1_2 = 0.70710678118654752440;
static constexpr double kTwoOverSqrtPi = 1.12837916709551257390;
static constexpr double kSqrt2 = 1.41421356237309504880;
static constexpr double kGeluBeta = kSqrt2 * kTwoOverSqrtPi * 0.5;
static constexpr double kGeluKappa = 0.044715;

static Expr geluErf(Expr x) { return x * 0.5 * (1.0 + erf(x * kSqrt1_2)); }

static Expr geluTanh(Expr x) {
  Expr inner = kGeluBeta * (x + kGeluKappa * (x * x * x));
  return 0.5 * x * (1.0 + tanh(inner));
}

static Expr geluErfBackward(Expr grad, Expr x) {
  Expr cdf = 0.5 * (1.0 + erf(x * kSqrt1_2));
  Expr pdf = kTwoOverSqrtPi * kSqrt1_2 * 0.5 * exp(x * x * -0.5);
  return grad * (cdf + x * pdf);
}

static Expr geluTanhBackward(Expr grad, Expr x) {
  Expr square = x * x;
  Expr t = tanh(kGeluBeta * (x + kGeluKappa * (square * x)));
  Expr left = 0.5 * x;
  Expr leftDerivative = 0.5 * (1.0 + t);
  Expr innerDerivative = kGeluBeta * (1.0 + 3.0 * kGeluKappa * square);
  Expr rightDerivative = left * (1.0 - t * t) * innerDerivative;
  return grad * (leftDerivative + rightDerivative);
}

static Expr mishBackward(Expr grad, Expr x) {
  Expr t = tanh(log1p(exp(x)));
  return grad * (t + x * sigmoid(x) * (1.0 - t * t));
}

static Expr relu6(Expr x) {
  return atMost(atLeast(x, x.constant(0)), x.constant(6));
}

/// Of the comparisons only those are used that leave a nan of x in the middle.
static Expr hardswishBackward(Expr grad, Expr x) {
  Expr middle = grad * ((x / 3.0) + 0.5);
  return where(x <= -3.0, grad.constant(0), where(x >= 3.0, grad, middle));
}

/// in: self, alpha, scale, input_scale
static Expr elu(ArrayRef<Expr> in) {
  Expr x = in[0];
  return where(x < 0.0, expm1(x * in[3]) * (in[1] * in[2]), x * in[2]);
}

/// in: grad_output, alpha, scale, input_scale, self or result
static Expr eluBackward(ArrayRef<Expr> in, bool isResult) {
  Expr grad = in[0], negative = in[1] * in[2], x = in[4];
  Expr below = isResult ? grad * in[3] * (x + negative)
                        : grad * in[3] * negative * exp(x * in[3]);
  return where(x > 0.0, grad * in[2], below);
}

/// in: self, beta, threshold
static Expr softplus(ArrayRef<Expr> in) {
  Expr x = in[0], scaled = x * in[1];
  return where(scaled > in[2], x, log1p(exp(scaled)) / in[1]);
}

/// in: grad_output, self, beta, threshold
static Expr softplusBackward(ArrayRef<Expr> in) {
  Expr scaled = in[1] * in[2], z = exp(scaled);
  return where(scaled > in[3], in[0], in[0] * z / (z + 1.0));
}

/// in: grad_output, self, buffer
static Expr logSigmoidBackward(ArrayRef<Expr> in) {
  Expr isNegative = in[1] < 0.0, one = in[0].constant(1), z = in[2];
  Expr maxDerivative = where(isNegative, one, in[0].constant(0));
  Expr sign = where(isNegative, one, in[0].constant(-1));
  return in[0] * (maxDerivative - sign * (z / (1.0 + z)));
}

static LogicalResult lowerGelu(aten::GeluOp op, Lowering &b) {
  bool isTanh = op.getApproximate() == "tanh";
  if (!isTanh && op.getApproximate() != "none")
    return b.fail(op, "unknown approximation");
  return lowerFormula(op, b, b.operand(op.getSelf()),
                      computeType(dtypeOf(op.getSelf())),
                      [&](ArrayRef<Expr> in) {
                        return isTanh ? geluTanh(in[0]) : geluErf(in[0]);
                      });
}

static LogicalResult lowerGeluBackward(aten::GeluBackwardOp op, Lowering &b) {
  bool isTanh = op.getApproximate() == "tanh";
  if (!isTanh && op.getApproximate() != "none")
    return b.fail(op, "unknown approximation");
  SmallVector<Operand> operands = {b.operand(op.getGradOutput()),
                                   b.operand(op.getSelf())};
  return lowerFormula(op, b, operands, computeType(dtypeOf(op.getResult())),
                      [&](ArrayRef<Expr> in) {
                        return isTanh ? geluTanhBackward(in[0], in[1])
                                      : geluErfBackward(in[0], in[1]);
                      });
}

static LogicalResult lowerEluBackward(aten::EluBackwardOp op, Lowering &b) {
  SmallVector<Operand> operands;
  for (Value operand : op->getOperands())
    operands.push_back(b.operand(operand));
  return lowerFormula(
      op, b, operands, computeType(dtypeOf(op.getResult())),
      [&](ArrayRef<Expr> in) { return eluBackward(in, op.getIsResult()); });
}

/// The first half of `dim` times the sigmoid of the second: both halves are
/// read from self by one generic.
static LogicalResult lowerGlu(aten::GluOp op, Lowering &b) {
  Operand self = b.operand(op.getSelf());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t rank = type.getRank(), dim = normalizeDim(op.getDim(), rank);
  if (!type.hasStaticShape())
    return b.fail(op, "glu of dynamic size");
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(rank, b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(b.getContext(), type.getShape());
  auto half = [&](int64_t offset) {
    offsets[dim] = b.getIndexAttr(offset);
    return Operand(sliceOf(b, self.value, offsets, sizes, strides), self.dtype);
  };
  SmallVector<Operand> operands = {half(0), half(type.getDimSize(dim))};
  return lowerFormula(op, b, operands, computeType(self.dtype),
                      [](ArrayRef<Expr> in) { return in[0] * sigmoid(in[1]); });
}

static LogicalResult lowerLogSigmoid(aten::LogSigmoidForwardOp op,
                                     Lowering &b) {
  Operand self = b.operand(op.getSelf());
  if (dtypeOf(op.getBuffer()) != self.dtype ||
      (!op.getBuffer().use_empty() &&
       op.getBuffer().getType() != op.getSelf().getType()))
    return b.fail(op, "the buffer is not like self");
  Type compute = computeType(self.dtype);
  Input input{self, b.getMultiDimIdentityMap(self.rank())};
  SmallVector<Type> dtypes(2, self.dtype);
  SmallVector<Value> results =
      parallel(b, input, sizesOf(b, self.value), dtypes,
               [&](ArrayRef<Value> in) -> SmallVector<Value> {
                 Expr x = Expr(b, self.dtype, in[0]).to(compute);
                 Expr buffer = exp(-abs(x));
                 Expr output = atMost(x, x.constant(0)) - log1p(buffer);
                 return {output.to(self.dtype), buffer.to(self.dtype)};
               });
  if (op.getBuffer().use_empty())
    results[1] = Value();
  return b.replace(op, results);
}

void lowering::populateActivationLowerings(LoweringTable &table) {
  using namespace dynamo::aten;
  addUnary<ReluOp>(table, [](Expr x) { return atLeast(x, x.constant(0)); });
  table.add<GeluOp>(lowerGelu);
  addUnary<SiluOp>(table, [](Expr x) { return x / (1.0 + exp(-x)); });
  addUnary<MishOp>(table, [](Expr x) { return x * tanh(log1p(exp(x))); });
  addUnary<HardswishOp>(table, [](Expr x) { return x * relu6(x + 3.0) / 6.0; });
  addUnary<HardsigmoidOp>(table, [](Expr x) { return relu6(x + 3.0) / 6.0; });
  addFormula<HardtanhOp>(table, [](ArrayRef<Expr> in) {
    return atMost(atLeast(in[0], in[1]), in[2]);
  });
  addFormula<LeakyReluOp>(table, [](ArrayRef<Expr> in) {
    return where(in[0] > 0.0, in[0], in[0] * in[1]);
  });
  addFormula<EluOp>(table, elu);
  addFormula<SoftplusOp>(table, softplus);
  table.add<GluOp>(lowerGlu);
  table.add<LogSigmoidForwardOp>(lowerLogSigmoid);

  addFormula<ThresholdBackwardOp>(table, [](ArrayRef<Expr> in) {
    return where(in[1] <= in[2], in[0].constant(0), in[0]);
  });
  table.add<GeluBackwardOp>(lowerGeluBackward);
  addBinary<SiluBackwardOp>(table, [](Expr grad, Expr x) {
    Expr s = sigmoid(x);
    return grad * s * (1.0 + x * (1.0 - s));
  });
  addBinary<MishBackwardOp>(table, mishBackward);
  addBinary<SigmoidBackwardOp>(
      table, [](Expr grad, Expr y) { return grad * (1.0 - y) * y; });
  addBinary<TanhBackwardOp>(
      table, [](Expr grad, Expr y) { return grad * (1.0 - y * y); });
  addFormula<HardtanhBackwardOp>(table, [](ArrayRef<Expr> in) {
    return where((in[1] > in[2]) & (in[1] < in[3]), in[0], in[0].constant(0));
  });
  addBinary<HardswishBackwardOp>(table, hardswishBackward);
  addBinary<HardsigmoidBackwardOp>(table, [](Expr grad, Expr x) {
    return where((x > -3.0) & (x < 3.0), grad * double(1.0f / 6.0f),
                 grad.constant(0)); // eager's constant is a float
  });
  addFormula<LeakyReluBackwardOp>(table, [](ArrayRef<Expr> in) {
    return where(in[1] > 0.0, in[0], in[0] * in[2]);
  });
  table.add<EluBackwardOp>(lowerEluBackward);
  addFormula<SoftplusBackwardOp>(table, softplusBackward);
  addFormula<LogSigmoidBackwardOp>(table, logSigmoidBackward);
  table.add<NativeDropoutBackwardOp>(
      [](NativeDropoutBackwardOp op, Lowering &b) {
        SmallVector<Operand> operands = {b.operand(op.getGradOutput()),
                                         b.operand(op.getMask())};
        double scale = op.getScale().convertToDouble();
        return lowerFormula(
            op, b, operands, computeType(dtypeOf(op.getResult())),
            [&](ArrayRef<Expr> in) { return in[0] * (in[1] * scale); });
      });
}
