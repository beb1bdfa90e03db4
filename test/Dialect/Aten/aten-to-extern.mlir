// RUN: dynamo-opt %s --aten-to-extern | FileCheck %s
// RUN: dynamo-opt %s --convert-aten-to-linalg --aten-to-extern --verify-linalg | FileCheck %s --check-prefix=LINALG

// Arguments go by name: operands by place, numbers and attributes as values,
// absent optional ones as None (unit).
// CHECK-LABEL: @arguments
// CHECK-SAME: %[[A:.*]]: tensor<4xi32>, %[[B:.*]]: tensor<4xi32>
// LINALG-LABEL: @arguments
func.func @arguments(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: aten.extern "aten::div.Tensor_mode"(%[[A]], %[[B]])
  // CHECK-SAME: kwargs = {other = #aten.operand<1>, rounding_mode = "unknown", self = #aten.operand<0>}
  // LINALG: aten.extern "aten::div.Tensor_mode"
  %0 = aten.div %a, %b {rounding_mode = "unknown", aten.overload = "aten::div.Tensor_mode", aten.schema = ["self", "other", "rounding_mode"]}
      : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// A number is a value of the call; dtype is the result's.
// CHECK-LABEL: @numbers
func.func @numbers(%a: tensor<4xi32>) -> tensor<i64> {
  // CHECK: kwargs = {dim, dtype = "torch.int64", keepdim = false, self = #aten.operand<0>}
  %0 = aten.sum %a {aten.overload = "aten::sum.dim_IntList", aten.schema = ["self", "dim", "keepdim", "dtype"]} : (tensor<4xi32>) -> tensor<i64>
  // CHECK: kwargs = {alpha = 2 : i64, other = 1.000000e+00 : f64, self = #aten.operand<0>}
  %two = arith.constant 2 : i64
  %one = arith.constant 1.0 : f64
  %1 = aten.sub %a, %one, %two {aten.overload = "aten::sub.Tensor", aten.schema = ["self", "other", "alpha"]} : (tensor<4xi32>, f64, i64) -> tensor<4xf32>
  return %0 : tensor<i64>
}

// Behind the conversion an extern takes and gives bytes and says what they are.
// LINALG-LABEL: @bytes
// LINALG-SAME: %[[M:.*]]: tensor<4xi8> {rt.dtype = i1}
func.func @bytes(%m: tensor<4xi1>, %a: tensor<4xui8>, %b: tensor<4xui8>) -> tensor<4xui8> {
  // LINALG-NOT: unrealized_conversion_cast
  // LINALG: %[[E:.*]] = aten.extern "aten::pow.Tensor_Tensor"(%{{.*}}, %{{.*}}) {{.*}}rt.dtypes = [ui8, ui8, ui8]{{.*}} -> tensor<4xi8>
  // LINALG: linalg.generic {{.*}} ins(%[[M]], %[[E]],
  %0 = aten.pow %a, %b {aten.overload = "aten::pow.Tensor_Tensor", aten.schema = ["self", "exponent"]} : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  %1 = aten.where %m, %0, %a {aten.overload = "aten::where.self", aten.schema = ["condition", "self", "other"]} : (tensor<4xi1>, tensor<4xui8>, tensor<4xui8>) -> tensor<4xui8>
  return %1 : tensor<4xui8>
}
