// RUN: dynamo-opt %s -rt-fuse-elementwise -rt-form-dispatches | FileCheck %s

// A convolution reads its weight as it is stored and takes the elementwise
// operation behind it, also at a batch of one image.
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d5, d3, d4)>
// CHECK-LABEL: @conv
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<16x8x3x3xf32>
// CHECK: rt.dispatch "conv" -> tensor<4x4x16xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[FILTER]], #{{.*}}]
// CHECK-SAME: %[[W]] :
// CHECK: math.absf
// CHECK-NOT: rt.dispatch
func.func @conv(%x: tensor<1x6x6x8xf32>, %w: tensor<16x8x3x3xf32>) -> tensor<1x4x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<3x3x8x16xf32>
  %wt = linalg.transpose ins(%w : tensor<16x8x3x3xf32>) outs(%e0 : tensor<3x3x8x16xf32>) permutation = [2, 3, 1, 0]
  %e1 = tensor.empty() : tensor<1x4x4x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%x, %wt : tensor<1x6x6x8xf32>, tensor<3x3x8x16xf32>)
    outs(%f : tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : tensor<1x4x4x16xf32>) outs(%e1 : tensor<1x4x4x16xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = math.absf %i : f32
    linalg.yield %s : f32
  } -> tensor<1x4x4x16xf32>
  return %r : tensor<1x4x4x16xf32>
}

// A pooling window's slices are read in place: a reshape behind does not move
// in front of them, where each would have to be copied.
// CHECK-LABEL: @pool
// CHECK: rt.dispatch "rows"
// CHECK: tensor.extract_slice
// CHECK: tensor.extract_slice
// CHECK-NOT: rt.dispatch
// CHECK: tensor.collapse_shape
func.func @pool(%x: tensor<2x8x8x16xf32>) -> tensor<32x16xf32> {
  %e = tensor.empty() : tensor<2x4x4x16xf32>
  %a = tensor.extract_slice %x[0, 0, 0, 0] [2, 4, 4, 16] [1, 2, 2, 1] : tensor<2x8x8x16xf32> to tensor<2x4x4x16xf32>
  %b = tensor.extract_slice %x[0, 0, 1, 0] [2, 4, 4, 16] [1, 2, 2, 1] : tensor<2x8x8x16xf32> to tensor<2x4x4x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a, %b : tensor<2x4x4x16xf32>, tensor<2x4x4x16xf32>) outs(%e : tensor<2x4x4x16xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.maximumf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<2x4x4x16xf32>
  %c = tensor.collapse_shape %r [[0, 1, 2], [3]] : tensor<2x4x4x16xf32> into tensor<32x16xf32>
  return %c : tensor<32x16xf32>
}
