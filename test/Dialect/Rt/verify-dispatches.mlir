// RUN: dynamo-opt %s --verify-dispatches | FileCheck %s

// What keeps the contract passes unchanged.
// CHECK-LABEL: @main
func.func @main(%a: tensor<2x2xf32>) -> tensor<4xf32> {
  // CHECK: rt.launch
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %1 = rt.launch @k0::@k0(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
module @k0 attributes {rt.kernel, rt.strategy = "rows"} {
  func.func @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
    %0 = math.exp %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
