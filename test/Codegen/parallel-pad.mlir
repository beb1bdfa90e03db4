// RUN: dynamo-opt %s --split-input-file --dynamo-kernel-to-memory-pipeline=target=avx2 | FileCheck %s

// A padded copy is vector code that threads share. Its borders are tiles of the
// range like the rest: the body is nothing but loops bounded by it.
// CHECK-LABEL: func.func @image
// CHECK-SAME: rt.range = [[#%d,RANGE:]]
// CHECK-NOT: {{^}}    vector.store
// CHECK-NOT: {{^}}    scf.for {{.*}} = %c
// CHECK-COUNT-4: vector.store %cst{{.*}} : memref<861184xf32>, vector<32xf32>
// CHECK: %[[V:.*]] = vector.load %{{.*}} : memref<802816xf32>, vector<32xf32>
// CHECK: vector.store %[[V]]
module @image attributes {rt.kernel, rt.strategy = "loops"} {
  func.func @image(%x: tensor<1x112x112x64xf32>) -> tensor<1x116x116x64xf32> {
    %c = arith.constant 0.0 : f32
    %0 = tensor.pad %x low[0, 2, 2, 0] high[0, 2, 2, 0] {
    ^bb0(%n: index, %i: index, %j: index, %k: index):
      tensor.yield %c : f32
    } : tensor<1x112x112x64xf32> to tensor<1x116x116x64xf32>
    return %0 : tensor<1x116x116x64xf32>
  }
}
