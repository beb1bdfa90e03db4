//===- ShapeInference.h - shapes of results of aten operations
//----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the generated operation classes and their shape rules share.  The rules
// themselves stand with their family (ReductionOps.cpp, ...); pointwise
// operations name one of the functions here in TableGen (`let shapes = ...`).
//
// A contradiction is reported under the number of its kind (AtenBase.td lists
// them): C1 declared shape, C2 broadcast, C3 dimension, C4 repeated dimension,
// C5 rank, C6 sizes, C7 length of a list, C8 value, C9 number of results.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_SHAPEINFERENCE_H
#define DYNAMO_DIALECT_ATEN_IR_SHAPEINFERENCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace dynamo::aten {

/// Sizes of a tensor; `ShapedType::kDynamic` where not known.
using Shape = llvm::SmallVector<int64_t, 4>;
using Shapes = llvm::SmallVectorImpl<Shape>;

/// One result: all operands broadcast together (numbers have rank 0).
llvm::LogicalResult inferBroadcast(mlir::Operation *op, Shapes &shapes);

/// Every result has the first operand's shape.
llvm::LogicalResult inferLikeFirst(mlir::Operation *op, Shapes &shapes);

namespace detail {
/// Runs the shape rule and compares with the declared result types (C1).
llvm::LogicalResult verifyShapes(mlir::Operation *op);
} // namespace detail

} // namespace dynamo::aten

#include "dynamo/Dialect/Aten/IR/AtenInterfaces.h.inc"

#endif // DYNAMO_DIALECT_ATEN_IR_SHAPEINFERENCE_H
