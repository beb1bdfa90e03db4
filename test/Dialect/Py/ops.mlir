// RUN: dynamo-opt %s | dynamo-opt | FileCheck %s
// RUN: dynamo-opt %s --mlir-print-op-generic | dynamo-opt | FileCheck %s

// Roots and steps.
// CHECK-LABEL: py.func segment @sources() -> !py.object attributes {code = "Model.forward", start = 4 : i64}
py.func segment @sources() -> !py.object attributes {code = "Model.forward", start = 4 : i64} {
  // CHECK: %[[X:.*]] = py.arg 0 "self"
  %x = py.arg 0 "self"
  // CHECK: py.arg 3{{$}}
  %x3 = py.arg 3
  // CHECK: py.stack 2
  %s = py.stack 2
  // CHECK: %[[F:.*]] = py.function
  %f = py.function
  // CHECK: py.const #py.ref<3, "relu", fixed>
  %c = py.const #py.ref<3, "relu", fixed>
  // CHECK: py.const 12 : i64
  %n = py.const 12 : i64
  // CHECK: py.const true
  %t = py.const true
  // CHECK: py.const unit
  %none = py.const unit
  // CHECK: py.const [1, "a", 2.5
  %tuple = py.const [1, "a", 2.5, #py.ref<1>]
  // CHECK: py.global "model"
  %g = py.global "model"
  // CHECK: py.free 0 "scale"
  %fr = py.free 0 "scale"
  // CHECK: py.attr %[[X]] "weight"
  %w = py.attr %x "weight"
  // CHECK: %[[D:.*]] = py.instance_dict %[[X]]
  %d = py.instance_dict %x
  // CHECK: py.dict_item %[[D]]["weight"]
  %i = py.dict_item %d["weight"]
  // CHECK: py.dict_item %[[D]][#py.ref<5>]
  %i5 = py.dict_item %d[#py.ref<5>]
  // CHECK: py.item %[[X]][1]
  %it = py.item %x[1]
  // CHECK: py.deque_item %[[X]][1]
  %di = py.deque_item %x[1]
  // CHECK: py.slot %[[X]] by #py.ref<4, "Point.x">
  %sl = py.slot %x by #py.ref<4, "Point.x">
  // CHECK: py.cell
  %ce = py.cell %fr
  // CHECK: py.closure %[[F]][0]
  %cl = py.closure %f[0]
  // CHECK: py.type_of
  %ty = py.type_of %x
  // CHECK: py.code %[[F]]
  %co = py.code %f
  // CHECK: py.defaults %[[F]]
  %de = py.defaults %f
  // CHECK: py.kw_defaults %[[F]]
  %kw = py.kw_defaults %f
  // CHECK: py.method_self %[[X]]
  %ms = py.method_self %x
  // CHECK: py.method_func %[[X]]
  %mf = py.method_func %x
  // CHECK: py.getter %[[X]] "grad"
  %ge = py.getter %x "grad"
  py.return %x : !py.object
}

// Every guard.
// CHECK-LABEL: py.func guard @guards() -> (!py.object, !py.object) attributes {inputs = 1 : i64}
py.func guard @guards() -> (!py.object, !py.object) attributes {inputs = 1 : i64} {
  // CHECK: py.guard.state #py.ref<7, "grad mode">
  py.guard.state #py.ref<7, "grad mode">
  %x = py.arg 0 "x"
  %y = py.arg 1 "y"
  // CHECK: py.guard.type %{{.*}} is #py.ref<1, "Linear"> version 4711 {line = "m.py:3"}
  py.guard.type %x is #py.ref<1, "Linear"> version 4711 {line = "m.py:3"}
  // CHECK: py.guard.type %{{.*}} is #py.ref<1, "Linear">{{$}}
  py.guard.type %y is #py.ref<1, "Linear">
  // CHECK: py.guard.is
  py.guard.is %x is #py.ref<2, "relu">
  // CHECK: py.guard.equal %{{.*}}, 12 : i64
  py.guard.equal %x, 12 : i64
  // CHECK: py.guard.equal %{{.*}}, unit
  py.guard.equal %x, unit
  // CHECK: py.guard.present
  py.guard.present %x
  %b = py.attr %x "bias"
  // CHECK: py.guard.absent
  py.guard.absent %b
  // CHECK: py.guard.length %{{.*}} is 3
  py.guard.length %x is 3
  // CHECK: py.guard.keys %{{.*}} are ["weight", 1]
  py.guard.keys %x are ["weight", 1]
  // CHECK: py.guard.tensor %{{.*}} like #py.spec<!py.tensor<4x8xf32>, python_type = <0, "torch.Tensor">, device = "cuda:0", offset = 3, keys = 18446744073709551615, requires_grad = true, leaf = false>
  py.guard.tensor %x like #py.spec<!py.tensor<4x8xf32>, python_type = <0, "torch.Tensor">, device = "cuda:0", offset = 3, keys = 18446744073709551615, requires_grad = true, leaf = false>
  // CHECK: py.guard.tensor %{{.*}} like #py.spec<!py.tensor<f64>, python_type = <0>>
  py.guard.tensor %x like #py.spec<!py.tensor<f64>, python_type = <0>>
  // CHECK: py.guard.function %{{.*}} like #py.ref<6, "forward">
  py.guard.function %x like #py.ref<6, "forward">
  // CHECK: py.guard.same
  py.guard.same %x, %y
  // CHECK: py.guard.distinct
  py.guard.distinct %x, %y
  // CHECK: py.guard.no_alias
  py.guard.no_alias %x, %y
  %n = py.unbox %x : i64
  %zero = arith.constant 0 : i64
  %p = arith.cmpi sgt, %n, %zero : i64
  // CHECK: py.guard.true
  py.guard.true %p
  // CHECK: %[[R:.*]]:2 = py.guard.dict_version %[[D:.*]] {
  // CHECK-NEXT: %[[A:.*]] = py.dict_item %[[D]]["a"]
  // CHECK: py.yield %[[A]], %{{.*}}
  // CHECK-NEXT: } : !py.object, !py.object
  %r:2 = py.guard.dict_version %y {
    %0 = py.dict_item %y["a"]
    %1 = py.dict_item %y["b"]
    py.guard.equal %1, unit
    py.guard.keys %y are ["a", "b"]
    py.yield %0, %1
  } : !py.object, !py.object
  // CHECK: py.guard.dict_version
  py.guard.dict_version %y {
    py.guard.length %y is 2
  }
  py.return %x, %y : !py.object, !py.object
}

// Tensors, numbers, containers.
// CHECK-LABEL: py.func unit private @values(
py.func unit private @values(%x: !py.object, %v: tensor<8x4xf32>) -> (!py.object, i64) {
  // CHECK: py.unwrap %{{.*}} : !py.tensor<4x8xf32, [1, 4]>
  %t = py.unwrap %x : !py.tensor<4x8xf32, [1, 4]>
  // CHECK: py.unwrap %{{.*}} : tensor<8x4xf32>
  %u = py.unwrap %x : tensor<8x4xf32>
  // CHECK: py.torch_call "aten::t"(%{{.*}}) {self = #aten.operand<0>} views [0] : (!py.tensor<4x8xf32, [1, 4]>) -> !py.tensor<8x4xf32>
  %tt = py.torch_call "aten::t"(%t) {self = #aten.operand<0>} views [0] : (!py.tensor<4x8xf32, [1, 4]>) -> !py.tensor<8x4xf32>
  // CHECK: py.torch_call "aten::mul_.Scalar"(%{{.*}}) {other = 2 : i64, self = #aten.operand<0>} writes [0]
  py.torch_call "aten::mul_.Scalar"(%tt) {other = 2, self = #aten.operand<0>} writes [0] : (!py.tensor<8x4xf32>) -> ()
  // CHECK: py.wrap %{{.*}} : !py.tensor<8x4xf32>{{$}}
  %o = py.wrap %tt : !py.tensor<8x4xf32>
  // CHECK: py.wrap %{{.*}} : tensor<8x4xf32> as !py.tensor<4x8xf32, [1, 4]>
  %p = py.wrap %v : tensor<8x4xf32> as !py.tensor<4x8xf32, [1, 4]>
  // CHECK: %[[N:.*]] = py.unbox %{{.*}} : i64
  %n = py.unbox %x : i64
  // CHECK: py.box %[[N]] : i64
  %b = py.box %n : i64
  // CHECK: py.tuple(%{{.*}}, %{{.*}}) as #py.ref<3, "Point">
  %tuple = py.tuple (%o, %p) as #py.ref<3, "Point">
  // CHECK: %[[L:.*]] = py.list()
  %list = py.list ()
  // CHECK: py.fill %[[L]](%[[L]], %{{.*}})
  py.fill %list (%list, %b)
  // CHECK: py.set(%{{.*}})
  %set = py.set (%b)
  // CHECK: py.dict(%{{.*}}, %{{.*}})
  %dict = py.dict (%b, %o)
  // CHECK: py.deque(%{{.*}}) max 5
  %deque = py.deque (%o) max 5
  // CHECK: %[[O:.*]] = py.object #py.ref<9, "Output">
  %obj = py.object #py.ref<9, "Output">
  // CHECK: py.init_attr %[[O]] "logits" = %{{.*}}
  py.init_attr %obj "logits" = %o
  // CHECK: py.init_slot %[[O]] by #py.ref<10, "Output.s"> = %{{.*}}
  py.init_slot %obj by #py.ref<10, "Output.s"> = %o
  // CHECK: py.make_cell()
  %e = py.make_cell ()
  // CHECK: %[[C:.*]] = py.make_cell(%{{.*}})
  %c = py.make_cell (%o)
  // CHECK: %[[F:.*]] = py.make_function #py.ref<8, "inner"> closure(%[[C]], %{{.*}})
  %f = py.make_function #py.ref<8, "inner"> closure (%c, %e)
  // CHECK: py.bound_method %[[F]] of %[[O]]
  %m = py.bound_method %f of %obj
  // CHECK: py.slice(%{{.*}}, %{{.*}}, %{{.*}})
  %s = py.slice (%x, %b, %x)
  py.return %obj, %n : !py.object, i64
}

// Effects, calls, exits.
// CHECK-LABEL: py.func exit @effects(
py.func exit @effects(%x: !py.object, %v: tensor<8x4xf32>, %c: i1) -> !py.object {
  // CHECK: py.set_attr %{{.*}} "count" = %{{.*}}
  py.set_attr %x "count" = %x
  // CHECK: py.del_attr %{{.*}} "count"
  py.del_attr %x "count"
  // CHECK: py.set_item %{{.*}}[%{{.*}}] = %{{.*}}
  py.set_item %x[%x] = %x
  // CHECK: py.del_item %{{.*}}[%{{.*}}]
  py.del_item %x[%x]
  // CHECK: py.set_cell %{{.*}} = %{{.*}}
  py.set_cell %x = %x
  // CHECK: py.set_cell %{{[^=]*$}}
  py.set_cell %x
  // CHECK: py.mutate "append" %{{.*}}(%{{.*}})
  py.mutate "append" %x (%x)
  // CHECK: py.copy_tensor %{{.*}}, %{{.*}} : tensor<8x4xf32>
  py.copy_tensor %x, %v : tensor<8x4xf32>
  // CHECK: py.grad_mode false
  py.grad_mode false
  // CHECK: %[[R:.*]]:2 = py.invoke @values(%{{.*}}, %{{.*}}) : (!py.object, tensor<8x4xf32>) -> (!py.object, i64)
  %r:2 = py.invoke @values(%x, %v) : (!py.object, tensor<8x4xf32>) -> (!py.object, i64)
  // CHECK: py.side_exit %{{.*}} to 12 locals [] stack(%[[R]]#0)
  py.side_exit %c to 12 locals [] stack (%r#0)
  // CHECK: py.exit 24 locals [%{{.*}}, unbound, %[[R]]#0] stack(%{{.*}}, %{{.*}})
  py.exit 24 locals [%x, unbound, %r#0] stack (%x, %x)
}
