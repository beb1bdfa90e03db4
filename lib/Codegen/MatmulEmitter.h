//===- MatmulEmitter.h - The loops of a matmul kernel --------- C++ -*-----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Carries out a MatmulSchedule.  The members hold the state of the walk: the
// position in every loop of the contraction.  MatmulEmitter.cpp has the outer
// loops and the epilogue, MatmulMicroKernels.cpp what runs between registers
// and scratch.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_MATMULEMITTER_H
#define DYNAMO_LIB_CODEGEN_MATMULEMITTER_H

#include "MatmulSchedule.h"
#include "TileEmitter.h"

namespace dynamo::codegen {

class MatmulEmitter {
public:
  using Values = TileEmitter::Values;

  MatmulEmitter(mlir::OpBuilder &builder, mlir::Block *entry,
                const Contraction &c, const MatmulSchedule &s);

  /// Emits the parallel loop. Returns one value per element of `c.results`.
  Values emit();

private:
  /// A slice of an operand with at most two dims: elements along a row loop
  /// (m or n) and along k. A missing dim has position -1.
  struct View {
    mlir::Value tensor;
    int rowPos = -1, kPos = -1;
  };
  /// How a tile along a loop is cut into steps: [0, full) in whole steps, then
  /// `rest` more, which are there when `restCond` holds (null: always).
  struct Steps {
    mlir::Value size, full;
    int64_t rest = 0;
    mlir::Value restCond;
  };
  using Carry = llvm::function_ref<Values(Values)>;
  /// The body of a walk in steps of `count` elements.
  using StepBody = llvm::function_ref<Values(int64_t count, Values)>;

  // The walk.
  mlir::Value absolute(unsigned loop) { return e.add(base[loop], rel[loop]); }
  mlir::Value tileSize(unsigned loop) { return stepsOf(loop, 1).size; }
  Steps stepsOf(unsigned loop, int64_t step);
  Values walk(llvm::ArrayRef<unsigned> loops, Values carried, Carry body);
  Values walkInSteps(std::optional<unsigned> loop, int64_t step, Values carried,
                     StepBody body);
  Values walkK(Values carried, Carry body);

  // MatmulEmitter.cpp
  Values emitTile(mlir::ValueRange destinations);
  Values emitMatrix(Values destinations);
  Values emitEpilogue(mlir::Value tile, Values destinations);
  Values emitEpilogueSteps(mlir::Value tile, int64_t width,
                           Values destinations);
  Values emitEpilogueStep(mlir::Value tile, int64_t width, Values destinations);
  mlir::Value sliceForEpilogue(mlir::Value tensor, mlir::AffineMap map,
                               llvm::ArrayRef<unsigned> loops, int64_t width);
  mlir::linalg::GenericOp cloneForTile(const EpilogueOp &epilogue,
                                       int64_t width, mlir::IRMapping &tiles);

  // MatmulMicroKernels.cpp: fill `tile`, a tile of C.
  mlir::Value emitZero(mlir::Value tile);
  mlir::Value emitPacked(mlir::Value tile);
  mlir::Value emitDot(mlir::Value tile);
  mlir::Value emitRows(mlir::Value tile);
  mlir::Value packB(int64_t width, int64_t columns);
  mlir::Value packA();
  mlir::Value emitRegisterTile(mlir::Value packedA, mlir::Value panel,
                               mlir::Value tile, int64_t rows, int64_t width,
                               int64_t columns);
  mlir::Value emitDotTile(mlir::Value tile, int64_t rows, int64_t columns);
  mlir::Value emitRowsStep(mlir::Value tile, mlir::Value k, int64_t kCount);

  View view(const ContractionOperand &operand, std::optional<unsigned> rowLoop,
            mlir::Value rows, mlir::Value depth);
  Values at(const View &view, mlir::Value row, mlir::Value k);
  /// Where in the tile of C the element (rel[m] + m, rel[n] + n) is.
  Values inTile(int64_t m, int64_t n);

  const Contraction &c;
  const MatmulSchedule &s;
  TileEmitter e;
  /// Per loop: the start of the parallel tile (for k: of the block), and the
  /// position from there.
  Values base, rel;
  /// Elements of k in the current block.
  mlir::Value kSize;
};

} // namespace dynamo::codegen

#endif // DYNAMO_LIB_CODEGEN_MATMULEMITTER_H
