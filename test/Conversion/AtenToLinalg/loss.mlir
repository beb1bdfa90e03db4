// RUN: dynamo-opt %s --convert-aten-to-linalg --verify-linalg | FileCheck %s

// The class is put in range before it is an index, and an ignored sample counts
// neither in the sum nor in the total.
// CHECK-LABEL: @nll_loss
func.func @nll_loss(%x: tensor<6x5xf32>, %t: tensor<6xi64>) -> tensor<f32> {
  // CHECK: arith.cmpi ne
  // CHECK: arith.select
  // CHECK: arith.minsi
  // CHECK: arith.maxsi
  // CHECK: tensor.extract
  // CHECK: arith.select
  // CHECK: arith.divf
  %0:2 = aten.nll_loss_forward %x, %t {reduction = 1 : i64, ignore_index = -100 : i64} : (tensor<6x5xf32>, tensor<6xi64>) -> (tensor<f32>, tensor<f32>)
  return %0#0 : tensor<f32>
}

// The gradient needs no scatter: each class compares itself with the target.
// CHECK-LABEL: @nll_loss_backward
func.func @nll_loss_backward(%g: tensor<f32>, %x: tensor<6x5xf32>, %t: tensor<6xi64>, %w: tensor<f32>) -> tensor<6x5xf32> {
  // CHECK: linalg.index 1
  // CHECK: arith.cmpi eq
  // CHECK: arith.select
  %0 = aten.nll_loss_backward %g, %x, %t, %w {reduction = 1 : i64, ignore_index = -100 : i64} : (tensor<f32>, tensor<6x5xf32>, tensor<6xi64>, tensor<f32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}

// CHECK-LABEL: @mse_loss
func.func @mse_loss(%x: tensor<6x5xf32>, %y: tensor<6x5xf32>) -> tensor<f32> {
  // CHECK: arith.subf
  // CHECK: arith.addf
  // CHECK: arith.constant 3.000000e+01
  %0 = aten.mse_loss %x, %y {reduction = 1 : i64} : (tensor<6x5xf32>, tensor<6x5xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
