// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the reduction family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @sum(
func.func @sum(%a0: tensor<2x3x4xf32>) -> tensor<f32> {
  // CHECK: aten.sum {{.*}}-> tensor<f32>
  %r = aten.sum %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @sum_dim_IntList(
func.func @sum_dim_IntList(%a0: tensor<2x3x4xf32>) -> tensor<?xf32> {
  // CHECK: aten.sum {{.*}}-> tensor<3xf32>
  %r = aten.sum %a0 {dim = array<i64: 0, -1>} : (tensor<2x3x4xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @sum_dim_IntList_2(
func.func @sum_dim_IntList_2(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.sum {{.*}}-> tensor<2x1x4xf32>
  %r = aten.sum %a0 {dim = array<i64: 1>, keepdim = true} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @mean(
func.func @mean(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.mean {{.*}}-> tensor<2x3x1xf32>
  %r = aten.mean %a0 {dim = array<i64: -1>, keepdim = true} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @prod(
func.func @prod(%a0: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.prod {{.*}}-> tensor<2x4xf32>
  %r = aten.prod %a0 {dim = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @amax(
func.func @amax(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.amax {{.*}}-> tensor<2x1x4xf32>
  %r = aten.amax %a0 {dim = array<i64: 1>, keepdim = true} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @amin(
func.func @amin(%a0: tensor<2x3x4xf32>) -> tensor<f32> {
  // CHECK: aten.amin {{.*}}-> tensor<f32>
  %r = aten.amin %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @max(
func.func @max(%a0: tensor<2x3x4xf32>) -> tensor<f32> {
  // CHECK: aten.max {{.*}}-> tensor<f32>
  %r = aten.max %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @min(
func.func @min(%a0: tensor<2x3x4xf32>) -> tensor<f32> {
  // CHECK: aten.min {{.*}}-> tensor<f32>
  %r = aten.min %a0 : (tensor<2x3x4xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @max_dim(
func.func @max_dim(%a0: tensor<2x3x4xf32>) -> (tensor<?x?xf32>, tensor<?x?xi64>) {
  // CHECK: aten.max_dim {{.*}}-> (tensor<2x3xf32>, tensor<2x3xi64>)
  %r:2 = aten.max_dim %a0 {dim = -1 : i64} : (tensor<2x3x4xf32>) -> (tensor<?x?xf32>, tensor<?x?xi64>)
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?x?xi64>
}

// CHECK-LABEL: @min_dim(
func.func @min_dim(%a0: tensor<2x3x4xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?xi64>) {
  // CHECK: aten.min_dim {{.*}}-> (tensor<1x3x4xf32>, tensor<1x3x4xi64>)
  %r:2 = aten.min_dim %a0 {dim = 0 : i64, keepdim = true} : (tensor<2x3x4xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?xi64>)
  return %r#0, %r#1 : tensor<?x?x?xf32>, tensor<?x?x?xi64>
}

// CHECK-LABEL: @argmax(
func.func @argmax(%a0: tensor<2x3x4xf32>) -> tensor<i64> {
  // CHECK: aten.argmax {{.*}}-> tensor<i64>
  %r = aten.argmax %a0 : (tensor<2x3x4xf32>) -> tensor<i64>
  return %r : tensor<i64>
}

// CHECK-LABEL: @argmin(
func.func @argmin(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xi64> {
  // CHECK: aten.argmin {{.*}}-> tensor<2x1x4xi64>
  %r = aten.argmin %a0 {dim = 1 : i64, keepdim = true} : (tensor<2x3x4xf32>) -> tensor<?x?x?xi64>
  return %r : tensor<?x?x?xi64>
}

// CHECK-LABEL: @any(
func.func @any(%a0: tensor<2x3x4xf32>) -> tensor<?x?xi1> {
  // CHECK: aten.any {{.*}}-> tensor<2x4xi1>
  %r = aten.any %a0 {dim = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<?x?xi1>
  return %r : tensor<?x?xi1>
}

// CHECK-LABEL: @all(
func.func @all(%a0: tensor<2x3xi1>) -> tensor<i1> {
  // CHECK: aten.all {{.*}}-> tensor<i1>
  %r = aten.all %a0 : (tensor<2x3xi1>) -> tensor<i1>
  return %r : tensor<i1>
}

// CHECK-LABEL: @all_dims(
func.func @all_dims(%a0: tensor<2x3x4xf32>) -> tensor<?xi1> {
  // CHECK: aten.all {{.*}}-> tensor<3xi1>
  %r = aten.all %a0 {dim = array<i64: 0, 2>} : (tensor<2x3x4xf32>) -> tensor<?xi1>
  return %r : tensor<?xi1>
}

// CHECK-LABEL: @var(
func.func @var(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.var {{.*}}-> tensor<2x1x4xf32>
  %r = aten.var %a0 {correction = 0.0 : f64, dim = array<i64: 1>, keepdim = true} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @std(
func.func @std(%a0: tensor<2x3x4xf32>) -> tensor<?xf32> {
  // CHECK: aten.std {{.*}}-> tensor<4xf32>
  %r = aten.std %a0 {dim = array<i64: 0, 1>} : (tensor<2x3x4xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @var_mean(
func.func @var_mean(%a0: tensor<2x3x4xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  // CHECK: aten.var_mean {{.*}}-> (tensor<2x3xf32>, tensor<2x3xf32>)
  %r:2 = aten.var_mean %a0 {dim = array<i64: 2>} : (tensor<2x3x4xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>)
  return %r#0, %r#1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// CHECK-LABEL: @linalg_vector_norm(
func.func @linalg_vector_norm(%a0: tensor<2x3x4xf32>) -> tensor<?x?xf32> {
  // CHECK: aten.linalg_vector_norm {{.*}}-> tensor<2x4xf32>
  %r = aten.linalg_vector_norm %a0 {dim = array<i64: 1>, ord = 1.0 : f64} : (tensor<2x3x4xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @logsumexp(
func.func @logsumexp(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.logsumexp {{.*}}-> tensor<2x1x4xf32>
  %r = aten.logsumexp %a0 {dim = array<i64: 1>, keepdim = true} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @cumsum(
func.func @cumsum(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.cumsum {{.*}}-> tensor<2x3x4xf32>
  %r = aten.cumsum %a0 {dim = -1 : i64} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @cumprod(
func.func @cumprod(%a0: tensor<2x3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.cumprod {{.*}}-> tensor<2x3x4xf32>
  %r = aten.cumprod %a0 {dim = 0 : i64} : (tensor<2x3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @sort(
func.func @sort(%a0: tensor<2x3x4xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?xi64>) {
  // CHECK: aten.sort {{.*}}-> (tensor<2x3x4xf32>, tensor<2x3x4xi64>)
  %r:2 = aten.sort %a0 {descending = true, dim = 1 : i64} : (tensor<2x3x4xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?xi64>)
  return %r#0, %r#1 : tensor<?x?x?xf32>, tensor<?x?x?xi64>
}

// CHECK-LABEL: @topk(
func.func @topk(%a0: tensor<2x3x4xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?xi64>) {
  // CHECK: aten.topk {{.*}}-> (tensor<2x2x4xf32>, tensor<2x2x4xi64>)
  %r:2 = aten.topk %a0 {dim = 1 : i64, k = 2 : i64} : (tensor<2x3x4xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?xi64>)
  return %r#0, %r#1 : tensor<?x?x?xf32>, tensor<?x?x?xi64>
}
