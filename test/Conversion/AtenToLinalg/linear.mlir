// RUN: dynamo-opt %s --convert-aten-to-linalg | FileCheck %s

// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[BMK:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d4)>
// CHECK-DAG: #[[HKN:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4, d3)>

// Rows of all leading dims make one contraction, summed in f32; the bias is added
// before the one rounding.
// CHECK-LABEL: @linear
func.func @linear(%x: tensor<2x5x8xbf16>, %w: tensor<16x8xbf16>, %bias: tensor<16xbf16>) -> tensor<2x5x16xbf16> {
  // CHECK: %[[X:.*]] = tensor.collapse_shape {{.*}} into tensor<10x8xbf16>
  // CHECK: %[[FILL:.*]] = linalg.fill {{.*}} -> tensor<10x16xf32>
  // CHECK: %[[ACC:.*]] = linalg.generic {indexing_maps = [#[[MK]], #[[NK]], #[[MN]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %arg1
  // CHECK: arith.mulf
  // CHECK-NEXT: arith.addf
  // CHECK: linalg.generic {{.*}} ins(%[[ACC]], %arg2
  // CHECK: arith.addf {{.*}} : f32
  // CHECK-NEXT: arith.truncf
  // CHECK: tensor.expand_shape {{.*}} into tensor<2x5x16xbf16>
  %0 = aten.linear %x, %w, %bias : (tensor<2x5x8xbf16>, tensor<16x8xbf16>, tensor<16xbf16>) -> tensor<2x5x16xbf16>
  return %0 : tensor<2x5x16xbf16>
}

// beta = 0 does not read self; alpha = 1 leaves nothing behind.
// CHECK-LABEL: @addmm
func.func @addmm(%s: tensor<4xf32>, %a: tensor<3x5xf32>, %b: tensor<5x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2.0 : f64
  // CHECK: arith.mulf
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg0 :
  // CHECK-NOT: arith.mulf
  // CHECK: arith.addf
  %0 = aten.addmm %s, %a, %b, %one, %one : (tensor<4xf32>, tensor<3x5xf32>, tensor<5x4xf32>, i64, i64) -> tensor<3x4xf32>
  // CHECK: arith.mulf
  // CHECK: linalg.generic {{.*}} ins(%{{[a-z0-9]*}} : tensor<3x4xf32>)
  // CHECK: arith.mulf
  // CHECK-NOT: arith.addf
  %1 = aten.addmm %s, %a, %b, %zero, %two : (tensor<4xf32>, tensor<3x5xf32>, tensor<5x4xf32>, i64, f64) -> tensor<3x4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}

// Batch dims broadcast: each side is read by the loops that it has.
// CHECK-LABEL: @matmul
func.func @matmul(%a: tensor<2x1x3x5xf32>, %b: tensor<7x5x4xf32>) -> tensor<2x7x3x4xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[BMK]], #[[HKN]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
  %0 = aten.matmul %a, %b : (tensor<2x1x3x5xf32>, tensor<7x5x4xf32>) -> tensor<2x7x3x4xf32>
  return %0 : tensor<2x7x3x4xf32>
}

// Integers are multiplied and added as they are.
// CHECK-LABEL: @integers
func.func @integers(%a: tensor<3x5xi64>, %b: tensor<5xi64>) -> tensor<3xi64> {
  // CHECK: arith.muli
  // CHECK: arith.addi
  %0 = aten.mv %a, %b : (tensor<3x5xi64>, tensor<5xi64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
