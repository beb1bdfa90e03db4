//===- TileEmitter.h - Loops and vectors on tensors ----------- C++ -*-----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A builder for hand-written schedules (matmul, attention): index arithmetic
// that folds, loops that carry tensors and vanish at zero or one trip, and
// vector moves between tensors.  Everything stays on values, so that the
// common tail of code generation bufferises it like any other kernel.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_TILEEMITTER_H
#define DYNAMO_LIB_CODEGEN_TILEEMITTER_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace dynamo::codegen {

class TileEmitter {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  using LoopBody =
      llvm::function_ref<Values(mlir::Value iv, mlir::ValueRange carried)>;

  /// Emits at the builder's insertion point; constants go to the start of
  /// `entry`.
  TileEmitter(mlir::OpBuilder &builder, mlir::Location loc, mlir::Block *entry)
      : b(builder), loc(loc), entry(entry) {}

  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y) { return add(x, index(y)); }
  /// The largest multiple of `step` that is at most `x`.
  mlir::Value roundDown(mlir::Value x, int64_t step);

  /// for iv in [lb, ub) by `step`, carrying `inits`.
  Values loop(mlir::Value lb, mlir::Value ub, int64_t step,
              mlir::ValueRange inits, LoopBody body);
  Values loop(mlir::Value ub, int64_t step, mlir::ValueRange inits,
              LoopBody body) {
    return loop(index(0), ub, step, inits, body);
  }
  /// for iv in [0, ub) by 1, four iterations to a trip where that many are
  /// left. Two made LLVM extract the factors of a sum of products lane by lane,
  /// at half the speed.
  Values unrolledLoop(mlir::Value ub, mlir::ValueRange inits, LoopBody body);
  /// `body()` where `cond` holds, else `inits`; no `cond` means always.
  Values when(mlir::Value cond, mlir::ValueRange inits,
              llvm::function_ref<Values()> body);

  /// A destination of no content. Equal ones are one value after CSE.
  mlir::Value empty(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// Scratch memory of its own, which CSE and hoisting leave alone.
  mlir::Value scratch(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// A zero of a number or vector type.
  mlir::Value zero(mlir::Type type);
  /// A vector of `type` read along the last dim of `tensor`, in bounds.
  mlir::Value read(mlir::VectorType type, mlir::Value tensor,
                   mlir::ValueRange indices);
  mlir::Value write(mlir::Value vector, mlir::Value tensor,
                    mlir::ValueRange indices);
  mlir::Value extract(mlir::Value tensor, mlir::ValueRange indices);
  mlir::Value shuffle(mlir::Value x, mlir::Value y,
                      llvm::ArrayRef<int64_t> mask);
  /// Elements [offset, offset + size) of a 1-D vector.
  mlir::Value part(mlir::Value vector, int64_t offset, int64_t size);
  mlir::Value broadcast(mlir::Value scalar, int64_t width);
  /// acc + x * y, fused for floats.
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value acc);
  mlir::Value sum(mlir::Value x, mlir::Value y);
  /// The sum over a 1-D vector, in any order.
  mlir::Value reduceAdd(mlir::Value vector);
  /// `value` (number or vector) through `casts`.
  mlir::Value applyCasts(mlir::Value value,
                         llvm::ArrayRef<mlir::Operation *> casts);
  /// The columns of eight 8-element vectors, as vectors.
  Values transpose8x8(mlir::ValueRange rows);

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  mlir::Block *entry;
  llvm::DenseMap<int64_t, mlir::Value> indexConstants;
  llvm::DenseMap<mlir::Type, mlir::Value> zeros;
  mlir::Value constant(mlir::TypedAttr attr);
};

/// The value of an index constant, none for anything else.
std::optional<int64_t> constantIndex(mlir::Value value);

} // namespace dynamo::codegen

#endif // DYNAMO_LIB_CODEGEN_TILEEMITTER_H
