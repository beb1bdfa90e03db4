//===- MergeGroups.h - The fusion decisions ----------------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_DIALECT_RT_TRANSFORMS_MERGEGROUPS_H
#define DYNAMO_LIB_DIALECT_RT_TRANSFORMS_MERGEGROUPS_H

#include "DispatchGroups.h"

namespace dynamo::rt {

/// Sets the strategy of each group of one operation.
void chooseStrategies(DispatchGroups &groups);

/// Chains of insert_slice fill one tensor in place: one kernel.
void mergeInsertChains(DispatchGroups &groups);

/// Contractions, convolutions and attention take the elementwise operations
/// behind them.
void mergeEpilogues(DispatchGroups &groups);

/// Elementwise operations and reductions over the same rows share a kernel.
void mergeRows(DispatchGroups &groups);

/// Elementwise kernels that read the same tensor in the same order become one.
void mergeSiblings(DispatchGroups &groups);

} // namespace dynamo::rt

#endif // DYNAMO_LIB_DIALECT_RT_TRANSFORMS_MERGEGROUPS_H
