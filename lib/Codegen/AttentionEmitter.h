//===- AttentionEmitter.h - The loops of an attention kernel -- C++ -*-----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention in one pass over the keys with the running maximum and sum of
// each row (Milakov and Gimelshein, "Online normalizer calculation for
// softmax"; Dao et al., "FlashAttention"): the scores never leave L1.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_ATTENTIONEMITTER_H
#define DYNAMO_LIB_CODEGEN_ATTENTIONEMITTER_H

#include "TileEmitter.h"

#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Target/MachineModel.h"

namespace dynamo::codegen {

/// A 4-D tensor in memory whose dims are those of an operand or result of
/// rt.attention in another order: dim i in memory is dim `order[i]`.
struct AttentionTensor {
  mlir::Value tensor;
  llvm::SmallVector<unsigned> order = {0, 1, 2, 3};
};

/// An attention kernel: what is read and written, and the operation.
struct AttentionKernel {
  rt::AttentionOp op;
  AttentionTensor query, key, value;
  /// Only the type of `out.tensor` counts.
  AttentionTensor out;
  bool needsLogsumexp = false;
};

class AttentionEmitter {
public:
  using Values = TileEmitter::Values;

  AttentionEmitter(mlir::OpBuilder &builder, mlir::Block *entry,
                   const AttentionKernel &kernel,
                   const target::MachineModel &machine);

  /// Emits the parallel loop over heads and blocks of queries. Returns out
  /// (in the order of `kernel.out`) and, where needed, logsumexp.
  Values emit();

private:
  /// What is carried over the blocks of keys: of each row the maximum, the
  /// sum and the weighted sum of values so far.
  struct State {
    mlir::Value top, sum, out;
    explicit State(mlir::ValueRange v) : top(v[0]), sum(v[1]), out(v[2]) {}
    Values all() const { return {top, sum, out}; }
  };
  /// Rows of the block that are handled together, starting at `first`.
  struct Rows {
    mlir::Value first, count;
  };

  Values emitTile(mlir::ValueRange destinations);
  State emitKeyBlock(mlir::Value query, mlir::Value start, State state);
  Values writeResults(State state, Values destinations);

  mlir::Value packKeys(mlir::Value start);
  mlir::Value copyRows(const AttentionTensor &source, mlir::Value head,
                       mlir::Value start, mlir::Value count, int64_t maxCount,
                       int64_t width);
  mlir::Value slice(const AttentionTensor &source, mlir::Value head,
                    mlir::Value start, mlir::Value count, int64_t width);
  mlir::Value scores(mlir::Value query, mlir::Value keys, const Rows &rows,
                     mlir::Value start);
  mlir::Value scoresByDots(mlir::Value query, const Rows &rows,
                           mlir::Value start, mlir::Value count);
  /// Scales and masks the scores of `rows`; gives them and their new maxima,
  /// which are written to `newTop`.
  Values maskScores(mlir::Value scores, mlir::Value top, mlir::Value newTop,
                    const Rows &rows, mlir::Value start, int64_t count);
  mlir::Value maskVector(mlir::Value row, mlir::Value start, int64_t width);
  mlir::Value addValues(mlir::Value weights, mlir::Value values,
                        mlir::Value factors, mlir::Value out, const Rows &rows,
                        mlir::Value count);

  using RowsBody = llvm::function_ref<Values(mlir::Value row, int64_t count,
                                             Values carried)>;
  /// Visits `rows` in steps of `mr`, relative to their first.
  Values walkRows(const Rows &rows, Values carried, RowsBody body);

  // Arithmetic on numbers or vectors of the compute type.
  mlir::VectorType vectorOf(int64_t width) const {
    return mlir::VectorType::get({width}, type);
  }
  mlir::Value splat(double value, mlir::Type type);
  mlir::Value widen(mlir::Value value);
  mlir::Value exp(mlir::Value value);
  mlir::Value zeroIfLowest(mlir::Value value);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value fill(mlir::Value tensor, double value);

  const AttentionKernel &kernel;
  rt::AttentionOp op;
  TileEmitter e;
  /// Element type in memory, and in which is computed.
  mlir::Type element, type;
  int64_t batch, heads, groups, queries, keyCount, features, outFeatures;
  /// Register tile, rows of a parallel tile, rows and keys at a time.
  int64_t mr, nr, qBlock, rowBlock, keyBlock;
  /// Few queries: keys are not packed.
  bool few;
  /// Of the current parallel tile.
  mlir::Value batchIndex, head, keyHead, queryStart, queryCount;
};

} // namespace dynamo::codegen

#endif // DYNAMO_LIB_CODEGEN_ATTENTIONEMITTER_H
