// RUN: dynamo-opt %s | dynamo-opt | FileCheck %s

// Operands, numbers, attributes and defaults print and parse back.
// CHECK-LABEL: @forms
func.func @forms(%x: tensor<4x?xf32>, %i: tensor<2xi64>, %n: f64, %one: i64)
    -> (tensor<4x?xf32>, tensor<4xf32>, tensor<4x2xf32>, tensor<4x?xf32>) {
  // CHECK: aten.add %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x?xf32>, f64, i64) -> tensor<4x?xf32>
  %0 = aten.add %x, %n, %one : (tensor<4x?xf32>, f64, i64) -> tensor<4x?xf32>
  // CHECK: aten.sum %{{.*}} {dim = array<i64: 1>} : (tensor<4x?xf32>) -> tensor<4xf32>
  %1 = aten.sum %0 {dim = array<i64: 1>} : (tensor<4x?xf32>) -> tensor<4xf32>
  // CHECK: aten.index %{{.*}}, %{{.*}} {indices_present = array<i1: false, true>}
  %2 = aten.index %x, %i {indices_present = array<i1: false, true>} : (tensor<4x?xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  // CHECK: aten.clamp %{{.*}}, %{{.*}} {operandSegmentSizes = array<i32: 1, 0, 1>}
  %3 = aten.clamp %x, %n {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<4x?xf32>, f64) -> tensor<4x?xf32>
  return %0, %1, %2, %3 : tensor<4x?xf32>, tensor<4xf32>, tensor<4x2xf32>, tensor<4x?xf32>
}

// An operator by name: places of operands among its arguments.
// CHECK-LABEL: @extern
func.func @extern(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: aten.extern "aten::bernoulli.p"(%{{.*}}) {args = [#aten.operand<0>, 5.000000e-01], kwargs = {dtype = "torch.float32"}} : (tensor<4xf32>) -> tensor<4xf32>
  %0 = aten.extern "aten::bernoulli.p"(%x) {args = [#aten.operand<0>, 0.5 : f64], kwargs = {dtype = "torch.float32"}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
