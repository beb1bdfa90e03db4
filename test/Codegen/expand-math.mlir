// RUN: dynamo-opt %s --codegen-expand-math=target=avx2 | FileCheck %s --check-prefixes=CHECK,FMA
// RUN: dynamo-opt %s --codegen-expand-math=target=generic | FileCheck %s --check-prefixes=CHECK,MUL

// An exponential is arithmetic at any width, with fused products where the target
// has them.
// CHECK-LABEL: func.func @exp
// CHECK-NOT: math.exp
// FMA: math.fma {{.*}} : vector<32xf32>
// MUL-NOT: math.fma
module @exp attributes {rt.kernel} {
  func.func @exp(%x: vector<32xf32>, %y: f32) -> (vector<32xf32>, f32) {
    %0 = math.exp %x : vector<32xf32>
    %1 = math.exp %y : f32
    // CHECK: return
    return %0, %1 : vector<32xf32>, f32
  }

  // Large angles go to the scalar function lane by lane.
  // CHECK-LABEL: func.func private @sin
  // CHECK: %[[ANY:.*]] = vector.reduction <or>
  // CHECK: scf.if %[[ANY]]
  // CHECK: math.sin {{.*}} : f32
  // CHECK-NOT: math.sin {{.*}} : vector
  // CHECK: return
  func.func private @sin(%x: vector<32xf32>) -> vector<32xf32> {
    %0 = math.sin %x : vector<32xf32>
    return %0 : vector<32xf32>
  }

  // f64 and functions without an expansion stay for libm.
  // CHECK-LABEL: func.func private @rest
  // CHECK: math.exp {{.*}} : f64
  // CHECK: math.atan
  // CHECK: return
  func.func private @rest(%x: f64, %y: f32) -> (f64, f32) {
    %0 = math.exp %x : f64
    %1 = math.atan %y : f32
    return %0, %1 : f64, f32
  }
}
