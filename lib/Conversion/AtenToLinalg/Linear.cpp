//===- Linear.cpp - matrix products
//--------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every product is one contraction with loops (batch..., m, n, k), summed in
// f32 for half types, and at most one elementwise generic behind it that
// scales, adds and rounds: the epilogue of the matmul kernel.  An operand that
// was transposed stays behind its linalg.transpose here;
// `linalg-propagate-transposes` makes the contraction read through it.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Structure.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

namespace {

/// Products of bools do not exist in torch.
bool isProductType(Operand x) { return !isBool(x.dtype); }

LogicalResult lowerMm(aten::MmOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf()), y = b.operand(op.getMat2());
  if (!isProductType(x))
    return b.fail(op, "matrix products of bool");
  Value acc = contract(b, {x, {0, 2}}, {y, {2, 1}},
                       {sizesOf(b, x.value)[0], sizesOf(b, y.value)[1]});
  return b.replace(op, addBias(b, acc, accumulatorType(x.dtype), {},
                               dtypeOf(op.getResult())));
}

/// The product of batches of matrices, unrounded.
Value batchedProduct(Lowering &b, Operand x, Operand y) {
  SmallVector<OpFoldResult> xSizes = sizesOf(b, x.value),
                            ySizes = sizesOf(b, y.value);
  return contract(b, {x, {0, 1, 3}}, {y, {0, 3, 2}},
                  {xSizes[0], xSizes[1], ySizes[2]});
}

LogicalResult lowerBmm(aten::BmmOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf()), y = b.operand(op.getMat2());
  if (!isProductType(x))
    return b.fail(op, "matrix products of bool");
  Value acc = batchedProduct(b, x, y);
  return b.replace(op, addBias(b, acc, accumulatorType(x.dtype), {},
                               dtypeOf(op.getResult())));
}

LogicalResult lowerMv(aten::MvOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf()), y = b.operand(op.getVec());
  if (!isProductType(x))
    return b.fail(op, "matrix products of bool");
  Value acc = contract(b, {x, {0, 1}}, {y, {1}}, {sizesOf(b, x.value)[0]});
  return b.replace(op, addBias(b, acc, accumulatorType(x.dtype), {},
                               dtypeOf(op.getResult())));
}

LogicalResult lowerDot(aten::DotOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf()), y = b.operand(op.getTensor());
  if (!isProductType(x))
    return b.fail(op, "matrix products of bool");
  Value acc = contract(b, {x, {0}}, {y, {0}}, {});
  return b.replace(op, addBias(b, acc, accumulatorType(x.dtype), {},
                               dtypeOf(op.getResult())));
}

/// beta * self + alpha * acc, rounded once; self is not read when beta is 0.
LogicalResult finishAdd(Operation *op, Lowering &b, Value acc, Operand self,
                        Value betaValue, Value alphaValue) {
  std::optional<double> beta = knownNumber(b.operand(betaValue));
  std::optional<double> alpha = knownNumber(b.operand(alphaValue));
  if (!beta || !alpha)
    return b.fail(op, "beta or alpha is not a constant");
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type compute = accumulatorType(self.dtype);
  auto scaled = [&](Value x, double factor) {
    return factor == 1
               ? x
               : mulScalar(b, compute, x, numberConstant(b, compute, factor));
  };
  SmallVector<Operand> operands = {Operand(acc, compute)};
  if (*beta != 0)
    operands.push_back(self);
  Value result =
      elementwise(b, operands, type, compute, [&](ArrayRef<Value> x) {
        Value product = scaled(x[0], *alpha);
        return *beta == 0 ? product
                          : addScalar(b, compute, scaled(x[1], *beta), product);
      });
  return b.replace(op, result);
}

LogicalResult lowerAddmm(aten::AddmmOp op, Lowering &b) {
  Operand x = b.operand(op.getMat1()), y = b.operand(op.getMat2());
  if (!isProductType(x))
    return b.fail(op, "matrix products of bool");
  Value acc = contract(b, {x, {0, 2}}, {y, {2, 1}},
                       {sizesOf(b, x.value)[0], sizesOf(b, y.value)[1]});
  return finishAdd(op, b, acc, b.operand(op.getSelf()), op.getBeta(),
                   op.getAlpha());
}

LogicalResult lowerAddmv(aten::AddmvOp op, Lowering &b) {
  Operand x = b.operand(op.getMat()), y = b.operand(op.getVec());
  if (!isProductType(x))
    return b.fail(op, "matrix products of bool");
  Value acc = contract(b, {x, {0, 1}}, {y, {1}}, {sizesOf(b, x.value)[0]});
  return finishAdd(op, b, acc, b.operand(op.getSelf()), op.getBeta(),
                   op.getAlpha());
}

LogicalResult lowerBaddbmm(aten::BaddbmmOp op, Lowering &b) {
  Operand x = b.operand(op.getBatch1()), y = b.operand(op.getBatch2());
  if (!isProductType(x))
    return b.fail(op, "matrix products of bool");
  return finishAdd(op, b, batchedProduct(b, x, y), b.operand(op.getSelf()),
                   op.getBeta(), op.getAlpha());
}

/// All dims but the last as one (a scalar row of its own when there is one
/// dim).
Value asRows(Lowering &b, Value x) {
  ArrayRef<int64_t> shape = shapeOf(x);
  return rankOf(x) == 2
             ? x
             : reshape(b, x, {numElements(shape.drop_back()), shape.back()});
}

LogicalResult lowerLinear(aten::LinearOp op, Lowering &b) {
  Operand x = b.operand(op.getInput()), w = b.operand(op.getWeight());
  if (!isProductType(x))
    return b.fail(op, "matrix products of bool");
  if (x.rank() != 2 && !isStatic(x.value))
    return b.fail(op,
                  "dynamic sizes of a linear input with more than two dims");
  auto type = cast<RankedTensorType>(op.getType());
  Operand rows(asRows(b, x.value), x.dtype);
  SmallVector<OpFoldResult> rowSizes = sizesOf(b, rows.value),
                            wSizes = sizesOf(b, w.value);
  Value acc =
      w.rank() == 1
          ? contract(b, {rows, {0, 1}}, {w, {1}}, {rowSizes[0]})
          : contract(b, {rows, {0, 2}}, {w, {1, 2}}, {rowSizes[0], wSizes[0]});
  Value result = addBias(b, acc, accumulatorType(x.dtype),
                         b.operand(op.getBias()), type.getElementType());
  if (x.rank() != 2)
    result = reshape(b, result, type.getShape());
  return b.replace(op, result);
}

LogicalResult lowerMatmul(aten::MatmulOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf()), y = b.operand(op.getOther());
  if (!isProductType(x))
    return b.fail(op, "matrix products of bool");
  if (!isStatic(x.value) || !isStatic(y.value))
    return b.fail(op, "dynamic sizes of matmul");
  auto type = cast<RankedTensorType>(op.getType());
  Type acc = accumulatorType(x.dtype);
  auto finish = [&](Value sum) {
    Value rounded = addBias(b, sum, acc, {}, type.getElementType());
    return b.replace(op, reshape(b, rounded, type.getShape()));
  };
  auto size = [&](int64_t n) { return OpFoldResult(b.getIndexAttr(n)); };

  // A matrix or vector on the right takes all rows of the left at once.
  if (y.rank() <= 2) {
    Operand rows(asRows(b, x.value), x.dtype);
    int64_t m = rows.shape()[0];
    if (y.rank() == 1)
      return finish(contract(b, {rows, {0, 1}}, {y, {1}}, {size(m)}));
    return finish(contract(b, {rows, {0, 2}}, {y, {2, 1}},
                           {size(m), size(y.shape()[1])}));
  }
  // Batches: the dims before the matrices broadcast against each other; a dim
  // of size 1 is read by no loop.
  bool isVector = x.rank() == 1;
  ArrayRef<int64_t> xBatch =
      isVector ? ArrayRef<int64_t>() : x.shape().drop_back(2);
  ArrayRef<int64_t> yBatch = y.shape().drop_back(2);
  int64_t batch = std::max(xBatch.size(), yBatch.size());
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> full;
  auto at = [&](ArrayRef<int64_t> dims, int64_t i) {
    int64_t own = i - (batch - int64_t(dims.size()));
    return own < 0 ? 1 : dims[own];
  };
  for (int64_t i = 0; i < batch; ++i) {
    int64_t n = at(xBatch, i) == 1 ? at(yBatch, i) : at(xBatch, i);
    full.push_back(n);
    sizes.push_back(size(n));
  }
  auto side = [&](Operand v, ArrayRef<int64_t> dims, ArrayRef<int64_t> matrix) {
    ContractionOperand result{v, {}};
    SmallVector<int64_t> dropped;
    for (int64_t i = 0, e = dims.size(); i < e; ++i) {
      int64_t loop = i + batch - e;
      if (dims[i] == 1 && full[loop] != 1)
        dropped.push_back(i);
      else
        result.loops.push_back(loop);
    }
    result.operand.value = dropDims(b, v.value, dropped);
    result.loops.append(matrix.begin(), matrix.end());
    return result;
  };
  if (!isVector)
    sizes.push_back(size(x.shape()[x.rank() - 2]));
  sizes.push_back(size(y.shape().back()));
  int64_t n = sizes.size() - 1, k = sizes.size();
  SmallVector<int64_t> xLoops =
      isVector ? SmallVector<int64_t>{k} : SmallVector<int64_t>{batch, k};
  return finish(
      contract(b, side(x, xBatch, xLoops), side(y, yBatch, {k, n}), sizes));
}

} // namespace

void lowering::populateLinearLowerings(LoweringTable &table) {
  table.add<aten::MmOp>(lowerMm);
  table.add<aten::BmmOp>(lowerBmm);
  table.add<aten::MvOp>(lowerMv);
  table.add<aten::DotOp>(lowerDot);
  table.add<aten::AddmmOp>(lowerAddmm);
  table.add<aten::AddmvOp>(lowerAddmv);
  table.add<aten::BaddbmmOp>(lowerBaddbmm);
  table.add<aten::LinearOp>(lowerLinear);
  table.add<aten::MatmulOp>(lowerMatmul);
}
