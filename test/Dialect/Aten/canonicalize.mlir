// RUN: dynamo-opt %s --canonicalize | FileCheck %s

// Operations that change nothing fold away.
// CHECK-LABEL: @identities(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK-NEXT: return %[[X]] : tensor<2x3xf32>
func.func @identities(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = aten.alias %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.to_copy %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.view %1 {size = array<i64: 2, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = aten.permute %2 {dims = array<i64: 0, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = aten.expand %3 {size = array<i64: 2, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = aten.slice %4 {end = 9223372036854775807 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = aten.cat %5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = aten.transpose %6 {dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %8 = aten.transpose %7 {dim0 = -1 : i64, dim1 = -2 : i64} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %9 = aten.t %8 : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %10 = aten.t %9 : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %10 : tensor<2x3xf32>
}

// A conversion and a shift by padding are not identities.
// CHECK-LABEL: @not_identities(
func.func @not_identities(%x: tensor<3xf32>) -> (tensor<3xbf16>, tensor<3xf32>, tensor<3xf32>) {
  %zero = arith.constant 0 : i64
  // CHECK: aten.to_copy
  %0 = aten.to_copy %x : (tensor<3xf32>) -> tensor<3xbf16>
  // CHECK: aten.constant_pad_nd
  %1 = aten.constant_pad_nd %x, %zero {pad = array<i64: 1, -1>} : (tensor<3xf32>, i64) -> tensor<3xf32>
  // CHECK: aten.flip
  %2 = aten.flip %x {dims = array<i64: 0>} : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2 : tensor<3xbf16>, tensor<3xf32>, tensor<3xf32>
}

// Two views are one, two permutations are one.
// CHECK-LABEL: @chains(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>
func.func @chains(%x: tensor<2x3x4xf32>) -> (tensor<4x6xf32>, tensor<4x2x3xf32>) {
  // CHECK-DAG: aten.view %[[X]] {size = array<i64: 4, 6>}
  %0 = aten.view %x {size = array<i64: 24>} : (tensor<2x3x4xf32>) -> tensor<24xf32>
  %1 = aten.view %0 {size = array<i64: 4, 6>} : (tensor<24xf32>) -> tensor<4x6xf32>
  // CHECK-DAG: aten.permute %[[X]] {dims = array<i64: 2, 0, 1>}
  %2 = aten.permute %x {dims = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %3 = aten.permute %2 {dims = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  return %1, %3 : tensor<4x6xf32>, tensor<4x2x3xf32>
}

// Neutral numbers, where the bits stay the same: x + 0.0 turns -0.0 into 0.0.
// CHECK-LABEL: @neutral(
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[I:.*]]: tensor<3xi64>
func.func @neutral(%x: tensor<3xf32>, %i: tensor<3xi64>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi64>, tensor<3xf32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %onef = arith.constant 1.0 : f64
  %0 = aten.mul %x, %onef : (tensor<3xf32>, f64) -> tensor<3xf32>
  %1 = aten.div %0, %one : (tensor<3xf32>, i64) -> tensor<3xf32>
  %2 = aten.sub %1, %zero, %one : (tensor<3xf32>, i64, i64) -> tensor<3xf32>
  // CHECK: %[[S:.*]] = aten.add %[[X]]
  %3 = aten.add %x, %zero, %one : (tensor<3xf32>, i64, i64) -> tensor<3xf32>
  %4 = aten.add %i, %zero, %one : (tensor<3xi64>, i64, i64) -> tensor<3xi64>
  // CHECK: %[[F:.*]] = aten.mul %[[I]]
  %5 = aten.mul %i, %onef : (tensor<3xi64>, f64) -> tensor<3xf32>
  // CHECK: return %[[X]], %[[S]], %[[I]], %[[F]]
  return %2, %3, %4, %5 : tensor<3xf32>, tensor<3xf32>, tensor<3xi64>, tensor<3xf32>
}
