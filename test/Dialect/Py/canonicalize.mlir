// RUN: dynamo-opt %s -canonicalize -split-input-file | FileCheck %s
// RUN: dynamo-opt %s -cse -split-input-file | FileCheck %s --check-prefix=CSE

// Equal places are one source, across guards and effects: sources see the
// segment's start.
// CSE-LABEL: @sources
py.func segment @sources() -> !py.object {
  // CSE: %[[X:.*]] = py.arg 0 "x"
  // CSE-NEXT: %[[A:.*]] = py.attr %[[X]] "a"
  %x = py.arg 0 "x"
  %a = py.attr %x "a"
  // CSE-NEXT: py.guard.is %[[A]] is #py.ref<0>
  py.guard.is %a is #py.ref<0>
  // CSE-NEXT: py.set_attr %[[X]] "b" = %[[A]]
  py.set_attr %x "b" = %a
  %x1 = py.arg 0 "x"
  %a1 = py.attr %x1 "a"
  // CSE-NEXT: %[[T:.*]] = py.tuple(%[[A]], %[[A]])
  %t = py.tuple (%a, %a1)
  py.return %t : !py.object
}

// -----

// Two lists are two objects; one that nothing needs goes.
// CHECK-LABEL: @fresh
// CSE-LABEL: @fresh
py.func unit @fresh(%x: !py.object) -> (!py.object, !py.object) {
  // CSE: %[[A:.*]] = py.list(%{{.*}})
  // CSE-NEXT: %[[B:.*]] = py.list(%{{.*}})
  // CSE-NEXT: py.return %[[A]], %[[B]]
  // CHECK-COUNT-2: py.list
  // CHECK-NEXT: py.return
  %a = py.list (%x)
  %b = py.list (%x)
  %c = py.list (%x)
  py.return %a, %b : !py.object, !py.object
}

// -----

// A guard stays though nothing uses it; the second of two equal ones goes, be
// there another guard, an effect or a line between.
// CHECK-LABEL: @repeated
// CSE-LABEL: @repeated
// CSE: py.guard.is
py.func unit @repeated(%x: !py.object, %y: !py.object) {
  // CHECK: py.guard.state #py.ref<1>
  py.guard.state #py.ref<1>
  // CHECK-NEXT: py.guard.is %{{.*}} is #py.ref<0> {line = "m.py:1"}
  py.guard.is %x is #py.ref<0> {line = "m.py:1"}
  // CHECK-NEXT: py.guard.is %{{.*}} is #py.ref<0>
  py.guard.is %y is #py.ref<0>
  // CHECK-NEXT: py.del_attr
  py.del_attr %x "a"
  // CHECK-NEXT: py.return
  py.guard.is %x is #py.ref<0> {line = "m.py:2"}
  py.guard.state #py.ref<1>
  py.return
}

// -----

// Guards that always hold.
// CHECK-LABEL: @always
py.func unit @always(%x: !py.object) {
  // CHECK-NEXT: py.return
  %r = py.const #py.ref<0>
  py.guard.is %r is #py.ref<0>
  %n = py.const 3
  py.guard.equal %n, 3
  %ty = py.type_of %x
  py.guard.present %ty
  %t = py.const [1, 2]
  py.guard.length %t is 2
  py.guard.same %x, %x
  %r1 = py.const #py.ref<1>
  py.guard.distinct %r, %r1
  %true = arith.constant true
  py.guard.true %true
  // A number that is a constant is no source any more.
  %u = py.unbox %n : i64
  %three = arith.constant 3 : i64
  %c = arith.cmpi eq, %u, %three : i64
  py.guard.true %c
  py.return
}

// -----

// Guards that never hold, or may not, stay.
// CHECK-LABEL: @not_always
py.func unit @not_always(%x: !py.object) {
  // CHECK: py.guard.is
  %r = py.const #py.ref<0>
  py.guard.is %r is #py.ref<1>
  // CHECK: py.guard.equal
  %n = py.const 3
  py.guard.equal %n, 4
  // CHECK: py.guard.equal
  py.guard.equal %n, true
  // CHECK: py.guard.present
  %a = py.attr %x "a"
  py.guard.present %a
  // CHECK: py.guard.present
  py.guard.present %x
  // CHECK: py.guard.distinct
  py.guard.distinct %r, %n
  // CHECK: py.guard.distinct
  py.guard.distinct %r, %r
  py.return
}

// -----

// A reference and its object are two sides of one thing; a value wrapped is a
// new object each time.
// CHECK-LABEL: @wrap
py.func unit @wrap(%x: !py.object, %v: tensor<2xf32>, %t: !py.tensor<2xf32>)
    -> (!py.object, !py.tensor<2xf32>, tensor<2xf32>) {
  %u = py.unwrap %x : !py.tensor<2xf32>
  %o = py.wrap %u : !py.tensor<2xf32>
  %w = py.wrap %t : !py.tensor<2xf32>
  %tt = py.unwrap %w : !py.tensor<2xf32>
  // CHECK: %[[O:.*]] = py.wrap %{{.*}} : tensor<2xf32>
  // CHECK-NEXT: %[[V:.*]] = py.unwrap %[[O]] : tensor<2xf32>
  %p = py.wrap %v : tensor<2xf32> as !py.tensor<2xf32>
  %vv = py.unwrap %p : tensor<2xf32>
  // CHECK-NEXT: py.return %arg0, %arg2, %[[V]]
  py.return %o, %tt, %vv : !py.object, !py.tensor<2xf32>, tensor<2xf32>
}

// -----

// Numbers and their boxes.
// CHECK-LABEL: @box
py.func unit @box(%n: i64) -> (i64, !py.object, !py.object) {
  // CHECK-DAG: %[[C:.*]] = py.const 4 : i64
  // CHECK-DAG: %[[F:.*]] = py.const 5.000000e-01
  %b = py.box %n : i64
  %u = py.unbox %b : i64
  %four = arith.constant 4 : i64
  %c = py.box %four : i64
  %half = arith.constant 0.5 : f64
  %f = py.box %half : f64
  // CHECK: py.return %arg0, %[[C]], %[[F]]
  py.return %u, %c, %f : i64, !py.object, !py.object
}
