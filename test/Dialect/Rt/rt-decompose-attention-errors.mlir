// RUN: dynamo-opt %s -rt-decompose-attention -split-input-file -verify-diagnostics

// Sizes must be known.
func.func @dynamic(%q: tensor<2x4x?x16xf32>) -> tensor<2x4x?x16xf32> {
  // expected-error @below {{attention of dynamic sizes is not supported, give all sizes}}
  %o, %l = rt.attention %q, %q, %q {scale = 0.25 : f64}
      : (tensor<2x4x?x16xf32>, tensor<2x4x?x16xf32>, tensor<2x4x?x16xf32>)
      -> (tensor<2x4x?x16xf32>, tensor<2x4x?xf32>)
  return %o : tensor<2x4x?x16xf32>
}
