// RUN: dynamo-opt %s --convert-aten-to-linalg | FileCheck %s

// Integer division by 0 raises in torch and traps in a kernel: the run is
// refused, and the division is by 1 where it is by 0 or -1.
// CHECK-LABEL: @by_tensor
func.func @by_tensor(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: %[[BAD:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<4xi32>) outs(%{{.*}} : tensor<i8>)
  // CHECK: arith.cmpi eq
  // CHECK: rt.refuse_if %[[BAD]], "an integer is divided by zero" : tensor<i8>
  // CHECK: ^bb0(%[[X:.*]]: i32, %[[Y:.*]]: i32, %{{.*}}: i32)
  // CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[Y]]
  // CHECK: arith.divsi %[[X]], %[[SAFE]]
  %0 = aten.floor_divide %a, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// Division by 0 itself is left to torch, too.
// CHECK-LABEL: @by_zero
func.func @by_zero(%a: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: aten.remainder
  %zero = arith.constant 0 : i64
  %0 = aten.remainder %a, %zero : (tensor<4xi32>, i64) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// By -1 it is a negation: the lowest integer over -1 traps.
// CHECK-LABEL: @by_minus_one
func.func @by_minus_one(%a: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK-NOT: arith.divsi
  // CHECK: arith.subi %c0{{.*}}, %in
  %n = arith.constant -1 : i64
  %0 = aten.floor_divide %a, %n : (tensor<4xi32>, i64) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// Python's remainder has the divisor's sign.
// CHECK-LABEL: @python_remainder
func.func @python_remainder(%a: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: %[[R:.*]] = arith.remsi
  // CHECK: %[[FIXED:.*]] = arith.addi %[[R]]
  // CHECK: arith.select %{{.*}}, %[[FIXED]], %[[R]]
  %n = arith.constant 3 : i64
  %0 = aten.remainder %a, %n : (tensor<4xi32>, i64) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// uint8 divides unsigned.
// CHECK-LABEL: @unsigned
func.func @unsigned(%a: tensor<4xui8>) -> tensor<4xui8> {
  // CHECK: arith.divui {{.*}} : i8
  %n = arith.constant 3 : i64
  %0 = aten.floor_divide %a, %n : (tensor<4xui8>, i64) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// True division of integers is in float.
// CHECK-LABEL: @true_division
func.func @true_division(%a: tensor<4xi32>) -> tensor<4xf32> {
  // CHECK: arith.sitofp
  // CHECK: arith.divf
  %n = arith.constant 3 : i64
  %0 = aten.div %a, %n : (tensor<4xi32>, i64) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
