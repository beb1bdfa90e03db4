// RUN: not dynamo-opt %s --compile-to=fast 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not dynamo-opt %s --compile-to=llvm --compile-target=toaster 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not dynamo-opt %s --compile-to=aten 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not dynamo-opt %s --compile-to=kernels 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: not dynamo-opt %s --compile-from=dispatches 2>&1 | FileCheck %s --check-prefix=CONTRACT

// Unknown words say what is known.
// PHASE: error: unknown phase 'fast', accepted are recorded, aten, linalg, dispatches, kernels, llvm
// TARGET: error: unknown target 'toaster', accepted are host, generic, avx2, avx512
// ORDER: error: the module is in phase linalg, which comes after aten

// A failure names the phase, the place, and how to see it again.
// FAIL: error: phase kernels failed: {{.*}}needs ranked tensors of static shape on the host, found 'tensor<?xf32>'
// FAIL: reproduce with: dynamo-opt --dynamo-kernels-pipeline

// A contract can be checked alone.
// CONTRACT: error: the contract of phase dispatches is broken: {{.*}}'tensor.empty' op is not an operation of the host
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<4xf32>) {
  %0 = tensor.empty() : tensor<4xf32>
  return %x, %0 : tensor<?xf32>, tensor<4xf32>
}
