// RUN: dynamo-opt %s -verify-diagnostics --rt-form-dispatches

// The host program is a straight line.
// expected-error @below {{the host function has control flow, one block is accepted}}
func.func @branch(%c: i1, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %c, ^bb1(%a : tensor<4xf32>), ^bb1(%b : tensor<4xf32>)
^bb1(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

// A number that is not known yet has no way into an extern call.
func.func @number(%x: tensor<4xf32>, %n: f64) -> tensor<4xf32> {
  // expected-error @below {{operand 1 is a number that is computed at run time, constants are accepted}}
  %0 = aten.extern "aten::f"(%x, %n) {args = [#aten.operand<0>, #aten.operand<1>]} : (tensor<4xf32>, f64) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
