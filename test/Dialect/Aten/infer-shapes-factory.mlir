// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the factory family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @full(
func.func @full() -> tensor<?x?xf32> {
  %n0 = arith.constant 1.0 : f64
  // CHECK: aten.full {{.*}}-> tensor<2x3xf32>
  %r = aten.full %n0 {size = array<i64: 2, 3>} : (f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @new_full_default(
func.func @new_full_default() -> tensor<?x?xf32> {
  %n0 = arith.constant 1 : i64
  // CHECK: aten.full {{.*}}-> tensor<2x3xf32>
  %r = aten.full %n0 {size = array<i64: 2, 3>} : (i64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @full_like(
func.func @full_like(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  %n0 = arith.constant 1.0 : f64
  // CHECK: aten.full_like {{.*}}-> tensor<2x3x4xf32>
  %r = aten.full_like %a0, %n0 : (tensor<2x3x4xf32>, f64) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @zeros(
func.func @zeros() -> tensor<?x?xf32> {
  // CHECK: aten.zeros {{.*}}-> tensor<2x3xf32>
  %r = aten.zeros {size = array<i64: 2, 3>} : () -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @zeros_like(
func.func @zeros_like(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.zeros_like {{.*}}-> tensor<2x3x4xf32>
  %r = aten.zeros_like %a0 : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @ones(
func.func @ones() -> tensor<?x?xf32> {
  // CHECK: aten.ones {{.*}}-> tensor<2x3xf32>
  %r = aten.ones {size = array<i64: 2, 3>} : () -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @ones_like(
func.func @ones_like(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.ones_like {{.*}}-> tensor<2x3x4xf32>
  %r = aten.ones_like %a0 : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @empty(
func.func @empty() -> tensor<?x?xf32> {
  // CHECK: aten.empty {{.*}}-> tensor<2x3xf32>
  %r = aten.empty {size = array<i64: 2, 3>} : () -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @empty_like(
func.func @empty_like(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.empty_like {{.*}}-> tensor<2x3x4xf32>
  %r = aten.empty_like %a0 : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @arange(
func.func @arange() -> tensor<?xi64> {
  %n0 = arith.constant 0 : i64
  %n1 = arith.constant 10 : i64
  %n2 = arith.constant 3 : i64
  // CHECK: aten.arange {{.*}}-> tensor<4xi64>
  %r = aten.arange %n0, %n1, %n2 : (i64, i64, i64) -> tensor<?xi64>
  return %r : tensor<?xi64>
}

// CHECK-LABEL: @arange_default(
func.func @arange_default() -> tensor<?xf32> {
  %n0 = arith.constant 0 : i64
  %n1 = arith.constant 2.5 : f64
  %n2 = arith.constant 1 : i64
  // CHECK: aten.arange {{.*}}-> tensor<3xf32>
  %r = aten.arange %n0, %n1, %n2 : (i64, f64, i64) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @scalar_tensor(
func.func @scalar_tensor() -> tensor<f32> {
  %n0 = arith.constant 1.0 : f64
  // CHECK: aten.scalar_tensor {{.*}}-> tensor<f32>
  %r = aten.scalar_tensor %n0 : (f64) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @eye(
func.func @eye() -> tensor<?x?xf32> {
  // CHECK: aten.eye {{.*}}-> tensor<2x3xf32>
  %r = aten.eye {m = 3 : i64, n = 2 : i64} : () -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @eye_default(
func.func @eye_default() -> tensor<?x?xf32> {
  // CHECK: aten.eye {{.*}}-> tensor<4x4xf32>
  %r = aten.eye {n = 4 : i64} : () -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @linspace(
func.func @linspace() -> tensor<?xf32> {
  %n0 = arith.constant 0.0 : f64
  %n1 = arith.constant 1.0 : f64
  // CHECK: aten.linspace {{.*}}-> tensor<5xf32>
  %r = aten.linspace %n0, %n1 {steps = 5 : i64} : (f64, f64) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
