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

    With `keep-kernels`, what the attention kernel takes stays as it is.

    Example: `test/Dialect/Rt/rt-decompose-attention.mlir`.
  }];
  let options = [
    Option<"keepKernels", "keep-kernels", "bool", /*default=*/"false",
           "Leave what `codegen-tile-attention` compiles">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def SplitReductionsPass : Pass<"linalg-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Add up long columns in blocks, then the blocks' sums";
  let description = [{
    *Input*: a host function in phase P2.

    *Output*: a generic that adds up more than 256 floats one after the other over
    loops that are not its innermost ones becomes two or more: sums of
    blocks, whose numbers are parallel loops, and the sum of those.  Blocks are
    outer loops of the reduction, or equal parts of one (its operands are
    expanded).  Errors grow with the block, not with the column, and threads
    share the blocks.

    *Does not*: touch contractions, integers, extrema, or sums of rows alone
    (those go in the lanes of vectors); split a loop of a prime extent.

    Example: `test/Dialect/Rt/linalg-split-reductions.mlir`.
  }];
  let statistics = [Statistic<"numSplit", "num-split", "Sums that are made in blocks">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseElementwisePass : Pass<"rt-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Bring linalg operations that belong together into one space";
  let description = [{
    *Input*: a host function in phase P2.

    *Output*: the same values.  Named linalg operations without a window are
    generics; dims of size 1 are gone from generics; reshapes have moved past
    elementwise operations and reductions towards the end; elementwise
    operations are merged where nothing large is computed twice; generics on
    small constants are constants.  What reads a convolution is in the
    convolution's dims again, to be its epilogue.

    *Does not*: merge anything into reductions, contractions or convolutions
    (`rt-form-dispatches` groups them), or touch kernels.

    Example: `test/Dialect/Rt/fuse-elementwise.mlir`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FormDispatchesPass : Pass<"rt-form-dispatches", "::mlir::func::FuncOp"> {
  let summary = "Group the operations that share a kernel";
  let description = [{
    *Input*: a host function in phase P2: one block of linalg and tensor
    operations on values, reshapes and extern calls.

    *Output*: every operation that computes is in an `rt.dispatch` with a
    strategy.  A contraction or convolution takes the elementwise operations
    behind it, a convolution also the permutation of its weight; elementwise operations and reductions over the same rows share a
    dispatch as long as a row of what is between them fits 64 KiB; elementwise
    operations that read the same tensor in the same order do, too; constants, fills, slices and scalar arithmetic are copied into
    each dispatch that reads them; reshapes and extern calls stay outside.
    What the host itself reads (an extern operand, a result) exists in memory:
    a cheap value gets a dispatch that writes it.

    *Does not*: change what an operation computes, or make kernels of the
    dispatches (`rt-outline-dispatches` does).

    Example: `test/Dialect/Rt/form-dispatches.mlir`.
  }];
  let dependentDialects = ["::dynamo::rt::RtDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"fuse", "fuse", "bool", "true",
           "group operations; else one dispatch each">
  ];
}

def OutlineDispatchesPass : Pass<"rt-outline-dispatches", "::mlir::ModuleOp"> {
  let summary = "Make each dispatch a kernel module and launch it";
  let description = [{
    *Input*: host functions with `rt.dispatch` operations.

    *Output*: for each dispatch a nested module `@k<n>` with `rt.kernel` and
    `rt.strategy` and one function of that name, carrying `rt.work`; an
    `rt.launch` in its place.  Arguments are the outer values in order of
    first use, each once; constants are copied in.

    *Does not*: look for equal kernels (`rt-dedup-kernels` does).

    Example: `test/Dialect/Rt/outline-dispatches.mlir`.
  }];
  let dependentDialects = ["::dynamo::rt::RtDialect"];
}

def DedupKernelsPass : Pass<"rt-dedup-kernels", "::mlir::ModuleOp"> {
  let summary = "Keep one of equal kernels";
  let description = [{
    *Input*: kernel modules and their launches.

    *Output*: of kernels that are equal but for names and locations the first
    one is left, and every launch names it.

    *Does not*: see kernels as equal that differ in the order of operations or
    arguments.

    Example: `test/Dialect/Rt/dedup-kernels.mlir`.
  }];
  let statistics = [
    Statistic<"numRemoved", "num-removed", "Number of kernels removed">
  ];
}

def InlineKernelsPass : Pass<"rt-inline-kernels", "::mlir::ModuleOp"> {
  let summary = "Put the operations of kernels back on the host";
  let description = [{
    *Input*: a module in phase P3 and names of kernels.

    *Output*: those kernels are gone, their operations stand in the host
    function in place of each launch.  `rt-form-dispatches` makes smaller
    kernels of them.

    *Does not*: touch other kernels and their launches.

    Example: `test/Dialect/Rt/inline-kernels.mlir`.
  }];
  let options = [
    ListOption<"kernels", "kernels", "std::string", "names of the kernels">
  ];
}

def PlanMemoryPass : Pass<"rt-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every host value a place in memory";
  let description = [{
    *Input*: host functions in phase P3 (`verify-dispatches`), static shapes.

    *Output*: host functions on memory: arguments are inputs, then outputs;
    launches write `rt.slot`s of one arena or the outputs themselves; reshapes
    are `rt.reinterpret`; extern calls are `rt.call_extern`.  A returned input,
    extern result or second use of a result is an `rt.copy`.  The function
    carries `rt.arena_bytes` and `rt.num_inputs`.

    *Does not*: change the order of operations, or touch kernels.

    Example: `test/Dialect/Rt/plan-memory.mlir`.
  }];
  let dependentDialects = ["::dynamo::rt::RtDialect"];
  let statistics = [
    Statistic<"arenaBytes", "arena-bytes", "Bytes of the arena">,
    Statistic<"numReused", "num-reused", "Slots placed in used memory">
  ];
}

def VerifyDispatchesPass : Pass<"verify-dispatches", "::mlir::ModuleOp"> {
  let summary = "Check the contract of phase P3 (isolated kernels on values)";
  let description = [{
    *Input*: any module.

    *Output*: the module unchanged, or an error where it breaks the contract:
    - C1: the host holds launches on values, extern calls, `rt.refuse_if`,
      reshapes and return.
    - C2: a launch names a kernel and agrees with its types.
    - C3: a kernel module holds one function of its name, with one block, a
      known strategy and `rt.work`.
    - C4: a kernel takes values (ranked tensors, numbers) and returns tensors
      that it computed.
    - C5: a kernel holds no operation of the host.

    *Does not*: look at phase P4 (`verify-kernels` does).

    Example: `test/Dialect/Rt/verify-dispatches.mlir`.
  }];
}

#endif
