//===- IndexOps.cpp - indexing by tensors --------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerIndexOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/IndexOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/IndexOps.cpp.inc"

LogicalResult EmbeddingOp::inferShapes(Shapes &shapes) {
  if (failed(requireRank(*this, "weight", getWeight(), 2)))
    return failure();
  shapes.push_back(sizes(getIndices()));
  shapes.back().push_back(shapeOf(getWeight())[1]);
  return success();
}

LogicalResult EmbeddingDenseBackwardOp::inferShapes(Shapes &shapes) {
  Shape rows = sizes(getGradOutput());
  if (rows.empty())
    return broken(*this, 5) << "grad_output has rank 0, expected at least 1";
  int64_t width = rows.pop_back_val();
  if (failed(unifyShapes(*this, rows, shapeOf(getIndices()),
                         "rows of grad_output and indices")))
    return failure();
  shapes.push_back(Shape{int64_t(getNumWeights()), width});
  return success();
}

/// NumPy's rule: the index tensors' common shape stands at the first indexed
/// dimension if the indexed dimensions are adjacent, else in front.
static LogicalResult indexedShape(Operation *op, Value self, ValueRange indices,
                                  ArrayRef<bool> present, Shape &shape) {
  ArrayRef<int64_t> from = shapeOf(self);
  if (present.size() > from.size())
    return broken(op, 7) << "indices_present has " << present.size()
                         << " elements, expected at most " << from.size();
  if (size_t(llvm::count(present, true)) != indices.size())
    return broken(op, 7) << "indices_present says "
                         << llvm::count(present, true)
                         << " index tensors, but there are " << indices.size();
  if (indices.empty())
    return broken(op, 7) << "there is no index tensor";
  Shape common;
  for (Value index : indices)
    if (failed(broadcastInto(op, common, shapeOf(index))))
      return failure();
  size_t first = llvm::find(present, true) - present.begin();
  bool adjacent = llvm::all_of(present.slice(first, indices.size()),
                               [](bool p) { return p; });
  for (auto [dim, size] : llvm::enumerate(from)) {
    if (adjacent && dim == first)
      shape.append(common);
    if (dim >= present.size() || !present[dim])
      shape.push_back(size);
  }
  if (!adjacent)
    shape.insert(shape.begin(), common.begin(), common.end());
  return success();
}

LogicalResult IndexOp::inferShapes(Shapes &shapes) {
  return indexedShape(*this, getSelf(), getIndices(), getIndicesPresent(),
                      shapes.emplace_back());
}

LogicalResult IndexPutOp::inferShapes(Shapes &shapes) {
  Shape places;
  if (failed(indexedShape(*this, getSelf(), getIndices(), getIndicesPresent(),
                          places)))
    return failure();
  shapes.push_back(sizes(getSelf()));
  return requireBroadcastTo(*this, shapeOf(getValues()), places);
}

LogicalResult IndexSelectOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  FailureOr<int64_t> dim = wrapDim(*this, getDim(), shape.size());
  if (failed(dim))
    return failure();
  if (rankOf(getIndex()) > 1)
    return broken(*this, 5)
           << "index has rank " << rankOf(getIndex()) << ", expected 0 or 1";
  if (!shape.empty())
    shape[*dim] = rankOf(getIndex()) ? shapeOf(getIndex())[0] : 1;
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult IndexAddOp::inferShapes(Shapes &shapes) {
  Shape places = sizes(getSelf());
  FailureOr<int64_t> dim = wrapDim(*this, getDim(), places.size());
  if (failed(dim))
    return failure();
  if (rankOf(getIndex()) > 1)
    return broken(*this, 5)
           << "index has rank " << rankOf(getIndex()) << ", expected 0 or 1";
  shapes.push_back(places);
  if (places.empty())
    return success();
  places[*dim] = rankOf(getIndex()) ? shapeOf(getIndex())[0] : 1;
  return unifyShapes(*this, places, shapeOf(getSource()), "shape of source");
}

/// Gather's and scatter's rule: index has self's rank, and no size above self's
/// but along dim; `src` (if any) has no size below index's.
static LogicalResult checkPlaces(Operation *op, Value self, int64_t dimension,
                                 Value index, Value src) {
  ArrayRef<int64_t> from = shapeOf(self), at = shapeOf(index);
  FailureOr<int64_t> dim = wrapDim(op, dimension, from.size());
  if (failed(dim))
    return failure();
  // torch takes a vector of one element and a scalar for each other.
  auto fits = [&](ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
    return a.size() == b.size() || (a.size() <= 1 && b.size() <= 1);
  };
  // Nothing is read where index is empty.
  if (product(at) == 0)
    return success();
  if (!fits(from, at))
    return broken(op, 5) << "index has rank " << at.size() << ", expected "
                         << from.size();
  if (src && !fits(shapeOf(src), at))
    return broken(op, 5) << "src has rank " << rankOf(src) << ", expected "
                         << at.size();
  for (size_t i = 0; i < std::min(at.size(), from.size()); ++i) {
    if (ShapedType::isDynamic(at[i]))
      continue;
    if (int64_t(i) != *dim && !ShapedType::isDynamic(from[i]) &&
        at[i] > from[i])
      return broken(op, 6) << "size " << at[i] << " of index in dimension " << i
                           << " is above self's " << from[i];
    if (src && i < size_t(rankOf(src)) &&
        !ShapedType::isDynamic(shapeOf(src)[i]) && at[i] > shapeOf(src)[i])
      return broken(op, 6) << "size " << at[i] << " of index in dimension " << i
                           << " is above src's " << shapeOf(src)[i];
  }
  return success();
}

LogicalResult GatherOp::inferShapes(Shapes &shapes) {
  shapes.push_back(sizes(getIndex()));
  return checkPlaces(*this, getSelf(), getDim(), getIndex(), Value());
}

LogicalResult ScatterOp::inferShapes(Shapes &shapes) {
  if (bool(getSrc()) == bool(getValue()))
    return broken(*this, 7) << "needs one of src and value";
  if (getSrc() &&
      getElementTypeOrSelf(getSrc()) != getElementTypeOrSelf(getSelf()))
    return emitOpError("src and self have different element types");
  shapes.push_back(sizes(getSelf()));
  return checkPlaces(*this, getSelf(), getDim(), getIndex(), getSrc());
}

LogicalResult ScatterAddOp::inferShapes(Shapes &shapes) {
  shapes.push_back(sizes(getSelf()));
  return checkPlaces(*this, getSelf(), getDim(), getIndex(), getSrc());
}

LogicalResult ScatterReduceOp::inferShapes(Shapes &shapes) {
  if (!llvm::is_contained({"sum", "prod", "mean", "amax", "amin"}, getReduce()))
    return broken(*this, 8) << "reduce is '" << getReduce()
                            << "', expected sum, prod, mean, amax or amin";
  shapes.push_back(sizes(getSelf()));
  return checkPlaces(*this, getSelf(), getDim(), getIndex(), getSrc());
}
