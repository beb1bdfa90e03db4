// RUN: dynamo-opt %s --split-input-file --rt-fuse-elementwise --cse | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// A chain of elementwise operations becomes one.
// CHECK-LABEL: @chain
func.func @chain(%x: tensor<8x16xf32>, %b: tensor<16xf32>) -> tensor<8x16xf32> {
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK: math.exp
  // CHECK-NOT: linalg.generic
  %e = tensor.empty() : tensor<8x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<8x16xf32>, tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.exp %p : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d0)>
#v = affine_map<(d0) -> (d0)>

// What is costly is not computed once per reader's element.
// CHECK-LABEL: @broadcast_is_not_recomputed
func.func @broadcast_is_not_recomputed(%x: tensor<8x16xf32>, %b: tensor<8xf32>) -> tensor<8x16xf32> {
  // CHECK: linalg.generic
  // CHECK: math.rsqrt
  // CHECK: linalg.generic
  // CHECK: arith.mulf
  %e1 = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %0 = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%b : tensor<8xf32>) outs(%e1 : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.rsqrt %p : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %1 = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %0 : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// -----

#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#stat = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#red = affine_map<(d0, d1, d2) -> (d0, d1)>

// A kept dim of size 1 and a batch of 1 leave no trace in the generics, and no
// reshape between them.
// CHECK-LABEL: @unit_dims
func.func @unit_dims(%x: tensor<1x8x16xf32>) -> tensor<1x8x16xf32> {
  // CHECK: tensor.collapse_shape
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
  // CHECK-NOT: tensor.{{expand|collapse}}_shape
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
  // CHECK: tensor.expand_shape
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<1x8xf32>
  %e = tensor.empty() : tensor<1x8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x8xf32>) -> tensor<1x8xf32>
  %0 = linalg.generic {indexing_maps = [#id3, #red], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<1x8x16xf32>) outs(%f : tensor<1x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<1x8xf32>
  %k = tensor.expand_shape %0 [[0], [1, 2]] output_shape [1, 8, 1] : tensor<1x8xf32> into tensor<1x8x1xf32>
  %1 = linalg.generic {indexing_maps = [#id3, #stat, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %k : tensor<1x8x16xf32>, tensor<1x8x1xf32>) outs(%e : tensor<1x8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.subf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<1x8x16xf32>
  return %1 : tensor<1x8x16xf32>
}

// -----

#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Elementwise work behind a reshape is done in the shape before it.
// CHECK-LABEL: @reshape_moves
func.func @reshape_moves(%x: tensor<32x16xf32>, %r: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  // CHECK: tensor.collapse_shape %{{.*}} : tensor<4x8x16xf32> into tensor<32x16xf32>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<32x16xf32>, tensor<32x16xf32>)
  // CHECK: tensor.expand_shape
  %e = tensor.empty() : tensor<4x8x16xf32>
  %x3 = tensor.expand_shape %x [[0, 1], [2]] output_shape [4, 8, 16] : tensor<32x16xf32> into tensor<4x8x16xf32>
  %1 = linalg.generic {indexing_maps = [#id3, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x3, %r : tensor<4x8x16xf32>, tensor<4x8x16xf32>) outs(%e : tensor<4x8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<4x8x16xf32>
  return %1 : tensor<4x8x16xf32>
}

// -----

// A selected row is one slice, not a slice and a reshape.
// CHECK-LABEL: @select
func.func @select(%x: tensor<1x8x16xf32>) -> tensor<16xf32> {
  // CHECK-NEXT: tensor.extract_slice %{{.*}} : tensor<1x8x16xf32> to tensor<16xf32>
  // CHECK-NEXT: return
  %s = tensor.extract_slice %x[0, 3, 0] [1, 1, 16] [1, 1, 1] : tensor<1x8x16xf32> to tensor<1x1x16xf32>
  %c = tensor.collapse_shape %s [[0, 1, 2]] : tensor<1x1x16xf32> into tensor<16xf32>
  return %c : tensor<16xf32>
}

// -----

// Heads of a slice: the batch of 1 is no obstacle between slice and heads.
// CHECK-LABEL: @heads
func.func @heads(%x: tensor<1x8x48xf32>) -> tensor<8x4x4xf32> {
  // CHECK-NEXT: %[[S:.*]] = tensor.extract_slice %{{.*}} : tensor<1x8x48xf32> to tensor<8x16xf32>
  // CHECK-NEXT: %[[H:.*]] = tensor.expand_shape %[[S]] {{.*}} : tensor<8x16xf32> into tensor<8x4x4xf32>
  // CHECK-NEXT: return %[[H]]
  %s = tensor.extract_slice %x[0, 0, 16] [1, 8, 16] [1, 1, 1] : tensor<1x8x48xf32> to tensor<1x8x16xf32>
  %h = tensor.expand_shape %s [[0], [1], [2, 3]] output_shape [1, 8, 4, 4] : tensor<1x8x16xf32> into tensor<1x8x4x4xf32>
  %c = tensor.collapse_shape %h [[0, 1], [2], [3]] : tensor<1x8x4x4xf32> into tensor<8x4x4xf32>
  return %c : tensor<8x4x4xf32>
}

// -----

// The sum of one element, read by all of a row: what it starts from is added
// once, and not once for each element of the row.
// CHECK-LABEL: @sum_of_one
func.func @sum_of_one(%x: tensor<1xf32>, %start: tensor<f32>) -> tensor<3xf32> {
  // CHECK: %[[R:.*]] = linalg.generic
  // CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>) outs(%{{.*}} : tensor<3xf32>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT: %[[S:.*]] = arith.addf %[[B]], %[[A]]
  // CHECK-NEXT: linalg.yield %[[S]] : f32
  // CHECK: return %[[R]]
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<1xf32>) outs(%start : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %e = tensor.empty() : tensor<3xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%0 : tensor<f32>) outs(%e : tensor<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
