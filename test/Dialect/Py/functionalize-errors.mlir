// RUN: dynamo-opt %s -py-functionalize -split-input-file -verify-diagnostics

// Without py.guard.no_alias nobody knows what a write changes.
py.func segment @f() -> !py.object {
  %x = py.arg 0
  // expected-note @below {{no py.guard.no_alias names both}}
  %y = py.arg 1
  %t = py.unwrap %x : !py.tensor<4xf32>
  %u = py.unwrap %y : !py.tensor<4xf32>
  // expected-error @below {{writes an outside tensor that may share memory with another one}}
  py.torch_call "aten::exp_"(%t) {self = #aten.operand<0>} writes [0] : (!py.tensor<4xf32>) -> ()
  %o = py.wrap %u : !py.tensor<4xf32>
  py.return %o : !py.object
}

// -----

// A view without an inverse.
py.func segment @f() -> !py.object {
  %z = py.torch_call "aten::zeros"() {size = [4]} : () -> !py.tensor<4xf32>
  // expected-note @below {{view made by aten::unfold}}
  %v = py.torch_call "aten::unfold"(%z) {self = #aten.operand<0>, dimension = 0, size = 2, step = 1} views [0] : (!py.tensor<4xf32>) -> !py.tensor<3x2xf32, [1, 1]>
  // expected-error @below {{writes through a view that has no inverse}}
  py.torch_call "aten::exp_"(%v) {self = #aten.operand<0>} writes [0] : (!py.tensor<3x2xf32, [1, 1]>) -> ()
  %o = py.wrap %z : !py.tensor<4xf32>
  py.return %o : !py.object
}

// -----

// An operator that writes, and that aten doesn't have.
py.func segment @f() -> !py.object {
  %z = py.torch_call "aten::zeros"() {size = [4]} : () -> !py.tensor<4xf32>
  // expected-error @below {{has no functional form: there is no operation of aten for aten.bernoulli.float}}
  py.torch_call "aten::bernoulli_.float"(%z) {self = #aten.operand<0>} writes [0] : (!py.tensor<4xf32>) -> ()
  %o = py.wrap %z : !py.tensor<4xf32>
  py.return %o : !py.object
}

// -----

// A result with gaps that is no view.
py.func segment @f() -> !py.object {
  %z = py.torch_call "aten::empty_strided"() {size = [4, 2], stride = [4, 1]} : () -> !py.tensor<4x2xf32, [4, 1]>
  // expected-error @below {{a tensor of type '!py.tensor<4x2xf32, [4, 1]>' leaves, which is neither dense nor a view}}
  %o = py.wrap %z : !py.tensor<4x2xf32, [4, 1]>
  py.return %o : !py.object
}

// -----

// Units come first.
py.func unit @u() { py.return }
py.func segment @f() -> !py.object {
  %x = py.arg 0
  // expected-error @below {{is not inlined}}
  py.invoke @u() : () -> ()
  py.return %x : !py.object
}

// -----

// What is computed in f32 and stored as f16 is not what f16 computes.
py.func segment @f() -> !py.object {
  %z = py.torch_call "aten::zeros"() {size = [4]} : () -> !py.tensor<4xf16>
  %y = py.torch_call "aten::ones"() {size = [4]} : () -> !py.tensor<4xf32>
  // expected-error @below {{has no functional form: it mixes 'f16' and 'f32' in place}}
  py.torch_call "aten::div_.Tensor"(%z, %y) {self = #aten.operand<0>, other = #aten.operand<1>} writes [0] : (!py.tensor<4xf16>, !py.tensor<4xf32>) -> ()
  %o = py.wrap %z : !py.tensor<4xf16>
  py.return %o : !py.object
}
