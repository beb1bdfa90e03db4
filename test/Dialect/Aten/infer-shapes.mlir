// RUN: dynamo-opt %s --aten-infer-shapes | FileCheck %s

// What is learned about one result reaches its readers and the signature.
// CHECK-LABEL: @chain(
// CHECK-SAME: -> tensor<5x4xf32>
func.func @chain(%x: tensor<4x3xf32>, %w: tensor<3x5xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.mm {{.*}} -> tensor<4x5xf32>
  %0 = aten.mm %x, %w : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<?x?xf32>
  // CHECK: aten.t {{.*}} : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %1 = aten.t %0 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// Sizes that are not known stay so; one that another operand tells is taken.
// CHECK-LABEL: @unknown(
func.func @unknown(%x: tensor<?x?xf32>, %y: tensor<?x4xf32>, %b: tensor<1x?xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.mul {{.*}} -> tensor<?x4xf32>
  %0 = aten.mul %x, %y : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  // CHECK: aten.mul {{.*}} -> tensor<?x4xf32>
  %1 = aten.mul %0, %b : (tensor<?x?xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  // CHECK: aten.cat {{.*}} -> tensor<?x4xf32>
  %2 = aten.cat %1, %y {dim = 0 : i64} : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x?xf32>
  // CHECK: aten.view {{.*}} -> tensor<?xf32>
  %3 = aten.view %2 {size = array<i64: -1>} : (tensor<?x?xf32>) -> tensor<?xf32>
  // CHECK: aten.sum {{.*}} -> tensor<1xf32>
  %4 = aten.sum %3 {keepdim = true} : (tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?x?xf32>
}

// A size that is known in the declared type only is not lost.
// CHECK-LABEL: @declared(
func.func @declared(%x: tensor<?xf32>, %n: i64, %z: i64, %s: i64) -> tensor<7xi64> {
  // CHECK: aten.arange {{.*}} -> tensor<7xi64>
  %0 = aten.arange %z, %n, %s : (i64, i64, i64) -> tensor<7xi64>
  return %0 : tensor<7xi64>
}

// A user outside of the dialect keeps the type that it had.
// CHECK-LABEL: @foreign(
func.func @foreign(%x: tensor<4xf32>) -> index {
  %c0 = arith.constant 0 : index
  // CHECK: %[[R:.*]] = aten.relu {{.*}} -> tensor<4xf32>
  %0 = aten.relu %x : (tensor<4xf32>) -> tensor<?xf32>
  // CHECK: %[[C:.*]] = tensor.cast %[[R]] : tensor<4xf32> to tensor<?xf32>
  // CHECK: tensor.dim %[[C]]
  %1 = tensor.dim %0, %c0 : tensor<?xf32>
  return %1 : index
}
