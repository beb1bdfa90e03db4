//===- ReductionOps.cpp - reductions, scans and sorts --------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/ReductionOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/ReductionOps.cpp.inc"

/// A shape reduced over `dims` (all of them if there are none).
static LogicalResult reduce(Operation *op, Value self,
                            std::optional<ArrayRef<int64_t>> dims, bool keepdim,
                            size_t results, Shapes &shapes) {
  ArrayRef<int64_t> from = shapeOf(self);
  FailureOr<SmallVector<int64_t>> reduced =
      wrapDims(op, dims.value_or(ArrayRef<int64_t>()), from.size());
  if (failed(reduced))
    return failure();
  Shape shape;
  for (auto [dim, size] : llvm::enumerate(from)) {
    if (!reduced->empty() && !llvm::is_contained(*reduced, int64_t(dim)))
      shape.push_back(size);
    else if (keepdim)
      shape.push_back(1);
  }
  shapes.append(results, shape);
  return success();
}

/// The same with one dimension or all.
static LogicalResult reduceOne(Operation *op, Value self,
                               std::optional<int64_t> dim, bool keepdim,
                               size_t results, Shapes &shapes) {
  if (!dim)
    return reduce(op, self, std::optional<ArrayRef<int64_t>>(), keepdim,
                  results, shapes);
  return reduce(op, self, ArrayRef<int64_t>(*dim), keepdim, results, shapes);
}

#define REDUCTION(OP, REDUCE, RESULTS)                                         \
  LogicalResult OP::inferShapes(Shapes &shapes) {                              \
    return REDUCE(*this, getSelf(), getDim(), getKeepdim(), RESULTS, shapes);  \
  }
REDUCTION(SumOp, reduce, 1)
REDUCTION(MeanOp, reduce, 1)
REDUCTION(AmaxOp, reduce, 1)
REDUCTION(AminOp, reduce, 1)
REDUCTION(AnyOp, reduce, 1)
REDUCTION(AllOp, reduce, 1)
REDUCTION(VarOp, reduce, 1)
REDUCTION(StdOp, reduce, 1)
REDUCTION(VarMeanOp, reduce, 2)
REDUCTION(LinalgVectorNormOp, reduce, 1)
REDUCTION(LogsumexpOp, reduce, 1)
REDUCTION(ProdOp, reduceOne, 1)
REDUCTION(ArgmaxOp, reduceOne, 1)
REDUCTION(ArgminOp, reduceOne, 1)
REDUCTION(MaxDimOp, reduceOne, 2)
REDUCTION(MinDimOp, reduceOne, 2)
#undef REDUCTION

LogicalResult MaxOp::inferShapes(Shapes &shapes) {
  shapes.emplace_back();
  return success();
}

LogicalResult MinOp::inferShapes(Shapes &shapes) {
  shapes.emplace_back();
  return success();
}

/// Every result has self's shape; the dimension must exist.
static LogicalResult scan(Operation *op, Value self, int64_t dim,
                          size_t results, Shapes &shapes) {
  shapes.append(results, sizes(self));
  return wrapDim(op, dim, rankOf(self));
}

LogicalResult CumsumOp::inferShapes(Shapes &shapes) {
  return scan(*this, getSelf(), getDim(), 1, shapes);
}

LogicalResult CumprodOp::inferShapes(Shapes &shapes) {
  return scan(*this, getSelf(), getDim(), 1, shapes);
}

LogicalResult SortOp::inferShapes(Shapes &shapes) {
  return scan(*this, getSelf(), getDim(), 2, shapes);
}

LogicalResult TopkOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  FailureOr<int64_t> dim = wrapDim(*this, getDim(), shape.size());
  if (failed(dim))
    return failure();
  int64_t size = shape.empty() ? 1 : shape[*dim], k = getK();
  if (k < 0 || (!ShapedType::isDynamic(size) && k > size))
    return broken(*this, 8)
           << "k " << k << " is not in [0, " << size << "], the size of dim";
  if (!shape.empty())
    shape[*dim] = k;
  shapes.append(2, shape);
  return success();
}
