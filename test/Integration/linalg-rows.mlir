// RUN: dynamo-run %s --input 3 | FileCheck %s
// RUN: dynamo-run %s --save %t.sum.npy --save %t.scaled.npy --seed 7
// RUN: dynamo-run %s --compare %t.sum.npy --compare %t.scaled.npy --seed 7 --loops-only
// RUN: dynamo-run %s --compare %t.sum.npy --compare %t.scaled.npy --seed 7 --target generic --threads 3

// A row sum and the rows divided by it, from phase linalg: 7 * 3 = 21, 3 / 21.
// CHECK: result 0: 4xf32 [21, 21, 21, 21]
// CHECK: result 1: 4x7xf32 [0.142857, 0.142857,
#rows = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%x: tensor<4x7xf32>) -> (tensor<4xf32>, tensor<4x7xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#all, #rows],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x7xf32>) outs(%init : tensor<4xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %s = arith.addf %acc, %in : f32
      linalg.yield %s : f32
  } -> tensor<4xf32>
  %e2 = tensor.empty() : tensor<4x7xf32>
  %scaled = linalg.generic {indexing_maps = [#all, #rows, #all],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<4x7xf32>, tensor<4xf32>) outs(%e2 : tensor<4x7xf32>) {
    ^bb0(%in: f32, %s: f32, %out: f32):
      %d = arith.divf %in, %s : f32
      linalg.yield %d : f32
  } -> tensor<4x7xf32>
  return %sum, %scaled : tensor<4xf32>, tensor<4x7xf32>
}
