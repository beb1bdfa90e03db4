// RUN: dynamo-opt %s -linalg-propagate-transposes | FileCheck %s

// CHECK-DAG: #[[MID:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[MLAST:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-DAG: #[[MT:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[MA:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-DAG: #[[MB:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: #[[MC:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#channel = affine_map<(d0, d1, d2, d3) -> (d1)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// Two convolutions with a bias, a residual and a pad between them: the inner
// transposes cancel, the bias is read by channel in the new order.
// CHECK-LABEL: @convs
// CHECK-SAME: %[[X:.*]]: tensor<1x4x8x8xf32>
func.func @convs(%x: tensor<1x4x8x8xf32>, %w: tensor<3x3x4x4xf32>, %b: tensor<4xf32>)
    -> tensor<1x4x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[XT:.*]] = linalg.transpose ins(%[[X]] : {{.*}}) {{.*}} permutation = [0, 2, 3, 1]
  // CHECK-NOT: linalg.transpose
  %e0 = tensor.empty() : tensor<1x8x8x4xf32>
  %xt = linalg.transpose ins(%x : tensor<1x4x8x8xf32>) outs(%e0 : tensor<1x8x8x4xf32>) permutation = [0, 2, 3, 1]
  // CHECK: %[[C:.*]] = linalg.conv_2d_nhwc_hwcf
  %e1 = tensor.empty() : tensor<1x6x6x4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %c = linalg.conv_2d_nhwc_hwcf ins(%xt, %w : tensor<1x8x8x4xf32>, tensor<3x3x4x4xf32>)
    outs(%f1 : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %e2 = tensor.empty() : tensor<1x4x6x6xf32>
  %ct = linalg.transpose ins(%c : tensor<1x6x6x4xf32>) outs(%e2 : tensor<1x4x6x6xf32>) permutation = [0, 3, 1, 2]
  // CHECK: %[[A:.*]] = linalg.generic {indexing_maps = [#[[MID]], #[[MLAST]], #[[MID]]]
  // CHECK-SAME: ins(%[[C]], %{{.*}} : tensor<1x6x6x4xf32>, tensor<4xf32>)
  %e3 = tensor.empty() : tensor<1x4x6x6xf32>
  %a = linalg.generic {indexing_maps = [#id, #channel, #id],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%ct, %b : tensor<1x4x6x6xf32>, tensor<4xf32>) outs(%e3 : tensor<1x4x6x6xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<1x4x6x6xf32>
  // CHECK: tensor.pad %[[A]] low[0, 1, 1, 0] high[0, 1, 1, 0]
  // CHECK-NOT: linalg.transpose
  %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x4x6x6xf32> to tensor<1x4x8x8xf32>
  %pt = linalg.transpose ins(%p : tensor<1x4x8x8xf32>) outs(%e0 : tensor<1x8x8x4xf32>) permutation = [0, 2, 3, 1]
  // CHECK: linalg.conv_2d_nhwc_hwcf
  %c2 = linalg.conv_2d_nhwc_hwcf ins(%pt, %w : tensor<1x8x8x4xf32>, tensor<3x3x4x4xf32>)
    outs(%f1 : tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32>
  %c2t = linalg.transpose ins(%c2 : tensor<1x6x6x4xf32>) outs(%e2 : tensor<1x4x6x6xf32>) permutation = [0, 3, 1, 2]
  // CHECK: linalg.generic
  %r = linalg.generic {indexing_maps = [#id, #id, #id],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c2t, %a : tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) outs(%e3 : tensor<1x4x6x6xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<1x4x6x6xf32>
  // CHECK: linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
  return %r : tensor<1x4x6x6xf32>
}

// A loop index in a body that is computed in another order is that of its dim.
// CHECK-LABEL: @index
func.func @index(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<5x3xf32>
  %t = linalg.transpose ins(%x : tensor<3x5xf32>) outs(%e : tensor<5x3xf32>) permutation = [1, 0]
  // CHECK: linalg.index 1
  %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%i: f32, %o: f32):
    %k = linalg.index 0 : index
    %n = arith.index_cast %k : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %i, %f : f32
    linalg.yield %s : f32
  } -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// An elementwise op of differently ordered inputs does not move, it reads one
// of them through a map.
// CHECK-LABEL: @mixed
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#[[MT]], #{{.*}}, #{{.*}}]
func.func @mixed(%x: tensor<3x5xf32>, %y: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<5x3xf32>
  %t = linalg.transpose ins(%x : tensor<3x5xf32>) outs(%e : tensor<5x3xf32>) permutation = [1, 0]
  %r = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%t, %y : tensor<5x3xf32>, tensor<5x3xf32>) outs(%e : tensor<5x3xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %s = arith.addf %i, %j : f32
    linalg.yield %s : f32
  } -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}

// A contraction reads a transposed operand, a broadcast one and one with a unit
// dim through its maps, and keeps its loop order.
// CHECK-LABEL: @contraction
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<2x16x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[MA]], #[[MB]], #[[MC]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME: ins(%[[X]], %[[Y]]
func.func @contraction(%x: tensor<4x8xf32>, %y: tensor<2x16x8xf32>, %z: tensor<2x4x16xf32>) -> tensor<2x4x16xf32> {
  %e0 = tensor.empty() : tensor<2x4x8xf32>
  %xb = linalg.broadcast ins(%x : tensor<4x8xf32>) outs(%e0 : tensor<2x4x8xf32>) dimensions = [0]
  %e1 = tensor.empty() : tensor<2x8x16xf32>
  %yt = linalg.transpose ins(%y : tensor<2x16x8xf32>) outs(%e1 : tensor<2x8x16xf32>) permutation = [0, 2, 1]
  %r = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>,
                                        affine_map<(b, m, n, k) -> (b, k, n)>,
                                        affine_map<(b, m, n, k) -> (b, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%xb, %yt : tensor<2x4x8xf32>, tensor<2x8x16xf32>) outs(%z : tensor<2x4x16xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x4x16xf32>
  return %r : tensor<2x4x16xf32>
}

// A reshape that keeps the moved dims apart lets the transpose through, here
// until it meets its inverse; dims of size 1 may lie anywhere.
// CHECK-LABEL: @patches
// CHECK-SAME: %[[X:.*]]: tensor<1x4x4x8xf32>
// CHECK-NOT: linalg.transpose
// CHECK: tensor.collapse_shape %[[X]] {{.*}} : tensor<1x4x4x8xf32> into tensor<1x16x8xf32>
// CHECK-NOT: linalg.transpose
func.func @patches(%x: tensor<1x4x4x8xf32>) -> tensor<1x16x8xf32> {
  %e0 = tensor.empty() : tensor<1x8x4x4xf32>
  %t = linalg.transpose ins(%x : tensor<1x4x4x8xf32>) outs(%e0 : tensor<1x8x4x4xf32>) permutation = [0, 3, 1, 2]
  %c = tensor.collapse_shape %t [[0], [1], [2, 3]] : tensor<1x8x4x4xf32> into tensor<1x8x16xf32>
  %e1 = tensor.empty() : tensor<1x16x8xf32>
  %u = linalg.transpose ins(%c : tensor<1x8x16xf32>) outs(%e1 : tensor<1x16x8xf32>) permutation = [0, 2, 1]
  return %u : tensor<1x16x8xf32>
}

// A concatenation of channels, in channels-last order, is one of the last dim.
// CHECK-LABEL: @concat
// CHECK: %[[R:.*]] = tensor.concat dim(2)
// CHECK: linalg.transpose ins(%[[R]]
func.func @concat(%x: tensor<2x5x3xf32>, %y: tensor<2x5x4xf32>) -> tensor<2x7x5xf32> {
  %e0 = tensor.empty() : tensor<2x3x5xf32>
  %e1 = tensor.empty() : tensor<2x4x5xf32>
  %xt = linalg.transpose ins(%x : tensor<2x5x3xf32>) outs(%e0 : tensor<2x3x5xf32>) permutation = [0, 2, 1]
  %yt = linalg.transpose ins(%y : tensor<2x5x4xf32>) outs(%e1 : tensor<2x4x5xf32>) permutation = [0, 2, 1]
  %r = tensor.concat dim(1) %xt, %yt : (tensor<2x3x5xf32>, tensor<2x4x5xf32>) -> tensor<2x7x5xf32>
  return %r : tensor<2x7x5xf32>
}
