// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the unary family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @abs(
func.func @abs(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.abs {{.*}}-> tensor<2x3xf32>
  %r = aten.abs %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @acos(
func.func @acos(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.acos {{.*}}-> tensor<2x3xf32>
  %r = aten.acos %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @acosh(
func.func @acosh(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.acosh {{.*}}-> tensor<2x3xf32>
  %r = aten.acosh %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @asin(
func.func @asin(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.asin {{.*}}-> tensor<2x3xf32>
  %r = aten.asin %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @asinh(
func.func @asinh(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.asinh {{.*}}-> tensor<2x3xf32>
  %r = aten.asinh %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @atan(
func.func @atan(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.atan {{.*}}-> tensor<2x3xf32>
  %r = aten.atan %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @atanh(
func.func @atanh(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.atanh {{.*}}-> tensor<2x3xf32>
  %r = aten.atanh %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @ceil(
func.func @ceil(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.ceil {{.*}}-> tensor<2x3xf32>
  %r = aten.ceil %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @cos(
func.func @cos(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.cos {{.*}}-> tensor<2x3xf32>
  %r = aten.cos %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @cosh(
func.func @cosh(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.cosh {{.*}}-> tensor<2x3xf32>
  %r = aten.cosh %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @erf(
func.func @erf(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.erf {{.*}}-> tensor<2x3xf32>
  %r = aten.erf %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @erfc(
func.func @erfc(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.erfc {{.*}}-> tensor<2x3xf32>
  %r = aten.erfc %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @exp(
func.func @exp(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.exp {{.*}}-> tensor<2x3xf32>
  %r = aten.exp %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @exp2(
func.func @exp2(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.exp2 {{.*}}-> tensor<2x3xf32>
  %r = aten.exp2 %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @expm1(
func.func @expm1(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.expm1 {{.*}}-> tensor<2x3xf32>
  %r = aten.expm1 %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @floor(
func.func @floor(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.floor {{.*}}-> tensor<2x3xf32>
  %r = aten.floor %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @frac(
func.func @frac(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.frac {{.*}}-> tensor<2x3xf32>
  %r = aten.frac %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @log(
func.func @log(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.log {{.*}}-> tensor<2x3xf32>
  %r = aten.log %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @log10(
func.func @log10(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.log10 {{.*}}-> tensor<2x3xf32>
  %r = aten.log10 %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @log1p(
func.func @log1p(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.log1p {{.*}}-> tensor<2x3xf32>
  %r = aten.log1p %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @log2(
func.func @log2(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.log2 {{.*}}-> tensor<2x3xf32>
  %r = aten.log2 %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @neg(
func.func @neg(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.neg {{.*}}-> tensor<2x3xf32>
  %r = aten.neg %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @reciprocal(
func.func @reciprocal(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.reciprocal {{.*}}-> tensor<2x3xf32>
  %r = aten.reciprocal %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @rsqrt(
func.func @rsqrt(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.rsqrt {{.*}}-> tensor<2x3xf32>
  %r = aten.rsqrt %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @sigmoid(
func.func @sigmoid(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.sigmoid {{.*}}-> tensor<2x3xf32>
  %r = aten.sigmoid %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @sign(
func.func @sign(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.sign {{.*}}-> tensor<2x3xf32>
  %r = aten.sign %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @sin(
func.func @sin(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.sin {{.*}}-> tensor<2x3xf32>
  %r = aten.sin %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @sinh(
func.func @sinh(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.sinh {{.*}}-> tensor<2x3xf32>
  %r = aten.sinh %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @sqrt(
func.func @sqrt(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.sqrt {{.*}}-> tensor<2x3xf32>
  %r = aten.sqrt %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @tan(
func.func @tan(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.tan {{.*}}-> tensor<2x3xf32>
  %r = aten.tan %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @tanh(
func.func @tanh(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.tanh {{.*}}-> tensor<2x3xf32>
  %r = aten.tanh %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @trunc(
func.func @trunc(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.trunc {{.*}}-> tensor<2x3xf32>
  %r = aten.trunc %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @round(
func.func @round(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.round {{.*}}-> tensor<2x3xf32>
  %r = aten.round %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @isnan(
func.func @isnan(%a0: tensor<2x3xf32>) -> tensor<?x?xi1> {
  // CHECK: aten.isnan {{.*}}-> tensor<2x3xi1>
  %r = aten.isnan %a0 : (tensor<2x3xf32>) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// CHECK-LABEL: @isinf(
func.func @isinf(%a0: tensor<2x3xf32>) -> tensor<?x?xi1> {
  // CHECK: aten.isinf {{.*}}-> tensor<2x3xi1>
  %r = aten.isinf %a0 : (tensor<2x3xf32>) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// CHECK-LABEL: @isinf_default_2(
func.func @isinf_default_2(%a0: tensor<2x3xf16>) -> tensor<?x?xi1> {
  // CHECK: aten.isinf {{.*}}-> tensor<2x3xi1>
  %r = aten.isinf %a0 : (tensor<2x3xf16>) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// CHECK-LABEL: @isfinite(
func.func @isfinite(%a0: tensor<2x3xf32>) -> tensor<?x?xi1> {
  // CHECK: aten.isfinite {{.*}}-> tensor<2x3xi1>
  %r = aten.isfinite %a0 : (tensor<2x3xf32>) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// CHECK-LABEL: @logical_not(
func.func @logical_not(%a0: tensor<2x3xf32>) -> tensor<?x?xi1> {
  // CHECK: aten.logical_not {{.*}}-> tensor<2x3xi1>
  %r = aten.logical_not %a0 : (tensor<2x3xf32>) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// CHECK-LABEL: @round_decimals(
func.func @round_decimals(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.round {{.*}}-> tensor<2x3xf32>
  %r = aten.round %a0 {decimals = 2 : i64} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @bitwise_not(
func.func @bitwise_not(%a0: tensor<2x3xi64>) -> tensor<?x?xi64> {
  // CHECK: aten.bitwise_not {{.*}}-> tensor<2x3xi64>
  %r = aten.bitwise_not %a0 : (tensor<2x3xi64>) -> tensor<?x?xi64>
  return %r : tensor<?x?xi64>
}

// CHECK-LABEL: @nan_to_num(
func.func @nan_to_num(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.nan_to_num {{.*}}-> tensor<2x3xf32>
  %r = aten.nan_to_num %a0 {nan = 0.5 : f64} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @to_copy(
func.func @to_copy(%a0: tensor<2x3xf32>) -> tensor<?x?xbf16> {
  // CHECK: aten.to_copy {{.*}}-> tensor<2x3xbf16>
  %r = aten.to_copy %a0 : (tensor<2x3xf32>) -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

// CHECK-LABEL: @alias(
func.func @alias(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.alias {{.*}}-> tensor<2x3xf32>
  %r = aten.alias %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @clone_default(
func.func @clone_default(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.alias {{.*}}-> tensor<2x3xf32>
  %r = aten.alias %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @copy(
func.func @copy(%a0: tensor<2x3xf32>, %a1: tensor<3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.copy {{.*}}-> tensor<2x3xf32>
  %r = aten.copy %a0, %a1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @fill(
func.func @fill(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 1.5 : f64
  // CHECK: aten.fill {{.*}}-> tensor<2x3xf32>
  %r = aten.fill %a0, %n0 : (tensor<2x3xf32>, f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
