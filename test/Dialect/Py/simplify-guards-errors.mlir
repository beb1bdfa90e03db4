// RUN: dynamo-opt %s -py-simplify-guards -split-input-file -verify-diagnostics

// Two identities of one object.
py.func segment @f() -> !py.object {
  %x = py.arg 0
  // expected-note @below {{the other one}}
  py.guard.is %x is #py.ref<0>
  // expected-error @below {{contradicts another guard of the object}}
  py.guard.is %x is #py.ref<1>
  py.return %x : !py.object
}

// -----

// Two values of one place, under two names.
py.func segment @f() -> !py.object {
  %x = py.arg 0
  // expected-note @below {{the other one}}
  py.guard.equal %x, 1
  %y = py.arg 0
  // expected-error @below {{contradicts another guard of the object}}
  py.guard.equal %y, 2
  py.return %x : !py.object
}

// -----

// Keys and length.
py.func segment @f() -> !py.object {
  %x = py.arg 0
  // expected-note @below {{the other one}}
  py.guard.keys %x are ["a"]
  // expected-error @below {{contradicts another guard of the object}}
  py.guard.length %x is 2
  py.return %x : !py.object
}
