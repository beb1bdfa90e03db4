//===- Reduction.cpp - lower reductions
//---------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums, extrema and what is made of them. Every reduction is one generic with
// one combining op, so that it can be split and vectorised: an index of the
// maximum is the maximum first, then the least index that holds it; a variance
// is the mean first, then the sum of squared differences.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Expr.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

/// The type to accumulate extrema of `dtype` in: bool as a byte, so that the
/// accumulator needs no conversion.
static Type extremumType(Lowering &b, Type dtype) {
  return isBool(dtype) ? b.getIntegerType(8, /*isSigned=*/false)
                       : computeType(dtype);
}

/// Converts a rank-reduced result to the dtype of `original` (a result of the
/// op being lowered) and puts kept dims back.
static Value finish(Lowering &b, Operand reduced, Value original,
                    ArrayRef<int64_t> dims, bool keepdim) {
  Value value = convertTensor(b, reduced, dtypeOf(original));
  return keepdim ? expandDims(b, value, dims) : value;
}

/// A formula over rank-reduced operands of one shape.
static Value mapReduced(Lowering &b, ArrayRef<Operand> operands, Type dtype,
                        function_ref<Expr(ArrayRef<Expr>)> formula) {
  auto type = RankedTensorType::get(operands[0].shape(), dtype);
  return elementwise(
      b, operands, type, {},
      [&](ArrayRef<Value> in) -> Value {
        SmallVector<Expr> scalars;
        for (auto [scalar, operand] : llvm::zip_equal(in, operands))
          scalars.push_back({b, operand.dtype, scalar});
        return formula(scalars).to(dtype);
      },
      dtype);
}

/// Reduces `operand` in dtype `acc`: map each element, combine.
static Value reduceOne(Lowering &b, Operand operand, ArrayRef<int64_t> dims,
                       Type acc, Value init, Expr (*combine)(Expr, Expr),
                       function_ref<Expr(Expr)> map = nullptr) {
  SmallVector<int64_t> first = firstStepOf(b, operand, dims);
  if (!first.empty()) {
    Operand partial(reduceOne(b, operand, first, acc, init, combine, map), acc);
    return reduceOne(b, partial, normalizeDims({}, partial.rank()), acc, init,
                     combine);
  }
  Input input{operand, b.getMultiDimIdentityMap(operand.rank())};
  return reduce(b, input, sizesOf(b, operand.value), dims, init, acc,
                [&](ArrayRef<Value> in,
                    ArrayRef<Value> out) -> SmallVector<Value> {
                  Expr x = Expr(b, operand.dtype, in[0]);
                  x = map ? map(x) : x.to(acc);
                  return {combine(Expr(b, acc, out[0]), x)};
                })
      .front();
}

static Value extremum(Lowering &b, Operand operand, ArrayRef<int64_t> dims,
                      bool isMax, Type acc) {
  return isMax ? reduceOne(b, operand, dims, acc, lowestConstant(b, acc), max)
               : reduceOne(b, operand, dims, acc, highestConstant(b, acc), min);
}

Operand lowering::countOf(Lowering &b, Operand operand, ArrayRef<int64_t> dims,
                          Type dtype) {
  double known = 1;
  Value unknown;
  for (int64_t dim : dims) {
    int64_t size = operand.shape()[dim];
    if (!ShapedType::isDynamic(size)) {
      known *= double(size);
      continue;
    }
    Value value = tensor::DimOp::create(b, operand.value, dim);
    unknown =
        unknown ? arith::MulIOp::create(b, unknown, value).getResult() : value;
  }
  Value count = floatConstant(b, dtype, known);
  if (unknown) {
    Type i64 = b.getI64Type();
    Value number = arith::IndexCastOp::create(b, i64, unknown);
    count = mulScalar(b, dtype, count, convertScalar(b, number, i64, dtype));
  }
  return {count, dtype};
}

Value lowering::meanOver(Lowering &b, Operand operand, ArrayRef<int64_t> dims,
                         Type acc) {
  Operand sum(sumOver(b, operand, dims, acc));
  return mapReduced(b, {sum, countOf(b, operand, dims, acc)}, acc,
                    [](ArrayRef<Expr> in) { return in[0] / in[1]; });
}

Value lowering::centredSquaresOver(Lowering &b, Operand operand, Value mean,
                                   ArrayRef<int64_t> dims, Type acc) {
  SmallVector<int64_t> first = firstStepOf(b, operand, dims);
  SmallVector<int64_t> meanDims(dims);
  if (!first.empty()) {
    meanDims = normalizeDims({}, operand.rank());
    dims = first;
  }
  int64_t rank = operand.rank();
  SmallVector<Input> inputs = {
      {operand, b.getMultiDimIdentityMap(rank)},
      {Operand(mean), droppedDimsMap(b.getContext(), rank, meanDims)}};
  Operand sum(reduce(b, inputs, sizesOf(b, operand.value), dims,
                     numberConstant(b, acc, 0), acc,
                     [&](ArrayRef<Value> in,
                         ArrayRef<Value> out) -> SmallVector<Value> {
                       Expr x = Expr(b, operand.dtype, in[0]).to(acc);
                       Expr centred = x - Expr(b, acc, in[1]);
                       return {Expr(b, acc, out[0]) + centred * centred};
                     })
                  .front());
  if (first.empty())
    return sum.value;
  return sumOver(b, sum, normalizeDims({}, sum.rank()), acc);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

template <typename OpT> static SmallVector<int64_t> dimsOf(OpT op) {
  int64_t rank = cast<RankedTensorType>(op.getSelf().getType()).getRank();
  if constexpr (std::is_same_v<decltype(op.getDim()), ArrayRef<int64_t>>)
    return normalizeDims(op.getDim(), rank);
  else
    return normalizeDims(op.getDim().value_or(ArrayRef<int64_t>()), rank);
}

static LogicalResult lowerSum(aten::SumOp op, Lowering &b) {
  SmallVector<int64_t> dims = dimsOf(op);
  Type acc = computeType(dtypeOf(op.getResult()));
  if (isBool(acc))
    return b.fail(op, "sum with a bool result");
  Operand sum(sumOver(b, b.operand(op.getSelf()), dims, acc), acc);
  return b.replace(op, finish(b, sum, op.getResult(), dims, op.getKeepdim()));
}

static LogicalResult lowerMean(aten::MeanOp op, Lowering &b) {
  SmallVector<int64_t> dims = dimsOf(op);
  Type acc = computeType(dtypeOf(op.getResult()));
  Operand mean(meanOver(b, b.operand(op.getSelf()), dims, acc));
  return b.replace(op, finish(b, mean, op.getResult(), dims, op.getKeepdim()));
}

static LogicalResult lowerProd(aten::ProdOp op, Lowering &b) {
  Operand self = b.operand(op.getSelf());
  SmallVector<int64_t> dims;
  if (op.getDim())
    dims = {int64_t(*op.getDim())};
  dims = normalizeDims(dims, self.rank());
  Type acc = computeType(dtypeOf(op.getResult()));
  if (isBool(acc))
    return b.fail(op, "product with a bool result");
  Operand product(reduceOne(b, self, dims, acc, numberConstant(b, acc, 1),
                            [](Expr x, Expr y) { return x * y; }),
                  acc);
  return b.replace(op,
                   finish(b, product, op.getResult(), dims, op.getKeepdim()));
}

/// The sum of squared differences over max(0, n - correction), and the mean.
static std::pair<Operand, Operand> variance(Lowering &b, Operand self,
                                            ArrayRef<int64_t> dims, Type acc,
                                            double correction) {
  Value mean = meanOver(b, self, dims, acc);
  Operand squares(centredSquaresOver(b, self, mean, dims, acc));
  Value var = mapReduced(b, {squares, countOf(b, self, dims, acc)}, acc,
                         [&](ArrayRef<Expr> in) {
                           Expr divisor = in[1] - correction;
                           return in[0] / atLeast(divisor, divisor.constant(0));
                         });
  return {Operand(var), Operand(mean)};
}

template <typename OpT> static double correctionOf(OpT op) {
  return op.getCorrection() ? op.getCorrection()->convertToDouble() : 1.0;
}

template <typename OpT> static LogicalResult lowerVar(OpT op, Lowering &b) {
  SmallVector<int64_t> dims = dimsOf(op);
  Type acc = computeType(dtypeOf(op->getResult(0)));
  auto [var, mean] =
      variance(b, b.operand(op.getSelf()), dims, acc, correctionOf(op));
  if (isa<aten::StdOp>(op))
    var = Operand(
        mapReduced(b, var, acc, [](ArrayRef<Expr> in) { return sqrt(in[0]); }));
  SmallVector<Value> results = {
      finish(b, var, op->getResult(0), dims, op.getKeepdim())};
  if (op->getNumResults() == 2)
    results.push_back(finish(b, mean, op->getResult(1), dims, op.getKeepdim()));
  return b.replace(op, results);
}

static LogicalResult lowerVectorNorm(aten::LinalgVectorNormOp op, Lowering &b) {
  Operand self = b.operand(op.getSelf());
  SmallVector<int64_t> dims = dimsOf(op);
  Type acc = computeType(dtypeOf(op.getResult()));
  double ord = op.getOrd().convertToDouble();
  auto magnitude = [&](Expr x) { return abs(x.to(acc)); };
  auto add = [](Expr x, Expr y) { return x + y; };
  Value zero = numberConstant(b, acc, 0), norm;
  if (std::isinf(ord)) {
    // The lowest magnitude is 0, so an empty slice has norm 0.
    norm = ord > 0 ? reduceOne(b, self, dims, acc, zero, max, magnitude)
                   : reduceOne(b, self, dims, acc, highestConstant(b, acc), min,
                               magnitude);
  } else if (ord == 0) {
    norm = reduceOne(b, self, dims, acc, zero, add,
                     [&](Expr x) { return (x != 0.0).to(acc); });
  } else if (ord == 1) {
    norm = reduceOne(b, self, dims, acc, zero, add, magnitude);
  } else if (ord == 2) {
    Value sum = reduceOne(b, self, dims, acc, zero, add, [&](Expr x) {
      Expr value = x.to(acc);
      return value * value;
    });
    norm = mapReduced(b, Operand(sum), acc,
                      [](ArrayRef<Expr> in) { return sqrt(in[0]); });
  } else {
    Value sum = reduceOne(b, self, dims, acc, zero, add, [&](Expr x) {
      Expr value = magnitude(x);
      return pow(value, value.constant(ord));
    });
    norm = mapReduced(b, Operand(sum), acc, [&](ArrayRef<Expr> in) {
      return pow(in[0], in[0].constant(1.0 / ord));
    });
  }
  return b.replace(
      op, finish(b, Operand(norm), op.getResult(), dims, op.getKeepdim()));
}

static LogicalResult lowerLogsumexp(aten::LogsumexpOp op, Lowering &b) {
  Operand self = b.operand(op.getSelf());
  SmallVector<int64_t> dims = dimsOf(op);
  Type acc = computeType(dtypeOf(op.getResult()));
  int64_t rank = self.rank();
  // An infinite maximum is not subtracted: the difference would be nan.
  Operand largest(extremum(b, self, dims, /*isMax=*/true, acc));
  Operand offset(mapReduced(b, largest, acc, [](ArrayRef<Expr> in) {
    Expr x = in[0];
    return where(abs(x) == x.highest(), x.constant(0), x);
  }));
  SmallVector<Input> inputs = {
      {self, b.getMultiDimIdentityMap(rank)},
      {offset, droppedDimsMap(b.getContext(), rank, dims)}};
  Value sum =
      reduce(
          b, inputs, sizesOf(b, self.value), dims, numberConstant(b, acc, 0),
          acc,
          [&](ArrayRef<Value> in, ArrayRef<Value> out) -> SmallVector<Value> {
            Expr x = Expr(b, self.dtype, in[0]).to(acc);
            return {Expr(b, acc, out[0]) + exp(x - Expr(b, acc, in[1]))};
          })
          .front();
  Operand result(
      mapReduced(b, {Operand(sum), offset}, acc,
                 [](ArrayRef<Expr> in) { return log(in[0]) + in[1]; }));
  return b.replace(op,
                   finish(b, result, op.getResult(), dims, op.getKeepdim()));
}

//===----------------------------------------------------------------------===//
// Extrema
//===----------------------------------------------------------------------===//

static LogicalResult lowerExtremum(Operation *op, Lowering &b, Operand self,
                                   ArrayRef<int64_t> dims, bool keepdim,
                                   bool isMax) {
  Type acc = extremumType(b, self.dtype);
  // A byte that holds 0 or 1 is a bool as P2 stores it.
  Type dtype = isBool(self.dtype) ? self.dtype : acc;
  Operand result(extremum(b, self, dims, isMax, acc), dtype);
  return b.replace(op, finish(b, result, op->getResult(0), dims, keepdim));
}

/// The least index along `dim` of the extremum (of a nan, if there is one).
static Operand indexOfExtremum(Lowering &b, Operand self, Operand best,
                               int64_t dim, Type acc) {
  int64_t rank = self.rank(), size = self.shape()[dim];
  Type i64 = b.getI64Type();
  Type indexType = ShapedType::isDynamic(size) || size > INT32_MAX
                       ? i64
                       : Type(b.getI32Type());
  SmallVector<Input> inputs = {
      {self, b.getMultiDimIdentityMap(rank)},
      {best, droppedDimsMap(b.getContext(), rank, {dim})}};
  Value index =
      reduce(
          b, inputs, sizesOf(b, self.value), {dim},
          highestConstant(b, indexType), indexType,
          [&](ArrayRef<Value> in, ArrayRef<Value> out) -> SmallVector<Value> {
            Expr x = Expr(b, self.dtype, in[0]).to(acc);
            Expr isBest = (x == Expr(b, acc, in[1])) | isNan(x);
            Value position = linalg::IndexOp::create(b, dim);
            Expr candidate(b, indexType,
                           arith::IndexCastOp::create(b, indexType, position));
            return {min(Expr(b, indexType, out[0]),
                        where(isBest, candidate, candidate.highest()))};
          })
          .front();
  return {index, indexType};
}

template <typename OpT>
static LogicalResult lowerExtremumDim(OpT op, Lowering &b, bool isMax) {
  Operand self = b.operand(op.getSelf());
  if (self.rank() == 0) {
    Value zero = filledTensor(b, {}, dtypeOf(op.getIndices()),
                              intConstant(b, dtypeOf(op.getIndices()), 0));
    return b.replace(op, {self.value, zero});
  }
  int64_t dim = normalizeDim(op.getDim(), self.rank());
  Type acc = extremumType(b, self.dtype);
  Operand best(extremum(b, self, dim, isMax, acc), acc);
  Operand index = indexOfExtremum(b, self, best, dim, acc);
  if (isBool(self.dtype))
    best.dtype = self.dtype;
  bool keepdim = op.getKeepdim();
  return b.replace(op, {finish(b, best, op.getValues(), dim, keepdim),
                        finish(b, index, op.getIndices(), dim, keepdim)});
}

template <typename OpT>
static LogicalResult lowerArgExtremum(OpT op, Lowering &b, bool isMax) {
  Operand self = b.operand(op.getSelf());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (self.rank() == 0)
    return b.replace(op,
                     filledTensor(b, {}, type.getElementType(),
                                  intConstant(b, type.getElementType(), 0)));
  int64_t dim = 0;
  if (op.getDim()) {
    dim = normalizeDim(*op.getDim(), self.rank());
  } else if (self.rank() > 1) {
    ReassociationIndices all(
        llvm::to_vector<2>(llvm::seq<int64_t>(0, self.rank())));
    SmallVector<ReassociationIndices> groups = {all};
    self.value = tensor::CollapseShapeOp::create(b, self.value, groups);
  }
  Type acc = extremumType(b, self.dtype);
  Operand best(extremum(b, self, dim, isMax, acc), acc);
  Operand index = indexOfExtremum(b, self, best, dim, acc);
  // Without a dim, keepdim keeps every dim.
  SmallVector<int64_t> dims = {dim};
  if (!op.getDim())
    dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  return b.replace(op, finish(b, index, op.getResult(), dims, op.getKeepdim()));
}

//===----------------------------------------------------------------------===//
// any and all
//===----------------------------------------------------------------------===//

template <typename OpT>
static LogicalResult lowerTruth(OpT op, Lowering &b, bool isAll) {
  SmallVector<int64_t> dims = dimsOf(op);
  Operand self = b.operand(op.getSelf());
  // In bytes of 0 or 1, which a bool or uint8 result is as it stands.
  Type i8 = b.getI8Type(), i1 = b.getI1Type();
  Value init = intConstant(b, i8, isAll);
  auto map = [&](Expr x) {
    return Expr(b, i1, convertScalar(b, x, x.dtype(), i1)).to(i8);
  };
  Value truth = isAll ? reduceOne(
                            b, self, dims, i8, init,
                            [](Expr x, Expr y) { return x & y; }, map)
                      : reduceOne(
                            b, self, dims, i8, init,
                            [](Expr x, Expr y) { return x | y; }, map);
  Operand result(truth, dtypeOf(op.getResult()));
  return b.replace(op,
                   finish(b, result, op.getResult(), dims, op.getKeepdim()));
}

void lowering::populateReductionLowerings(LoweringTable &table) {
  using namespace dynamo::aten;
  table.add<SumOp>(lowerSum);
  table.add<MeanOp>(lowerMean);
  table.add<ProdOp>(lowerProd);
  table.add<VarOp>(lowerVar<VarOp>);
  table.add<StdOp>(lowerVar<StdOp>);
  table.add<VarMeanOp>(lowerVar<VarMeanOp>);
  table.add<LinalgVectorNormOp>(lowerVectorNorm);
  table.add<LogsumexpOp>(lowerLogsumexp);

  table.add<AmaxOp>([](AmaxOp op, Lowering &b) {
    return lowerExtremum(op, b, b.operand(op.getSelf()), dimsOf(op),
                         op.getKeepdim(), /*isMax=*/true);
  });
  table.add<AminOp>([](AminOp op, Lowering &b) {
    return lowerExtremum(op, b, b.operand(op.getSelf()), dimsOf(op),
                         op.getKeepdim(), /*isMax=*/false);
  });
  table.add<MaxOp>([](MaxOp op, Lowering &b) {
    Operand self = b.operand(op.getSelf());
    return lowerExtremum(op, b, self, normalizeDims({}, self.rank()),
                         /*keepdim=*/false, /*isMax=*/true);
  });
  table.add<MinOp>([](MinOp op, Lowering &b) {
    Operand self = b.operand(op.getSelf());
    return lowerExtremum(op, b, self, normalizeDims({}, self.rank()),
                         /*keepdim=*/false, /*isMax=*/false);
  });
  table.add<MaxDimOp>([](MaxDimOp op, Lowering &b) {
    return lowerExtremumDim(op, b, /*isMax=*/true);
  });
  table.add<MinDimOp>([](MinDimOp op, Lowering &b) {
    return lowerExtremumDim(op, b, /*isMax=*/false);
  });
  table.add<ArgmaxOp>([](ArgmaxOp op, Lowering &b) {
    return lowerArgExtremum(op, b, /*isMax=*/true);
  });
  table.add<ArgminOp>([](ArgminOp op, Lowering &b) {
    return lowerArgExtremum(op, b, /*isMax=*/false);
  });
  table.add<AnyOp>(
      [](AnyOp op, Lowering &b) { return lowerTruth(op, b, /*isAll=*/false); });
  table.add<AllOp>(
      [](AllOp op, Lowering &b) { return lowerTruth(op, b, /*isAll=*/true); });
}
