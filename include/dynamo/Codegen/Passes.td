//===- Passes.td - Codegen passes ---------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In the order of the kernel pipeline (lib/Codegen/KernelPipeline.cpp). All run
// on a kernel module: one public function, the attribute `rt.kernel`.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CODEGEN_PASSES_TD
#define DYNAMO_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrepareKernelPass : Pass<"codegen-prepare-kernel", "::mlir::ModuleOp"> {
  let summary = "Estimate a kernel's work and reduce its forms";
  let description = [{
    *Input*: a kernel on tensors.

    *Output*: the same with `rt.work` (scalar operations of a run) on the
    function; `tensor.concat` and `tensor.pad` are insertions into a destination,
    in parts that do not meet.
    In a `loops` kernel elementwise producers with one use are fused into their
    reader, since every intermediate would need scratch memory.

    *Does not* touch contractions or the iteration order of any operation.

    Example: `test/Codegen/prepare-kernel.mlir`.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"fallback", "fallback", "bool", /*default=*/"false",
           "Treat the kernel as `loops` whatever its strategy says">
  ];
}

def TileRowsPass : Pass<"codegen-tile-rows", "::mlir::ModuleOp"> {
  let summary = "Compile elementwise operations and reductions to vector loops";
  let description = [{
    *Input*: a kernel of strategy `rows` on tensors: linalg operations that read
    arguments by any linear map and each other at the same point, with reshapes,
    slices and concatenations around them. A `loops` kernel of this form is taken
    too (gathers, pooling).

    *Output*: the kernel on memrefs. A `scf.forall` per group of connected
    operations over the dims that all have in common; inside, loops that compute
    the group point by point on vectors, with reductions in registers. Row
    buffers are `memref.alloca`.

    *Does not*: touch other strategies. A `rows` kernel that does not fit is an
    error that says why, a `loops` kernel stays as it is.

    Example: `test/Codegen/tile-rows.mlir`.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Machine model: avx2, avx512, generic or host">
  ];
}

def TileConvPass : Pass<"codegen-tile-conv", "::mlir::ModuleOp"> {
  let summary = "Tile a channels-last convolution and its epilogue into registers";
  let description = [{
    *Input*: a kernel of strategy `conv`: one convolution with its channels last
    (a generic or a named operation, any number of spatial dims, groups,
    depthwise; the filter in any layout), its fill, and elementwise readers.

    *Output*: `scf.forall` over images and blocks of 16 output channels (rows
    for depthwise); inside, tiles of up to 6 pixels by 16 channels whose window
    and channel loops carry one vector per pixel. The filter block is packed
    once per parallel tile.

    *Does not*: pad (the input comes padded), or take dynamic shapes, half
    types, several convolutions or readers that leave the convolution's space: these
    are errors, and the kernel is compiled by loops.

    Example: `test/Codegen/codegen-tile-conv.mlir`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
      "::mlir::arith::ArithDialect",
      "::mlir::bufferization::BufferizationDialect",
      "::mlir::linalg::LinalgDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
      "::mlir::vector::VectorDialect"];
}

def TileMatmulPass : Pass<"codegen-tile-matmul", "::mlir::ModuleOp"> {
  let summary = "Schedule matmul kernels";
  let description = [{
    *Input*: a module that is or holds kernels on tensors. A kernel of strategy
    `matmul` is one contraction (`linalg.generic` or a named operation, with any
    permutation maps, on a zero fill) and elementwise operations that read it.

    *Output*: an `scf.forall` over tiles of the result. In a tile, the
    contraction is vectors on tensors: B packed per panel on the stack and
    register tiles of outer products, or, for few rows, dot products or sums of
    rows. The elementwise operations are one-dimensional `linalg.generic`s of
    static size.

    *Does not* vectorise the elementwise operations and touches no kernel of
    another strategy. Fails, with the reason, on a kernel of other form.

    Example: `test/Codegen/tile-matmul.mlir`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Machine model: avx2, avx512, generic or host">
  ];
}

def TileAttentionPass : Pass<"codegen-tile-attention", "::mlir::ModuleOp"> {
  let summary = "Schedule attention kernels";
  let description = [{
    *Input*: a module that is or holds kernels on tensors. A kernel of strategy
    `attention` is one `rt.attention`, whose operands may be slices or
    permutations of arguments and whose result may be permuted, as long as the
    features stay innermost in memory.

    *Output*: an `scf.forall` over batch, heads and blocks of queries, with vectors
    on tensors in it: one pass over blocks of keys with the running maximum and
    sum of each row. Blocks of keys that no query sees are left out.

    *Does not* touch kernels of another strategy. Fails, with the reason, on a
    kernel of other form.

    Example: `test/Codegen/tile-attention.mlir`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Machine model: avx2, avx512, generic or host">
  ];
}

def VectorizePass : Pass<"codegen-vectorize", "::mlir::ModuleOp"> {
  let summary = "Vectorise linalg operations on tiles";
  let description = [{
    *Input*: a kernel on tensors whose strategy pass left linalg operations of
    small static shape inside loops.

    *Output*: vector operations on these tiles; contractions are
    `vector.contract`.

    *Does not* touch what is outside of loops or has over 2048 iterations: full-size
    vectors take seconds to compile. That is left for the lowering to loops.

    Example: `test/Codegen/vectorize.mlir`.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect", "::mlir::ub::UBDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def HoistPass : Pass<"codegen-hoist", "::mlir::ModuleOp"> {
  let summary = "Move accumulators and invariant code out of loops";
  let description = [{
    *Input*: a kernel of loops and vector operations on tensors.

    *Output*: invariant code stands before its loop; a tile of a tensor that a loop
    reads and writes back is a vector in the loop's `iter_args`, except in
    `matmul` and `attention` kernels, which come with theirs in place.

    *Does not* look at memory: run it before bufferisation.

    Example: `test/Codegen/hoist.mlir`.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def BufferizeKernelPass : Pass<"codegen-bufferize-kernel", "::mlir::ModuleOp"> {
  let summary = "Put a kernel's tensors into its argument buffers";
  let description = [{
    *Input*: a kernel on tensors whose shapes are static.

    *Output*: a kernel on identity-layout memrefs: inputs, then one output per
    result. Results are computed in the output buffers. Temporaries are
    `memref.alloca` in the entry block.

    *Does not* allocate on the heap: temporaries over 512 KiB in total are an
    error, so that the caller can split the kernel. A function that is on memrefs
    already stays as it is.

    Example: `test/Codegen/bufferize-kernel.mlir`.
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::arith::ArithDialect"
  ];
}

def ParallelRangePass : Pass<"codegen-parallel-range", "::mlir::ModuleOp"> {
  let summary = "Turn a kernel's parallel loops into its range";
  let description = [{
    *Input*: a kernel on memrefs.

    *Output*: linalg operations are loops; the function has two more
    arguments `%begin, %end: index` and the attribute `rt.range`, the number of
    parallel tiles. The top-level `scf.forall` and linalg operations, when
    independent of each other, are laid end to end in the range, the latter in
    blocks of at least 1024 operations.
    When one of them needs what another writes the range is 1.

    *Does not* vectorise.

    Example: `test/Codegen/parallel-range.mlir`.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

def VerifyKernelsPass : Pass<"verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Check the contract of phase P4";
  let description = [{
    *Input*: a kernel module, or a module that holds kernel modules.

    *Output*: the same. Errors name what breaks the contract: a tensor type, an
    allocation on the heap, a linalg operation, a missing range, or arguments other
    than identity-layout memrefs and the range.

    *Does not* change anything.

    Example: `test/Codegen/verify-kernels-errors.mlir`.
  }];
}

def LowerVectorsPass : Pass<"codegen-lower-vectors", "::mlir::ModuleOp"> {
  let summary = "Lower vectors of any rank to one-dimensional ones";
  let description = [{
    *Input*: a kernel on memrefs with vector operations of any rank.

    *Output*: loads, stores and arithmetic on one-dimensional vectors;
    contractions are outer products, reductions keep their lanes until the last step.

    *Does not* choose vector widths.

    Example: `test/Codegen/lower-vectors.mlir`.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def LegalizeFloatsPass : Pass<"codegen-legalize-floats", "::mlir::ModuleOp"> {
  let summary = "Compute on half types in f32";
  let description = [{
    *Input*: a kernel with arithmetic on `f16` and `bf16`.

    *Output*: arithmetic is on `f32` and `f64` only; conversions from and to
    half types need no library call on the target.

    *Does not* change types in memory.

    Example: `test/Codegen/legalize-floats.mlir`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::vector::VectorDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Machine model: avx2, avx512, generic or host">
  ];
}

def ExpandMathPass : Pass<"codegen-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expand math functions on f32 to polynomials";
  let description = [{
    *Input*: a kernel with math functions on `f32`, scalar or vectors of one
    dimension.

    *Output*: `exp`, `exp2`, `expm1`, `log`, `log2`, `log1p`, `tanh`, `erf`, `sin`,
    `cos`, `tan`, `rsqrt` and `powf` with a usual constant exponent are
    arithmetic, within 2 ulp (`tan`: 4). Large angles take a slow path through libm.

    *Does not* touch `f64` and the rest of the functions: these become
    instructions or calls of libm in the lowering to LLVM.

    Example: `test/Codegen/expand-math.mlir`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"host\"",
           "Machine model: avx2, avx512, generic or host">
  ];
}

def LowerToLLVMPass : Pass<"codegen-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Lower a kernel to the LLVM dialect with the kernel ABI";
  let description = [{
    *Input*: a kernel of phase P4 on one-dimensional vectors.

    *Output*: `llvm.func @k(%args: !llvm.ptr, %begin: i64, %end: i64)`, which
    loads the data pointers and calls a private function that holds the code and
    knows that its arguments do not alias.

    *Does not* optimise.

    Example: `test/Codegen/lower-to-llvm.mlir`.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect", "::mlir::func::FuncDialect"
  ];
}

#endif
