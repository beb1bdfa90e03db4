// RUN: not dynamo-run %s 2>&1 | FileCheck %s

// Operators that are not compiled need PyTorch: said, not crashed, at the run.
// CHECK: dynamo-run: the program calls 'aten::cumsum', which needs PyTorch: run it through the Python package
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = aten.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aten.extern "aten::cumsum"(%0) {args = [#aten.operand<0>, 0 : i64], kwargs = {}} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
