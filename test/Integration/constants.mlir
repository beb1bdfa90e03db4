// RUN: dynamo-run %s | FileCheck %s

// A program without inputs: a returned constant, and one that is computed.
// CHECK: result 0: 2x2xf32 [1, 2, 3, 4]
// CHECK: result 1: 2x2xf32 [2, 4, 6, 8]
func.func @main() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %one = arith.constant 1 : i64
  %c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = aten.add %c, %c, %one : (tensor<2x2xf32>, tensor<2x2xf32>, i64) -> tensor<2x2xf32>
  return %c, %0 : tensor<2x2xf32>, tensor<2x2xf32>
}
