// RUN: dynamo-run %s --input 0.5 --input 2 --input 1 | FileCheck %s
// RUN: dynamo-run %s --save %t.npy --seed 5 --print 0
// RUN: dynamo-run %s --compare %t.npy --seed 5 --loops-only --rtol 1e-4 --atol 1e-5 --print 0
// RUN: dynamo-run %s --compare %t.npy --seed 5 --rtol 0 --atol 0 --threads 5 --print 0
// RUN: dynamo-run %s --compare %t.npy --seed 5 --target generic --rtol 1e-4 --atol 1e-5 --print 0

// A linear layer of awkward sizes with relu: 65 * 0.5 * 2 + 1 = 66. The result
// does not depend on the number of threads, to the bit.
// CHECK: result 0: 37x19xf32 [66, 66, {{.*}}, 66, 66] min 66 max 66 mean 66
func.func @main(%x: tensor<37x65xf32>, %w: tensor<19x65xf32>, %b: tensor<19xf32>)
    -> tensor<37x19xf32> {
  %0 = aten.linear %x, %w, %b
      : (tensor<37x65xf32>, tensor<19x65xf32>, tensor<19xf32>) -> tensor<37x19xf32>
  %1 = aten.relu %0 : (tensor<37x19xf32>) -> tensor<37x19xf32>
  return %1 : tensor<37x19xf32>
}
