// RUN: dynamo-opt %s --convert-aten-to-linalg --verify-linalg | FileCheck %s

// A comparison with a number is made in the tensor's dtype, so that 0.1 is the
// bfloat16 next to it; the compare itself runs in f32.
// CHECK-LABEL: @half_against_number
func.func @half_against_number(%a: tensor<4xbf16>) -> tensor<4xi1> {
  // CHECK-DAG: arith.constant 0.100097656 : f32
  // CHECK-DAG: arith.extf {{.*}} : bf16 to f32
  // CHECK: arith.cmpf olt, {{.*}} : f32
  %n = arith.constant 0.1 : f64
  %0 = aten.lt %a, %n : (tensor<4xbf16>, f64) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// A number does not widen a tensor of its category: int32 with an int stays
// int32, int32 with a float is compared as float32.
// CHECK-LABEL: @promotion
func.func @promotion(%a: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK: arith.cmpi sgt, {{.*}} : i32
  // CHECK: arith.sitofp {{.*}} : i32 to f32
  // CHECK: arith.cmpf ogt, {{.*}} : f32
  %i = arith.constant 2 : i64
  %f = arith.constant 2.5 : f64
  %0 = aten.gt %a, %i : (tensor<4xi32>, i64) -> tensor<4xi1>
  %1 = aten.gt %a, %f : (tensor<4xi32>, f64) -> tensor<4xi1>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// uint8 compares unsigned; not equal is true for nan.
// CHECK-LABEL: @predicates
func.func @predicates(%u: tensor<4xui8>, %f: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK: arith.cmpi ult, {{.*}} : i8
  // CHECK: arith.cmpf une, {{.*}} : f32
  %0 = aten.lt %u, %u : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
  %1 = aten.ne %f, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// Plain bounds are a compare and a select, which leave nan; a bound that may be
// nan propagates it.
// CHECK-LABEL: @clamp
func.func @clamp(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[LOW:.*]] = arith.cmpf olt
  // CHECK-NEXT: arith.select %[[LOW]]
  // CHECK: %[[HIGH:.*]] = arith.cmpf ogt
  // CHECK-NEXT: arith.select %[[HIGH]]
  %lo = arith.constant -1 : i64
  %hi = arith.constant 1 : i64
  %0 = aten.clamp %a, %lo, %hi {operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4xf32>, i64, i64) -> tensor<4xf32>
  // CHECK: arith.minimumf
  %1 = aten.clamp_max %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A shift by the width or more is 0 to the left and the sign to the right.
// CHECK-LABEL: @shifts
func.func @shifts(%a: tensor<4xi32>, %b: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  // CHECK: %[[IN:.*]] = arith.andi
  // CHECK: %[[SAFE:.*]] = arith.select %[[IN]]
  // CHECK: %[[SHIFTED:.*]] = arith.shli %{{.*}}, %[[SAFE]]
  // CHECK: arith.select %[[IN]], %[[SHIFTED]], %c0
  // CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %c31
  // CHECK: arith.shrsi %{{.*}}, %[[SAFE]]
  %0 = aten.bitwise_left_shift %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = aten.bitwise_right_shift %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
}

// Selection moves half types as they are.
// CHECK-LABEL: @where
func.func @where(%m: tensor<4xi1>, %a: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK-NOT: arith.extf
  // CHECK: arith.select {{.*}} : bf16
  %inf = arith.constant 0xFFF0000000000000 : f64
  %0 = aten.masked_fill %a, %m, %inf : (tensor<4xbf16>, tensor<4xi1>, f64) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// Eager's special exponents; a constant tensor is a constant of the body.
// CHECK-LABEL: @powers
func.func @powers(%a: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi64>) {
  // CHECK: math.sqrt
  // CHECK: math.powf
  // CHECK: arith.muli
  // CHECK-NEXT: arith.muli
  // CHECK-NEXT: linalg.yield
  %half = arith.constant 0.5 : f64
  %x = arith.constant 2.5 : f64
  %three = arith.constant 3 : i64
  %0 = aten.pow %a, %half : (tensor<4xf32>, f64) -> tensor<4xf32>
  %1 = aten.pow %a, %x : (tensor<4xf32>, f64) -> tensor<4xf32>
  %2 = aten.pow %i, %three : (tensor<4xi64>, i64) -> tensor<4xi64>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xi64>
}
