//===- AttentionLayout.h - Transposes that attention takes in ----- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Heads lie inside of rows in memory, rt.attention wants them outside.  Its
// kernel reads and writes either way, so the transposes around it move nothing.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_DIALECT_RT_TRANSFORMS_ATTENTIONLAYOUT_H
#define DYNAMO_LIB_DIALECT_RT_TRANSFORMS_ATTENTIONLAYOUT_H

#include "dynamo/Dialect/Rt/IR/Rt.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace dynamo::rt {

/// A transpose that keeps the innermost dim, or null.
inline mlir::linalg::TransposeOp getOuterTranspose(mlir::Operation *op) {
  auto transpose = mlir::dyn_cast_or_null<mlir::linalg::TransposeOp>(op);
  if (!transpose || !transpose.hasPureTensorSemantics())
    return nullptr;
  llvm::ArrayRef<int64_t> perm = transpose.getPermutation();
  return perm.back() == int64_t(perm.size()) - 1 ? transpose : nullptr;
}

/// Whether only attention reads the result of `op`, a transpose that its kernel
/// can read through.
inline bool feedsAttention(mlir::Operation *op) {
  return getOuterTranspose(op) &&
         llvm::all_of(op->getUsers(), [&](mlir::Operation *user) {
           auto attention = mlir::dyn_cast<AttentionOp>(user);
           return attention && attention.getMask() != op->getResult(0);
         });
}

/// Whether `op` is a transpose that the kernel of the attention before it can
/// write through.
inline bool followsAttention(mlir::Operation *op) {
  auto transpose = getOuterTranspose(op);
  if (!transpose)
    return false;
  auto attention = transpose.getInput().getDefiningOp<AttentionOp>();
  return attention && transpose.getInput() == attention.getOut() &&
         attention.getOut().hasOneUse();
}

} // namespace dynamo::rt

#endif // DYNAMO_LIB_DIALECT_RT_TRANSFORMS_ATTENTIONLAYOUT_H
