// RUN: dynamo-opt %s --aten-infer-shapes | dynamo-opt | FileCheck %s

// Operations of the indexing family print and parse back, and the sizes of their
// results, unknown here, are inferred.  Expected sizes are those that torch gives.

// CHECK-LABEL: @embedding(
func.func @embedding(%a0: tensor<9x4xf32>, %a1: tensor<2x3xi64>) -> tensor<?x?x?xf32> {
  // CHECK: aten.embedding {{.*}}-> tensor<2x3x4xf32>
  %r = aten.embedding %a0, %a1 : (tensor<9x4xf32>, tensor<2x3xi64>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @embedding_dense_backward(
func.func @embedding_dense_backward(%a0: tensor<2x3x4xf32>, %a1: tensor<2x3xi64>) -> tensor<?x?xf32> {
  // CHECK: aten.embedding_dense_backward {{.*}}-> tensor<9x4xf32>
  %r = aten.embedding_dense_backward %a0, %a1 {num_weights = 9 : i64, padding_idx = -1 : i64, scale_grad_by_freq = false} : (tensor<2x3x4xf32>, tensor<2x3xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @index(
func.func @index(%a0: tensor<2x3x4xf32>, %a1: tensor<5x1xi64>, %a2: tensor<6xi64>) -> tensor<?x?x?xf32> {
  // CHECK: aten.index {{.*}}-> tensor<2x5x6xf32>
  %r = aten.index %a0, %a1, %a2 {indices_present = array<i1: false, true, true>} : (tensor<2x3x4xf32>, tensor<5x1xi64>, tensor<6xi64>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @index_Tensor_2(
func.func @index_Tensor_2(%a0: tensor<2x3x4xf32>, %a1: tensor<5xi64>, %a2: tensor<5xi64>) -> tensor<?x?xf32> {
  // CHECK: aten.index {{.*}}-> tensor<5x3xf32>
  %r = aten.index %a0, %a1, %a2 {indices_present = array<i1: true, false, true>} : (tensor<2x3x4xf32>, tensor<5xi64>, tensor<5xi64>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: @index_put(
func.func @index_put(%a0: tensor<2x3x4xf32>, %a1: tensor<2xi64>, %a2: tensor<3x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.index_put {{.*}}-> tensor<2x3x4xf32>
  %r = aten.index_put %a0, %a1, %a2 {accumulate = true, indices_present = array<i1: true>} : (tensor<2x3x4xf32>, tensor<2xi64>, tensor<3x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @index_select(
func.func @index_select(%a0: tensor<2x3x4xf32>, %a1: tensor<5xi64>) -> tensor<?x?x?xf32> {
  // CHECK: aten.index_select {{.*}}-> tensor<2x5x4xf32>
  %r = aten.index_select %a0, %a1 {dim = 1 : i64} : (tensor<2x3x4xf32>, tensor<5xi64>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @index_add(
func.func @index_add(%a0: tensor<2x3x4xf32>, %a1: tensor<5xi64>, %a2: tensor<2x5x4xf32>) -> tensor<?x?x?xf32> {
  %n0 = arith.constant 1 : i64
  // CHECK: aten.index_add {{.*}}-> tensor<2x3x4xf32>
  %r = aten.index_add %a0, %a1, %a2, %n0 {dim = 1 : i64} : (tensor<2x3x4xf32>, tensor<5xi64>, tensor<2x5x4xf32>, i64) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @gather(
func.func @gather(%a0: tensor<2x3x4xf32>, %a1: tensor<2x7x3xi64>) -> tensor<?x?x?xf32> {
  // CHECK: aten.gather {{.*}}-> tensor<2x7x3xf32>
  %r = aten.gather %a0, %a1 {dim = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x7x3xi64>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @scatter(
func.func @scatter(%a0: tensor<2x3x4xf32>, %a1: tensor<2x1x3xi64>, %a2: tensor<2x2x3xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.scatter {{.*}}-> tensor<2x3x4xf32>
  %r = aten.scatter %a0, %a1, %a2 {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (tensor<2x3x4xf32>, tensor<2x1x3xi64>, tensor<2x2x3xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @scatter_value(
func.func @scatter_value(%a0: tensor<2x3x4xf32>, %a1: tensor<2x1x3xi64>) -> tensor<?x?x?xf32> {
  %n0 = arith.constant 1.0 : f64
  // CHECK: aten.scatter {{.*}}-> tensor<2x3x4xf32>
  %r = aten.scatter %a0, %a1, %n0 {dim = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 1>} : (tensor<2x3x4xf32>, tensor<2x1x3xi64>, f64) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @scatter_add(
func.func @scatter_add(%a0: tensor<2x3x4xf32>, %a1: tensor<2x7x3xi64>, %a2: tensor<2x7x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.scatter_add {{.*}}-> tensor<2x3x4xf32>
  %r = aten.scatter_add %a0, %a1, %a2 {dim = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x7x3xi64>, tensor<2x7x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: @scatter_reduce(
func.func @scatter_reduce(%a0: tensor<2x3x4xf32>, %a1: tensor<2x7x3xi64>, %a2: tensor<2x7x4xf32>) -> tensor<?x?x?xf32> {
  // CHECK: aten.scatter_reduce {{.*}}-> tensor<2x3x4xf32>
  %r = aten.scatter_reduce %a0, %a1, %a2 {dim = 1 : i64, include_self = false, reduce = "amax"} : (tensor<2x3x4xf32>, tensor<2x7x3xi64>, tensor<2x7x4xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
