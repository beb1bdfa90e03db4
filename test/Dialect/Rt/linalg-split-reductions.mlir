// RUN: dynamo-opt %s --linalg-split-reductions | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A long column is cut in equal parts of about the square root of its length.
// CHECK-LABEL: @columns
func.func @columns(%x: tensor<4096x48xf32>, %init: tensor<48xf32>) -> tensor<48xf32> {
  // CHECK: %[[X:.*]] = tensor.expand_shape %arg0 {{\[}}[0, 1], [2]] output_shape [64, 64, 48]
  // CHECK: %[[FILL:.*]] = linalg.fill {{.*}} -> tensor<64x48xf32>
  // CHECK: %[[BLOCKS:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[X]] : {{.*}}) outs(%[[FILL]]
  // CHECK: arith.mulf
  // CHECK: arith.addf
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[BLOCKS]] : tensor<64x48xf32>) outs(%arg1
  // CHECK-NOT: arith.mulf
  // CHECK: return %[[SUM]]
  %0 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4096x48xf32>) outs(%init : tensor<48xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.mulf %in, %in : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<48xf32>
  return %0 : tensor<48xf32>
}

// Several loops: the inner one is a block, the outer one numbers them, and what
// reads fewer loops is read as before.
// CHECK-LABEL: @two_loops
func.func @two_loops(%x: tensor<8x128x48xf32>, %s: tensor<8x128xf32>, %init: tensor<48xf32>) -> tensor<48xf32> {
  // CHECK-NOT: tensor.expand_shape
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} ins(%arg0, %arg1
  // CHECK: -> tensor<8x48xf32>
  // CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>,
                                        affine_map<(d0, d1, d2) -> (d2)>], iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%x, %s : tensor<8x128x48xf32>, tensor<8x128xf32>) outs(%init : tensor<48xf32>) {
  ^bb0(%in: f32, %scale: f32, %out: f32):
    %1 = arith.subf %in, %scale : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<48xf32>
  return %0 : tensor<48xf32>
}

// The sum of the blocks is itself in blocks.
// CHECK-LABEL: @three_steps
func.func @three_steps(%x: tensor<64x112x112x8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: -> tensor<64x112x8xf32>
  // CHECK: -> tensor<64x8xf32>
  // CHECK: -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>],
                       iterator_types = ["reduction", "reduction", "reduction", "parallel"]}
      ins(%x : tensor<64x112x112x8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Planes are summed as they are, their sums by themselves.
// CHECK-LABEL: @planes
func.func @planes(%x: tensor<64x8x3136xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]}
  // CHECK: -> tensor<64x8xf32>
  // CHECK: -> tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>],
                       iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%x : tensor<64x8x3136xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Rows, short columns, primes, contractions, integers and extrema stay.
// CHECK-LABEL: @others
func.func @others(%x: tensor<4096x48xf32>, %p: tensor<1009x48xf32>, %y: tensor<4096x32xf32>, %i: tensor<4096x48xi64>, %rows: tensor<4096xf32>,
                  %columns: tensor<48xf32>, %product: tensor<48x32xf32>, %ints: tensor<48xi64>)
    -> (tensor<4096xf32>, tensor<48xf32>, tensor<48x32xf32>, tensor<48xi64>, tensor<48xf32>) {
  // CHECK-COUNT-5: linalg.generic
  // CHECK-NOT: linalg.generic
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x48xf32>) outs(%rows : tensor<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.addf %out, %in : f32
    linalg.yield %5 : f32
  } -> tensor<4096xf32>
  %1 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%p : tensor<1009x48xf32>) outs(%columns : tensor<48xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.addf %out, %in : f32
    linalg.yield %5 : f32
  } -> tensor<48xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d2)>,
                                        affine_map<(d0, d1, d2) -> (d1, d2)>], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %y : tensor<4096x48xf32>, tensor<4096x32xf32>) outs(%product : tensor<48x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %5 = arith.mulf %a, %b : f32
    %6 = arith.addf %out, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<48x32xf32>
  %3 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%i : tensor<4096x48xi64>) outs(%ints : tensor<48xi64>) {
  ^bb0(%in: i64, %out: i64):
    %5 = arith.addi %out, %in : i64
    linalg.yield %5 : i64
  } -> tensor<48xi64>
  %4 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<4096x48xf32>) outs(%columns : tensor<48xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.maximumf %out, %in : f32
    linalg.yield %5 : f32
  } -> tensor<48xf32>
  return %0, %1, %2, %3, %4 : tensor<4096xf32>, tensor<48xf32>, tensor<48x32xf32>, tensor<48xi64>, tensor<48xf32>
}
