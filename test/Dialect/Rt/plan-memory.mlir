// RUN: dynamo-opt %s --split-input-file --rt-plan-memory | FileCheck %s

// Values live at the same time are apart, a dead one's place is used again,
// the result is computed in the caller's buffer.
// CHECK-LABEL: func.func @reuse
// CHECK-SAME: (%[[IN:.*]]: memref<64xf32> {rt.dtype = i1}, %[[OUT:.*]]: memref<64xf32> {rt.dtype = ui8})
// CHECK-SAME: rt.arena_bytes = 512
// CHECK-SAME: rt.num_inputs = 1
func.func @reuse(%a: tensor<64xf32> {rt.dtype = i1}) -> (tensor<64xf32> {rt.dtype = ui8}) {
  // CHECK: %[[S0:.*]] = rt.slot [[O0:[0-9]+]] : memref<64xf32>
  // CHECK: rt.launch @k::@k(%[[IN]]) outs(%[[S0]] : memref<64xf32>) : (memref<64xf32>) -> ()
  // CHECK: %[[S1:.*]] = rt.slot [[O1:[0-9]+]] : memref<64xf32>
  // CHECK: rt.launch @k::@k(%{{.*}}) outs(%[[S1]] : memref<64xf32>)
  // CHECK: %[[S2:.*]] = rt.slot [[O0]] : memref<64xf32>
  // CHECK: rt.launch @k::@k(%{{.*}}) outs(%[[S2]] : memref<64xf32>)
  // CHECK: rt.launch @k::@k(%{{.*}}) outs(%[[OUT]] : memref<64xf32>)
  // CHECK-NEXT: return
  %0 = rt.launch @k::@k(%a) : (tensor<64xf32>) -> tensor<64xf32>
  %1 = rt.launch @k::@k(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = rt.launch @k::@k(%1) : (tensor<64xf32>) -> tensor<64xf32>
  %3 = rt.launch @k::@k(%2) : (tensor<64xf32>) -> tensor<64xf32>
  return %3 : tensor<64xf32>
}

// -----

// Two results of one launch, and what is read later, never share memory.
// CHECK-LABEL: func.func @lifetimes
// CHECK-SAME: rt.arena_bytes = 192
func.func @lifetimes(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[A:.*]] = rt.slot 0 : memref<4xf32>
  // CHECK: %[[B:.*]] = rt.slot 64 : memref<4xf32>
  // CHECK: rt.launch @k::@k2(%{{.*}}) outs(%[[A]], %[[B]] :
  // CHECK: %[[C:.*]] = rt.slot 128 : memref<4xf32>
  // CHECK: rt.launch @k::@k(%[[B]]) outs(%[[C]] :
  // CHECK: rt.launch @k::@k3(%[[A]], %[[C]])
  %0:2 = rt.launch @k::@k2(%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = rt.launch @k::@k(%0#1) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = rt.launch @k::@k3(%0#0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A returned input is copied; a value returned twice is computed in the first
// output and copied to the second; a reshape of a result is a view of the output.
// CHECK-LABEL: func.func @returns
// CHECK-SAME: (%[[IN:.*]]: memref<2x4xf32>, %[[O0:.*]]: memref<8xf32>, %[[O1:.*]]: memref<2x4xf32>, %[[O2:.*]]: memref<2x4xf32>)
// CHECK-SAME: rt.arena_bytes = 0
func.func @returns(%a: tensor<2x4xf32>) -> (tensor<8xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK: %[[V:.*]] = rt.reinterpret %[[O0]] : memref<8xf32> to memref<2x4xf32>
  // CHECK: rt.launch @k::@k(%[[IN]]) outs(%[[V]] : memref<2x4xf32>)
  // CHECK: rt.copy %[[V]] to %[[O1]]
  // CHECK: rt.copy %[[IN]] to %[[O2]]
  %0 = rt.launch @k::@k(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
  return %1, %0, %a : tensor<8xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// An extern call works on buffers; its result may alias its operand, whose slot
// is therefore not used again while the result is read.
// CHECK-LABEL: func.func @extern
// CHECK-SAME: rt.arena_bytes = 192
func.func @extern(%a: tensor<16xf32>, %b: tensor<16xi8>) -> tensor<16xf32> {
  // CHECK: %[[S:.*]] = rt.slot [[O:[0-9]+]] : memref<16xf32>
  // CHECK: %[[E:.*]] = rt.call_extern "aten::f"(%[[S]], %{{.*}}) {args = [#aten.operand<0>, #aten.operand<1>], kwargs = {}, operand_dtypes = [f32, i1], result_dtypes = [f32]} : (memref<16xf32>, memref<16xi8>) -> memref<16xf32>
  // CHECK-NOT: rt.slot [[O]] :
  // CHECK: rt.launch @k::@k2(%[[E]], %{{.*}})
  %0 = rt.launch @k::@k(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %1 = aten.extern "aten::f"(%0, %b) {args = [#aten.operand<0>, #aten.operand<1>], kwargs = {}, rt.dtypes = [f32, i1, f32]} : (tensor<16xf32>, tensor<16xi8>) -> tensor<16xf32>
  %2 = rt.launch @k::@k(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %3 = rt.launch @k::@k(%2) : (tensor<16xf32>) -> tensor<16xf32>
  %4 = rt.launch @k::@k2(%1, %3) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %4 : tensor<16xf32>
}

// -----

// A condition reads its byte where it is computed, before what comes after it.
// CHECK-LABEL: func.func @condition
func.func @condition(%a: tensor<16xf32>) -> tensor<16xf32> {
  // CHECK: %[[S:.*]] = rt.slot 0 : memref<i8>
  // CHECK: rt.launch @k::@flag(%{{.*}}) outs(%[[S]] : memref<i8>)
  // CHECK: rt.refuse_if %[[S]], "why" : memref<i8>
  // CHECK: rt.launch @k::@k
  %0 = rt.launch @k::@flag(%a) : (tensor<16xf32>) -> tensor<i8>
  rt.refuse_if %0, "why" : tensor<i8>
  %1 = rt.launch @k::@k(%a) : (tensor<16xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
