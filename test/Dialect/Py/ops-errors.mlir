// RUN: dynamo-opt %s -split-input-file -verify-diagnostics

// Sources, C1: an index is not negative.
py.func segment @f() -> !py.object {
  // expected-error @below {{C1: has index -1, 0 or more is accepted}}
  %x = py.arg -1
  py.return %x : !py.object
}

// -----

py.func unit @f(%x: !py.object) -> !py.object {
  // expected-error @below {{C1: has index -2, 0 or more is accepted}}
  %y = py.item %x[-2]
  py.return %y : !py.object
}

// -----

// Sources, C2: a key is a constant without identity or a reference.
py.func unit @f(%x: !py.object) -> !py.object {
  // expected-error @below {{attribute 'key' failed to satisfy constraint: constant}}
  %y = py.dict_item %x[2.0 : f32]
  py.return %y : !py.object
}

// -----

// Sources, C3: a name is not empty.
py.func unit @f(%x: !py.object) -> !py.object {
  // expected-error @below {{C3: has an empty name}}
  %y = py.attr %x ""
  py.return %y : !py.object
}

// -----

// #py.ref: an entry of the table.
// expected-error @below {{has index -1, 0 or more is accepted}}
#r = #py.ref<-1>

// -----

// !py.tensor: as many strides as sizes.
// expected-error @below {{has 1 strides for 2 sizes}}
py.func unit @f(%x: !py.tensor<2x3xf32, [1]>) { py.return }

// -----

// !py.tensor: elements are numbers.
// expected-error @below {{has elements of type '!py.object', a number is accepted}}
py.func unit @f(%x: !py.tensor<2x3x!py.object>) { py.return }

// -----

// py.guard.present, C1.
py.func unit @f() {
  %l = py.list ()
  // expected-error @below {{C1: looks at what is not a source}}
  py.guard.present %l
  py.return
}

// -----

// py.guard.absent, C1.
py.func unit @f(%x: !py.object) {
  %t = py.type_of %x
  // expected-error @below {{C1: looks at what is always there}}
  py.guard.absent %t
  py.return
}

// -----

// py.guard.absent, C2.
py.func unit @f(%x: !py.object) {
  %t = py.attr %x "a"
  // expected-error @below {{C2: says that nothing is there, but it is used}}
  py.guard.absent %t
  // expected-note @below {{here}}
  py.guard.equal %t, 1
  py.return
}

// -----

// py.guard.length, C1.
py.func unit @f(%x: !py.object) {
  // expected-error @below {{C1: has length -3, 0 or more is accepted}}
  py.guard.length %x is -3
  py.return
}

// -----

// py.guard.dict_version, C1: a type is changed without the dict.
py.func unit @f(%x: !py.object) {
  // expected-error @below {{C1: the body holds what not only a change of the dict can change}}
  py.guard.dict_version %x {
    %0 = py.dict_item %x["a"]
    // expected-note @below {{here}}
    py.guard.type %0 is #py.ref<0>
  }
  py.return
}

// -----

// py.guard.dict_version, C1: an item of another dict.
py.func unit @f(%x: !py.object, %y: !py.object) {
  // expected-error @below {{C1: the body holds what not only a change of the dict can change}}
  py.guard.dict_version %x {
    // expected-note @below {{here}}
    %0 = py.dict_item %y["a"]
  }
  py.return
}

// -----

// py.guard.dict_version, C2.
py.func unit @f(%x: !py.object) {
  // expected-error @below {{C2: has 1 results and yields 0}}
  %r = py.guard.dict_version %x {
    py.yield
  } : !py.object
  py.return
}

// -----

// py.wrap, C1.
py.func unit @f(%x: tensor<2xf32>) {
  // expected-error @below {{C1: a value needs a type to look like}}
  %0 = py.wrap %x : tensor<2xf32>
  py.return
}

// -----

py.func unit @f(%x: !py.tensor<2xf32>) {
  // expected-error @below {{C1: a reference has its own looks}}
  %0 = py.wrap %x : !py.tensor<2xf32> as !py.tensor<2xf32>
  py.return
}

// -----

// py.wrap, C2: a gap between rows.
py.func unit @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{C2: '!py.tensor<2x3xf32, [4, 1]>' is not dense}}
  %0 = py.wrap %x : tensor<2x3xf32> as !py.tensor<2x3xf32, [4, 1]>
  py.return
}

// -----

// py.wrap, C2: the physical shape is 3x2.
py.func unit @f(%x: tensor<2x3xf32>) {
  // expected-error @below {{C2: 'tensor<2x3xf32>' is not what '!py.tensor<2x3xf32, [1, 2]>' has in memory}}
  %0 = py.wrap %x : tensor<2x3xf32> as !py.tensor<2x3xf32, [1, 2]>
  py.return
}

// -----

// py.torch_call, C1.
py.func unit @f() {
  // expected-error @below {{C1: has the name 'add', namespace::name.overload is accepted}}
  py.torch_call "add"() {} : () -> ()
  py.return
}

// -----

// py.torch_call, C2.
py.func unit @f(%x: !py.tensor<2xf32>) {
  // expected-error @below {{C2: has an argument that is operand 1, it has 1}}
  py.torch_call "aten::add"(%x) {self = #aten.operand<0>, other = #aten.operand<1>} : (!py.tensor<2xf32>) -> ()
  py.return
}

// -----

py.func unit @f(%x: !py.tensor<2xf32>) {
  // expected-error @below {{C2: has an operand that is no argument}}
  py.torch_call "aten::add"(%x, %x) {self = [#aten.operand<0>]} : (!py.tensor<2xf32>, !py.tensor<2xf32>) -> ()
  py.return
}

// -----

// py.torch_call, C3.
py.func unit @f(%x: !py.tensor<2xf32>, %n: i64) {
  // expected-error @below {{C3: writes what is no tensor operand}}
  py.torch_call "aten::add"(%x, %n) {self = #aten.operand<0>, other = #aten.operand<1>} writes [1] : (!py.tensor<2xf32>, i64) -> ()
  py.return
}

// -----

py.func unit @f(%x: !py.tensor<2xf32>) {
  // expected-error @below {{C3: has 2 views for 1 results}}
  %0 = py.torch_call "aten::t"(%x) {self = #aten.operand<0>} views [0, 0] : (!py.tensor<2xf32>) -> !py.tensor<2xf32>
  py.return
}

// -----

py.func unit @f(%x: !py.tensor<2xf32>) {
  // expected-error @below {{C3: views what is no tensor operand}}
  %0 = py.torch_call "aten::t"(%x) {self = #aten.operand<0>} views [1] : (!py.tensor<2xf32>) -> !py.tensor<2xf32>
  py.return
}

// -----

// py.dict, C1.
py.func unit @f(%x: !py.object) {
  // expected-error @below {{C1: has 1 items, keys and values in turns are accepted}}
  %0 = py.dict (%x)
  py.return
}

// -----

// py.deque, C1.
py.func unit @f() {
  // expected-error @below {{C1: has a negative maximum length}}
  %0 = py.deque () max -1
  py.return
}

// -----

// py.fill, C1: not made here; made with items.
py.func unit @f(%x: !py.object) {
  // expected-error @below {{C1: fills what was not made empty in the segment}}
  py.fill %x (%x)
  py.return
}

// -----

py.func unit @f(%x: !py.object) {
  %l = py.list (%x)
  // expected-error @below {{C1: fills what was not made empty in the segment}}
  py.fill %l (%x)
  py.return
}

// -----

// py.fill, C2.
py.func unit @f(%x: !py.object) {
  %l = py.dict ()
  // expected-error @below {{C2: has 3 items for a dict}}
  py.fill %l (%x, %x, %x)
  py.return
}

// -----

py.func unit @f(%x: !py.object) {
  %l = py.make_cell ()
  // expected-error @below {{C2: has 2 items for a cell}}
  py.fill %l (%x, %x)
  py.return
}

// -----

// py.init_attr and py.init_slot, C1.
py.func unit @f(%x: !py.object) {
  // expected-error @below {{C1: the object was not made in the segment}}
  py.init_attr %x "a" = %x
  py.return
}

// -----

py.func unit @f(%x: !py.object) {
  // expected-error @below {{C1: the object was not made in the segment}}
  py.init_slot %x by #py.ref<0> = %x
  py.return
}

// -----

// py.mutate, C1.
py.func unit @f(%x: !py.object) {
  // expected-error @below {{C1: names no method}}
  py.mutate "" %x ()
  py.return
}

// -----

// py.func: kinds.
// expected-error @below {{unknown kind of function 'frame', accepted are segment, unit, guard and exit}}
py.func frame @f() { py.return }

// -----

// py.func, C1.
// expected-error @below {{C1: is not one block that ends with py.return or py.exit}}
py.func unit @f() {
  %0 = py.list ()
}

// -----

// expected-error @below {{C1: is not one block that ends with py.return or py.exit}}
py.func unit @f() {
  py.return
^bb1:
  py.return
}

// -----

// py.func, C2.
// expected-error @below {{C2: a segment takes no arguments, its sources reach the frame}}
py.func segment @f(%x: !py.object) -> !py.object { py.return %x : !py.object }

// -----

// expected-error @below {{C2: a segment has one object as its result}}
py.func segment @f() { py.return }

// -----

// py.func, C3.
// expected-error @below {{C3: a guard function takes no arguments, its sources reach the frame}}
py.func guard @f(%x: !py.object) attributes {inputs = 0} { py.return }

// -----

// expected-error @below {{C3: 'inputs' is the number of results}}
py.func guard @f() { py.return }

// -----

// expected-error @below {{C3: 'inputs' is the number of results}}
py.func guard @f() attributes {inputs = 1} { py.return }

// -----

// expected-error @below {{C3: 'inputs' is the number of results}}
py.func unit @f() attributes {inputs = 0} { py.return }

// -----

// py.func, C4.
// expected-error @below {{C4: py.exit stands in segments and exit functions}}
py.func unit @f() { py.exit 0 locals [] stack () }

// -----

// expected-error @below {{C4: returns values of other types than its results}}
py.func unit @f(%x: !py.object) -> i64 { py.return %x : !py.object }

// -----

// py.func, C5.
// expected-error @below {{C5: only segments and guard functions reach the frame}}
py.func unit @f() {
  // expected-note @below {{here}}
  %0 = py.global "x"
  py.return
}

// -----

// py.invoke, C1.
py.func exit @g() { py.return }
py.func unit @f() {
  // expected-error @below {{C1: @g is not a unit}}
  py.invoke @g() : () -> ()
  py.return
}

// -----

py.func unit @g(%x: !py.object) { py.return }
py.func unit @f() {
  // expected-error @below {{C1: has other types than @g: '(!py.object) -> ()'}}
  py.invoke @g() : () -> ()
  py.return
}

// -----

// py.exit, C1.
py.func exit @f() {
  // expected-error @below {{C1: goes on at unit -1, 0 or more is accepted}}
  py.exit -1 locals [] stack ()
}

// -----

// py.exit, C2.
py.func exit @f(%x: !py.object) {
  // expected-error @below {{C2: has 1 objects for 2 bound locals}}
  "py.exit"(%x) {next = 0, bound = array<i1: true, true>, operandSegmentSizes = array<i32: 1, 0>} : (!py.object) -> ()
}

// -----

// py.side_exit, C2.
py.func exit @f(%x: !py.object, %c: i1) {
  // expected-error @below {{C2: has 1 objects for 0 bound locals}}
  "py.side_exit"(%c, %x) {next = 0, bound = array<i1: false>, operandSegmentSizes = array<i32: 1, 1, 0>} : (i1, !py.object) -> ()
  py.return
}
