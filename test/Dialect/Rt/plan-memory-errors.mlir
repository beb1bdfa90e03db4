// RUN: dynamo-opt %s --split-input-file -verify-diagnostics --rt-plan-memory

// Sizes must be known: the arena is laid out at compile time.
// expected-error @below {{needs ranked tensors of static shape on the host, found 'tensor<?xf32>'}}
func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}

// -----

// Only host operations can be planned.
func.func @compute(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is not an operation of the host: launches, aten.extern, rt.refuse_if and reshapes are accepted}}
  %0 = math.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{the host function has control flow, one block is accepted}}
func.func @branch(%a: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %a : tensor<4xf32>
}
