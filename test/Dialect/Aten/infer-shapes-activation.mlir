// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the activation family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @relu(
func.func @relu(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.relu {{.*}}-> tensor<2x3xf32>
  %r = aten.relu %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @silu(
func.func @silu(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.silu {{.*}}-> tensor<2x3xf32>
  %r = aten.silu %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @mish(
func.func @mish(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.mish {{.*}}-> tensor<2x3xf32>
  %r = aten.mish %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @hardswish(
func.func @hardswish(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.hardswish {{.*}}-> tensor<2x3xf32>
  %r = aten.hardswish %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @hardsigmoid(
func.func @hardsigmoid(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.hardsigmoid {{.*}}-> tensor<2x3xf32>
  %r = aten.hardsigmoid %a0 : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @gelu(
func.func @gelu(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.gelu {{.*}}-> tensor<2x3xf32>
  %r = aten.gelu %a0 {approximate = "tanh"} : (tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @hardtanh(
func.func @hardtanh(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 0.0 : f64
  %n1 = arith.constant 6.0 : f64
  // CHECK: aten.hardtanh {{.*}}-> tensor<2x3xf32>
  %r = aten.hardtanh %a0, %n0, %n1 : (tensor<2x3xf32>, f64, f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @leaky_relu(
func.func @leaky_relu(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 0.01 : f64
  // CHECK: aten.leaky_relu {{.*}}-> tensor<2x3xf32>
  %r = aten.leaky_relu %a0, %n0 : (tensor<2x3xf32>, f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @elu(
func.func @elu(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 1 : i64
  %n1 = arith.constant 1 : i64
  %n2 = arith.constant 1 : i64
  // CHECK: aten.elu {{.*}}-> tensor<2x3xf32>
  %r = aten.elu %a0, %n0, %n1, %n2 : (tensor<2x3xf32>, i64, i64, i64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @softplus(
func.func @softplus(%a0: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 1 : i64
  %n1 = arith.constant 20 : i64
  // CHECK: aten.softplus {{.*}}-> tensor<2x3xf32>
  %r = aten.softplus %a0, %n0, %n1 : (tensor<2x3xf32>, i64, i64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @glu(
func.func @glu(%a0: tensor<2x6xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.glu {{.*}}-> tensor<2x3xf32>
  %r = aten.glu %a0 {dim = 1 : i64} : (tensor<2x6xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @log_sigmoid_forward(
func.func @log_sigmoid_forward(%a0: tensor<2x3xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  // CHECK: aten.log_sigmoid_forward {{.*}}-> (tensor<2x3xf32>, tensor<2x3xf32>)
  %r:2 = aten.log_sigmoid_forward %a0 : (tensor<2x3xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: @threshold_backward(
func.func @threshold_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 0 : i64
  // CHECK: aten.threshold_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.threshold_backward %a0, %a1, %n0 : (tensor<2x3xf32>, tensor<2x3xf32>, i64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @gelu_backward(
func.func @gelu_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.gelu_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.gelu_backward %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @silu_backward(
func.func @silu_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.silu_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.silu_backward %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @mish_backward(
func.func @mish_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.mish_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.mish_backward %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @sigmoid_backward(
func.func @sigmoid_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.sigmoid_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.sigmoid_backward %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @tanh_backward(
func.func @tanh_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.tanh_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.tanh_backward %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @hardtanh_backward(
func.func @hardtanh_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 0.0 : f64
  %n1 = arith.constant 6.0 : f64
  // CHECK: aten.hardtanh_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.hardtanh_backward %a0, %a1, %n0, %n1 : (tensor<2x3xf32>, tensor<2x3xf32>, f64, f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @hardswish_backward(
func.func @hardswish_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.hardswish_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.hardswish_backward %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @hardsigmoid_backward(
func.func @hardsigmoid_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.hardsigmoid_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.hardsigmoid_backward %a0, %a1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @leaky_relu_backward(
func.func @leaky_relu_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 0.01 : f64
  // CHECK: aten.leaky_relu_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.leaky_relu_backward %a0, %a1, %n0 {self_is_result = false} : (tensor<2x3xf32>, tensor<2x3xf32>, f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @elu_backward(
func.func @elu_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 1.0 : f64
  %n1 = arith.constant 1.0 : f64
  %n2 = arith.constant 1.0 : f64
  // CHECK: aten.elu_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.elu_backward %a0, %n0, %n1, %n2, %a1 {is_result = true} : (tensor<2x3xf32>, f64, f64, f64, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @softplus_backward(
func.func @softplus_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>) -> tensor<?x?xf32> {
  %n0 = arith.constant 1.0 : f64
  %n1 = arith.constant 20.0 : f64
  // CHECK: aten.softplus_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.softplus_backward %a0, %a1, %n0, %n1 : (tensor<2x3xf32>, tensor<2x3xf32>, f64, f64) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @log_sigmoid_backward(
func.func @log_sigmoid_backward(%a0: tensor<2x3xf32>, %a1: tensor<2x3xf32>, %a2: tensor<2x3xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.log_sigmoid_backward {{.*}}-> tensor<2x3xf32>
  %r = aten.log_sigmoid_backward %a0, %a1, %a2 : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
