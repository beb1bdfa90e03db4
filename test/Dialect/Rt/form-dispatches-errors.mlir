// RUN: dynamo-opt %s -verify-diagnostics --rt-form-dispatches

// The host program is a straight line.
// expected-error @below {{the host function has control flow, one block is accepted}}
func.func @branch(%c: i1, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %c, ^bb1(%a : tensor<4xf32>), ^bb1(%b : tensor<4xf32>)
^bb1(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}
