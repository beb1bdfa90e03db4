// RUN: dynamo-opt %s --rt-outline-dispatches --verify-dispatches | FileCheck %s

// Arguments are the outer values in order of first use, each once; a constant
// is copied in; the strategy and the work go with the kernel.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: arith.constant
  // CHECK: %[[R:.*]] = rt.launch @k0::@k0(%[[B]], %[[A]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: return %[[R]]
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %0 = rt.dispatch "rows" -> tensor<4xf32> {
    %1 = arith.mulf %b, %c : tensor<4xf32>
    %2 = arith.addf %1, %a : tensor<4xf32>
    %3 = arith.addf %2, %b : tensor<4xf32>
    rt.yield %3 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
// CHECK: module @k0 attributes {rt.kernel, rt.strategy = "rows"} {
// CHECK: func.func @k0(%[[K0:.*]]: tensor<4xf32>, %[[K1:.*]]: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 12 : i64}
// CHECK: %[[C:.*]] = arith.constant
// CHECK: arith.mulf %[[K0]], %[[C]]
// CHECK: return
