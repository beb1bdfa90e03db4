//===- MatmulSchedule.h - How a matmul kernel is cut ---------- C++ -*-----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decisions of `codegen-tile-matmul`, apart from the code that carries
// them out: which of three inner kernels, and all tile sizes.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_MATMULSCHEDULE_H
#define DYNAMO_LIB_CODEGEN_MATMULSCHEDULE_H

#include "Contraction.h"

#include "dynamo/Target/MachineModel.h"

namespace dynamo::codegen {

struct MatmulSchedule {
  enum Kind {
    /// Outer products on registers; B packed in panels of `nr` columns.
    Packed,
    /// Few rows, B walks k in memory: dot products along k.
    Dot,
    /// Few rows, B walks n in memory: rows of B added up in a tile of C.
    Rows,
  } kind = Packed;
  /// Rows and columns of the register tile.
  int64_t mr = 0, nr = 0;
  /// Elements of the accumulator type in one vector register.
  int64_t lanes = 0;
  /// Tile of each loop in the parallel loop (its extent: not tiled).
  llvm::SmallVector<int64_t> tile;
  int64_t kBlock = 0;
  /// A block of A is copied first: converted, or rows along memory.
  bool packA = false;
  /// The register tile goes straight to the result: no epilogue and no
  /// partial sums.
  bool direct = false;
  /// Columns that the epilogue handles at a time.
  int64_t epilogueCols = 0;
};

MatmulSchedule scheduleMatmul(const Contraction &c,
                              const target::MachineModel &machine);

} // namespace dynamo::codegen

#endif // DYNAMO_LIB_CODEGEN_MATMULSCHEDULE_H
