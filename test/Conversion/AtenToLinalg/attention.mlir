// RUN: dynamo-opt %s --convert-aten-to-linalg | FileCheck %s

// Attention stays whole; a mask gets its missing dims, the scale its default.
// CHECK-LABEL: @forward
func.func @forward(%q: tensor<1x2x8x16xf32>, %m: tensor<8x8xf32>) -> tensor<1x2x8x16xf32> {
  // CHECK: %[[M:.*]] = tensor.expand_shape %arg1 {{.*}} into tensor<1x1x8x8xf32>
  // CHECK: rt.attention %arg0, %arg0, %arg0 mask %[[M]] {scale = 2.500000e-01 : f64}
  %0, %1 = aten.scaled_dot_product_flash_attention_for_cpu %q, %q, %q, %m
    : (tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<8x8xf32>) -> (tensor<1x2x8x16xf32>, tensor<1x2x8xf32>)
  return %0 : tensor<1x2x8x16xf32>
}

// Its gradient is five contractions.
// CHECK-LABEL: @backward
func.func @backward(%q: tensor<1x2x8x16xf32>, %l: tensor<1x2x8xf32>) -> (tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) {
  // CHECK: ["parallel", "parallel", "parallel", "parallel", "reduction"]
  // CHECK: math.exp
  // CHECK-COUNT-4: ["parallel", "parallel", "parallel", "parallel", "reduction"]
  %0, %1, %2 = aten.scaled_dot_product_flash_attention_for_cpu_backward %q, %q, %q, %q, %q, %l {dropout_p = 0.0 : f64, is_causal = true}
    : (tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8xf32>)
    -> (tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>)
  return %0, %1, %2 : tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>
}
