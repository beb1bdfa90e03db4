//===- RowsGraph.h - A rows kernel as linear accesses over dims - C++ -*---===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `codegen-tile-rows` knows of a kernel.  The loop dims of all operations
// that hand values to each other are unified into *dims* of the kernel, and
// every access to an argument or output is an offset plus a stride per dim. So
// reshapes, slices, permutations and broadcasts are gone: they are strides.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_ROWSGRAPH_H
#define DYNAMO_LIB_CODEGEN_ROWSGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace dynamo::codegen::rows {

using mlir::AffineMap;
using mlir::FailureOr;
using mlir::SmallVector;
using mlir::Type;
using mlir::Value;

/// A tensor as a place in memory: element offset and stride per dim of it.
struct View {
  int64_t offset = 0;
  SmallVector<int64_t> strides;
};

/// An access from inside the loops: element offset, and stride per kernel dim
/// (indexed by dim; dims the access does not depend on have 0).
struct Access {
  int64_t offset = 0;
  SmallVector<int64_t> strides;
};

/// Where a tensor comes from.
struct Source {
  enum Kind { Memory, Node, Scalar, Undefined } kind = Undefined;
  /// Memory: number of the argument, and the view of it.
  unsigned argument = 0;
  View view;
  /// Node: producer, its result, and the result's dim behind each dim (-1 for
  /// one of size 1).
  unsigned node = 0, result = 0;
  SmallVector<int> dimMap;
  /// Scalar: the value of every element.
  Value scalar;
};

struct Operand {
  Source source;
  AffineMap map;
  Type elementType;
  /// Memory: filled in once dims are known.
  Access access;
};

/// One place in an output where a node's result goes.
struct Store {
  unsigned output = 0; ///< number of the kernel's result
  View view;           ///< by dim of the node's result
  Access access;
};

struct Result {
  Type elementType;
  AffineMap map;
  SmallVector<Store, 1> stores;
};

/// An operation of the kernel: a linalg operation, or a copy of operand 0 to
/// result 0 (op is null).
struct Node {
  mlir::linalg::LinalgOp op;
  SmallVector<int64_t> sizes;                       ///< per loop
  SmallVector<mlir::utils::IteratorType> iterators; ///< per loop
  SmallVector<Operand> inputs, inits;
  SmallVector<Result> results;
  /// The kernel dim of each loop, -1 for a loop of one iteration; a loop that
  /// was merged into the next has that one's dim in `dims` no more (-2).
  SmallVector<int> loopDims;
  /// The kernel dims of the node, unordered, and which of them it reduces.
  SmallVector<int> dims, reduced;
  bool isReduction() const { return !reduced.empty(); }
  bool has(int dim) const { return llvm::is_contained(dims, dim); }
  unsigned component = 0;

  mlir::Block *body() const {
    return const_cast<mlir::linalg::LinalgOp &>(op).getBlock();
  }
};

struct Graph {
  SmallVector<Node, 0> nodes;    ///< in topological order
  SmallVector<int64_t> dimSizes; ///< per kernel dim
  unsigned numComponents = 0;    ///< groups of nodes without common values
  /// The tensors that `tensor.extract`s in bodies read: always Memory.
  llvm::DenseMap<mlir::Operation *, Source> gathers;
};

/// Reads the function, or says why it is not a rows kernel. Changes nothing.
FailureOr<Graph> buildGraph(mlir::func::FuncOp func, std::string &reason);

} // namespace dynamo::codegen::rows

#endif // DYNAMO_LIB_CODEGEN_ROWSGRAPH_H
