// RUN: dynamo-opt %s --verify-aten | FileCheck %s

// A module that keeps the contract: aten operations and numbers on tensors; a
// complex tensor between two externs.
// CHECK-LABEL: @main
func.func @main(%x: tensor<4x?xf32>, %z: tensor<2xcomplex<f32>>) -> (tensor<4x?xf32>, tensor<2xf32>) {
  %one = arith.constant 1 : i64
  %0 = aten.add %x, %x, %one : (tensor<4x?xf32>, tensor<4x?xf32>, i64) -> tensor<4x?xf32>
  %1 = aten.extern "aten::conj_physical"(%z) {args = [#aten.operand<0>]} : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  // CHECK: aten.extern "aten::abs"
  %2 = aten.extern "aten::abs"(%1) {args = [#aten.operand<0>]} : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %0, %2 : tensor<4x?xf32>, tensor<2xf32>
}
