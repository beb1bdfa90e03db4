// RUN: dynamo-opt %s --codegen-tile-conv --split-input-file --verify-diagnostics

// Nothing to tile.
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  // expected-error @below {{no channels-last convolution in the kernel}}
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// A size known at run time only.
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @k(%x: tensor<1x?x58x64xf32>, %w: tensor<3x3x64x64xf32>, %f: tensor<1x?x56x64xf32>) -> tensor<1x?x56x64xf32> {
    // expected-error @below {{needs static shapes and one float type}}
    %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x?x58x64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<1x?x56x64xf32>) -> tensor<1x?x56x64xf32>
    return %y : tensor<1x?x56x64xf32>
  }
}

// -----

// A reader that sums over pixels leaves the convolution's space.
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#r = affine_map<(d0, d1, d2, d3) -> (d3)>
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @k(%x: tensor<1x58x58x64xf32>, %w: tensor<3x3x64x64xf32>, %f: tensor<1x56x56x64xf32>, %z: tensor<64xf32>) -> tensor<64xf32> {
    // expected-error @below {{its readers do not keep the convolution's space}}
    %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x58x58x64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    %s = linalg.generic {indexing_maps = [#id, #r], iterator_types = ["reduction", "reduction", "reduction", "parallel"]}
      ins(%y : tensor<1x56x56x64xf32>) outs(%z : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %a, %o : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
    return %s : tensor<64xf32>
  }
}
