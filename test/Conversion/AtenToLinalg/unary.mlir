// RUN: dynamo-opt %s --convert-aten-to-linalg --verify-linalg | FileCheck %s

// relu leaves nan and is a compare and a select.
// CHECK-LABEL: @relu
func.func @relu(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[C:.*]] = arith.cmpf olt, %in
  // CHECK-NEXT: arith.select %[[C]], %{{.*}}, %in
  %0 = aten.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Rounding is the identity on integers.
// CHECK-LABEL: @floor_int
// CHECK-SAME: %[[A:.*]]: tensor<4xi64>
func.func @floor_int(%a: tensor<4xi64>) -> tensor<4xi64> {
  // CHECK-NEXT: return %[[A]]
  %0 = aten.floor %a : (tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// An integer argument of a float function is converted first.
// CHECK-LABEL: @exp_int
func.func @exp_int(%a: tensor<4xi32>) -> tensor<4xf32> {
  // CHECK: %[[F:.*]] = arith.sitofp %in : i32 to f32
  // CHECK: math.exp %[[F]]
  %0 = aten.exp %a : (tensor<4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Float to a narrow integer goes through i32 and wraps; to bool it is != 0, true
// for nan; half types meet through f32.
// CHECK-LABEL: @conversions
func.func @conversions(%a: tensor<4xf32>, %h: tensor<4xf16>) -> (tensor<4xi8>, tensor<4xi1>, tensor<4xbf16>) {
  // CHECK: arith.fptosi {{.*}} : f32 to i32
  // CHECK-NEXT: arith.trunci {{.*}} : i32 to i8
  // CHECK: arith.cmpf une
  // CHECK: arith.extf {{.*}} : f16 to f32
  // CHECK-NEXT: arith.truncf {{.*}} : f32 to bf16
  %0 = aten.to_copy %a : (tensor<4xf32>) -> tensor<4xi8>
  %1 = aten.to_copy %a : (tensor<4xf32>) -> tensor<4xi1>
  %2 = aten.to_copy %h : (tensor<4xf16>) -> tensor<4xbf16>
  return %0, %1, %2 : tensor<4xi8>, tensor<4xi1>, tensor<4xbf16>
}

// Values have no identity: an alias is nothing.
// CHECK-LABEL: func.func @alias
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[A]]
func.func @alias(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = aten.alias %a : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
