// RUN: dynamo-run %s --input 3 --input 1.5 --input 7 --input 1 --input 200 --input 0.1 | FileCheck %s
// RUN: dynamo-run %s --input 3 --input 1.5 --input 7 --input 1 --input 200 --input 0.1 --loops-only | FileCheck %s
// RUN: dynamo-run %s --input 3 --input 1.5 --input 7 --input 1 --input 200 --input 0.1 --target generic | FileCheck %s

// Element types from the caller's memory to results: promotion of int and
// float, bf16 and f16 arithmetic, bool logic, uint8 that wraps, f64.
// CHECK: result 0: 5xf32 [4.5, 4.5, 4.5, 4.5, 4.5]
// CHECK: result 1: 5xbf16 [8.5, 8.5, 8.5, 8.5, 8.5]
// CHECK: result 2: 5xi1 [1, 1, 1, 1, 1]
// CHECK: result 3: 5xui8 [144, 144, 144, 144, 144]
// CHECK: result 4: 5xf64 [0.01, 0.01, 0.01, 0.01, 0.01]
// CHECK: result 5: 5xi64 [9, 9, 9, 9, 9]
func.func @main(%i: tensor<5xi64>, %f: tensor<5xf32>, %h: tensor<5xbf16>,
                %b: tensor<5xi1>, %u: tensor<5xui8>, %d: tensor<5xf64>)
    -> (tensor<5xf32>, tensor<5xbf16>, tensor<5xi1>, tensor<5xui8>, tensor<5xf64>,
        tensor<5xi64>) {
  %one = arith.constant 1 : i64
  %half = arith.constant 1.5 : f64
  %0 = aten.mul %i, %f : (tensor<5xi64>, tensor<5xf32>) -> tensor<5xf32>
  %1 = aten.add %h, %half, %one : (tensor<5xbf16>, f64, i64) -> tensor<5xbf16>
  %2 = aten.lt %f, %i : (tensor<5xf32>, tensor<5xi64>) -> tensor<5xi1>
  %3 = aten.logical_and %2, %b : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
  %4 = aten.add %u, %u, %one : (tensor<5xui8>, tensor<5xui8>, i64) -> tensor<5xui8>
  %5 = aten.mul %d, %d : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xf64>
  %6 = aten.mul %i, %i : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi64>
  return %0, %1, %3, %4, %5, %6 : tensor<5xf32>, tensor<5xbf16>, tensor<5xi1>,
      tensor<5xui8>, tensor<5xf64>, tensor<5xi64>
}
