//===- Structure.cpp - reshapes, transposes, contractions
//----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// See Structure.h.  Lowerings write transposes and broadcasts plainly;
// `linalg-propagate-transposes` folds them into readers.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Structure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

using utils::IteratorType;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

int64_t lowering::numElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Value lowering::reshape(Lowering &b, Value tensor, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(tensor);
  ArrayRef<int64_t> from = type.getShape();
  if (from == shape)
    return tensor;
  // Nothing to keep, and groups of empty dims would be ambiguous.
  if (llvm::is_contained(from, 0))
    return tensor::EmptyOp::create(b, shape, type.getElementType());

  // The finest groups of source and result dims with equal products.
  SmallVector<ReassociationIndices> sources, results;
  SmallVector<int64_t> middle;
  size_t i = 0, j = 0;
  while (i < from.size() && j < shape.size()) {
    ReassociationIndices source = {int64_t(i)}, result = {int64_t(j)};
    int64_t have = from[i++], want = shape[j++];
    while (have != want) {
      if (have < want) {
        source.push_back(i);
        have *= from[i++];
      } else {
        result.push_back(j);
        want *= shape[j++];
      }
    }
    sources.push_back(source);
    results.push_back(result);
    middle.push_back(have);
  }
  // What is left has size 1.
  for (; i < from.size() && !sources.empty(); ++i)
    sources.back().push_back(i);
  for (; j < shape.size() && !results.empty(); ++j)
    results.back().push_back(j);

  if (middle.size() != from.size())
    tensor =
        tensor::CollapseShapeOp::create(b, type.clone(middle), tensor, sources);
  if (middle.size() != shape.size())
    tensor =
        tensor::ExpandShapeOp::create(b, type.clone(shape), tensor, results);
  return tensor;
}

Value lowering::transpose(Lowering &b, Value tensor, ArrayRef<int64_t> perm) {
  if (isIdentityPermutation(perm))
    return tensor;
  SmallVector<OpFoldResult> sizes =
      applyPermutation(ArrayRef<OpFoldResult>(sizesOf(b, tensor)), perm);
  Value init =
      tensor::EmptyOp::create(b, sizes, typeOf(tensor).getElementType());
  return linalg::TransposeOp::create(b, tensor, init, perm).getResult()[0];
}

Value lowering::slice(Lowering &b, Value tensor, int64_t dim, int64_t start,
                      int64_t size, int64_t step) {
  if (start == 0 && step == 1 && size == shapeOf(tensor)[dim])
    return tensor;
  SmallVector<OpFoldResult> sizes = sizesOf(b, tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  offsets[dim] = b.getIndexAttr(start);
  sizes[dim] = b.getIndexAttr(size);
  strides[dim] = b.getIndexAttr(step);
  return tensor::ExtractSliceOp::create(b, tensor, offsets, sizes, strides);
}

Value lowering::pad(Lowering &b, Value tensor, ArrayRef<int64_t> low,
                    ArrayRef<int64_t> high, Value scalar) {
  auto isZero = [](int64_t size) { return size == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return tensor;
  auto attrs = [&](ArrayRef<int64_t> sizes) {
    SmallVector<OpFoldResult> result;
    for (int64_t size : sizes)
      result.push_back(b.getIndexAttr(size));
    return result;
  };
  return tensor::PadOp::create(b, /*resultType=*/Type(), tensor, attrs(low),
                               attrs(high), scalar);
}

Value lowering::copyThrough(Lowering &b, Value tensor, AffineMap map,
                            ArrayRef<int64_t> shape) {
  Value init =
      tensor::EmptyOp::create(b, shape, typeOf(tensor).getElementType());
  return linalg::GenericOp::create(
             b, init.getType(), tensor, init,
             {map, b.getMultiDimIdentityMap(shape.size())},
             SmallVector<IteratorType>(shape.size(), IteratorType::parallel),
             [](OpBuilder &b, Location loc, ValueRange args) {
               linalg::YieldOp::create(b, loc, args.front());
             })
      .getResult(0);
}

Value lowering::concat(Lowering &b, ArrayRef<Value> tensors, int64_t dim) {
  if (tensors.size() == 1)
    return tensors.front();
  return tensor::ConcatOp::create(b, dim, tensors);
}

Value lowering::generate(Lowering &b, ArrayRef<int64_t> shape, Type dtype,
                         llvm::function_ref<Value(ArrayRef<Value>)> body) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : shape)
    sizes.push_back(b.getIndexAttr(size));
  return parallel(b, {}, sizes, dtype,
                  [&](ArrayRef<Value>) -> SmallVector<Value> {
                    SmallVector<Value> indices;
                    for (size_t dim = 0; dim < shape.size(); ++dim)
                      indices.push_back(linalg::IndexOp::create(b, dim));
                    return {body(indices)};
                  })
      .front();
}

Value lowering::contract(Lowering &b, ContractionOperand lhs,
                         ContractionOperand rhs,
                         ArrayRef<OpFoldResult> outSizes, int64_t reductions) {
  Type acc = accumulatorType(lhs.operand.dtype);
  int64_t parallelLoops = outSizes.size(), loops = parallelLoops + reductions;
  auto mapOf = [&](ArrayRef<int64_t> dims) {
    return keptDimsMap(b.getContext(), loops, dims);
  };
  SmallVector<IteratorType> iterators(parallelLoops, IteratorType::parallel);
  iterators.append(reductions, IteratorType::reduction);
  Value init = filledTensor(b, outSizes, acc, numberConstant(b, acc, 0));
  return generic(
             b,
             {{lhs.operand, mapOf(lhs.loops)}, {rhs.operand, mapOf(rhs.loops)}},
             init, acc,
             mapOf(llvm::to_vector(llvm::seq<int64_t>(0, parallelLoops))),
             iterators,
             [&](ArrayRef<Value> in,
                 ArrayRef<Value> out) -> SmallVector<Value> {
               Value x = convertScalar(b, in[0], lhs.operand.dtype, acc);
               Value y = convertScalar(b, in[1], rhs.operand.dtype, acc);
               return {addScalar(b, acc, out[0], mulScalar(b, acc, x, y))};
             })
      .front();
}

Value lowering::addBias(Lowering &b, Value acc, Type accDtype, Operand bias,
                        Type dtype) {
  if (!bias)
    return convertTensor(b, Operand(acc, accDtype), dtype);
  return elementwise(
      b, {Operand(acc, accDtype), bias},
      RankedTensorType::get(shapeOf(acc), dtype), accDtype,
      [&](ArrayRef<Value> x) { return addScalar(b, accDtype, x[0], x[1]); });
}
