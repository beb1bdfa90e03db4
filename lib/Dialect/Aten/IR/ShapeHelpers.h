//===- ShapeHelpers.h - steps of which shape rules are made
//-------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each step checks one kind of constraint (C2 to C9, see AtenBase.td) and
// reports a contradiction on the operation.  Sizes that are not known agree
// with everything.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_DIALECT_ATEN_IR_SHAPEHELPERS_H
#define DYNAMO_LIB_DIALECT_ATEN_IR_SHAPEHELPERS_H

#include "dynamo/Dialect/Aten/IR/ShapeInference.h"

#include "mlir/IR/Diagnostics.h"
#include <optional>

namespace dynamo::aten {

constexpr int64_t kDynamic = mlir::ShapedType::kDynamic;

/// Starts the diagnostic of a broken constraint: "C<number>: ".
mlir::InFlightDiagnostic broken(mlir::Operation *op, int number);

/// Sizes of a tensor; rank 0 for a number.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
inline Shape sizes(mlir::Value value) { return Shape(shapeOf(value)); }
inline int64_t rankOf(mlir::Value value) { return shapeOf(value).size(); }

/// C3: the dimension counted from the front.
llvm::FailureOr<int64_t> wrapDim(mlir::Operation *op, int64_t dim,
                                 int64_t rank);

/// C3, C4: each dimension counted from the front.
llvm::FailureOr<llvm::SmallVector<int64_t>>
wrapDims(mlir::Operation *op, llvm::ArrayRef<int64_t> dims, int64_t rank);

/// C5: `name` is what the schema calls the operand.
llvm::LogicalResult requireRank(mlir::Operation *op, llvm::StringRef name,
                                mlir::Value value, int64_t rank);

/// C6: two sizes agree; `size` becomes the one that is known.
llvm::LogicalResult unify(mlir::Operation *op, int64_t &size, int64_t other,
                          const llvm::Twine &what);

/// C6: two shapes agree; `shape` gets what the other one knows.
llvm::LogicalResult unifyShapes(mlir::Operation *op, Shape &shape,
                                llvm::ArrayRef<int64_t> other,
                                const llvm::Twine &what);

/// C2: `shape` broadcast with another one.
llvm::LogicalResult broadcastInto(mlir::Operation *op, Shape &shape,
                                  llvm::ArrayRef<int64_t> other);

/// C2: `from` broadcasts to `to`, which it does not change.
llvm::LogicalResult requireBroadcastTo(mlir::Operation *op,
                                       llvm::ArrayRef<int64_t> from,
                                       llvm::ArrayRef<int64_t> to);

/// C7: a list of `count` elements, from one of `count` or one.
llvm::FailureOr<llvm::SmallVector<int64_t>>
expandList(mlir::Operation *op, llvm::StringRef name,
           llvm::ArrayRef<int64_t> list, size_t count);

/// C9: the results that `mask` asks for are there, and no others.
llvm::LogicalResult requireResults(mlir::Operation *op,
                                   llvm::ArrayRef<bool> mask,
                                   mlir::ArrayRef<mlir::Value> results);

/// Sizes multiplied; unknown if one is, unless another one is 0.
int64_t product(llvm::ArrayRef<int64_t> shape);

/// The value of a number that is a constant.
std::optional<double> constantFloat(mlir::Value value);
/// The same for an i64 or i1 constant.
std::optional<int64_t> constantInt(mlir::Value value);

} // namespace dynamo::aten

#endif // DYNAMO_LIB_DIALECT_ATEN_IR_SHAPEHELPERS_H
