// RUN: dynamo-run %s --input 2 --input -3 | FileCheck %s
// RUN: dynamo-run %s --input 2 --input -3 --loops-only | FileCheck %s
// RUN: dynamo-run %s --input 2 --input -3 --target generic | FileCheck %s

// (a + b) * a and relu of it, broadcast over rows: (2 - 3) * 2 = -2.
// CHECK: result 0: 3x5xf32 [-2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2, -2]
// CHECK: result 1: 3x5xf32 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
func.func @main(%a: tensor<3x5xf32>, %b: tensor<5xf32>)
    -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %one = arith.constant 1 : i64
  %0 = aten.add %a, %b, %one : (tensor<3x5xf32>, tensor<5xf32>, i64) -> tensor<3x5xf32>
  %1 = aten.mul %0, %a : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = aten.relu %1 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %1, %2 : tensor<3x5xf32>, tensor<3x5xf32>
}
