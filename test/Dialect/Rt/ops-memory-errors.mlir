// RUN: dynamo-opt %s --split-input-file -verify-diagnostics

// rt.dispatch C1.
func.func @f(%a: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{yields other types than its results}}
  %0 = rt.dispatch "rows" -> tensor<8xf32> {
    rt.yield %a : tensor<4xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

// rt.launch C1.
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{has results and outputs, one of them is accepted}}
  %0 = rt.launch @k::@k(%a) outs(%a : memref<4xf32>) : (memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

// rt.refuse_if C1.
func.func @f(%a: memref<4xi8>) {
  // expected-error @below {{has a flag of type 'memref<4xi8>', one i8 of rank 0 is accepted}}
  rt.refuse_if %a, "why" : memref<4xi8>
  return
}

// -----

// rt.refuse_if C1.
func.func @f(%a: tensor<i1>) {
  // expected-error @below {{has a flag of type 'tensor<i1>', one i8 of rank 0 is accepted}}
  rt.refuse_if %a, "why" : tensor<i1>
  return
}

// -----

// rt.slot C1.
func.func @f() {
  // expected-error @below {{has offset 32, a multiple of 64 is accepted}}
  %0 = rt.slot 32 : memref<4xf32>
  return
}

// -----

// rt.slot C2.
func.func @f() {
  // expected-error @below {{needs a static memref with identity layout}}
  %0 = rt.slot 0 : memref<?xf32>
  return
}

// -----

// rt.reinterpret C1.
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{needs two static memrefs with identity layout and equal elements}}
  %0 = rt.reinterpret %a : memref<4xf32> to memref<8xf32>
  return
}

// -----

// rt.call_extern: one dtype per value.
func.func @f(%a: memref<4xf32>) {
  // expected-error @below {{needs one dtype per operand and result}}
  %0 = rt.call_extern "aten::relu"(%a) {args = [], kwargs = {}, operand_dtypes = [], result_dtypes = [f32]} : (memref<4xf32>) -> memref<4xf32>
  return
}
