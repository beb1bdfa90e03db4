// RUN: dynamo-opt %s | dynamo-opt | FileCheck %s

// A dispatch and a launch on values print and parse back.
// CHECK-LABEL: @main
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: rt.dispatch "rows" -> tensor<4xf32> {
  %0 = rt.dispatch "rows" -> tensor<4xf32> {
    // CHECK: %[[Y:.*]] = math.exp
    %1 = math.exp %a : tensor<4xf32>
    // CHECK: rt.yield %[[Y]] : tensor<4xf32>
    rt.yield %1 : tensor<4xf32>
  }
  // CHECK: rt.launch @k::@k({{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = rt.launch @k::@k(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// The host program on memory prints and parses back.
// CHECK-LABEL: @memory
func.func @memory(%a: memref<4x8xf32>, %b: memref<32xf32>) {
  // CHECK: %[[S:.*]] = rt.slot 128 : memref<4x8xf32>
  %s = rt.slot 128 : memref<4x8xf32>
  // CHECK: rt.launch @k::@k(%{{.*}}) outs(%[[S]] : memref<4x8xf32>) : (memref<4x8xf32>) -> ()
  rt.launch @k::@k(%a) outs(%s : memref<4x8xf32>) : (memref<4x8xf32>) -> ()
  // CHECK: %[[V:.*]] = rt.reinterpret %[[S]] : memref<4x8xf32> to memref<32xf32>
  %v = rt.reinterpret %s : memref<4x8xf32> to memref<32xf32>
  // CHECK: rt.copy %[[V]] to %{{.*}} : memref<32xf32>
  rt.copy %v to %b : memref<32xf32>
  // CHECK: rt.call_extern "aten::relu"(%{{.*}}) {args = [], kwargs = {}, operand_dtypes = [f32], result_dtypes = [f32]} : (memref<4x8xf32>) -> memref<4x8xf32>
  %r = rt.call_extern "aten::relu"(%a) {args = [], kwargs = {}, operand_dtypes = [f32], result_dtypes = [f32]} : (memref<4x8xf32>) -> memref<4x8xf32>
  return
}

// A condition on the data prints and parses back, on values and on memory.
// CHECK-LABEL: @conditions
func.func @conditions(%a: tensor<i8>, %b: memref<i8>) {
  // CHECK: rt.refuse_if %{{.*}}, "why" : tensor<i8>
  rt.refuse_if %a, "why" : tensor<i8>
  // CHECK: rt.refuse_if %{{.*}}, "why" : memref<i8>
  rt.refuse_if %b, "why" : memref<i8>
  return
}
