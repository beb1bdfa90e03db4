// RUN: dynamo-opt %s --convert-aten-to-linalg | FileCheck %s

// An operand of size 1 is read at index 0, a missing leading dim is not read;
// a number is a constant of the body, and alpha = 1 leaves nothing behind.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[COL:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: @broadcast
// CHECK-SAME: %[[A:.*]]: tensor<4x1xf32>, %[[B:.*]]: tensor<8xf32>
func.func @broadcast(%a: tensor<4x1xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: arith.constant
  // CHECK: linalg.generic {indexing_maps = [#[[ROW]], #[[COL]], #[[ID]]]
  // CHECK-SAME: ins(%[[A]], %[[B]] :
  // CHECK: %[[S:.*]] = arith.addf
  // CHECK-NEXT: linalg.yield %[[S]]
  %one = arith.constant 1 : i64
  %0 = aten.add %a, %b, %one : (tensor<4x1xf32>, tensor<8xf32>, i64) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Half types are computed in f32 and rounded once per op; numbers too.
// CHECK-LABEL: @half
func.func @half(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK-DAG: arith.constant 2.000000e+00 : f32
  // CHECK-DAG: arith.extf {{.*}} : bf16 to f32
  // CHECK: arith.addf {{.*}} : f32
  // CHECK-NEXT: arith.truncf {{.*}} : f32 to bf16
  %one = arith.constant 1 : i64
  %two = arith.constant 2.0 : f64
  %0 = aten.add %a, %two, %one : (tensor<4xbf16>, f64, i64) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// bool and uint8 are bytes; what they were is written at the function.
// CHECK-LABEL: @bytes
// CHECK-SAME: %[[B:.*]]: tensor<4xi8> {rt.dtype = i1}, %[[U:.*]]: tensor<4xi8> {rt.dtype = ui8}
// CHECK-SAME: -> (tensor<4xi8> {rt.dtype = ui8}, tensor<4xi8> {rt.dtype = i1})
func.func @bytes(%b: tensor<4xi1>, %u: tensor<4xui8>) -> (tensor<4xui8>, tensor<4xi1>) {
  // CHECK: arith.cmpi ne
  // CHECK: arith.extui {{.*}} : i1 to i8
  // CHECK: arith.addi {{.*}} : i8
  %one = arith.constant 1 : i64
  %0 = aten.add %b, %u, %one : (tensor<4xi1>, tensor<4xui8>, i64) -> tensor<4xui8>
  return %0, %b : tensor<4xui8>, tensor<4xi1>
}

// Dynamic sizes come from the operand that has the dim.
// CHECK-LABEL: @dynamic
// CHECK-SAME: %{{.*}}: tensor<1x8xf32>, %[[B:.*]]: tensor<?x8xf32>
func.func @dynamic(%a: tensor<1x8xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[D:.*]] = tensor.dim %[[B]]
  // CHECK: tensor.empty(%[[D]])
  %one = arith.constant 1 : i64
  %0 = aten.add %a, %b, %one : (tensor<1x8xf32>, tensor<?x8xf32>, i64) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Bool constants become bytes; a splat becomes a constant of its reader's body.
// CHECK-LABEL: @constants
func.func @constants(%a: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xi1>) {
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<[1, 0]> : tensor<2xi8>
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2xi64>)
  // CHECK: arith.addi %{{.*}}, %{{.*}} : i64
  // CHECK: return {{.*}}, %[[C]]
  %one = arith.constant 1 : i64
  %t = arith.constant dense<true> : tensor<2xi1>
  %m = arith.constant dense<[true, false]> : tensor<2xi1>
  %0 = aten.add %a, %t, %one : (tensor<2xi64>, tensor<2xi1>, i64) -> tensor<2xi64>
  return %0, %m : tensor<2xi64>, tensor<2xi1>
}
