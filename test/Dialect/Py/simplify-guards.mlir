// RUN: dynamo-opt %s -py-simplify-guards -split-input-file | FileCheck %s
// RUN: dynamo-opt %s -py-simplify-guards -py-simplify-guards -split-input-file | FileCheck %s
// RUN: dynamo-opt %s -py-simplify-guards=dict-group=0 -split-input-file | FileCheck %s --check-prefix=FLAT

// What is known by identity is a constant, so that a module reached by two
// paths is read once, and the second path is only its identity.
// CHECK-LABEL: @identity
py.func segment @identity() -> !py.object {
  // CHECK-NEXT: %[[S:.*]] = py.arg 0
  // CHECK-NEXT: %[[A:.*]] = py.attr %[[S]] "fc"
  // CHECK-NEXT: py.guard.is %[[A]] is #py.ref<1, "fc">
  // CHECK-NEXT: %[[M:.*]] = py.const #py.ref<1, "fc">
  // CHECK-NEXT: %[[W:.*]] = py.attr %[[M]] "weight"
  // CHECK-NEXT: py.guard.is %[[W]] is #py.ref<2>
  // CHECK-NEXT: %[[G:.*]] = py.global "fc"
  // CHECK-NEXT: py.guard.is %[[G]] is #py.ref<1, "fc">
  // CHECK-NEXT: %[[C:.*]] = py.const #py.ref<2>
  // CHECK-NEXT: py.tuple(%[[C]], %[[C]])
  %self = py.arg 0
  %a = py.attr %self "fc"
  py.guard.is %a is #py.ref<1, "fc">
  %w0 = py.attr %a "weight"
  py.guard.is %w0 is #py.ref<2>
  %g = py.global "fc"
  py.guard.is %g is #py.ref<1, "fc">
  %w1 = py.attr %g "weight"
  py.guard.is %w1 is #py.ref<2>
  %t = py.tuple (%w0, %w1)
  py.return %t : !py.object
}

// -----

// The type of an object whose identity is known follows only where neither can
// be changed: a function of C keeps its class, an instance of a Python class
// does not.
// CHECK-LABEL: @types
py.func segment @types() -> !py.object {
  // CHECK-NOT: is #py.ref<3
  // CHECK: py.guard.type %{{.*}} is #py.ref<4, "Model"> version 7
  // CHECK-NOT: is #py.ref<3
  %f = py.global "relu"
  py.guard.is %f is #py.ref<1, "relu">
  py.guard.type %f is #py.ref<3, "builtin_function_or_method", fixed>
  %m = py.global "model"
  py.guard.is %m is #py.ref<2, "model">
  py.guard.type %m is #py.ref<4, "Model"> version 7
  py.return %m : !py.object
}

// -----

// A class's version is compared once, and a tensor's guard has its class.
// CHECK-LABEL: @versions
py.func segment @versions() -> !py.object {
  // CHECK-COUNT-1: version 7
  // CHECK: py.guard.type %{{.*}} is #py.ref<1, "Point">{{$}}
  // CHECK-NOT: #py.ref<0, "Tensor"> version
  // CHECK: py.guard.tensor
  %x = py.arg 0
  py.guard.type %x is #py.ref<1, "Point"> version 7
  %y = py.arg 1
  py.guard.type %y is #py.ref<1, "Point"> version 7
  %t = py.arg 2
  py.guard.type %t is #py.ref<0, "Tensor", fixed>
  py.guard.tensor %t like #py.spec<!py.tensor<2xf32>, python_type = <0, "Tensor", fixed>>
  py.return %x : !py.object
}

// -----

// What follows from others: presence, length, the type of a value, a number,
// distinctness of two objects that are known, a pair the other way round.
// CHECK-LABEL: @implied
py.func segment @implied() -> !py.object {
  // CHECK-NOT: present
  // CHECK-NOT: length
  // CHECK-NOT: guard.type
  // CHECK-NOT: guard.true
  // CHECK-NOT: distinct
  // CHECK-COUNT-1: no_alias
  // CHECK-NOT: no_alias
  // CHECK-COUNT-1: py.guard.keys
  // CHECK: py.return
  %d = py.arg 0
  py.guard.present %d
  py.guard.keys %d are ["a", "b"]
  py.guard.length %d is 2
  %n = py.arg 1
  py.guard.type %n is #py.ref<0, "int", fixed>
  py.guard.equal %n, 3
  %u = py.unbox %n : i64
  %three = arith.constant 3 : i64
  %f = py.arg 2
  py.guard.is %f is #py.ref<1>
  %g = py.arg 3
  py.guard.is %g is #py.ref<2>
  py.guard.distinct %f, %g
  py.guard.no_alias %d, %n
  py.guard.no_alias %n, %d
  py.return %d : !py.object
}

// -----

// Two names of one object.
// CHECK-LABEL: @same
py.func segment @same() -> !py.object {
  // CHECK-NEXT: %[[X:.*]] = py.arg 0
  // CHECK-NEXT: py.guard.type %[[X]] is #py.ref<0>
  // CHECK-NEXT: %[[Y:.*]] = py.arg 1
  // CHECK-NEXT: py.guard.same %[[X]], %[[Y]]
  // CHECK-NEXT: py.return %[[X]]
  %x = py.arg 0
  %y = py.arg 1
  py.guard.same %x, %y
  py.guard.type %x is #py.ref<0>
  py.guard.type %y is #py.ref<0>
  py.return %y : !py.object
}

// -----

// Cheap guards first, but a step only from an object whose guards have held;
// what is behind an effect comes before it.
// CHECK-LABEL: @order
py.func segment @order() -> !py.object {
  // CHECK-NEXT: %[[N:.*]] = py.arg 1
  // CHECK-NEXT: py.guard.equal %[[N]], unit
  // CHECK-NEXT: %[[L:.*]] = py.arg 0
  // CHECK-NEXT: py.guard.type %[[L]]
  // CHECK-NEXT: py.guard.length %[[L]] is 2
  // CHECK-NEXT: %[[I:.*]] = py.item %[[L]][0]
  // CHECK-NEXT: py.guard.is %[[I]]
  // CHECK: py.guard.tensor
  // CHECK: py.set_attr
  %l = py.arg 0
  %t = py.arg 2
  py.guard.tensor %t like #py.spec<!py.tensor<2xf32>, python_type = <0>>
  py.guard.length %l is 2
  %i = py.item %l[0]
  py.guard.is %i is #py.ref<2>
  py.guard.type %l is #py.ref<1, "list", fixed>
  py.set_attr %t "a" = %t
  %n = py.arg 1
  py.guard.equal %n, unit
  py.return %t : !py.object
}

// -----

// Reads of one dict are behind one comparison of its version; what the items
// themselves are like is not.
// CHECK-LABEL: @dict
// FLAT-LABEL: @dict
// FLAT-NOT: dict_version
// FLAT: py.return
py.func segment @dict() -> !py.object {
  // CHECK: %[[D:.*]] = py.instance_dict
  // CHECK: %[[R:.*]] = py.guard.dict_version %[[D]] {
  // CHECK-NEXT: py.guard.length %[[D]] is 3
  // CHECK-NEXT: %[[A:.*]] = py.dict_item %[[D]]["a"]
  // CHECK-NEXT: %[[B:.*]] = py.dict_item %[[D]]["b"]
  // CHECK-NEXT: py.guard.equal %[[B]], unit
  // CHECK-NEXT: py.yield %[[A]]
  // CHECK-NEXT: } : !py.object
  // CHECK-NEXT: py.guard.type %[[R]]
  // CHECK: py.return %[[R]]
  %x = py.arg 0
  py.guard.is %x is #py.ref<0>
  %d = py.instance_dict %x
  %a = py.dict_item %d["a"]
  py.guard.type %a is #py.ref<1>
  %b = py.dict_item %d["b"]
  py.guard.equal %b, unit
  py.guard.length %d is 3
  py.return %a : !py.object
}
