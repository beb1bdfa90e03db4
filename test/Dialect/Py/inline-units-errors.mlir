// RUN: dynamo-opt %s -py-inline-units -split-input-file -verify-diagnostics

// A recording of recursion has a unit for each call.
py.func segment @f() -> !py.object {
  %x = py.arg 0
  %l = py.invoke @a(%x) : (!py.object) -> !py.object
  py.return %l : !py.object
}
py.func unit @a(%x: !py.object) -> !py.object {
  %l = py.invoke @b(%x) : (!py.object) -> !py.object
  py.return %l : !py.object
}
py.func unit @b(%x: !py.object) -> !py.object {
  // expected-error @below {{@a reaches itself, a recording has a unit for each call}}
  %l = py.invoke @a(%x) : (!py.object) -> !py.object
  py.return %l : !py.object
}
