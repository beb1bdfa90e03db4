// RUN: dynamo-opt %s -py-functionalize -cse -split-input-file | FileCheck %s

// Operators become aten on values, with numbers, lists and defaults where the
// operation wants them; the result is a new tensor.
// CHECK-LABEL: @pure
py.func segment @pure() -> !py.object {
  // CHECK: %[[X:.*]] = py.unwrap %{{.*}} : tensor<4x8xf32>
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i64
  // CHECK: %[[A:.*]] = aten.add %[[X]], %[[X]], %[[ONE]]
  // CHECK-SAME: aten.overload = "aten::add.Tensor"
  // CHECK-SAME: aten.schema = ["other", "self"]
  // CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f64
  // CHECK: %[[C:.*]] = aten.clamp %[[A]], %[[HALF]]
  // CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 0>
  // CHECK: %[[S:.*]] = aten.sum %[[C]]
  // CHECK-SAME: dim = array<i64: 1>, keepdim = true
  // CHECK: %[[O:.*]] = py.wrap %[[S]] : tensor<4x1xf32> as !py.tensor<4x1xf32>
  // CHECK-NEXT: py.return %[[O]]
  %x = py.arg 0
  %t = py.unwrap %x : !py.tensor<4x8xf32>
  %a = py.torch_call "aten::add.Tensor"(%t, %t) {self = #aten.operand<0>, other = #aten.operand<1>} : (!py.tensor<4x8xf32>, !py.tensor<4x8xf32>) -> !py.tensor<4x8xf32>
  %c = py.torch_call "aten::clamp"(%a) {self = #aten.operand<0>, min = 0.5 : f64, max = unit} : (!py.tensor<4x8xf32>) -> !py.tensor<4x8xf32>
  %s = py.torch_call "aten::sum.dim_IntList"(%c) {self = #aten.operand<0>, dim = [1], keepdim = true} : (!py.tensor<4x8xf32>) -> !py.tensor<4x1xf32>
  %o = py.wrap %s : !py.tensor<4x1xf32>
  py.return %o : !py.object
}

// -----

// A write into an input: later reads see it, it is copied back before other
// effects, and the input that is returned is itself.
// CHECK-LABEL: @in_place
py.func segment @in_place() -> !py.object {
  // CHECK: %[[OBJ:.*]] = py.arg 0
  // CHECK: %[[X:.*]] = py.unwrap %[[OBJ]] : tensor<4xf32>
  // CHECK: %[[A:.*]] = aten.mul %[[X]], %{{.*}} {aten.overload = "aten::mul.Scalar"
  // CHECK: %[[B:.*]] = aten.exp %[[A]]
  // CHECK: %[[O:.*]] = py.wrap %[[B]]
  // CHECK: py.copy_tensor %[[OBJ]], %[[A]] : tensor<4xf32>
  // CHECK-NEXT: py.set_attr %[[OBJ]] "y" = %[[O]]
  // CHECK-NEXT: py.return %[[OBJ]]
  %x = py.arg 0
  %t = py.unwrap %x : !py.tensor<4xf32>
  py.torch_call "aten::mul_.Scalar"(%t) {self = #aten.operand<0>, other = 2} writes [0] : (!py.tensor<4xf32>) -> ()
  %b = py.torch_call "aten::exp"(%t) {self = #aten.operand<0>} : (!py.tensor<4xf32>) -> !py.tensor<4xf32>
  %o = py.wrap %b : !py.tensor<4xf32>
  py.set_attr %x "y" = %o
  %r = py.wrap %t : !py.tensor<4xf32>
  py.return %r : !py.object
}

// -----

// A write through a view of a view: the whole is made anew, another view of it
// sees the write, and one that was read before keeps its value.
// CHECK-LABEL: @through_views
py.func segment @through_views() -> !py.object {
  // CHECK: %[[Z:.*]] = aten.zeros
  // CHECK: %[[BEFORE:.*]] = aten.select %[[Z]]
  // CHECK: %[[E:.*]] = aten.exp %[[BEFORE]]
  // CHECK: %[[T:.*]] = aten.t %[[Z]]
  // CHECK: %[[COL:.*]] = aten.select %[[T]]
  // CHECK: %[[F:.*]] = aten.fill %[[COL]]
  // CHECK: %[[T2:.*]] = aten.select_scatter %[[T]], %[[F]] {dim = 0 : i64, index = 2 : i64}
  // CHECK: %[[Z2:.*]] = aten.t %[[T2]]
  // CHECK: %[[AFTER:.*]] = aten.select %[[Z2]]
  // CHECK: aten.add %[[E]], %[[AFTER]]
  %z = py.torch_call "aten::zeros"() {size = [4, 8]} : () -> !py.tensor<4x8xf32>
  %row = py.torch_call "aten::select.int"(%z) {self = #aten.operand<0>, dim = 0, index = 0} views [0] : (!py.tensor<4x8xf32>) -> !py.tensor<8xf32>
  %e = py.torch_call "aten::exp"(%row) {self = #aten.operand<0>} : (!py.tensor<8xf32>) -> !py.tensor<8xf32>
  %t = py.torch_call "aten::t"(%z) {self = #aten.operand<0>} views [0] : (!py.tensor<4x8xf32>) -> !py.tensor<8x4xf32, [1, 8]>
  %col = py.torch_call "aten::select.int"(%t) {self = #aten.operand<0>, dim = 0, index = 2} views [0] : (!py.tensor<8x4xf32, [1, 8]>) -> !py.tensor<4xf32, [8]>
  py.torch_call "aten::fill_.Scalar"(%col) {self = #aten.operand<0>, value = 1.0 : f64} writes [0] : (!py.tensor<4xf32, [8]>) -> ()
  %a = py.torch_call "aten::add.Tensor"(%e, %row) {self = #aten.operand<0>, other = #aten.operand<1>} : (!py.tensor<8xf32>, !py.tensor<8xf32>) -> !py.tensor<8xf32>
  %o = py.wrap %a : !py.tensor<8xf32>
  py.return %o : !py.object
}

// -----

// Slices, pieces and reshapes have inverses.
// CHECK-LABEL: @inverses
py.func segment @inverses() -> !py.object {
  // CHECK: aten.slice_scatter %{{.*}}, %{{.*}} {dim = 1 : i64, end = 6 : i64, start = 2 : i64, step = 2 : i64}
  // CHECK: aten.slice_scatter %{{.*}}, %{{.*}} {end = 4 : i64, start = 3 : i64}
  // CHECK: aten.view %{{.*}} {size = array<i64: 4, 8>}
  // CHECK: aten.permute %{{.*}} {dims = array<i64: 1, 0>}
  %z = py.torch_call "aten::zeros"() {size = [4, 8]} : () -> !py.tensor<4x8xf32>
  %s = py.torch_call "aten::slice.Tensor"(%z) {self = #aten.operand<0>, dim = 1, start = 2, end = 6, step = 2} views [0] : (!py.tensor<4x8xf32>) -> !py.tensor<4x2xf32, [8, 2]>
  py.torch_call "aten::zero_"(%s) {self = #aten.operand<0>} writes [0] : (!py.tensor<4x2xf32, [8, 2]>) -> ()
  %p:2 = py.torch_call "aten::split.Tensor"(%z) {self = #aten.operand<0>, split_size = 3, dim = 0} views [0, 0] : (!py.tensor<4x8xf32>) -> (!py.tensor<3x8xf32>, !py.tensor<1x8xf32>)
  py.torch_call "aten::exp_"(%p#1) {self = #aten.operand<0>} writes [0] : (!py.tensor<1x8xf32>) -> ()
  %v = py.torch_call "aten::view"(%z) {self = #aten.operand<0>, size = [32]} views [0] : (!py.tensor<4x8xf32>) -> !py.tensor<32xf32>
  py.torch_call "aten::exp_"(%v) {self = #aten.operand<0>} writes [0] : (!py.tensor<32xf32>) -> ()
  %q = py.torch_call "aten::permute"(%z) {self = #aten.operand<0>, dims = [-1, 0]} views [0] : (!py.tensor<4x8xf32>) -> !py.tensor<8x4xf32, [1, 8]>
  py.torch_call "aten::exp_"(%q) {self = #aten.operand<0>} writes [0] : (!py.tensor<8x4xf32, [1, 8]>) -> ()
  %o = py.wrap %z : !py.tensor<4x8xf32>
  py.return %o : !py.object
}

// -----

// Views that leave stay views: of an input, and of a tensor made here.
// CHECK-LABEL: @output_views
py.func segment @output_views() -> !py.object {
  // CHECK: %[[OBJ:.*]] = py.arg 0
  // CHECK: %[[E:.*]] = aten.exp
  // CHECK: %[[REF:.*]] = py.unwrap %[[OBJ]] : !py.tensor<4x8xf32>
  // CHECK: %[[T:.*]] = py.torch_call "aten::t"(%[[REF]])
  // CHECK: %[[O1:.*]] = py.wrap %[[T]] : !py.tensor<8x4xf32, [1, 8]>
  // CHECK: %[[BASE:.*]] = py.wrap %[[E]] : tensor<4x8xf32> as !py.tensor<4x8xf32>
  // CHECK: %[[REF2:.*]] = py.unwrap %[[BASE]] : !py.tensor<4x8xf32>
  // CHECK: %[[S:.*]] = py.torch_call "aten::select.int"(%[[REF2]])
  // CHECK: %[[O2:.*]] = py.wrap %[[S]]
  // CHECK: %[[R:.*]] = py.tuple(%[[O1]], %[[O2]], %[[BASE]])
  // CHECK-NEXT: py.return %[[R]]
  %x = py.arg 0
  %t = py.unwrap %x : !py.tensor<4x8xf32>
  %v = py.torch_call "aten::t"(%t) {self = #aten.operand<0>} views [0] : (!py.tensor<4x8xf32>) -> !py.tensor<8x4xf32, [1, 8]>
  %o1 = py.wrap %v : !py.tensor<8x4xf32, [1, 8]>
  %e = py.torch_call "aten::exp"(%t) {self = #aten.operand<0>} : (!py.tensor<4x8xf32>) -> !py.tensor<4x8xf32>
  %s = py.torch_call "aten::select.int"(%e) {self = #aten.operand<0>, dim = 0, index = 1} views [0] : (!py.tensor<4x8xf32>) -> !py.tensor<8xf32>
  %o2 = py.wrap %s : !py.tensor<8xf32>
  %o3 = py.wrap %e : !py.tensor<4x8xf32>
  %r = py.tuple (%o1, %o2, %o3)
  py.return %r : !py.object
}

// -----

// Permuted but dense: in and out in the order of memory, also when written back.
// CHECK-LABEL: @layouts
py.func segment @layouts() -> !py.object {
  // CHECK: %[[P:.*]] = py.unwrap %[[OBJ:.*]] : tensor<8x4xf32>
  // CHECK: %[[X:.*]] = aten.permute %[[P]] {dims = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  // CHECK: %[[E:.*]] = aten.exp %[[X]]
  // CHECK: %[[S:.*]] = aten.sigmoid %[[E]]
  // CHECK: %[[BACK:.*]] = aten.permute %[[E]] {dims = array<i64: 1, 0>}
  // CHECK: %[[Q:.*]] = aten.permute %[[S]]
  // CHECK: py.wrap %[[Q]] : tensor<8x4xf32> as !py.tensor<4x8xf32, [1, 4]>
  // CHECK: py.copy_tensor %[[OBJ]], %[[BACK]] : tensor<8x4xf32>
  %x = py.arg 0
  %t = py.unwrap %x : !py.tensor<4x8xf32, [1, 4]>
  py.torch_call "aten::exp_"(%t) {self = #aten.operand<0>} writes [0] : (!py.tensor<4x8xf32, [1, 4]>) -> ()
  %s = py.torch_call "aten::sigmoid"(%t) {self = #aten.operand<0>} : (!py.tensor<4x8xf32, [1, 4]>) -> !py.tensor<4x8xf32, [1, 4]>
  %o = py.wrap %s : !py.tensor<4x8xf32, [1, 4]>
  py.return %o : !py.object
}

// -----

// With the guard, two inputs may be there when one is written; an operator that
// aten doesn't have is an extern.
// CHECK-LABEL: @guarded
py.func segment @guarded() -> !py.object {
  // CHECK: %[[B:.*]] = aten.extern "aten::bernoulli"(%[[A:.*]]) {kwargs = {self = #aten.operand<0>}} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: py.copy_tensor
  %x = py.arg 0
  %y = py.arg 1
  py.guard.no_alias %y, %x
  %t = py.unwrap %x : !py.tensor<4xf32>
  %u = py.unwrap %y : !py.tensor<4xf32>
  %b = py.torch_call "aten::bernoulli"(%t) {self = #aten.operand<0>} : (!py.tensor<4xf32>) -> !py.tensor<4xf32>
  py.torch_call "aten::add_.Tensor"(%u, %b) {self = #aten.operand<0>, other = #aten.operand<1>} writes [0] : (!py.tensor<4xf32>, !py.tensor<4xf32>) -> ()
  %o = py.wrap %u : !py.tensor<4xf32>
  py.return %o : !py.object
}

// -----

// Batch norm returns the new statistics behind its results; they are written
// into the buffers.
// CHECK-LABEL: @batch_norm
py.func segment @batch_norm() -> !py.object {
  // CHECK: %[[R:.*]], %{{.*}}, %{{.*}}, %[[MEAN:.*]], %[[VAR:.*]] = aten.native_batch_norm_legit_functional
  // CHECK: py.wrap %[[R]]
  // CHECK: py.copy_tensor %{{.*}}, %[[MEAN]] : tensor<3xf32>
  // CHECK: py.copy_tensor %{{.*}}, %[[VAR]] : tensor<3xf32>
  %x = py.arg 0
  %mean = py.arg 1
  %var = py.arg 2
  py.guard.no_alias %x, %mean
  py.guard.no_alias %x, %var
  py.guard.no_alias %mean, %var
  %xt = py.unwrap %x : !py.tensor<2x3x4xf32>
  %mt = py.unwrap %mean : !py.tensor<3xf32>
  %vt = py.unwrap %var : !py.tensor<3xf32>
  %r:3 = py.torch_call "aten::native_batch_norm"(%xt, %mt, %vt) {input = #aten.operand<0>, weight = unit, bias = unit, running_mean = #aten.operand<1>, running_var = #aten.operand<2>, training = true, momentum = 0.1 : f64, eps = 1.0e-5 : f64} writes [1, 2]
      : (!py.tensor<2x3x4xf32>, !py.tensor<3xf32>, !py.tensor<3xf32>) -> (!py.tensor<2x3x4xf32>, !py.tensor<3xf32>, !py.tensor<3xf32>)
  %o = py.wrap %r#0 : !py.tensor<2x3x4xf32>
  py.return %o : !py.object
}

// -----

// What the operation has no word for, and masks, are left to the operator; what
// the result type says, and None, is not asked.
// CHECK-LABEL: @words
py.func segment @words() -> !py.object {
  // CHECK: aten.zeros {
  // CHECK-NOT: extern
  // CHECK: aten.sum
  // CHECK: aten.extern "aten::sum"(%{{.*}}) {kwargs = {dtype = "torch.float32", odd = 3 : i64, self = #aten.operand<0>}}
  // CHECK: aten.extern "aten::index.Tensor"
  %z = py.torch_call "aten::zeros"() {size = [4], dtype = "torch.float32", device = "cpu", pin_memory = false} : () -> !py.tensor<4xf32>
  %s = py.torch_call "aten::sum"(%z) {self = #aten.operand<0>, dtype = unit} : (!py.tensor<4xf32>) -> !py.tensor<f32>
  %t = py.torch_call "aten::sum"(%z) {self = #aten.operand<0>, dtype = "torch.float32", odd = 3} : (!py.tensor<4xf32>) -> !py.tensor<f32>
  %m = py.torch_call "aten::gt.Scalar"(%z) {self = #aten.operand<0>, other = 0} : (!py.tensor<4xf32>) -> !py.tensor<4xi1>
  %i = py.torch_call "aten::index.Tensor"(%z, %m) {self = #aten.operand<0>, indices = [#aten.operand<1>]} : (!py.tensor<4xf32>, !py.tensor<4xi1>) -> !py.tensor<0xf32>
  %so = py.wrap %s : !py.tensor<f32>
  %to = py.wrap %t : !py.tensor<f32>
  %io = py.wrap %i : !py.tensor<0xf32>
  %o = py.tuple (%so, %to, %io)
  py.return %o : !py.object
}
