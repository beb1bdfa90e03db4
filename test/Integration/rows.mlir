// RUN: dynamo-run %s | FileCheck %s
// RUN: dynamo-run %s --loops-only | FileCheck %s
// RUN: dynamo-run %s --target generic --threads 3 | FileCheck %s

// Row kernels on values with known answers. exp of 0, ln 2, ln 4 is 1, 2, 4:
// the softmax is 1/7, 2/7, 4/7, and of a row that holds +-inf or is shifted by
// 100 the same or exactly 0 and 1.
// CHECK: result 0: 3x3xf32 [0.142857, 0.285714, 0.571429, 0.142857, 0.28571{{[45]}}, 0.57142{{[89]}}, 0, 0.333333, 0.666667]
// A row -1, 1 has mean 0 and variance 1; eps of 3 halves what is normalised.
// CHECK: result 1: 2x2xf32 [-0.5, 0.5, -0.5, 0.5]
// CHECK: result 2: 2x1xf32 [0, 10]
// Sums over rows, columns and all.
// CHECK: result 3: 2xf32 [0, 20]
// CHECK: result 4: 2xf32 [8, 12]
// CHECK: result 5: f32 [20]
func.func @main() -> (tensor<3x3xf32>, tensor<2x2xf32>, tensor<2x1xf32>,
                      tensor<2xf32>, tensor<2xf32>, tensor<f32>) {
  %x = arith.constant dense<[[0.0, 0.6931471806, 1.3862943611],
                             [100.0, 100.6931471806, 101.3862943611],
                             [0xFF800000, 0.0, 0.6931471806]]> : tensor<3x3xf32>
  %y = arith.constant dense<[[-1.0, 1.0], [9.0, 11.0]]> : tensor<2x2xf32>
  %0 = aten.softmax %x {dim = 1 : i64, half_to_float = false} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1:3 = aten.native_layer_norm %y {normalized_shape = array<i64: 2>, eps = 3.0 : f64,
      operandSegmentSizes = array<i32: 1, 0, 0>}
      : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>)
  %2 = aten.sum %y {dim = array<i64: 1>} : (tensor<2x2xf32>) -> tensor<2xf32>
  %3 = aten.sum %y {dim = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<2xf32>
  %4 = aten.sum %y : (tensor<2x2xf32>) -> tensor<f32>
  return %0, %1#0, %1#1, %2, %3, %4 : tensor<3x3xf32>, tensor<2x2xf32>, tensor<2x1xf32>,
      tensor<2xf32>, tensor<2xf32>, tensor<f32>
}
