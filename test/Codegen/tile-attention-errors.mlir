// RUN: dynamo-opt %s --split-input-file --verify-diagnostics --codegen-tile-attention

// Nothing to schedule.
module @k attributes {rt.kernel, rt.strategy = "attention"} {
  // expected-error @below {{cannot schedule an attention kernel: no attention in the kernel}}
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// Features that do not lie side by side.
module @k attributes {rt.kernel, rt.strategy = "attention"} {
  // expected-error @below {{features are not the innermost dim in memory}}
  func.func @k(%q: tensor<1x2x8x4xf32>, %k: tensor<1x2x4x8xf32>, %v: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
    %e = tensor.empty() : tensor<1x2x8x4xf32>
    %t = linalg.transpose ins(%k : tensor<1x2x4x8xf32>) outs(%e : tensor<1x2x8x4xf32>) permutation = [0, 1, 3, 2]
    %o, %l = rt.attention %q, %t, %v {scale = 0.5 : f64} : (tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>) -> (tensor<1x2x8x4xf32>, tensor<1x2x8xf32>)
    return %o : tensor<1x2x8x4xf32>
  }
}

// -----

// A reader of the result that computes.
module @k attributes {rt.kernel, rt.strategy = "attention"} {
  // expected-error @below {{the kernel returns more than attention}}
  func.func @k(%q: tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32> {
    %o, %l = rt.attention %q, %q, %q {scale = 0.5 : f64} : (tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>) -> (tensor<1x2x8x4xf32>, tensor<1x2x8xf32>)
    %e = tensor.empty() : tensor<1x2x8x4xf32>
    %r = linalg.exp ins(%o : tensor<1x2x8x4xf32>) outs(%e : tensor<1x2x8x4xf32>) -> tensor<1x2x8x4xf32>
    return %r : tensor<1x2x8x4xf32>
  }
}
