//===- Utils.h - building blocks of the aten lowerings
//------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every family needs: elementwise generics over broadcast operands,
// rank-reduced reductions, fills, and scalar code in bodies with torch's rules
// for conversion between dtypes.
//
// Three kinds of element type occur:
//   dtype    what P1 says: i1 (bool), ui8 (uint8), i8..i64, f16, bf16, f32, f64
//   storage  what the P2 tensor holds (storageType: bool and uint8 are i8)
//   scalar   what a body computes on: i1 for bool, else the storage type
// A body never sees storage: the helpers load and store.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CONVERSION_ATENTOLINALG_UTILS_H
#define DYNAMO_CONVERSION_ATENTOLINALG_UTILS_H

#include "dynamo/Conversion/AtenToLinalg/Lowering.h"

#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace dynamo::lowering {

using mlir::AffineMap;
using mlir::ArrayRef;
using mlir::LogicalResult;
using mlir::OpFoldResult;
using mlir::RankedTensorType;
using mlir::SmallVector;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

//===----------------------------------------------------------------------===//
// dtypes
//===----------------------------------------------------------------------===//

inline bool isBool(Type dtype) { return dtype.isInteger(1); }
inline bool isFloat(Type dtype) { return llvm::isa<mlir::FloatType>(dtype); }
/// An integer that is not bool.
inline bool isInt(Type dtype) {
  return llvm::isa<mlir::IntegerType>(dtype) && !isBool(dtype);
}
inline bool isUnsigned(Type dtype) { return dtype.isUnsignedInteger(); }
/// f16 or bf16 (or any float below 32 bits): computed on in f32.
inline bool isHalf(Type dtype) {
  return isFloat(dtype) && dtype.getIntOrFloatBitWidth() < 32;
}
/// f32 for half types, else `dtype` itself.
Type computeType(Type dtype);
/// The type of a scalar of `dtype` in a body.
Type scalarType(Type dtype);
/// torch.result_type of two operands (numbers are weaker than tensors, zero-dim
/// tensors weaker than others).
Type promote(Operand a, Operand b);
/// The element type of a P1 tensor value.
inline Type dtypeOf(Value original) {
  return mlir::getElementTypeOrSelf(original.getType());
}

//===----------------------------------------------------------------------===//
// Scalar code (in bodies, or at top level)
//===----------------------------------------------------------------------===//

/// A constant of the scalar type of `dtype`.
Value floatConstant(Lowering &b, Type dtype, double value);
Value intConstant(Lowering &b, Type dtype, int64_t value);
/// Float or integer by `dtype`; `value` must be exact in it.
Value numberConstant(Lowering &b, Type dtype, double value);
/// -inf / lowest integer / false, and +inf / highest integer / true.
Value lowestConstant(Lowering &b, Type dtype);
Value highestConstant(Lowering &b, Type dtype);

/// A scalar of dtype `from` as dtype `to`, as torch's .to() does it: bool is
/// (x != 0); float to int truncates (the value must fit, as in C); integers
/// wrap; uint8 is zero-extended; between half types through f32.
Value convertScalar(Lowering &b, Value scalar, Type from, Type to);

/// Storage to scalar and back (only bool differs: i8 and i1).
Value loadScalar(Lowering &b, Value stored, Type dtype);
Value storeScalar(Lowering &b, Value scalar, Type dtype);

/// Arithmetic on two scalars of `dtype` (float or integer by it; bool: add is
/// or, mul is and).
Value addScalar(Lowering &b, Type dtype, Value x, Value y);
Value subScalar(Lowering &b, Type dtype, Value x, Value y);
Value mulScalar(Lowering &b, Type dtype, Value x, Value y);
/// Maximum and minimum; nan propagates.
Value maxScalar(Lowering &b, Type dtype, Value x, Value y);
Value minScalar(Lowering &b, Type dtype, Value x, Value y);

enum class Compare { Eq, Ne, Lt, Le, Gt, Ge };
/// i1; every comparison with nan is false but Ne.
Value compareScalar(Lowering &b, Compare kind, Type dtype, Value x, Value y);
/// x != x for floats, false for others.
Value isNanScalar(Lowering &b, Type dtype, Value x);
Value select(Lowering &b, Value condition, Value yes, Value no);

/// The value of a number operand or of a tensor that is one constant
/// throughout (a fill, a splat constant), as an attribute of its storage type
/// (i1 for a bool number); null if it is not known.
mlir::TypedAttr knownScalar(Value value);
/// A number operand as double, if it is a known constant.
std::optional<double> knownNumber(Operand operand);

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Sizes of a tensor, static ones as attributes.
SmallVector<OpFoldResult> sizesOf(Lowering &b, Value tensor);
/// An uninitialised tensor with P2 storage of `dtype`.
Value emptyTensor(Lowering &b, ArrayRef<OpFoldResult> sizes, Type dtype);
/// A tensor filled with one scalar (scalar type of `dtype`).
Value filledTensor(Lowering &b, ArrayRef<OpFoldResult> sizes, Type dtype,
                   Value scalar);
/// The dims of `dims` counted from the front, sorted, without doubles; all dims
/// when `dims` is empty and `emptyIsAll`.
SmallVector<int64_t> normalizeDims(ArrayRef<int64_t> dims, int64_t rank,
                                   bool emptyIsAll = true);
inline int64_t normalizeDim(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + (rank ? rank : 1) : dim;
}
/// (d0, .., dn) -> (those not in `dims`).
AffineMap droppedDimsMap(mlir::MLIRContext *context, int64_t rank,
                         ArrayRef<int64_t> dims);
/// (d0, .., dn) -> (those in `dims`).
AffineMap keptDimsMap(mlir::MLIRContext *context, int64_t rank,
                      ArrayRef<int64_t> dims);
/// How an operand of `shape` is read when broadcast (right-aligned) to `rank`
/// dims: size 1 reads index 0.
AffineMap broadcastMap(mlir::MLIRContext *context, ArrayRef<int64_t> shape,
                       ArrayRef<int64_t> resultShape);
/// Puts dims of size 1 back at `dims` (keepdim).
Value expandDims(Lowering &b, Value reduced, ArrayRef<int64_t> dims);

/// Takes dims of size 1 out (the reverse of expandDims).
Value dropDims(Lowering &b, Value tensor, ArrayRef<int64_t> dims);
/// tensor.extract_slice; the tensor itself when the slice is all of it.
Value sliceOf(Lowering &b, Value tensor, ArrayRef<OpFoldResult> offsets,
              ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides);

/// Erases the ops of `block` (not nested) that are unused and have no effect.
void eraseDeadOps(mlir::Block &block);

/// An input of a generic: a tensor and how the iteration space reads it. A
/// number, or a tensor known to be one constant, becomes a constant in the
/// body.
struct Input {
  Operand operand;
  AffineMap map;
};

using Body = llvm::function_ref<SmallVector<Value>(ArrayRef<Value> inputs,
                                                   ArrayRef<Value> outputs)>;

/// The general form.  `outputs` are initial tensors of `dtypes` (storage);
/// the body gets and returns scalars of the inputs' and outputs' dtypes.
SmallVector<Value> generic(Lowering &b, ArrayRef<Input> inputs,
                           ArrayRef<Value> outputs, ArrayRef<Type> dtypes,
                           ArrayRef<AffineMap> outputMaps,
                           ArrayRef<mlir::utils::IteratorType> iterators,
                           Body body);

/// All-parallel generic over `sizes`; `dtypes` are the results'.
SmallVector<Value>
parallel(Lowering &b, ArrayRef<Input> inputs, ArrayRef<OpFoldResult> sizes,
         ArrayRef<Type> dtypes,
         llvm::function_ref<SmallVector<Value>(ArrayRef<Value>)> body);

/// Elementwise over operands broadcast to the shape of `resultType` (a P1
/// type). The body gets every operand converted to `compute` (as it is when
/// `compute` is null) and returns a scalar of dtype `bodyDtype` (default
/// `compute`), which is converted to the result's dtype.
Value elementwise(Lowering &b, ArrayRef<Operand> operands,
                  RankedTensorType resultType, Type compute,
                  llvm::function_ref<Value(ArrayRef<Value>)> body,
                  Type bodyDtype = {});

/// Converts every element to `dtype`; the operand itself when it has it
/// already.
Value convertTensor(Lowering &b, Operand tensor, Type dtype);

/// Reduces `dims` of the space of `sizes`: rank-reduced results of `dtypes`,
/// starting at `inits` (scalars). The body combines inputs with accumulators.
SmallVector<Value> reduce(Lowering &b, ArrayRef<Input> inputs,
                          ArrayRef<OpFoldResult> sizes, ArrayRef<int64_t> dims,
                          ArrayRef<Value> inits, ArrayRef<Type> dtypes,
                          Body body);

/// How to reduce everything of a large tensor in two steps: the dims of the
/// first one (empty: in one step). Two steps make the partial results
/// independent, so that threads share them, and the sums short, so that
/// rounding errors stay small. May reshape `operand` (of rank 1).
SmallVector<int64_t> firstStepOf(Lowering &b, Operand &operand,
                                 ArrayRef<int64_t> dims);

/// Sum over `dims` in dtype `acc`, rank-reduced, of `body` of the operand's
/// elements in `acc` (the identity when null).
Value sumOver(Lowering &b, Operand operand, ArrayRef<int64_t> dims, Type acc,
              llvm::function_ref<Value(Value)> body = nullptr);

/// The number of elements of `dims` as a scalar of float type `dtype` (a number
/// operand, constant when the sizes are static).
Operand countOf(Lowering &b, Operand operand, ArrayRef<int64_t> dims,
                Type dtype);
/// Mean over `dims` in float type `acc`, rank-reduced.
Value meanOver(Lowering &b, Operand operand, ArrayRef<int64_t> dims, Type acc);
/// Sum over `dims` of the squared difference to `mean` (rank-reduced, type
/// `acc`).
Value centredSquaresOver(Lowering &b, Operand operand, Value mean,
                         ArrayRef<int64_t> dims, Type acc);

} // namespace dynamo::lowering

#endif // DYNAMO_CONVERSION_ATENTOLINALG_UTILS_H
