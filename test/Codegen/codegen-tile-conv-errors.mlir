// RUN: dynamo-opt %s --codegen-tile-conv --split-input-file --verify-diagnostics

// Nothing to tile.
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  // expected-error @below {{no convolution in the kernel}}
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// A size known at run time only.
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @k(%x: tensor<1x?x58x64xf32>, %w: tensor<3x3x64x64xf32>, %f: tensor<1x?x56x64xf32>) -> tensor<1x?x56x64xf32> {
    // expected-error @below {{needs static shapes}}
    %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x?x58x64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<1x?x56x64xf32>) -> tensor<1x?x56x64xf32>
    return %y : tensor<1x?x56x64xf32>
  }
}

// -----

// A second sum is another kernel.
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#r = affine_map<(d0, d1, d2, d3) -> (d3)>
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @k(%x: tensor<1x58x58x64xf32>, %w: tensor<3x3x64x64xf32>, %f: tensor<1x56x56x64xf32>, %z: tensor<64xf32>) -> tensor<64xf32> {
    %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x58x58x64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    // expected-error @below {{a second reduction in a convolution kernel}}
    %s = linalg.generic {indexing_maps = [#id, #r], iterator_types = ["reduction", "reduction", "reduction", "parallel"]}
      ins(%y : tensor<1x56x56x64xf32>) outs(%z : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %a, %o : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
    return %s : tensor<64xf32>
  }
}

// -----

// A reader by broadcast leaves the convolution's space.
#last = affine_map<(a, d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#all = affine_map<(a, d0, d1, d2, d3) -> (a, d0, d1, d2, d3)>
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @k(%x: tensor<1x58x58x64xf32>, %w: tensor<3x3x64x64xf32>, %f: tensor<1x56x56x64xf32>, %z: tensor<2x1x56x56x64xf32>) -> tensor<2x1x56x56x64xf32> {
    // expected-error @below {{its readers do not keep the convolution's space}}
    %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x58x58x64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    %s = linalg.generic {indexing_maps = [#last, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<1x56x56x64xf32>) outs(%z : tensor<2x1x56x56x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      linalg.yield %a : f32
    } -> tensor<2x1x56x56x64xf32>
    return %s : tensor<2x1x56x56x64xf32>
  }
}

// -----

// Pooling has windows but no products.
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @k(%x: tensor<1x58x58x64xf32>, %w: tensor<3x3xf32>, %f: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
    // expected-error @below {{needs products of one float type}}
    %y = linalg.pooling_nhwc_max ins(%x, %w : tensor<1x58x58x64xf32>, tensor<3x3xf32>) outs(%f : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    return %y : tensor<1x56x56x64xf32>
  }
}
