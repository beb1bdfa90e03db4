//===- Structure.h - reshapes, transposes, contractions
//------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the families that move data or contract it share (linear, convolution,
// pooling, shape, indexing, attention).  Values here are P2 tensors: data is
// moved as it is stored, so no dtype is asked for where none matters.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CONVERSION_ATENTOLINALG_STRUCTURE_H
#define DYNAMO_CONVERSION_ATENTOLINALG_STRUCTURE_H

#include "dynamo/Conversion/AtenToLinalg/Utils.h"

namespace dynamo::lowering {

/// The P2 type's shape of a value.
inline ArrayRef<int64_t> shapeOf(Value tensor) {
  return llvm::cast<RankedTensorType>(tensor.getType()).getShape();
}
inline int64_t rankOf(Value tensor) { return shapeOf(tensor).size(); }
inline bool isStatic(Value tensor) {
  return llvm::cast<RankedTensorType>(tensor.getType()).hasStaticShape();
}
int64_t numElements(ArrayRef<int64_t> shape);

/// The elements of `tensor` in row-major order as `shape`: collapse_shape,
/// expand_shape, or both through their common collapsed shape.  Both shapes are
/// static and have as many elements.
Value reshape(Lowering &b, Value tensor, ArrayRef<int64_t> shape);

/// Result dim i is dim perm[i] of `tensor`; `tensor` itself for the identity.
Value transpose(Lowering &b, Value tensor, ArrayRef<int64_t> perm);

/// `size` elements of `dim` from `start` in steps of `step`.
Value slice(Lowering &b, Value tensor, int64_t dim, int64_t start, int64_t size,
            int64_t step = 1);

/// `tensor` with `low` and `high` elements of a stored scalar around it.
Value pad(Lowering &b, Value tensor, ArrayRef<int64_t> low,
          ArrayRef<int64_t> high, Value scalar);

/// A copy of the stored elements that reads `tensor` through `map` (from the
/// dims of `shape`), to be folded into readers.
Value copyThrough(Lowering &b, Value tensor, AffineMap map,
                  ArrayRef<int64_t> shape);

/// The tensors (of one rank) one after the other along `dim`.
Value concat(Lowering &b, ArrayRef<Value> tensors, int64_t dim);

/// A tensor of `shape` whose element is what `body` computes of the element's
/// indices (linalg.index); bodies read with tensor.extract.  `dtype` is that of
/// the scalar that the body returns.
Value generate(Lowering &b, ArrayRef<int64_t> shape, Type dtype,
               llvm::function_ref<Value(ArrayRef<Value> indices)> body);

/// One side of a contraction.
struct ContractionOperand {
  Operand operand;
  /// The loop of each of the operand's dims.
  SmallVector<int64_t> loops;
};

/// The dtype in which products of `dtype` are summed: f32 for half types.
inline Type accumulatorType(Type dtype) { return computeType(dtype); }

/// sum lhs * rhs over the loops from `outSizes.size()` on (`reductions` of
/// them): a generic on a zero fill with result dims in loop order and dtype
/// `accumulatorType`.
Value contract(Lowering &b, ContractionOperand lhs, ContractionOperand rhs,
               ArrayRef<OpFoldResult> outSizes, int64_t reductions = 1);

/// `acc` (of dtype `accDtype`) plus `bias` along the last dim (null for none),
/// rounded once to `dtype`.
Value addBias(Lowering &b, Value acc, Type accDtype, Operand bias, Type dtype);

} // namespace dynamo::lowering

#endif // DYNAMO_CONVERSION_ATENTOLINALG_STRUCTURE_H
