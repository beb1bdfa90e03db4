// RUN: dynamo-opt %s --convert-aten-to-linalg --verify-linalg | FileCheck %s

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[COLS:.*]] = affine_map<(d0, d1) -> (d1)>

// The result is rank-reduced, keepdim is an expand_shape; half types accumulate
// in f32.
// CHECK-LABEL: @sum_keepdim
func.func @sum_keepdim(%a: tensor<4x8xbf16>) -> tensor<4x1xbf16> {
  // CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<4xf32>
  // CHECK: %[[S:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ROWS]]], iterator_types = ["parallel", "reduction"]} {{.*}} outs(%[[ZERO]] : tensor<4xf32>)
  // CHECK: arith.addf {{.*}} : f32
  // CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[S]]
  // CHECK: arith.truncf
  // CHECK: tensor.expand_shape %[[T]] {{\[\[}}0, 1]]
  %0 = aten.sum %a {dim = array<i64: -1>, keepdim = true} : (tensor<4x8xbf16>) -> tensor<4x1xbf16>
  return %0 : tensor<4x1xbf16>
}

// Over a leading dim the operand's dim order stays.
// CHECK-LABEL: @sum_leading
func.func @sum_leading(%a: tensor<4x8xf32>) -> tensor<8xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[COLS]]], iterator_types = ["reduction", "parallel"]}
  %0 = aten.sum %a {dim = array<i64: 0>} : (tensor<4x8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A variance is the mean, then the squares of the differences to it.
// CHECK-LABEL: @var
func.func @var(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: arith.constant 8.000000e+00
  // CHECK-NEXT: %{{.*}} = arith.divf
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROWS]], #[[ROWS]]]
  // CHECK: %[[D:.*]] = arith.subf
  // CHECK-NEXT: arith.mulf %[[D]], %[[D]]
  // CHECK: arith.constant 7.000000e+00
  // CHECK-NEXT: %{{.*}} = arith.divf
  %0 = aten.var %a {dim = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// An index is the least one that holds the maximum, or a nan: two reductions
// with one combining op each.
// CHECK-LABEL: @max_dim
func.func @max_dim(%a: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  // CHECK: %[[M:.*]] = linalg.generic
  // CHECK: arith.maximumf
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[M]]
  // CHECK: arith.cmpf oeq
  // CHECK: arith.cmpf uno
  // CHECK: linalg.index 1
  // CHECK: arith.minsi {{.*}} : i32
  // CHECK: arith.extsi {{.*}} : i32 to i64
  %0:2 = aten.max_dim %a {dim = 1 : i64} : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi64>
}

// Truth is accumulated in the bytes that the result is.
// CHECK-LABEL: @any
func.func @any(%a: tensor<4x8xf32>) -> tensor<i1> {
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<i8>)
  // CHECK: arith.cmpf une
  // CHECK: arith.ori {{.*}} : i8
  // CHECK-NEXT: linalg.yield
  // CHECK-NOT: linalg.generic
  %0 = aten.any %a : (tensor<4x8xf32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// bool sums to int64.
// CHECK-LABEL: @sum_bool
func.func @sum_bool(%a: tensor<4x8xi1>) -> tensor<i64> {
  // CHECK: arith.extui {{.*}} : i1 to i64
  // CHECK-NEXT: arith.addi {{.*}} : i64
  %0 = aten.sum %a : (tensor<4x8xi1>) -> tensor<i64>
  return %0 : tensor<i64>
}

// A dynamic count is computed outside the body.
// CHECK-LABEL: @mean_dynamic
func.func @mean_dynamic(%a: tensor<4x?xf32>) -> tensor<4xf32> {
  // CHECK: tensor.dim
  // CHECK: %[[N:.*]] = arith.sitofp {{.*}} : i64 to f32
  // CHECK: arith.divf %{{.*}}, %
  %0 = aten.mean %a {dim = array<i64: 1>} : (tensor<4x?xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Infinite maxima are not subtracted in logsumexp.
// CHECK-LABEL: @logsumexp
func.func @logsumexp(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: arith.maximumf
  // CHECK: math.absf
  // CHECK: arith.select
  // CHECK: math.exp
  // CHECK: math.log
  %0 = aten.logsumexp %a {dim = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Everything of a large tensor is summed in two steps: rows, that threads share,
// then their sums. Of one dim, rows are made.
// CHECK-LABEL: @sum_of_many
func.func @sum_of_many(%a: tensor<64x1024xf32>, %b: tensor<65536xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: %[[ROWS:.*]] = linalg.generic {{.*}}"parallel", "reduction"{{.*}} outs(%{{.*}} : tensor<64xf32>)
  // CHECK: linalg.generic {{.*}} ins(%[[ROWS]] : tensor<64xf32>)
  // CHECK: tensor.expand_shape {{.*}} : tensor<65536xf32> into tensor<16x4096xf32>
  %0 = aten.sum %a : (tensor<64x1024xf32>) -> tensor<f32>
  %1 = aten.sum %b : (tensor<65536xf32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
