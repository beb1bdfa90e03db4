// RUN: dynamo-opt %s --convert-aten-to-linalg --verify-linalg | FileCheck %s

// The formulas are ATen's, operation by operation.
// CHECK-LABEL: @gelu
func.func @gelu(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-DAG: %[[HALF:.*]] = arith.mulf %in, %cst
  // CHECK-DAG: %[[E:.*]] = math.erf
  // CHECK: %[[S:.*]] = arith.addf %[[E]]
  // CHECK: arith.mulf %[[HALF]], %[[S]]
  %0 = aten.gelu %a {approximate = "none"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @gelu_tanh
func.func @gelu_tanh(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: math.tanh
  %0 = aten.gelu %a {approximate = "tanh"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Half types: f32 inside, one rounding at the end.
// CHECK-LABEL: @silu
func.func @silu(%a: tensor<4xf16>) -> tensor<4xf16> {
  // CHECK: arith.extf
  // CHECK: math.exp {{.*}} : f32
  // CHECK: arith.divf {{.*}} : f32
  // CHECK-NEXT: arith.truncf
  // CHECK-NEXT: linalg.yield
  %0 = aten.silu %a : (tensor<4xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// Both halves of glu are read in place.
// CHECK-LABEL: @glu
func.func @glu(%a: tensor<4x6xf32>) -> tensor<4x3xf32> {
  // CHECK-DAG: %[[X:.*]] = tensor.extract_slice %{{.*}}[0, 0] [4, 3] [1, 1]
  // CHECK-DAG: %[[Y:.*]] = tensor.extract_slice %{{.*}}[0, 3] [4, 3] [1, 1]
  // CHECK: linalg.generic {{.*}} ins(%[[X]], %[[Y]]
  %0 = aten.glu %a {dim = -1 : i64} : (tensor<4x6xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// A nan of self gives 0 in hardtanh's backward, as eager's comparison does.
// CHECK-LABEL: @hardtanh_backward
func.func @hardtanh_backward(%g: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: arith.cmpf ogt
  // CHECK: arith.cmpf olt
  %lo = arith.constant -1.0 : f64
  %hi = arith.constant 1.0 : f64
  %0 = aten.hardtanh_backward %g, %a, %lo, %hi : (tensor<4xf32>, tensor<4xf32>, f64, f64) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
