// RUN: dynamo-opt %s --convert-aten-to-linalg --verify-linalg | FileCheck %s

// Maximum, exp, sum, quotient: half types stay in f32 until the last.
// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  // CHECK: %[[MAX:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4xf32>)
  // CHECK: arith.maximumf
  // CHECK: %[[EXP:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[MAX]] : {{.*}}) outs(%{{.*}} : tensor<4x8xf32>)
  // CHECK: math.exp {{.*}} : f32
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[EXP]] : tensor<4x8xf32>)
  // CHECK: linalg.generic {{.*}} ins(%[[EXP]], %[[SUM]] : tensor<4x8xf32>, tensor<4xf32>)
  // CHECK: arith.divf
  // CHECK-NEXT: arith.truncf
  %0 = aten.softmax %x {dim = -1 : i64, half_to_float = false} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// A row of nothing but -inf is 0 in the safe form.
// CHECK-LABEL: @safe_softmax
func.func @safe_softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: arith.divf
  // CHECK: arith.cmpf oeq
  // CHECK: arith.select
  %0 = aten.safe_softmax %x {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// log softmax stores no exponentials.
// CHECK-LABEL: @log_softmax
func.func @log_softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: arith.maximumf
  // CHECK: math.exp
  // CHECK-NEXT: arith.addf
  // CHECK: math.log
  // CHECK: arith.subf
  // CHECK-NEXT: arith.subf
  %0 = aten.log_softmax %x {dim = 1 : i64, half_to_float = false} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
