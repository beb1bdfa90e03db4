// RUN: dynamo-opt %s -verify-py-recorded -split-input-file -verify-diagnostics

// C1: no segment; something else; two segments.
// expected-error @below {{C1: there is no py.func segment}}
module {}

// -----

// expected-error @below {{C1: a module of phase P0 holds one py.func segment and units}}
func.func @main() { return }

// -----

py.func segment @f() -> !py.object {
  %x = py.arg 0
  py.return %x : !py.object
}
// expected-error @below {{C1: a module of phase P0 holds one py.func segment and units}}
py.func segment @g() -> !py.object {
  %x = py.arg 0
  py.return %x : !py.object
}

// -----

// C2.
py.func segment @f() -> !py.object {
  %x = py.arg 0
  // expected-error @below {{C2: is neither an operation of py nor of arith}}
  %i = index.constant 1
  py.return %x : !py.object
}

// -----

// C3.
py.func segment @f() -> !py.object {
  %x = py.arg 0
  // expected-error @below {{C3: has a value of type 'tensor<4xf32>', tensors are references}}
  %v = py.unwrap %x : tensor<4xf32>
  py.return %x : !py.object
}

// -----

// C4: the guard is about another type.
py.func segment @f() -> !py.object {
  %x = py.arg 0
  py.guard.tensor %x like #py.spec<!py.tensor<4xf32>, python_type = <0>>
  // expected-error @below {{C4: no py.guard.tensor of this type guards the object}}
  %v = py.unwrap %x : !py.tensor<4xf64>
  py.return %x : !py.object
}

// -----

// C5: attribute, item, cell.
py.func segment @f() -> !py.object {
  %x = py.arg 0
  // expected-note @below {{here}}
  py.set_attr %x "a" = %x
  // expected-error @below {{C5: reads what the segment itself has written}}
  %a = py.attr %x "a"
  py.return %a : !py.object
}

// -----

py.func segment @f() -> !py.object {
  %x = py.arg 0
  %k = py.const "k"
  // expected-note @below {{here}}
  py.del_item %x[%k]
  // expected-error @below {{C5: reads what the segment itself has written}}
  %a = py.dict_item %x["k"]
  py.return %a : !py.object
}

// -----

py.func segment @f() -> !py.object {
  %x = py.arg 0
  // expected-note @below {{here}}
  py.mutate "append" %x (%x)
  // expected-error @below {{C5: reads what the segment itself has written}}
  %a = py.item %x[0]
  py.return %a : !py.object
}

// -----

py.func segment @f() -> !py.object {
  %x = py.arg 0
  // expected-note @below {{here}}
  py.set_cell %x
  // expected-error @below {{C5: reads what the segment itself has written}}
  %a = py.cell %x
  py.return %a : !py.object
}
