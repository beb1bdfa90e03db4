// RUN: dynamo-opt %s | dynamo-opt | FileCheck %s

// Attention prints and parses back, with and without a mask; heads may share keys.
// CHECK-LABEL: @attention
func.func @attention(%q: tensor<2x4x8x16xbf16>, %k: tensor<2x2x10x16xbf16>,
                     %v: tensor<2x2x10x12xbf16>, %m: tensor<2x1x8x10xbf16>)
    -> (tensor<2x4x8x12xbf16>, tensor<2x4x8xf32>) {
  // CHECK: rt.attention %{{.*}}, %{{.*}}, %{{.*}} {causal, scale = 2.500000e-01 : f64}
  %0:2 = rt.attention %q, %k, %v {causal, scale = 0.25 : f64}
      : (tensor<2x4x8x16xbf16>, tensor<2x2x10x16xbf16>, tensor<2x2x10x12xbf16>)
      -> (tensor<2x4x8x12xbf16>, tensor<2x4x8xf32>)
  // CHECK: rt.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} {scale = 2.500000e-01 : f64}
  %1:2 = rt.attention %q, %k, %v mask %m {scale = 0.25 : f64}
      : (tensor<2x4x8x16xbf16>, tensor<2x2x10x16xbf16>, tensor<2x2x10x12xbf16>, tensor<2x1x8x10xbf16>)
      -> (tensor<2x4x8x12xbf16>, tensor<2x4x8xf32>)
  return %1#0, %1#1 : tensor<2x4x8x12xbf16>, tensor<2x4x8xf32>
}
