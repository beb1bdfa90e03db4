// What dynamo-run does with its arguments; the program adds one.

// Random inputs repeat for a seed and differ between seeds; results can be
// saved, and compared with a tolerance.
// RUN: dynamo-run %s --input random:2:5 --seed 3 --save %t.npy | FileCheck %s --check-prefix=RANDOM
// RANDOM: result 0: 2x3xf32 [{{[3-5]}}
// RUN: dynamo-run %s --input random:2:5 --seed 3 --compare %t.npy --rtol 0 --atol 0
// RUN: not dynamo-run %s --input random:2:5 --seed 4 --compare %t.npy 2>&1 | FileCheck %s --check-prefix=DIFFERS
// DIFFERS: result 0 {{[1-6]}} of 6 elements differ; the largest error is {{.*}} at [{{[01]}}, {{[0-2]}}]:
// RUN: dynamo-run %s --input random:2:5 --seed 4 --compare %t.npy --atol 4

// A saved result is an input of the next run: 1 + 1 + 1.
// RUN: dynamo-run %s --input 1 --save %t.2.npy | FileCheck %s --check-prefix=TWO
// TWO: result 0: 2x3xf32 [2, 2, 2, 2, 2, 2]
// RUN: dynamo-run %s --input %t.2.npy --print 2 | FileCheck %s --check-prefix=THREE
// THREE: result 0: 2x3xf32 [3, ..., 3] min 3 max 3 mean 3

// The dump folder gets each phase and each kernel.
// RUN: rm -rf %t.dump
// RUN: dynamo-run %s --dump %t.dump
// RUN: ls %t.dump | FileCheck %s --check-prefix=DUMP
// DUMP-DAG: llvm.mlir
// DUMP-DAG: .ll
// DUMP-DAG: .s

// RUN: dynamo-run --help | FileCheck %s --check-prefix=HELP
// HELP: USAGE: dynamo-run
// HELP: --compare
// HELP: EXAMPLES:
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = arith.constant dense<1.0> : tensor<2x3xf32>
  %one = arith.constant 1 : i64
  %0 = aten.add %x, %c, %one : (tensor<2x3xf32>, tensor<2x3xf32>, i64) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
