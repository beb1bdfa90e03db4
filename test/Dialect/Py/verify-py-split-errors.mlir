// RUN: dynamo-opt %s -verify-py-split -split-input-file -verify-diagnostics

// C1: one is missing; there is a segment.
// expected-error @below {{C1: guard, tensor and exit function belong together, one is not there}}
module {
  py.func guard @g() attributes {inputs = 0} { py.return }
}

// -----

// expected-error @below {{C1: a module of phase P1 has one guard and one exit function}}
py.func segment @f() -> !py.object {
  %x = py.arg 0
  py.return %x : !py.object
}

// -----

// C2: an effect, and an object made.
py.func guard @g() attributes {inputs = 0} {
  %x = py.arg 0
  // expected-error @below {{C2: a guard function holds sources, guards and numbers only}}
  py.del_attr %x "a"
  py.return
}
func.func @main() { return }
py.func exit @e() { py.return }

// -----

// C3.
// expected-error @below {{C3: hands 0 inputs to @main, which takes 1}}
py.func guard @g() attributes {inputs = 0} { py.return }
func.func @main(%x: tensor<4xf32>) { return }
py.func exit @e() { py.return }

// -----

// C4.
py.func guard @g() -> !py.object attributes {inputs = 0} {
  %x = py.arg 0
  py.return %x : !py.object
}
func.func @main() { return }
// expected-error @below {{C4: does not take what the guard function and @main hand over}}
py.func exit @e() { py.return }

// -----

// C5: a guard; a write.
py.func guard @g() -> !py.object attributes {inputs = 0} {
  %x = py.arg 0
  py.return %x : !py.object
}
func.func @main() { return }
py.func exit @e(%x: !py.object) {
  // expected-error @below {{C5: an exit has no guards}}
  py.guard.is %x is #py.ref<0>
  py.return
}

// -----

py.func guard @g() -> !py.object attributes {inputs = 0} {
  %x = py.arg 0
  py.return %x : !py.object
}
func.func @main() { return }
py.func exit @e(%x: !py.object) {
  %t = py.unwrap %x : !py.tensor<4xf32>
  // expected-error @below {{C5: an exit writes by py.copy_tensor only}}
  py.torch_call "aten::exp_"(%t) {self = #aten.operand<0>} writes [0] : (!py.tensor<4xf32>) -> ()
  py.return
}

// -----

// C6.
py.func guard @g() attributes {inputs = 0} { py.return }
func.func @main() {
  // expected-error @below {{C6: the tensor function knows no Python}}
  %l = py.list ()
  return
}
py.func exit @e() { py.return }
