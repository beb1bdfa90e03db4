// RUN: dynamo-opt %s --split-input-file --codegen-tile-conv --canonicalize --cse | FileCheck %s

// A 3x3 convolution with its filter's transposition and a bias + relu reader:
// channel blocks in parallel, the filter block packed once in each, pixel tiles
// of 4 (56 = 14 * 4), window loops around a 4 x 16 contraction.
// CHECK-LABEL: func.func @k
// CHECK: scf.forall (%{{.*}}) = (0) to (64) step (16)
// CHECK:   scf.for
// CHECK:     linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK:   scf.for %{{.*}} = %c0 to %c56 step %c1
// CHECK:     scf.for %{{.*}} = %c0 to %c56 step %c4
// CHECK:       scf.for %{{.*}} = %c0 to %c3
// CHECK:         scf.for %{{.*}} = %c0 to %c3
// CHECK:           scf.for %{{.*}} = %c0 to %c64 step %c4
// CHECK:             linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x16xf32>)
// CHECK:         linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<4x16xf32>)
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @k(%x: tensor<1x58x58x64xf32>, %w: tensor<64x64x3x3xf32>, %b: tensor<64xf32>) -> tensor<1x56x56x64xf32> {
    %zero = arith.constant 0.0 : f32
    %wt_init = tensor.empty() : tensor<3x3x64x64xf32>
    %wt = linalg.transpose ins(%w : tensor<64x64x3x3xf32>) outs(%wt_init : tensor<3x3x64x64xf32>) permutation = [2, 3, 1, 0]
    %e = tensor.empty() : tensor<1x56x56x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    %y = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %wt : tensor<1x58x58x64xf32>, tensor<3x3x64x64xf32>) outs(%f : tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
    %r = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %b : tensor<1x56x56x64xf32>, tensor<64xf32>) outs(%e : tensor<1x56x56x64xf32>) {
    ^bb0(%a: f32, %bias: f32, %o: f32):
      %s = arith.addf %a, %bias : f32
      %m = arith.maximumf %s, %zero : f32
      linalg.yield %m : f32
    } -> tensor<1x56x56x64xf32>
    return %r : tensor<1x56x56x64xf32>
  }
}

// -----

// Depthwise: rows in parallel, tiles of pixels by 16 channels, multiply-adds.
// CHECK-LABEL: func.func @d
// CHECK: scf.forall (%{{.*}}) in (28)
// CHECK:   linalg.fill
// CHECK:   linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<6x16xf32>, tensor<16xf32>)
module @d attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @d(%x: tensor<1x58x58x32xf32>, %w: tensor<3x3x32xf32>) -> tensor<1x28x28x32xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x28x28x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
    %y = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x58x58x32xf32>, tensor<3x3x32xf32>) outs(%f : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
    return %y : tensor<1x28x28x32xf32>
  }
}
