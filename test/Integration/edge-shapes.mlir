// RUN: dynamo-run %s --input 2 --input 3 --input 4 | FileCheck %s
// RUN: dynamo-run %s --input 2 --input 3 --input 4 --threads 8 | FileCheck %s
// RUN: dynamo-run %s --input 4 | FileCheck %s --check-prefix=ALL

// Scalars, empty tensors, one element, returned inputs and a result returned
// twice: 2 + 2, nothing, 4 * 4.
// CHECK: result 0: f32 [4]
// CHECK: result 1: 0x3xf32 []
// CHECK: result 2: 1x1xf32 [16]
// CHECK: result 3: 1x1xf32 [16]
// CHECK: result 4: 1x1xf32 [4]

// One number is for all inputs: 4 + 4.
// ALL: result 0: f32 [8]
func.func @main(%s: tensor<f32>, %e: tensor<0x3xf32>, %o: tensor<1x1xf32>)
    -> (tensor<f32>, tensor<0x3xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) {
  %one = arith.constant 1 : i64
  %0 = aten.add %s, %s, %one : (tensor<f32>, tensor<f32>, i64) -> tensor<f32>
  %1 = aten.add %e, %e, %one : (tensor<0x3xf32>, tensor<0x3xf32>, i64) -> tensor<0x3xf32>
  %2 = aten.mul %o, %o : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0, %1, %2, %2, %o : tensor<f32>, tensor<0x3xf32>, tensor<1x1xf32>,
      tensor<1x1xf32>, tensor<1x1xf32>
}
