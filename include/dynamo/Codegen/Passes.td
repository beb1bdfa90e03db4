//===- Passes.td - Codegen passes ---------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CODEGEN_PASSES_TD
#define DYNAMO_CODEGEN_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyKernelsPass : Pass<"verify-kernels", "::mlir::ModuleOp"> {
  let summary = "Check the contract of phase P4 (no tensor types in kernels)";
  let description = [{
    *Input*: TODO

    *Output*: TODO

    *Does not*: TODO

    Example: `TODO`.
  }];
}

def TileConvPass : Pass<"codegen-tile-conv", "::mlir::ModuleOp"> {
  let summary = "Tile a channels-last convolution and its epilogue into registers";
  let description = [{
    *Input*: a kernel of strategy `conv`: `linalg.conv_2d_nhwc_hwcf` or
    `linalg.depthwise_conv_2d_nhwc_hwc` on tensors, its fill, the transposition
    of its FCHW filter if any, and elementwise readers.

    *Output*: `scf.forall` over images and blocks of 16 output channels (rows
    for depthwise); inside, tiles of up to 6 pixels by 16 channels whose window
    and channel loops carry a contraction of static shape. The filter block is
    packed once per parallel tile.

    *Does not*: pad (the input comes padded), vectorise, or take dynamic shapes,
    several convolutions or readers that leave the convolution's space: these
    are errors, and the kernel is compiled by loops.

    Example: `test/Codegen/codegen-tile-conv.mlir`.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
      "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
      "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif
