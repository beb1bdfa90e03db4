// RUN: dynamo-opt %s --convert-aten-to-linalg --verify-linalg | FileCheck %s

// A constant tensor costs its readers nothing: it is a constant of their bodies.
// CHECK-LABEL: @folded
func.func @folded(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: linalg.fill
  // CHECK: linalg.generic {{.*}} ins(%{{[a-z0-9]*}} : tensor<4xf32>)
  // CHECK: arith.mulf %in, %cst
  %n = arith.constant 2.5 : f64
  %0 = aten.full %n {size = array<i64: 4>} : (f64) -> tensor<4xf32>
  %1 = aten.mul %a, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A result is a fill; true is the byte 1.
// CHECK-LABEL: @ones
func.func @ones() -> tensor<4xi1> {
  // CHECK: linalg.fill ins(%c1_i8 : i8)
  %0 = aten.ones {size = array<i64: 4>} : () -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// Float sequences are computed in double, as eager does.
// CHECK-LABEL: @arange
func.func @arange() -> tensor<10xf32> {
  // CHECK: linalg.index 0
  // CHECK: arith.mulf {{.*}} : f64
  // CHECK: arith.truncf {{.*}} : f64 to f32
  %start = arith.constant 0 : i64
  %end = arith.constant 1 : i64
  %step = arith.constant 0.1 : f64
  %0 = aten.arange %start, %end, %step : (i64, i64, f64) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// CHECK-LABEL: @eye
func.func @eye() -> tensor<3x3xf32> {
  // CHECK: arith.cmpi eq
  // CHECK: arith.uitofp {{.*}} : i1 to f32
  %0 = aten.eye {n = 3 : i64} : () -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
