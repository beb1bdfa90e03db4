//===- RowsSchedule.h - Which loops a rows kernel becomes ------ C++ -*----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A component of the graph becomes one parallel loop over *units*: the points
// of the dims that all its nodes have in common and none reduces.  In a unit
// stand stages in order, each a loop nest over the other dims, in which all
// member nodes are computed point by point.  Softmax over the last dim has
// three stages: the maximum; exponential and sum; division.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_ROWSSCHEDULE_H
#define DYNAMO_LIB_CODEGEN_ROWSSCHEDULE_H

#include "RowsGraph.h"
#include "dynamo/Target/MachineModel.h"

namespace dynamo::codegen::rows {

struct Stage {
  SmallVector<unsigned> members; ///< nodes, in program order
  /// Dims of the loops, outer ones first: those that stay and those that the
  /// stage's reductions reduce. The vector dim is the last of its list.
  SmallVector<int> kept, reduced;
  int vectorDim = -1; ///< the schedule's if the stage has it
  /// A reduction that needs its elements one by one along the vector dim.
  bool scalar = false;
};

/// How a value travels between stages.
struct BufferPlan {
  bool needed = false;
  /// The value is an output: that is its buffer.
  const Store *output = nullptr;
  /// Else scratch: its size in elements and strides per kernel dim.
  int64_t size = 0;
  SmallVector<int64_t> strides;
};

struct Schedule {
  SmallVector<int> parallel; ///< dims of a unit, without the vector dim
  int vectorDim = -1;        ///< -1: all is scalar; stages may have their own
  bool vectorIsParallel = false;
  int64_t lanes = 1;
  int64_t vectorBlock = 0; ///< indices of a parallel vector dim per unit
  bool blocksOutermost = false;
  int64_t units = 1, unitsPerTask = 1;
  SmallVector<Stage, 0> stages;
  llvm::DenseMap<std::pair<unsigned, unsigned>, BufferPlan> buffers;
  /// The first stage of each node of the component.
  llvm::DenseMap<unsigned, unsigned> stageOf;
};

/// The operation that a reduction combines element and accumulator with, if
/// the order does not matter: a sum, product, maximum, ... Else null.
mlir::Operation *getCombiner(const Node &node, unsigned result);

/// What a combiner leaves its other operand unchanged with. (Upstream's has
/// none for maximumf.)
mlir::TypedAttr getNeutralElement(mlir::Operation *combiner);

/// Plans one component. Fails with a reason if its scratch is too large;
/// `scratchBytes` counts over all components.
FailureOr<Schedule> makeSchedule(const Graph &graph, unsigned component,
                                 const target::MachineModel &machine,
                                 int64_t &scratchBytes, std::string &reason);

} // namespace dynamo::codegen::rows

#endif // DYNAMO_LIB_CODEGEN_ROWSSCHEDULE_H
