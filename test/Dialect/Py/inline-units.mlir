// RUN: dynamo-opt %s -py-inline-units -split-input-file | FileCheck %s

// Calls of calls, a unit used twice; units go.
// CHECK-NOT: @outer
// CHECK-NOT: @inner
// CHECK-LABEL: py.func segment @f
py.func segment @f() -> !py.object {
  // CHECK-NEXT: %[[X:.*]] = py.arg 0
  // CHECK-NEXT: %[[A:.*]] = py.attr %[[X]] "a"
  // CHECK-NEXT: py.guard.equal %[[A]], 1
  // CHECK-NEXT: %[[L:.*]] = py.list(%[[A]])
  // CHECK-NEXT: %[[B:.*]] = py.attr %[[X]] "a"
  // CHECK-NEXT: py.guard.equal %[[B]], 1
  // CHECK-NEXT: %[[T:.*]] = py.tuple(%[[L]], %[[B]])
  // CHECK-NEXT: py.return %[[T]]
  %x = py.arg 0
  %l = py.invoke @outer(%x) : (!py.object) -> !py.object
  %b = py.invoke @inner(%x) : (!py.object) -> !py.object
  %t = py.tuple (%l, %b)
  py.return %t : !py.object
}
py.func unit @outer(%x: !py.object) -> !py.object {
  %a = py.invoke @inner(%x) : (!py.object) -> !py.object
  %l = py.list (%a)
  py.return %l : !py.object
}
py.func unit @inner(%x: !py.object) -> !py.object {
  %a = py.attr %x "a"
  py.guard.equal %a, 1
  py.return %a : !py.object
}
