// RUN: dynamo-opt %s --rt-dedup-kernels | FileCheck %s

// Kernels that differ in names only are one; others are left.
// CHECK-LABEL: @main
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: rt.launch @k0::@k0
  // CHECK: rt.launch @k0::@k0
  // CHECK: rt.launch @k2::@k2
  // CHECK: rt.launch @k3::@k3
  %0 = rt.launch @k0::@k0(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = rt.launch @k1::@k1(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = rt.launch @k2::@k2(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = rt.launch @k3::@k3(%2) : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
// CHECK: module @k0
module @k0 attributes {rt.kernel, rt.strategy = "rows"} {
  func.func @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
    %0 = math.exp %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
// CHECK-NOT: module @k1
module @k1 attributes {rt.kernel, rt.strategy = "rows"} {
  func.func @k1(%y: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
    %e = math.exp %y : tensor<4xf32>
    return %e : tensor<4xf32>
  }
}
// CHECK: module @k2
module @k2 attributes {rt.kernel, rt.strategy = "loops"} {
  func.func @k2(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
    %0 = math.exp %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
// CHECK: module @k3
module @k3 attributes {rt.kernel, rt.strategy = "rows"} {
  func.func @k3(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
    %0 = math.exp2 %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
