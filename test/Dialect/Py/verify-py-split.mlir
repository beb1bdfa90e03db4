// RUN: dynamo-opt %s -verify-py-split -split-input-file | FileCheck %s

// Other doors have no Python side.
// CHECK: func.func @main
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }

// -----

// CHECK: py.func guard @f.guard
py.func guard @f.guard() -> !py.object attributes {inputs = 1} {
  %x = py.arg 0
  %n = py.unbox %x : i64
  %zero = arith.constant 0 : i64
  %c = arith.cmpi sgt, %n, %zero : i64
  py.guard.true %c
  py.return %x : !py.object
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
py.func exit @f.exit(%x: !py.object, %r: tensor<4xf32>) -> !py.object {
  py.copy_tensor %x, %r : tensor<4xf32>
  py.return %x : !py.object
}
