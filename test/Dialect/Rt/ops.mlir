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
