// RUN: dynamo-opt %s --convert-aten-to-linalg --aten-to-extern --verify-diagnostics

// An op without a lowering whose overload is not known can't be called.
func.func @unknown(%a: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+2 {{has no lowering, and no overload to call in its place}}
  // expected-note @+1 {{not lowered: integer power with an exponent that is not a constant}}
  %0 = aten.pow %a, %a : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
