//===- DispatchGroups.h - Which operations share a kernel --------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The partition of @main's operations into kernels.  It starts with one group
// per operation that computes and is refined by merging; the order of the
// groups is found at the end, so that only the absence of cycles matters while
// merging.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_DIALECT_RT_TRANSFORMS_DISPATCHGROUPS_H
#define DYNAMO_LIB_DIALECT_RT_TRANSFORMS_DISPATCHGROUPS_H

#include "dynamo/Dialect/Rt/IR/Rt.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>

namespace dynamo::rt {

/// What an operation of @main is to dispatch formation.
enum class OpRole {
  Host,  ///< stays: reshapes, extern calls, return
  Cheap, ///< copied into every kernel that reads it: constants, slices, fills
  Root,  ///< computed once, by the kernel of its group
};

/// One kernel to be: operations in program order.
struct Group {
  llvm::SmallVector<mlir::Operation *> ops;
  /// One of the strategies of docs/Architecture.md.
  llvm::StringRef strategy = "loops";
};

class DispatchGroups {
public:
  /// One group per root of `block`.  Cheap values that the host reads become
  /// roots first (a copy or a fill), so that they exist in memory.
  DispatchGroups(mlir::Block &block, mlir::RewriterBase &rewriter);

  OpRole role(mlir::Operation *op) const;
  /// The group of a root; null for other operations.
  Group *groupOf(mlir::Operation *op) const { return owner.lookup(op); }
  /// The groups, in program order of their first operation.
  llvm::SmallVector<Group *> groups() const;
  /// Position in the block at the start.
  int64_t position(mlir::Operation *op) const { return positions.lookup(op); }
  /// The operations of the block (not nested, not cheap) that read `value`,
  /// also through cheap operations.
  llvm::SmallVector<mlir::Operation *> readers(mlir::Value value) const;
  /// Roots and host operations whose results `op` reads, also through cheap
  /// operations.
  llvm::ArrayRef<mlir::Operation *> sources(mlir::Operation *op) const;

  /// Roots and host operations in program order.
  llvm::ArrayRef<mlir::Operation *> operations() const { return order; }
  /// Whether the cheap `op` reads a result of the group.
  bool reachesThroughCheap(mlir::Operation *op, Group *group) const;

  /// Whether `a` and `b` as one group would wait for its own result.
  bool mergeMakesCycle(Group *a, Group *b) const;
  /// Moves the operations of `from` to `into`.
  void merge(Group *into, Group *from);

  /// Rewrites the block: one `rt.dispatch` per group.
  void materialise(mlir::RewriterBase &rewriter);

private:
  mlir::Operation *topLevel(mlir::Operation *op) const;
  llvm::SmallVector<mlir::Value> operandsOf(mlir::Operation *op) const;
  void materialiseForHost(mlir::RewriterBase &rewriter);
  void emit(Group &group, mlir::RewriterBase &rewriter);

  mlir::Block &block;
  llvm::SmallVector<mlir::Operation *> order;
  std::vector<std::unique_ptr<Group>> storage;
  llvm::DenseMap<mlir::Operation *, Group *> owner;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>> preds,
      succs;
  llvm::DenseSet<mlir::Operation *> forcedRoots;
};

} // namespace dynamo::rt

#endif // DYNAMO_LIB_DIALECT_RT_TRANSFORMS_DISPATCHGROUPS_H
