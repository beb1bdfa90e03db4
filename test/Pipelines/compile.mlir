// RUN: dynamo-opt %s --compile-to=dispatches | FileCheck %s --check-prefix=P3
// RUN: dynamo-opt %s --compile-to=kernels | FileCheck %s --check-prefix=P4
// RUN: dynamo-opt %s --compile-to=llvm | FileCheck %s --check-prefix=P5
// RUN: dynamo-opt %s --dynamo-compile="to=dispatches" | FileCheck %s --check-prefix=P3
// RUN: dynamo-opt %s --dynamo-dispatches-pipeline | FileCheck %s --check-prefix=P3
// RUN: dynamo-opt %s --compile-to=dispatches | dynamo-opt --compile-to=llvm | FileCheck %s --check-prefix=P5
// RUN: rm -rf %t && dynamo-opt %s --compile-to=llvm --compile-dump=%t -o /dev/null && ls %t | FileCheck %s --check-prefix=DUMP

#id = affine_map<(d0, d1) -> (d0, d1)>

// A module goes to any later phase, at once or in steps, from what it is in.
// P3: rt.launch @k0::@k0(%{{.*}}) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// P3: module @k0 attributes {rt.kernel
// P4: func.func @main(%{{.*}}: memref<4x8xf32>, %{{.*}}: memref<4x8xf32>)
// P4: rt.launch @k0::@k0(%{{.*}}) outs(
// P4: func.func @k0(%{{.*}}: memref<4x8xf32>, %{{.*}}: memref<4x8xf32>
// P5: llvm.func @k0
// DUMP: 2-linalg.mlir
// DUMP-NEXT: 3-dispatches.mlir
// DUMP-NEXT: 4-kernels.mlir
// DUMP-NEXT: 5-llvm.mlir
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
