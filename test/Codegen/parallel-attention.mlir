// RUN: dynamo-opt %s --split-input-file --dynamo-kernel-to-memory-pipeline=target=avx2 | FileCheck %s

// Whatever the sizes and the mask are, heads and blocks of queries end up in
// the range: nothing in a tile may hide which buffer is read or written.

// The last block of keys is shorter: its scores go where those of the others go.
// CHECK-LABEL: func.func @ragged_keys
// CHECK-SAME: rt.range = 72
// CHECK-NOT: arith.select {{.*}} : memref
module @ragged_keys attributes {rt.kernel, rt.strategy = "attention"} {
  func.func @ragged_keys(%q: tensor<1x6x1500x64xf32>, %k: tensor<1x6x1500x64xf32>, %v: tensor<1x6x1500x64xf32>) -> tensor<1x6x1500x64xf32> {
    %o, %l = rt.attention %q, %k, %v {scale = 1.0 : f64} : (tensor<1x6x1500x64xf32>, tensor<1x6x1500x64xf32>, tensor<1x6x1500x64xf32>) -> (tensor<1x6x1500x64xf32>, tensor<1x6x1500xf32>)
    return %o : tensor<1x6x1500x64xf32>
  }
}

// -----

// CHECK-LABEL: func.func @ragged_causal
// CHECK-SAME: rt.range = 8
module @ragged_causal attributes {rt.kernel, rt.strategy = "attention"} {
  func.func @ragged_causal(%q: tensor<2x2x101x40xf32>, %k: tensor<2x2x101x40xf32>, %v: tensor<2x2x101x24xf32>) -> (tensor<2x2x101x24xf32>, tensor<2x2x101xf32>) {
    %o, %l = rt.attention %q, %k, %v {causal, scale = 0.2 : f64} : (tensor<2x2x101x40xf32>, tensor<2x2x101x40xf32>, tensor<2x2x101x24xf32>) -> (tensor<2x2x101x24xf32>, tensor<2x2x101xf32>)
    return %o, %l : tensor<2x2x101x24xf32>, tensor<2x2x101xf32>
  }
}

// -----

// CHECK-LABEL: func.func @ragged_mask
// CHECK-SAME: rt.range = 16
module @ragged_mask attributes {rt.kernel, rt.strategy = "attention"} {
  func.func @ragged_mask(%q: tensor<2x4x80x64xf32>, %k: tensor<2x4x77x64xf32>, %v: tensor<2x4x77x64xf32>, %m: tensor<2x1x80x77xf32>) -> tensor<2x4x80x64xf32> {
    %o, %l = rt.attention %q, %k, %v mask %m {scale = 0.125 : f64} : (tensor<2x4x80x64xf32>, tensor<2x4x77x64xf32>, tensor<2x4x77x64xf32>, tensor<2x1x80x77xf32>) -> (tensor<2x4x80x64xf32>, tensor<2x4x80xf32>)
    return %o : tensor<2x4x80x64xf32>
  }
}

// -----

// CHECK-LABEL: func.func @ragged_decode
// CHECK-SAME: rt.range = 8
module @ragged_decode attributes {rt.kernel, rt.strategy = "attention"} {
  func.func @ragged_decode(%q: tensor<1x8x1x64xbf16>, %k: tensor<1x4x1001x64xbf16>, %v: tensor<1x4x1001x64xbf16>) -> tensor<1x8x1x64xbf16> {
    %o, %l = rt.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<1x8x1x64xbf16>, tensor<1x4x1001x64xbf16>, tensor<1x4x1001x64xbf16>) -> (tensor<1x8x1x64xbf16>, tensor<1x8x1xf32>)
    return %o : tensor<1x8x1x64xbf16>
  }
}
