// RUN: dynamo-opt %s -py-split -verify-py-split | FileCheck %s

// The frame's part, the tensors' part, and what is done at the end. Constants
// are not handed over; what is handed over unseen is checked to be there.
// CHECK-LABEL: py.func guard @f.guard() -> (!py.object, !py.object) attributes {code = "f", inputs = 1 : i64, start = 2 : i64}
// CHECK-DAG:  %[[X:.*]] = py.arg 0
// CHECK-DAG:  %[[Y:.*]] = py.arg 1
// CHECK:      py.guard.present %[[Y]]
// CHECK:      py.guard.tensor %[[X]]
// CHECK-NOT:  py.guard.present %[[X]]
// CHECK:      py.return %[[X]], %[[Y]]
// CHECK-LABEL: py.func exit @f.exit
// CHECK-SAME: (%[[EX:.*]]: !py.object, %[[EY:.*]]: !py.object, %[[ER:.*]]: tensor<4xf32>) -> !py.object
// CHECK-NEXT: %[[O:.*]] = py.wrap %[[ER]]
// CHECK-NEXT: %[[C:.*]] = py.const 3
// CHECK-NEXT: py.set_item %[[EX]][%[[C]]] = %[[O]]
// CHECK-NEXT: py.exit 12 locals [%[[EY]], unbound] stack(%[[O]])
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[N:.*]] = arith.constant 2
// CHECK-NEXT: %[[R:.*]] = aten.mul %[[A]], %[[N]]
// CHECK-NEXT: return %[[R]]
py.func segment @f() -> !py.object attributes {code = "f", start = 2 : i64} {
  %x = py.arg 0
  %y = py.arg 1
  py.guard.tensor %x like #py.spec<!py.tensor<4xf32>, python_type = <0>>
  %v = py.unwrap %x : tensor<4xf32>
  %n = arith.constant 2 : i64
  %r = aten.mul %v, %n : (tensor<4xf32>, i64) -> tensor<4xf32>
  %o = py.wrap %r : tensor<4xf32> as !py.tensor<4xf32>
  %c = py.const 3
  py.set_item %x[%c] = %o
  py.exit 12 locals [%y, unbound] stack (%o)
}
