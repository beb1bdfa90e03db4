//===- Passes.td - Rt passes --------------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_RT_TRANSFORMS_PASSES_TD
#define DYNAMO_DIALECT_RT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def LinalgPropagateTransposesPass : Pass<"linalg-propagate-transposes"> {
  let summary = "Move transposes until they cancel or a reader absorbs them";
  let description = [{
    Keeps the layout that the operations want (channels-last for convolutions)
    through a whole network, so that a transpose is left only where a network
    begins and ends.

    *Input*: P2, linalg and tensor operations on tensors, transposes as
    `linalg.transpose`.

    *Output*: the same values.  First transposes sink through elementwise
    generics whose full-size inputs are transposed alike, pads, slices,
    concatenations and reshapes, composing as they meet.  Then every
    `linalg.generic` reads what is left (transposes, broadcasts, copies, dims of
    size 1) through its indexing maps; its loop order stays.

    *Does not*: sink through a generic that also reads a full-size input in
    another order (one of the two must be read strided anyway); change the
    layout of results, or look into regions of other operations.

    Example: `test/Dialect/Rt/linalg-propagate-transposes.mlir`.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def RtDecomposeAttentionPass : Pass<"rt-decompose-attention"> {
  let summary = "Write attention as contractions and a softmax in linalg";
  let description = [{
    *Input*: `rt.attention` on tensors of static sizes.

    *Output*: a contraction for the scores, elementwise generics for scale, mask
    and causal cut, row maximum and sum, and a contraction with the values; f32
    (f64) throughout but for the operands of the contractions.  The semantics is
    that of the op, rows without keys included.

    *Does not*: avoid the score matrix; an attention kernel does.

    Example: `test/Dialect/Rt/rt-decompose-attention.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def VerifyDispatchesPass : Pass<"verify-dispatches", "::mlir::ModuleOp"> {
  let summary = "Check the contract of phase P3 (isolated kernels, one parallel outer shape)";
  let description = [{
    *Input*: TODO

    *Output*: TODO

    *Does not*: TODO

    Example: `TODO`.
  }];
}

#endif
