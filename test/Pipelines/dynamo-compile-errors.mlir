// RUN: not dynamo-opt %s --dynamo-compile=to=fast 2>&1 | FileCheck %s --check-prefix=TO
// RUN: not dynamo-opt %s --dynamo-compile=from=slow 2>&1 | FileCheck %s --check-prefix=FROM
// RUN: not dynamo-opt %s --dynamo-compile=target=toaster 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not dynamo-opt %s "--dynamo-compile=from=kernels to=linalg" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not dynamo-opt %s --dynamo-compile=dump=%s/dump 2>&1 | FileCheck %s --check-prefix=DUMP
// RUN: not dynamo-opt %s --dynamo-compile=from=kernels 2>&1 | FileCheck %s --check-prefix=KERNEL

// Options that are not known list those that are, at the module.
// TO: dynamo-compile-errors.mlir:[[# @LINE+14]]:1: error: unknown phase 'fast', accepted are recorded, aten, linalg, dispatches, kernels, llvm
// FROM: dynamo-compile-errors.mlir:[[# @LINE+13]]:1: error: unknown phase 'slow', accepted are recorded, aten, linalg, dispatches, kernels, llvm
// TARGET: dynamo-compile-errors.mlir:[[# @LINE+12]]:1: error: unknown target 'toaster', accepted are host, generic, avx2, avx512

// Nothing is compiled backwards.
// ORDER: dynamo-compile-errors.mlir:[[# @LINE+9]]:1: error: the module is in phase kernels, which comes after linalg

// A file where the dump's folder should be is told before anything is compiled.
// DUMP: error: can't make the dump folder '{{.*}}dynamo-compile-errors.mlir/dump': Not a directory

// A kernel that has no other way is named, with its place, its reason and the command that shows it.
// KERNEL: error: kernel @k (loops) at {{.*}}can't be compiled: {{.*}}failed to legalize operation 'linalg.fill'
// KERNEL: reproduce with: dynamo-opt --dynamo-kernel-pipeline=target=host

module {
  module @k attributes {rt.kernel, rt.strategy = "loops"} {
    func.func @k(%x: memref<8xf32>, %begin: index, %end: index) attributes {rt.range = 1 : i64} {
      %c = arith.constant 1.0 : f32
      linalg.fill ins(%c : f32) outs(%x : memref<8xf32>)
      return
    }
  }
}
