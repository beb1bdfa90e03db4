// Bad input is one message and exit code 1.

// RUN: not dynamo-run %t.no-such.mlir 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: no-such.mlir
// RUN: not dynamo-run %s --input %t.no-such.npy 2>&1 | FileCheck %s --check-prefix=NPY
// NPY: dynamo-run: input 0: {{.*}}no-such.npy: No such file or directory
// RUN: not dynamo-run %s --input 1 --input 2 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: dynamo-run: the program takes 1 input, --input is given 2 times
// RUN: not dynamo-run %s --save %t.a.npy --save %t.b.npy 2>&1 | FileCheck %s --check-prefix=RESULTS
// RESULTS: dynamo-run: the program has 1 result, --save is given 2 times
// RUN: not dynamo-run %s --input rnadom 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: dynamo-run: input 0: input 'rnadom' is neither random
// RUN: not dynamo-run %s --input random:2:1 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: is not random:<low>:<high> with low < high
// RUN: not dynamo-run %s --target z80 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: dynamo-run: unknown target 'z80', accepted are host, generic, avx2, avx512
// RUN: not dynamo-run %s --from nowhere 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: nowhere
// RUN: not dynamo-run %s --entry other 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: no function '@other' to run

// An array of another type, and a file that is no array.
// RUN: echo hello > %t.text.npy
// RUN: not dynamo-run %s --input %t.text.npy 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: text.npy: malformed .npy file: it does not start with NumPy's mark
// RUN: dynamo-run %s --save %t.ok.npy
// RUN: sed -e s/4xf32/2x4xf32/g %s > %t.other.mlir
// RUN: not dynamo-run %t.other.mlir --input %t.ok.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: input 0: {{.*}}ok.npy: holds 4xf32, the program takes 2x4xf32

// IR that does not parse, with its place.
// RUN: echo "func.func @main( {" > %t.bad.mlir
// RUN: not dynamo-run %t.bad.mlir 2>&1 | FileCheck %s --check-prefix=PARSE
// PARSE: bad.mlir:1:17: error:

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = aten.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
