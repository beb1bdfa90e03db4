// RUN: dynamo-opt %s --split-input-file --codegen-tile-attention=target=avx2 --cse | FileCheck %s

// Heads and blocks of queries are parallel. In a tile: a pass over blocks of 64
// keys with maximum, sum and output of each row; keys are transposed into
// panels, both products run on register tiles of 4 x 16.
// CHECK-LABEL: func.func @bert
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) = (0, 0, 0) to (1, 12, 128) step (1, 1, 64)
// CHECK:   scf.for %{{.*}} = %c0 to %c128 step %c64 iter_args({{.*}}) -> (tensor<72xf32>, tensor<72xf32>, tensor<72x64xf32>)
// CHECK:     bufferization.alloc_tensor() : tensor<4x64x16xf32>
// CHECK-COUNT-24: vector.shuffle
// CHECK-COUNT-16: vector.fma {{.*}} : vector<16xf32>
// CHECK:     arith.cmpf ogt
// CHECK:     vector.reduction <maxnumf>
// CHECK:     math.exp %{{.*}} : vector<64xf32>
// CHECK:     vector.reduction <add>
// CHECK-COUNT-16: vector.fma {{.*}} : vector<16xf32>
// CHECK:   tensor.parallel_insert_slice
module @bert attributes {rt.kernel, rt.strategy = "attention"} {
  func.func @bert(%q: tensor<1x12x128x64xf32>, %k: tensor<1x12x128x64xf32>, %v: tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32> {
    %o, %l = rt.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> (tensor<1x12x128x64xf32>, tensor<1x12x128xf32>)
    return %o : tensor<1x12x128x64xf32>
  }
}

// -----

// Causal: the pass over keys ends at the last query of the tile, and scores
// behind a query are -inf. Logsumexp is the second result.
// CHECK-LABEL: func.func @causal
// CHECK: scf.forall
// CHECK:   %[[END:.*]] = arith.minui
// CHECK:   scf.for %{{.*}} = %c0 to %[[END]] step %c64
// CHECK:     arith.cmpi sle, %{{.*}} : vector<64xi32>
// CHECK:   math.log
// CHECK-COUNT-2: tensor.parallel_insert_slice
module @causal attributes {rt.kernel, rt.strategy = "attention"} {
  func.func @causal(%q: tensor<2x12x256x64xf32>, %k: tensor<2x12x256x64xf32>, %v: tensor<2x12x256x64xf32>) -> (tensor<2x12x256x64xf32>, tensor<2x12x256xf32>) {
    %o, %l = rt.attention %q, %k, %v {causal, scale = 0.125 : f64} : (tensor<2x12x256x64xf32>, tensor<2x12x256x64xf32>, tensor<2x12x256x64xf32>) -> (tensor<2x12x256x64xf32>, tensor<2x12x256xf32>)
    return %o, %l : tensor<2x12x256x64xf32>, tensor<2x12x256xf32>
  }
}

// -----

// One query: keys are read as they lie, by dot products; two heads share the
// keys of one. Permutations around the operation are read through.
// CHECK-LABEL: func.func @decode
// CHECK: scf.forall (%[[B:.*]], %[[H:.*]], %[[Q:.*]]) in (1, 8, 1)
// CHECK-DAG: tensor.extract_slice %{{.*}}[%[[B]], %[[Q]], %[[H]], 0] [1, 1, 1, 64]
// CHECK-DAG: %[[G:.*]] = arith.divui %[[H]], %c2
// CHECK:   tensor.extract_slice %{{.*}}[%[[B]], %[[G]], %{{.*}}, 0] [1, 1, 64, 64]
// CHECK-NOT: vector.shuffle
// CHECK:   vector.reduction <add>
module @decode attributes {rt.kernel, rt.strategy = "attention"} {
  func.func @decode(%q: tensor<1x1x8x64xf32>, %k: tensor<1x4x1024x64xf32>, %v: tensor<1x4x1024x64xf32>) -> tensor<1x1x8x64xf32> {
    %e = tensor.empty() : tensor<1x8x1x64xf32>
    %t = linalg.transpose ins(%q : tensor<1x1x8x64xf32>) outs(%e : tensor<1x8x1x64xf32>) permutation = [0, 2, 1, 3]
    %o, %l = rt.attention %t, %k, %v {scale = 0.125 : f64} : (tensor<1x8x1x64xf32>, tensor<1x4x1024x64xf32>, tensor<1x4x1024x64xf32>) -> (tensor<1x8x1x64xf32>, tensor<1x8x1xf32>)
    %f = tensor.empty() : tensor<1x1x8x64xf32>
    %r = linalg.transpose ins(%o : tensor<1x8x1x64xf32>) outs(%f : tensor<1x1x8x64xf32>) permutation = [0, 2, 1, 3]
    return %r : tensor<1x1x8x64xf32>
  }
}
