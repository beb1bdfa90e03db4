// RUN: dynamo-opt %s -verify-py-recorded | FileCheck %s

// A segment with a guarded tensor and a unit; an effect on another attribute
// than the one that is read.
// CHECK: py.func segment @f
py.func segment @f() -> !py.object {
  %x = py.arg 0
  py.guard.tensor %x like #py.spec<!py.tensor<4xf32>, python_type = <0>>
  %t = py.unwrap %x : !py.tensor<4xf32>
  %r = py.invoke @u(%t) : (!py.tensor<4xf32>) -> !py.object
  py.set_attr %x "a" = %r
  %b = py.attr %x "b"
  py.return %r : !py.object
}
py.func unit @u(%t: !py.tensor<4xf32>) -> !py.object {
  %o = py.wrap %t : !py.tensor<4xf32>
  py.return %o : !py.object
}
