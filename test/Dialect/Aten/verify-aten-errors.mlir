// RUN: dynamo-opt %s --verify-aten -split-input-file -verify-diagnostics

// C1: another function.
func.func @main() { return }
// expected-error @below {{C1: a module of phase P1 holds the function @main and nothing else}}
func.func @helper() { return }

// -----

// C1: no function at all.
// expected-error @below {{C1: there is no function @main}}
module {}

// -----

// C2: control flow.
// expected-error @below {{C2: must be one block}}
func.func @main() {
  cf.br ^next
^next:
  return
}

// -----

// C3: an operation of a later phase.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{C3: is neither an aten operation nor arith.constant or func.return}}
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// C4: memory instead of a value.
// expected-error @below {{C4: an argument of type 'memref<4xf32>' is neither a ranked tensor nor a number}}
func.func @main(%x: memref<4xf32>) { return }

// -----

// C4: a number of a type that Python does not have.
// expected-error @below {{C4: an argument of type 'f32' is neither a ranked tensor nor a number}}
func.func @main(%x: f32) { return }

// -----

// C4: an element type that no operation of P1 takes.
func.func @main() {
  // expected-error @below {{C4: a result of type 'tensor<2xi4>' is not a tensor of bool, uint8, an int or a float}}
  %0 = arith.constant dense<0> : tensor<2xi4>
  return
}
