//===- RowsEmitter.h - Vector code of a rows kernel ------------ C++ -*----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_ROWSEMITTER_H
#define DYNAMO_LIB_CODEGEN_ROWSEMITTER_H

#include "RowsSchedule.h"

namespace dynamo::codegen::rows {

/// Emits the parallel loop of one component at the builder's place. `memories`
/// are the function's memrefs, flat: inputs, then outputs; `numInputs` says
/// where outputs start. Scratch is allocated in the entry block.
void emitComponent(mlir::OpBuilder &builder, mlir::Location loc,
                   const Graph &graph, const Schedule &schedule,
                   mlir::ArrayRef<Value> memories, unsigned numInputs);

} // namespace dynamo::codegen::rows

#endif // DYNAMO_LIB_CODEGEN_ROWSEMITTER_H
