// RUN: dynamo-opt %s --split-input-file --rt-form-dispatches | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// A matmul is a dispatch with its fill; its scalar and buffer are copied in,
// the reshape of an input stays on the host.
// CHECK-LABEL: @matmul
// CHECK-SAME: (%[[X:.*]]: tensor<1x8x16xf32>, %[[W:.*]]: tensor<32x16xf32>)
func.func @matmul(%x: tensor<1x8x16xf32>, %w: tensor<32x16xf32>) -> tensor<8x32xf32> {
  // CHECK-NEXT: %[[X2:.*]] = tensor.collapse_shape %[[X]]
  // CHECK-NEXT: %[[R:.*]] = rt.dispatch "matmul" -> tensor<8x32xf32> {
  // CHECK-DAG: %[[C:.*]] = arith.constant 0.0
  // CHECK-DAG: %[[E:.*]] = tensor.empty()
  // CHECK: %[[F:.*]] = linalg.fill ins(%[[C]] : f32) outs(%[[E]]
  // CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[X2]], %[[W]] {{.*}} outs(%[[F]]
  // CHECK: rt.yield %[[M]]
  // CHECK: return %[[R]]
  %zero = arith.constant 0.0 : f32
  %x2 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x8x16xf32> into tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x2, %w : tensor<8x16xf32>, tensor<32x16xf32>) outs(%f : tensor<8x32xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x32xf32>
  return %m : tensor<8x32xf32>
}

// -----

// What the host hands out must be in memory: a constant becomes a fill, a
// slice a copy.
// CHECK-LABEL: @host_reads_cheap
func.func @host_reads_cheap(%x: tensor<8x16xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
  // CHECK: %[[C:.*]] = rt.dispatch "rows" -> tensor<4xf32>
  // CHECK: linalg.fill
  // CHECK: %[[S:.*]] = rt.dispatch "rows" -> tensor<8x4xf32>
  // CHECK: %[[SLICE:.*]] = tensor.extract_slice
  // CHECK: linalg.generic {{.*}} ins(%[[SLICE]]
  // CHECK: return %[[C]], %[[S]]
  %c = arith.constant dense<1.0> : tensor<4xf32>
  %s = tensor.extract_slice %x[0, 4] [8, 4] [1, 1] : tensor<8x16xf32> to tensor<8x4xf32>
  return %c, %s : tensor<4xf32>, tensor<8x4xf32>
}

// -----

// Slices are copied into each of their readers, with a reshape that only splits
// dims; no slice is left on the host.
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: @slices
func.func @slices(%x: tensor<8x24xf32>, %y: tensor<8x3x4xf32>) -> (tensor<8x3x4xf32>, tensor<8x4x3xf32>) {
  // CHECK-NOT: tensor.extract_slice
  // CHECK: rt.dispatch
  // CHECK: tensor.extract_slice
  // CHECK: tensor.expand_shape
  // CHECK: linalg.generic
  // CHECK: rt.yield
  // CHECK: rt.dispatch "loops"
  // CHECK: tensor.extract_slice
  // CHECK: tensor.expand_shape
  // CHECK: tensor.pad
  %s = tensor.extract_slice %x[0, 12] [8, 12] [1, 1] : tensor<8x24xf32> to tensor<8x12xf32>
  %s3 = tensor.expand_shape %s [[0], [1, 2]] output_shape [8, 3, 4] : tensor<8x12xf32> into tensor<8x3x4xf32>
  %e = tensor.empty() : tensor<8x3x4xf32>
  %a = linalg.generic {indexing_maps = [#id3, #id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s3, %y : tensor<8x3x4xf32>, tensor<8x3x4xf32>) outs(%e : tensor<8x3x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.mulf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<8x3x4xf32>
  %t3 = tensor.expand_shape %s [[0], [1, 2]] output_shape [8, 4, 3] : tensor<8x12xf32> into tensor<8x4x3xf32>
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %t3 nofold low[0, 0, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<8x4x3xf32> to tensor<8x4x3xf32>
  return %a, %p : tensor<8x3x4xf32>, tensor<8x4x3xf32>
}

// -----

// The inserts of a concatenation are one kernel.
// CHECK-LABEL: @concat
func.func @concat(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: rt.dispatch "loops"
  // CHECK: tensor.insert_slice
  // CHECK-NEXT: tensor.insert_slice
  // CHECK-NEXT: rt.yield
  // CHECK-NOT: rt.dispatch
  %e = tensor.empty() : tensor<8xf32>
  %0 = tensor.insert_slice %a into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %1 = tensor.insert_slice %b into %0[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// A number that an extern call reads becomes part of its arguments; the others
// are counted anew.
// CHECK-LABEL: @extern_numbers
func.func @extern_numbers(%x: tensor<4xf32>, %y: tensor<4xi8>) -> tensor<4xf32> {
  // CHECK: aten.extern "aten::f"(%{{.*}}, %{{.*}}) {args = [#aten.operand<0>, 2.5{{.*}}, [#aten.operand<1>]], {{.*}}rt.dtypes = [f32, i1, f32]} : (tensor<4xf32>, tensor<4xi8>) -> tensor<4xf32>
  %c = arith.constant 2.5 : f64
  %0 = aten.extern "aten::f"(%x, %c, %y) {args = [#aten.operand<0>, #aten.operand<1>, [#aten.operand<2>]], kwargs = {}, rt.dtypes = [f32, f64, i1, f32]} : (tensor<4xf32>, f64, tensor<4xi8>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Every second row and column, joined: nothing can read that in place, so it is
// copied; so is a slice of a slice, whose parts are not where a buffer's are.
// CHECK-LABEL: @strided
func.func @strided(%x: tensor<8x8x16xf32>) -> tensor<16x16xf32> {
  // CHECK: %[[C:.*]] = rt.dispatch "rows" -> tensor<4x4x16xf32>
  // CHECK: tensor.extract_slice
  // CHECK: tensor.extract_slice
  // CHECK: %[[J:.*]] = tensor.collapse_shape %[[C]]
  // CHECK: return %[[J]]
  %s = tensor.extract_slice %x[0, 0, 0] [4, 8, 16] [2, 1, 1] : tensor<8x8x16xf32> to tensor<4x8x16xf32>
  %t = tensor.extract_slice %s[0, 0, 0] [4, 4, 16] [1, 2, 1] : tensor<4x8x16xf32> to tensor<4x4x16xf32>
  %c = tensor.collapse_shape %t [[0, 1], [2]] : tensor<4x4x16xf32> into tensor<16x16xf32>
  return %c : tensor<16x16xf32>
}

// -----

// A contraction reads its operands many times: every second row is put in one
// place first.
// CHECK-LABEL: @strided_matmul
func.func @strided_matmul(%x: tensor<16x16xf32>, %w: tensor<32x16xf32>) -> tensor<8x32xf32> {
  // CHECK: %[[C:.*]] = rt.dispatch "rows" -> tensor<8x16xf32>
  // CHECK: rt.dispatch "matmul"
  // CHECK-NOT: tensor.extract_slice
  // CHECK: linalg.generic {{.*}} ins(%[[C]]
  %zero = arith.constant 0.0 : f32
  %s = tensor.extract_slice %x[0, 0] [8, 16] [2, 1] : tensor<16x16xf32> to tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%s, %w : tensor<8x16xf32>, tensor<32x16xf32>) outs(%f : tensor<8x32xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x32xf32>
  return %m : tensor<8x32xf32>
}

// A condition stands before the calls that follow it, whose effects must not be
// seen if it fails; a call before it need not wait for it.
// CHECK-LABEL: @condition
func.func @condition(%x: tensor<8xi8>) -> tensor<8xi8> {
  // CHECK: aten.extern "aten::first"
  // CHECK: %[[BAD:.*]] = rt.dispatch "rows" -> tensor<i8>
  // CHECK: rt.refuse_if %[[BAD]], "why" : tensor<i8>
  // CHECK: aten.extern "aten::second"
  %0 = aten.extern "aten::first"(%x) {args = [#aten.operand<0>], kwargs = {}} : (tensor<8xi8>) -> tensor<8xi8>
  %c0 = arith.constant 0 : i8
  %e = tensor.empty() : tensor<i8>
  %f = linalg.fill ins(%c0 : i8) outs(%e : tensor<i8>) -> tensor<i8>
  %bad = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<8xi8>) outs(%f : tensor<i8>) {
  ^bb0(%in: i8, %out: i8):
    %o = arith.ori %in, %out : i8
    linalg.yield %o : i8
  } -> tensor<i8>
  rt.refuse_if %bad, "why" : tensor<i8>
  %1 = aten.extern "aten::second"(%x) {args = [#aten.operand<0>], kwargs = {}} : (tensor<8xi8>) -> tensor<8xi8>
  return %1 : tensor<8xi8>
}
