// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the normalisation family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @native_layer_norm(
func.func @native_layer_norm(%a0: tensor<2x6x4x5xf32>, %a1: tensor<4x5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) {
  // CHECK: aten.native_layer_norm {{.*}}-> (tensor<2x6x4x5xf32>, tensor<2x6x1x1xf32>, tensor<2x6x1x1xf32>)
  %r:3 = aten.native_layer_norm %a0, %a1 {eps = 1.0e-05 : f64, normalized_shape = array<i64: 4, 5>, operandSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x6x4x5xf32>, tensor<4x5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @native_layer_norm_backward(
func.func @native_layer_norm_backward(%a0: tensor<2x6x4x5xf32>, %a1: tensor<2x6x4x5xf32>, %a2: tensor<2x6x1x1xf32>, %a3: tensor<2x6x1x1xf32>, %a4: tensor<4x5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?xf32>) {
  // CHECK: aten.native_layer_norm_backward {{.*}}-> (tensor<2x6x4x5xf32>, tensor<4x5xf32>)
  %r:2 = aten.native_layer_norm_backward %a0, %a1, %a2, %a3, %a4 {normalized_shape = array<i64: 4, 5>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>, output_mask = array<i1: true, true, false>, resultSegmentSizes = array<i32: 1, 1, 0>} : (tensor<2x6x4x5xf32>, tensor<2x6x4x5xf32>, tensor<2x6x1x1xf32>, tensor<2x6x1x1xf32>, tensor<4x5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?xf32>)
  return %r#0, %r#1 : tensor<?x?x?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: @fused_rms_norm(
func.func @fused_rms_norm(%a0: tensor<2x6x4x5xf32>, %a1: tensor<5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) {
  // CHECK: aten.fused_rms_norm {{.*}}-> (tensor<2x6x4x5xf32>, tensor<2x6x4x1xf32>)
  %r:2 = aten.fused_rms_norm %a0, %a1 {eps = 1.0e-06 : f64, normalized_shape = array<i64: 5>} : (tensor<2x6x4x5xf32>, tensor<5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>)
  return %r#0, %r#1 : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @native_group_norm(
func.func @native_group_norm(%a0: tensor<2x6x4x5xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  // CHECK: aten.native_group_norm {{.*}}-> (tensor<2x6x4x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  %r:3 = aten.native_group_norm %a0, %a1, %a2 {C = 6 : i64, HxW = 20 : i64, N = 2 : i64, eps = 1.0e-05 : f64, group = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x6x4x5xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: @native_group_norm_backward(
func.func @native_group_norm_backward(%a0: tensor<2x6x4x5xf32>, %a1: tensor<2x6x4x5xf32>, %a2: tensor<2x3xf32>, %a3: tensor<2x3xf32>, %a4: tensor<6xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: aten.native_group_norm_backward {{.*}}-> (tensor<2x6x4x5xf32>, tensor<6xf32>, tensor<6xf32>)
  %r:3 = aten.native_group_norm_backward %a0, %a1, %a2, %a3, %a4 {C = 6 : i64, HxW = 20 : i64, N = 2 : i64, group = 3 : i64, output_mask = array<i1: true, true, true>, resultSegmentSizes = array<i32: 1, 1, 1>} : (tensor<2x6x4x5xf32>, tensor<2x6x4x5xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<6xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @native_batch_norm_legit_no_training(
func.func @native_batch_norm_legit_no_training(%a0: tensor<2x6x4x5xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<6xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: aten.native_batch_norm_legit_no_training {{.*}}-> (tensor<2x6x4x5xf32>, tensor<?xf32>, tensor<?xf32>)
  %r:3 = aten.native_batch_norm_legit_no_training %a0, %a1, %a2, %a3, %a4 {eps = 1.0e-05 : f64, momentum = 0.1 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>} : (tensor<2x6x4x5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @native_batch_norm_legit_no_stats(
func.func @native_batch_norm_legit_no_stats(%a0: tensor<2x6x4x5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: aten.native_batch_norm_legit_no_stats {{.*}}-> (tensor<2x6x4x5xf32>, tensor<6xf32>, tensor<6xf32>)
  %r:3 = aten.native_batch_norm_legit_no_stats %a0 {eps = 1.0e-05 : f64, momentum = 0.1 : f64, operandSegmentSizes = array<i32: 1, 0, 0>, training = true} : (tensor<2x6x4x5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @native_batch_norm_legit_functional(
func.func @native_batch_norm_legit_functional(%a0: tensor<2x6x4x5xf32>, %a1: tensor<6xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<6xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: aten.native_batch_norm_legit_functional {{.*}}-> (tensor<2x6x4x5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
  %r:5 = aten.native_batch_norm_legit_functional %a0, %a1, %a2, %a3, %a4 {eps = 1.0e-05 : f64, momentum = 0.1 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>, training = true} : (tensor<2x6x4x5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @native_batch_norm_backward(
func.func @native_batch_norm_backward(%a0: tensor<2x6x4x5xf32>, %a1: tensor<2x6x4x5xf32>, %a2: tensor<6xf32>, %a3: tensor<6xf32>, %a4: tensor<6xf32>, %a5: tensor<6xf32>, %a6: tensor<6xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: aten.native_batch_norm_backward {{.*}}-> (tensor<2x6x4x5xf32>, tensor<6xf32>, tensor<6xf32>)
  %r:3 = aten.native_batch_norm_backward %a0, %a1, %a2, %a3, %a4, %a5, %a6 {eps = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>, output_mask = array<i1: true, true, true>, resultSegmentSizes = array<i32: 1, 1, 1>, train = true} : (tensor<2x6x4x5xf32>, tensor<2x6x4x5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?x?xf32>, tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @softmax(
func.func @softmax(%a0: tensor<2x6x4x5xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.softmax {{.*}}-> tensor<2x6x4x5xf32>
  %r = aten.softmax %a0 {dim = -1 : i64, half_to_float = false} : (tensor<2x6x4x5xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @safe_softmax(
func.func @safe_softmax(%a0: tensor<2x6x4x5xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.safe_softmax {{.*}}-> tensor<2x6x4x5xf32>
  %r = aten.safe_softmax %a0 {dim = 1 : i64} : (tensor<2x6x4x5xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @log_softmax(
func.func @log_softmax(%a0: tensor<2x6x4x5xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.log_softmax {{.*}}-> tensor<2x6x4x5xf32>
  %r = aten.log_softmax %a0 {dim = 1 : i64, half_to_float = false} : (tensor<2x6x4x5xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @softmax_backward_data(
func.func @softmax_backward_data(%a0: tensor<2x6x4x5xf32>, %a1: tensor<2x6x4x5xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.softmax_backward_data {{.*}}-> tensor<2x6x4x5xf32>
  %r = aten.softmax_backward_data %a0, %a1 {dim = 1 : i64} : (tensor<2x6x4x5xf32>, tensor<2x6x4x5xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @log_softmax_backward_data(
func.func @log_softmax_backward_data(%a0: tensor<2x6x4x5xf32>, %a1: tensor<2x6x4x5xf32>) -> tensor<?x?x?x?xf32> {
  // CHECK: aten.log_softmax_backward_data {{.*}}-> tensor<2x6x4x5xf32>
  %r = aten.log_softmax_backward_data %a0, %a1 {dim = 1 : i64} : (tensor<2x6x4x5xf32>, tensor<2x6x4x5xf32>) -> tensor<?x?x?x?xf32>
  return %r : tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @scaled_dot_product_flash_attention_for_cpu(
func.func @scaled_dot_product_flash_attention_for_cpu(%a0: tensor<2x3x5x8xf32>, %a1: tensor<2x3x7x8xf32>, %a2: tensor<2x3x7x8xf32>, %a3: tensor<2x1x5x7xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>) {
  // CHECK: aten.scaled_dot_product_flash_attention_for_cpu {{.*}}-> (tensor<2x3x5x8xf32>, tensor<2x3x5xf32>)
  %r:2 = aten.scaled_dot_product_flash_attention_for_cpu %a0, %a1, %a2, %a3 : (tensor<2x3x5x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>, tensor<2x1x5x7xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return %r#0, %r#1 : tensor<?x?x?x?xf32>, tensor<?x?x?xf32>
}

// CHECK-LABEL: @scaled_dot_product_flash_attention_for_cpu_backward(
func.func @scaled_dot_product_flash_attention_for_cpu_backward(%a0: tensor<2x3x5x8xf32>, %a1: tensor<2x3x5x8xf32>, %a2: tensor<2x3x7x8xf32>, %a3: tensor<2x3x7x8xf32>, %a4: tensor<2x3x5x8xf32>, %a5: tensor<2x3x5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>) {
  // CHECK: aten.scaled_dot_product_flash_attention_for_cpu_backward {{.*}}-> (tensor<2x3x5x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>)
  %r:3 = aten.scaled_dot_product_flash_attention_for_cpu_backward %a0, %a1, %a2, %a3, %a4, %a5 {dropout_p = 0.0 : f64, is_causal = true} : (tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x7x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>)
  return %r#0, %r#1, %r#2 : tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>, tensor<?x?x?x?xf32>
}

// CHECK-LABEL: @mse_loss(
func.func @mse_loss(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<f32> {
  // CHECK: aten.mse_loss {{.*}}-> tensor<f32>
  %r = aten.mse_loss %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @mse_loss_default_2(
func.func @mse_loss_default_2(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.mse_loss {{.*}}-> tensor<2x3xf32>
  %r = aten.mse_loss %a0, %a1 {reduction = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @mse_loss_backward(
func.func @mse_loss_backward(%a0: tensor<f32>, %a1: tensor<2x3xf32>, %a2: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.mse_loss_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.mse_loss_backward %a0, %a1, %a2 {reduction = 1 : i64} : (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @nll_loss_forward(
func.func @nll_loss_forward(%a0: tensor<4x5xf32>, %a1: tensor<4xi64>, %a2: tensor<5xf32>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: aten.nll_loss_forward {{.*}}-> (tensor<f32>, tensor<f32>)
  %r:2 = aten.nll_loss_forward %a0, %a1, %a2 {ignore_index = -100 : i64, reduction = 1 : i64} : (tensor<4x5xf32>, tensor<4xi64>, tensor<5xf32>) -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @nll_loss_forward_default_2(
func.func @nll_loss_forward_default_2(%a0: tensor<4x5xf32>, %a1: tensor<4xi64>) -> (tensor<?xf32>, tensor<f32>) {
  // CHECK: aten.nll_loss_forward {{.*}}-> (tensor<4xf32>, tensor<f32>)
  %r:2 = aten.nll_loss_forward %a0, %a1 {ignore_index = -100 : i64, reduction = 0 : i64} : (tensor<4x5xf32>, tensor<4xi64>) -> (tensor<?xf32>, tensor<f32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<f32>
}

// CHECK-LABEL: @nll_loss_backward(
func.func @nll_loss_backward(%a0: tensor<f32>, %a1: tensor<4x5xf32>, %a2: tensor<4xi64>, %a3: tensor<f32>) -> tensor<?x?xf32> {
  // CHECK: aten.nll_loss_backward {{.*}}-> tensor<4x5xf32>
  %r = aten.nll_loss_backward %a0, %a1, %a2, %a3 {ignore_index = -100 : i64, reduction = 1 : i64} : (tensor<f32>, tensor<4x5xf32>, tensor<4xi64>, tensor<f32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @native_dropout_backward(
func.func @native_dropout_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xi1>) -> tensor<?x?xf32> {
  // CHECK: aten.native_dropout_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.native_dropout_backward %a0, %a1 {scale = 2.0 : f64} : (tensor<2x3xf32>, tensor<2x3xi1>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @fused_rms_norm_backward(
func.func @fused_rms_norm_backward(%a0: tensor<2x6x4x5xf32>, %a1: tensor<2x6x4x1xf32>, %a2: tensor<5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>) {
  // CHECK: aten.fused_rms_norm_backward {{.*}}-> (tensor<2x6x4x5xf32>, tensor<5xf32>)
  %r:2 = aten.fused_rms_norm_backward %a0, %a0, %a1, %a2 {normalized_shape = array<i64: 5>, output_mask = array<i1: true, true>, resultSegmentSizes = array<i32: 1, 1>} : (tensor<2x6x4x5xf32>, tensor<2x6x4x5xf32>, tensor<2x6x4x1xf32>, tensor<5xf32>) -> (tensor<?x?x?x?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?x?x?x?xf32>, tensor<?xf32>
}
