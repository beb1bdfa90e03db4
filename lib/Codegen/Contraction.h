//===- Contraction.h - A matmul kernel, read as roles of dims --- C++ -*---===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `codegen-tile-matmul` needs to know of its kernel: which loop of the
// contraction plays which part, how the operands read it, and the elementwise
// operations behind it.  Pure analysis: no IR is changed.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_CONTRACTION_H
#define DYNAMO_LIB_CODEGEN_CONTRACTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace dynamo::codegen {

/// One input of the contraction.
struct ContractionOperand {
  mlir::Value tensor;
  mlir::AffineMap map;
  /// The unary operations from the element to the multiplier's operand, in
  /// order (extf, extsi, ...).
  llvm::SmallVector<mlir::Operation *> casts;

  /// The loop that walks the last dim of the tensor, ignoring dims of size 1;
  /// none for a tensor of one element.
  std::optional<unsigned> innermostLoop() const;
  bool reads(unsigned loop) const { return map.isFunctionOfDim(loop); }
};

/// An elementwise operation behind the contraction.
struct EpilogueOp {
  mlir::linalg::GenericOp op;
  /// For each of its loops, the loop of the contraction that it equals.
  llvm::SmallVector<unsigned> loops;
};

/// C[outer, mOuter, m, n] = sum over (kOuter, k) of A[outer, mOuter, m, k] *
/// B[outer, n, k], where A and B have been exchanged if that puts n, the
/// innermost dim of the result, on B.
struct Contraction {
  mlir::linalg::GenericOp op;
  ContractionOperand a, b;
  mlir::AffineMap resultMap;
  /// Extent of each loop.
  llvm::SmallVector<int64_t> extents;
  /// Loops of the batch, further loops of B only, and loops of extent 1.
  llvm::SmallVector<unsigned> outer;
  /// Loops of A only beside m. B does not change over them.
  llvm::SmallVector<unsigned> mOuter;
  llvm::SmallVector<unsigned> kOuter;
  std::optional<unsigned> m;
  unsigned n = 0, k = 0;
  /// Element type of the result, in which products are summed.
  mlir::Type accType;
  llvm::SmallVector<EpilogueOp> epilogue;
  /// What the function returns: results of the contraction or the epilogue.
  llvm::SmallVector<mlir::Value> results;
  /// For each dim of a value of the kernel (by value) the loop it spans.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<unsigned>> valueLoops;

  int64_t extent(std::optional<unsigned> loop) const {
    return loop ? extents[*loop] : 1;
  }
};

/// Reads the kernel `func`. Fails with the reason in `why` if it is anything
/// but one contraction on a zero fill and elementwise operations behind it.
mlir::FailureOr<Contraction> analyzeContraction(mlir::func::FuncOp func,
                                                std::string &why);

} // namespace dynamo::codegen

#endif // DYNAMO_LIB_CODEGEN_CONTRACTION_H
