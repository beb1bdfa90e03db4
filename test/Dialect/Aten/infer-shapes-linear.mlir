// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the linear family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @mm(
func.func @mm(%a0: tensor<2x3xf32>, %a1: tensor<3x4xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.mm {{.*}}-> tensor<2x4xf32>
  %r = aten.mm %a0, %a1 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @bmm(
func.func @bmm(%a0: tensor<5x2x3xf32>, %a1: tensor<5x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.bmm {{.*}}-> tensor<5x2x4xf32>
  %r = aten.bmm %a0, %a1 : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @mv(
func.func @mv(%a0: tensor<2x3xf32>, %a1: tensor<3xf32>) -> tensor<?xf32> {
  // CHECK: aten.mv {{.*}}-> tensor<2xf32>
  %r = aten.mv %a0, %a1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @dot(
func.func @dot(%a0: tensor<3xf32>, %a1: tensor<3xf32>) -> tensor<f32> {
  // CHECK: aten.dot {{.*}}-> tensor<f32>
  %r = aten.dot %a0, %a1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @addmm(
func.func @addmm(%a0: tensor<4xf32>, %a1: tensor<2x3xf32>, %a2: tensor<3x4xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 1 : i64
  %n1 = arith.constant 1 : i64
  // CHECK: aten.addmm {{.*}}-> tensor<2x4xf32>
  %r = aten.addmm %a0, %a1, %a2, %n0, %n1 : (tensor<4xf32>, tensor<2x3xf32>, tensor<3x4xf32>, i64, i64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @addmv(
func.func @addmv(%a0: tensor<2xf32>, %a1: tensor<2x3xf32>, %a2: tensor<3xf32>) -> tensor<?xf32> {
  %n0 = arith.constant 1 : i64
  %n1 = arith.constant 1 : i64
  // CHECK: aten.addmv {{.*}}-> tensor<2xf32>
  %r = aten.addmv %a0, %a1, %a2, %n0, %n1 : (tensor<2xf32>, tensor<2x3xf32>, tensor<3xf32>, i64, i64) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @baddbmm(
func.func @baddbmm(%a0: tensor<1x4xf32>, %a1: tensor<5x2x3xf32>, %a2: tensor<5x3x4xf32>) -> tensor<?x?x?xf32> {
  %n0 = arith.constant 0 : i64
  %n1 = arith.constant 1 : i64
  // CHECK: aten.baddbmm {{.*}}-> tensor<5x2x4xf32>
  %r = aten.baddbmm %a0, %a1, %a2, %n0, %n1 : (tensor<1x4xf32>, tensor<5x2x3xf32>, tensor<5x3x4xf32>, i64, i64) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @matmul(
func.func @matmul(%a0: tensor<5x1x2x3xf32>, %a1: tensor<7x3x4xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.matmul {{.*}}-> tensor<5x7x2x4xf32>
  %r = aten.matmul %a0, %a1 : (tensor<5x1x2x3xf32>, tensor<7x3x4xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @matmul_default_2(
func.func @matmul_default_2(%a0: tensor<3xf32>, %a1: tensor<7x3x4xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.matmul {{.*}}-> tensor<7x4xf32>
  %r = aten.matmul %a0, %a1 : (tensor<3xf32>, tensor<7x3x4xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @matmul_default_3(
func.func @matmul_default_3(%a0: tensor<3xf32>, %a1: tensor<3xf32>) -> tensor<f32> {
  // CHECK: aten.matmul {{.*}}-> tensor<f32>
  %r = aten.matmul %a0, %a1 : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @linear(
func.func @linear(%a0: tensor<2x5x3xf32>, %a1: tensor<4x3xf32>, %a2: tensor<4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.linear {{.*}}-> tensor<2x5x4xf32>
  %r = aten.linear %a0, %a1, %a2 : (tensor<2x5x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
