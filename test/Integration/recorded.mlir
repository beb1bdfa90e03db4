// A recorded segment as text, run: first what the program computes, then what
// it has written into an input, each in the order of memory.
// RUN: dynamo-run %s --input 2 --input 3 | FileCheck %s
// CHECK: result 0: 2x3xf32 [6, 6, 6, 6, 6, 6]
// CHECK: result 1: 3x2xf32 [8, 8, 8, 1, 8, 1]

py.func segment @forward() -> !py.object {
  %x = py.arg 0 "x"
  py.guard.tensor %x like #py.spec<!py.tensor<2x3xf32, [1, 2]>, python_type = <0, "torch.Tensor">>
  %w = py.arg 1 "w"
  py.guard.tensor %w like #py.spec<!py.tensor<2x3xf32>, python_type = <0, "torch.Tensor">>
  py.guard.no_alias %x, %w
  %xt = py.unwrap %x : !py.tensor<2x3xf32, [1, 2]>
  %wt = py.unwrap %w : !py.tensor<2x3xf32>
  %y = py.torch_call "aten::mul.Tensor"(%xt, %wt) {self = #aten.operand<0>, other = #aten.operand<1>} : (!py.tensor<2x3xf32, [1, 2]>, !py.tensor<2x3xf32>) -> !py.tensor<2x3xf32>
  py.torch_call "aten::add_.Tensor"(%xt, %y) {self = #aten.operand<0>, other = #aten.operand<1>} writes [0] : (!py.tensor<2x3xf32, [1, 2]>, !py.tensor<2x3xf32>) -> ()
  // x[1, 1:] = 1; in memory [1, 1] and [1, 2] are the elements 3 and 5.
  %row = py.torch_call "aten::select.int"(%xt) {self = #aten.operand<0>, dim = 0, index = 1} views [0] : (!py.tensor<2x3xf32, [1, 2]>) -> !py.tensor<3xf32, [2]>
  %end = py.torch_call "aten::slice.Tensor"(%row) {self = #aten.operand<0>, dim = 0, start = 1} views [0] : (!py.tensor<3xf32, [2]>) -> !py.tensor<2xf32, [2]>
  py.torch_call "aten::fill_.Scalar"(%end) {self = #aten.operand<0>, value = 1} writes [0] : (!py.tensor<2xf32, [2]>) -> ()
  %o = py.wrap %y : !py.tensor<2x3xf32>
  py.return %o : !py.object
}
