// RUN: dynamo-opt %s -rt-decompose-attention | FileCheck %s

// CHECK-DAG: #[[Q:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[K:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[V:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
// CHECK-DAG: #[[MASK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, 0, d2, d3)>
// CHECK-DAG: #[[KSHARED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>

// Scores, softmax and weighted sum; the unused sums of logs are not computed.
// CHECK-LABEL: @plain
func.func @plain(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x10x16xf32>, %v: tensor<2x4x10x12xf32>,
                 %m: tensor<2x1x8x10xf32>) -> tensor<2x4x8x12xf32> {
  // CHECK: linalg.generic {indexing_maps = [#[[Q]], #[[K]], #{{.*}}]
  // CHECK: linalg.generic {{.*}}#[[MASK]]
  // CHECK: arith.maximumf
  // CHECK: math.exp
  // CHECK: linalg.generic {indexing_maps = [#[[Q]], #[[V]], #{{.*}}]
  // CHECK-NOT: math.log
  %o, %l = rt.attention %q, %k, %v mask %m {scale = 0.25 : f64}
      : (tensor<2x4x8x16xf32>, tensor<2x4x10x16xf32>, tensor<2x4x10x12xf32>, tensor<2x1x8x10xf32>)
      -> (tensor<2x4x8x12xf32>, tensor<2x4x8xf32>)
  return %o : tensor<2x4x8x12xf32>
}

// Query heads that share a key head are a loop of their own; the causal cut
// compares positions; half types are contracted in f32.
// CHECK-LABEL: @grouped
func.func @grouped(%q: tensor<2x4x8x16xbf16>, %k: tensor<2x2x10x16xbf16>)
    -> (tensor<2x4x8x16xbf16>, tensor<2x4x8xf32>) {
  // CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[KSHARED]], #{{.*}}]
  // CHECK: arith.extf
  // CHECK: arith.cmpi sgt
  // CHECK: math.log
  %o, %l = rt.attention %q, %k, %k {causal, scale = 0.25 : f64}
      : (tensor<2x4x8x16xbf16>, tensor<2x2x10x16xbf16>, tensor<2x2x10x16xbf16>)
      -> (tensor<2x4x8x16xbf16>, tensor<2x4x8xf32>)
  return %o, %l : tensor<2x4x8x16xbf16>, tensor<2x4x8xf32>
}
