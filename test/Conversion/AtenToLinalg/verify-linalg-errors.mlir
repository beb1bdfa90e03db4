// RUN: dynamo-opt %s --split-input-file --verify-linalg --verify-diagnostics

// C1
func.func @aten(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is not of phase P2}}
  %0 = aten.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// C2
func.func @bool(%a: tensor<4xi8>) -> tensor<4xi1> {
  // expected-error @+1 {{has 'tensor<4xi1>': bool and unsigned integers are stored as signless bytes}}
  %0 = arith.trunci %a : tensor<4xi8> to tensor<4xi1>
  // expected-error @+1 {{has 'tensor<4xi1>'}}
  return %0 : tensor<4xi1>
}

// -----

// C3
func.func @keepdim(%a: tensor<4x8xf32>, %init: tensor<4x1xf32>) -> tensor<4x1xf32> {
  // expected-error @+1 {{has a result map with a constant}}
  %0 = linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>],
    iterator_types = ["parallel", "reduction"]}
    ins(%a : tensor<4x8xf32>) outs(%init : tensor<4x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

// C4
func.func @dtypes(%a: tensor<4xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{has rt.dtypes that are not one type per operand and result}}
  %0 = aten.extern "aten::sort"(%a) {args = [#aten.operand<0>], rt.dtypes = [i1]} : (tensor<4xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}
