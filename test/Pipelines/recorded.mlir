// RUN: dynamo-opt %s --compile-from=recorded | FileCheck %s --check-prefix=P0
// RUN: dynamo-opt %s --compile-to=aten | FileCheck %s --check-prefix=P1
// RUN: dynamo-opt %s --compile-to=linalg | FileCheck %s --check-prefix=P2
// RUN: dynamo-opt %s --compile-from=recorded --compile-to=llvm | FileCheck %s --check-prefix=P5

// A recorded segment goes through all phases: its tensor function to kernels,
// its guard and exit functions as they are.

// P0: py.func segment @forward

// P1: py.func guard @forward.guard() -> (!py.object, !py.object)
// P1: py.func exit @forward.exit(
// P1: func.func @main(%{{.*}}: tensor<8x4xf32>, %{{.*}}: tensor<4x8xf32>)
// P1: aten.mul

// P2: py.func guard @forward.guard
// P2: linalg.generic

// P5: py.func guard @forward.guard
// P5: py.guard.tensor
// P5: py.func exit @forward.exit
// P5: py.copy_tensor
// P5: rt.launch
// P5: llvm.func

py.func segment @forward() -> !py.object {
  %self = py.arg 0 "self"
  py.guard.is %self is #py.ref<0, "Model">
  %x = py.arg 1 "x"
  py.guard.tensor %x like #py.spec<!py.tensor<4x8xf32, [1, 4]>, python_type = <1, "torch.Tensor">>
  %w = py.attr %self "weight"
  py.guard.tensor %w like #py.spec<!py.tensor<4x8xf32>, python_type = <2, "torch.nn.Parameter">, requires_grad = true>
  py.guard.no_alias %x, %w
  %xt = py.unwrap %x : !py.tensor<4x8xf32, [1, 4]>
  %wt = py.unwrap %w : !py.tensor<4x8xf32>
  %r = py.invoke @scale(%xt, %wt) : (!py.tensor<4x8xf32, [1, 4]>, !py.tensor<4x8xf32>) -> !py.tensor<4x8xf32>
  py.torch_call "aten::add_.Tensor"(%xt, %r) {self = #aten.operand<0>, other = #aten.operand<1>} writes [0] : (!py.tensor<4x8xf32, [1, 4]>, !py.tensor<4x8xf32>) -> ()
  %o = py.wrap %r : !py.tensor<4x8xf32>
  py.return %o : !py.object
}

py.func unit @scale(%x: !py.tensor<4x8xf32, [1, 4]>, %w: !py.tensor<4x8xf32>) -> !py.tensor<4x8xf32> {
  %r = py.torch_call "aten::mul.Tensor"(%x, %w) {self = #aten.operand<0>, other = #aten.operand<1>} : (!py.tensor<4x8xf32, [1, 4]>, !py.tensor<4x8xf32>) -> !py.tensor<4x8xf32>
  py.return %r : !py.tensor<4x8xf32>
}
