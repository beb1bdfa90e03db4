// RUN: dynamo-opt %s -py-split -split-input-file -verify-diagnostics

py.func segment @f() -> !py.object {
  %x = py.arg 0
  %c = py.unbox %x : i1
  // expected-error @below {{can't be split yet, a segment has one exit}}
  py.side_exit %c to 3 locals [] stack ()
  py.return %x : !py.object
}

// -----

py.func segment @f() -> !py.object {
  %x = py.arg 0
  %v = py.unwrap %x : tensor<4xf32>
  %n = py.unbox %x : i64
  // expected-error @below {{takes a number that varies, which tensor functions don't take yet}}
  %r = aten.mul %v, %n : (tensor<4xf32>, i64) -> tensor<4xf32>
  py.return %x : !py.object
}

// -----

py.func segment @f() -> !py.object {
  %x = py.arg 0
  %l = py.list ()
  // expected-error @below {{reads a tensor that is not at hand when the segment starts}}
  %v = py.unwrap %l : tensor<4xf32>
  py.return %x : !py.object
}

// -----

func.func @main() { return }
// expected-error @below {{the module has a function @main already}}
py.func segment @f() -> !py.object {
  %x = py.arg 0
  py.return %x : !py.object
}

// -----

py.func segment @f() -> !py.object {
  %x = py.arg 0
  py.return %x : !py.object
}
// expected-error @below {{is a second segment, one is accepted}}
py.func segment @g() -> !py.object {
  %x = py.arg 0
  py.return %x : !py.object
}
