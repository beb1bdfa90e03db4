// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the binary family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @sub(
func.func @sub(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  %n0 = arith.constant 1 : i64
  // CHECK: aten.sub {{.*}}-> tensor<4x2x3xf32>
  %r = aten.sub %a0, %a1, %n0 : (tensor<4x1x3xf32>, tensor<2x3xf32>, i64) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @sub_Scalar(
func.func @sub_Scalar(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 2 : i64
  %n1 = arith.constant 1 : i64
  // CHECK: aten.sub {{.*}}-> tensor<2x3xf32>
  %r = aten.sub %a0, %n0, %n1 : (tensor<2x3xf32>, i64, i64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @rsub(
func.func @rsub(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  %n0 = arith.constant 1 : i64
  // CHECK: aten.rsub {{.*}}-> tensor<4x2x3xf32>
  %r = aten.rsub %a0, %a1, %n0 : (tensor<4x1x3xf32>, tensor<2x3xf32>, i64) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @rsub_Scalar(
func.func @rsub_Scalar(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 2 : i64
  %n1 = arith.constant 1 : i64
  // CHECK: aten.rsub {{.*}}-> tensor<2x3xf32>
  %r = aten.rsub %a0, %n0, %n1 : (tensor<2x3xf32>, i64, i64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @add(
func.func @add(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  %n0 = arith.constant 1 : i64
  // CHECK: aten.add {{.*}}-> tensor<4x2x3xf32>
  %r = aten.add %a0, %a1, %n0 : (tensor<4x1x3xf32>, tensor<2x3xf32>, i64) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @add_Scalar(
func.func @add_Scalar(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 2 : i64
  %n1 = arith.constant 1 : i64
  // CHECK: aten.add {{.*}}-> tensor<2x3xf32>
  %r = aten.add %a0, %n0, %n1 : (tensor<2x3xf32>, i64, i64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @mul(
func.func @mul(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.mul {{.*}}-> tensor<4x2x3xf32>
  %r = aten.mul %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @mul_Scalar(
func.func @mul_Scalar(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 2 : i64
  // CHECK: aten.mul {{.*}}-> tensor<2x3xf32>
  %r = aten.mul %a0, %n0 : (tensor<2x3xf32>, i64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @atan2(
func.func @atan2(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.atan2 {{.*}}-> tensor<4x2x3xf32>
  %r = aten.atan2 %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @fmax(
func.func @fmax(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.fmax {{.*}}-> tensor<4x2x3xf32>
  %r = aten.fmax %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @fmin(
func.func @fmin(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.fmin {{.*}}-> tensor<4x2x3xf32>
  %r = aten.fmin %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @maximum(
func.func @maximum(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.maximum {{.*}}-> tensor<4x2x3xf32>
  %r = aten.maximum %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @minimum(
func.func @minimum(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.minimum {{.*}}-> tensor<4x2x3xf32>
  %r = aten.minimum %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @floor_divide(
func.func @floor_divide(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.floor_divide {{.*}}-> tensor<4x2x3xf32>
  %r = aten.floor_divide %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @logaddexp(
func.func @logaddexp(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.logaddexp {{.*}}-> tensor<4x2x3xf32>
  %r = aten.logaddexp %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @fmod(
func.func @fmod(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.fmod {{.*}}-> tensor<4x2x3xf32>
  %r = aten.fmod %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @remainder(
func.func @remainder(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.remainder {{.*}}-> tensor<4x2x3xf32>
  %r = aten.remainder %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @xlogy(
func.func @xlogy(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.xlogy {{.*}}-> tensor<4x2x3xf32>
  %r = aten.xlogy %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @bitwise_and(
func.func @bitwise_and(%a0: tensor<4x1x3xi64>, %a1: tensor<2x3xi64>) -> tensor<?x?x?xi64> {
  // CHECK: aten.bitwise_and {{.*}}-> tensor<4x2x3xi64>
  %r = aten.bitwise_and %a0, %a1 : (tensor<4x1x3xi64>, tensor<2x3xi64>) -> tensor<?x?x?xi64>
  return %r : tensor<?x?x?xi64>
}

// CHECK-LABEL: @bitwise_or(
func.func @bitwise_or(%a0: tensor<4x1x3xi64>, %a1: tensor<2x3xi64>) -> tensor<?x?x?xi64> {
  // CHECK: aten.bitwise_or {{.*}}-> tensor<4x2x3xi64>
  %r = aten.bitwise_or %a0, %a1 : (tensor<4x1x3xi64>, tensor<2x3xi64>) -> tensor<?x?x?xi64>
  return %r : tensor<?x?x?xi64>
}

// CHECK-LABEL: @bitwise_xor(
func.func @bitwise_xor(%a0: tensor<4x1x3xi64>, %a1: tensor<2x3xi64>) -> tensor<?x?x?xi64> {
  // CHECK: aten.bitwise_xor {{.*}}-> tensor<4x2x3xi64>
  %r = aten.bitwise_xor %a0, %a1 : (tensor<4x1x3xi64>, tensor<2x3xi64>) -> tensor<?x?x?xi64>
  return %r : tensor<?x?x?xi64>
}

// CHECK-LABEL: @bitwise_left_shift(
func.func @bitwise_left_shift(%a0: tensor<4x1x3xi64>, %a1: tensor<2x3xi64>) -> tensor<?x?x?xi64> {
  // CHECK: aten.bitwise_left_shift {{.*}}-> tensor<4x2x3xi64>
  %r = aten.bitwise_left_shift %a0, %a1 : (tensor<4x1x3xi64>, tensor<2x3xi64>) -> tensor<?x?x?xi64>
  return %r : tensor<?x?x?xi64>
}

// CHECK-LABEL: @bitwise_right_shift(
func.func @bitwise_right_shift(%a0: tensor<4x1x3xi64>, %a1: tensor<2x3xi64>) -> tensor<?x?x?xi64> {
  // CHECK: aten.bitwise_right_shift {{.*}}-> tensor<4x2x3xi64>
  %r = aten.bitwise_right_shift %a0, %a1 : (tensor<4x1x3xi64>, tensor<2x3xi64>) -> tensor<?x?x?xi64>
  return %r : tensor<?x?x?xi64>
}

// CHECK-LABEL: @pow(
func.func @pow(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.pow {{.*}}-> tensor<4x2x3xf32>
  %r = aten.pow %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @pow_Scalar(
func.func @pow_Scalar(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 2.0 : f64
  // CHECK: aten.pow {{.*}}-> tensor<2x3xf32>
  %r = aten.pow %n0, %a0 : (f64, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @div(
func.func @div(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.div {{.*}}-> tensor<4x2x3xf32>
  %r = aten.div %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @div_Scalar_mode(
func.func @div_Scalar_mode(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 2 : i64
  // CHECK: aten.div {{.*}}-> tensor<2x3xf32>
  %r = aten.div %a0, %n0 {rounding_mode = "floor"} : (tensor<2x3xf32>, i64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @eq(
func.func @eq(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xi1> {
  // CHECK: aten.eq {{.*}}-> tensor<4x2x3xi1>
  %r = aten.eq %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xi1>
  return %r : tensor<?x?x?xi1>
}

// CHECK-LABEL: @ne(
func.func @ne(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xi1> {
  // CHECK: aten.ne {{.*}}-> tensor<4x2x3xi1>
  %r = aten.ne %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xi1>
  return %r : tensor<?x?x?xi1>
}

// CHECK-LABEL: @lt(
func.func @lt(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xi1> {
  // CHECK: aten.lt {{.*}}-> tensor<4x2x3xi1>
  %r = aten.lt %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xi1>
  return %r : tensor<?x?x?xi1>
}

// CHECK-LABEL: @le(
func.func @le(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xi1> {
  // CHECK: aten.le {{.*}}-> tensor<4x2x3xi1>
  %r = aten.le %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xi1>
  return %r : tensor<?x?x?xi1>
}

// CHECK-LABEL: @gt(
func.func @gt(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xi1> {
  // CHECK: aten.gt {{.*}}-> tensor<4x2x3xi1>
  %r = aten.gt %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xi1>
  return %r : tensor<?x?x?xi1>
}

// CHECK-LABEL: @ge(
func.func @ge(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xi1> {
  // CHECK: aten.ge {{.*}}-> tensor<4x2x3xi1>
  %r = aten.ge %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xi1>
  return %r : tensor<?x?x?xi1>
}

// CHECK-LABEL: @lt_Scalar(
func.func @lt_Scalar(%a0: tensor<2x3xf32>) -> tensor<?x?xi1> {
  %n0 = arith.constant 0.5 : f64
  // CHECK: aten.lt {{.*}}-> tensor<2x3xi1>
  %r = aten.lt %a0, %n0 : (tensor<2x3xf32>, f64) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// CHECK-LABEL: @logical_and(
func.func @logical_and(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xi1> {
  // CHECK: aten.logical_and {{.*}}-> tensor<4x2x3xi1>
  %r = aten.logical_and %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xi1>
  return %r : tensor<?x?x?xi1>
}

// CHECK-LABEL: @logical_or(
func.func @logical_or(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xi1> {
  // CHECK: aten.logical_or {{.*}}-> tensor<4x2x3xi1>
  %r = aten.logical_or %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xi1>
  return %r : tensor<?x?x?xi1>
}

// CHECK-LABEL: @logical_xor(
func.func @logical_xor(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xi1> {
  // CHECK: aten.logical_xor {{.*}}-> tensor<4x2x3xi1>
  %r = aten.logical_xor %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xi1>
  return %r : tensor<?x?x?xi1>
}

// CHECK-LABEL: @where(
func.func @where(%a0: tensor<4x1x3xi1>, %a1: tensor<2x3xf32>, %a2: tensor<f32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.where {{.*}}-> tensor<4x2x3xf32>
  %r = aten.where %a0, %a1, %a2 : (tensor<4x1x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @clamp(
func.func @clamp(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 0.5 : f64
  // CHECK: aten.clamp {{.*}}-> tensor<2x3xf32>
  %r = aten.clamp %a0, %n0 {operandSegmentSizes = array<i32: 1, 0, 1>} : (tensor<2x3xf32>, f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @clamp_Tensor(
func.func @clamp_Tensor(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>, %a2: tensor<3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.clamp {{.*}}-> tensor<4x2x3xf32>
  %r = aten.clamp %a0, %a1, %a2 {operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<4x1x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @clamp_min(
func.func @clamp_min(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 0.5 : f64
  // CHECK: aten.clamp_min {{.*}}-> tensor<2x3xf32>
  %r = aten.clamp_min %a0, %n0 : (tensor<2x3xf32>, f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @clamp_max(
func.func @clamp_max(%a0: tensor<4x1x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.clamp_max {{.*}}-> tensor<4x2x3xf32>
  %r = aten.clamp_max %a0, %a1 : (tensor<4x1x3xf32>, tensor<2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @lerp(
func.func @lerp(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 0.5 : f64
  // CHECK: aten.lerp {{.*}}-> tensor<2x3xf32>
  %r = aten.lerp %a0, %a1, %n0 : (tensor<2x3xf32>, tensor<2x3xf32>, f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @addcmul(
func.func @addcmul(%a0: tensor<2x3xf32>, %a1: tensor<4x1x3xf32>, %a2: tensor<3xf32>) -> tensor<?x?x?xf32> {
  %n0 = arith.constant 1 : i64
  // CHECK: aten.addcmul {{.*}}-> tensor<4x2x3xf32>
  %r = aten.addcmul %a0, %a1, %a2, %n0 : (tensor<2x3xf32>, tensor<4x1x3xf32>, tensor<3xf32>, i64) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @addcdiv(
func.func @addcdiv(%a0: tensor<2x3xf32>, %a1: tensor<4x1x3xf32>, %a2: tensor<3xf32>) -> tensor<?x?x?xf32> {
  %n0 = arith.constant 2 : i64
  // CHECK: aten.addcdiv {{.*}}-> tensor<4x2x3xf32>
  %r = aten.addcdiv %a0, %a1, %a2, %n0 : (tensor<2x3xf32>, tensor<4x1x3xf32>, tensor<3xf32>, i64) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @masked_fill(
func.func @masked_fill(%a0: tensor<2x3xf32>, %a1: tensor<4x1x3xi1>) -> tensor<?x?x?xf32> {
  %n0 = arith.constant 0.0 : f64
  // CHECK: aten.masked_fill {{.*}}-> tensor<4x2x3xf32>
  %r = aten.masked_fill %a0, %a1, %n0 : (tensor<2x3xf32>, tensor<4x1x3xi1>, f64) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
