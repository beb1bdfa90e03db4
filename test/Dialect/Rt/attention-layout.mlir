// RUN: dynamo-opt %s --split-input-file --rt-fuse-elementwise --rt-form-dispatches | FileCheck %s

// The transposes around an attention that keep its features innermost are part
// of its kernel, on both sides: nothing is copied.
// CHECK-LABEL: func.func @heads_inside
// CHECK: rt.dispatch "attention" -> tensor<1x128x12x64xf32>
// CHECK-COUNT-3: linalg.transpose
// CHECK: rt.attention
// CHECK: linalg.transpose
// CHECK-NOT: rt.dispatch
func.func @heads_inside(%q: tensor<1x128x12x64xf32>, %k: tensor<1x128x12x64xf32>, %v: tensor<1x128x12x64xf32>) -> tensor<1x128x12x64xf32> {
  %e = tensor.empty() : tensor<1x12x128x64xf32>
  %qt = linalg.transpose ins(%q : tensor<1x128x12x64xf32>) outs(%e : tensor<1x12x128x64xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<1x128x12x64xf32>) outs(%e : tensor<1x12x128x64xf32>) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v : tensor<1x128x12x64xf32>) outs(%e : tensor<1x12x128x64xf32>) permutation = [0, 2, 1, 3]
  %o, %l = rt.attention %qt, %kt, %vt {scale = 0.125 : f64} : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> (tensor<1x12x128x64xf32>, tensor<1x12x128xf32>)
  %f = tensor.empty() : tensor<1x128x12x64xf32>
  %r = linalg.transpose ins(%o : tensor<1x12x128x64xf32>) outs(%f : tensor<1x128x12x64xf32>) permutation = [0, 2, 1, 3]
  return %r : tensor<1x128x12x64xf32>
}

// -----

// A transposed key that somebody else wants too is made in memory once, and so
// is one whose features are not innermost.
// CHECK-LABEL: func.func @shared
// CHECK: rt.dispatch "rows"
// CHECK: rt.dispatch "attention"
// CHECK-NOT: linalg.transpose
// CHECK: rt.attention
func.func @shared(%q: tensor<1x2x8x4xf32>, %k: tensor<1x8x2x4xf32>, %v: tensor<1x2x4x8xf32>) -> (tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>) {
  %e = tensor.empty() : tensor<1x2x8x4xf32>
  %kt = linalg.transpose ins(%k : tensor<1x8x2x4xf32>) outs(%e : tensor<1x2x8x4xf32>) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v : tensor<1x2x4x8xf32>) outs(%e : tensor<1x2x8x4xf32>) permutation = [0, 1, 3, 2]
  %o, %l = rt.attention %q, %kt, %vt {scale = 0.5 : f64} : (tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>) -> (tensor<1x2x8x4xf32>, tensor<1x2x8xf32>)
  return %o, %kt : tensor<1x2x8x4xf32>, tensor<1x2x8x4xf32>
}
