// RUN: dynamo-opt %s --codegen-lower-to-llvm | FileCheck %s

// The entry unpacks the pointers; the code's pointers do not alias. Functions
// that are not instructions are calls of libm.
// CHECK-DAG: llvm.func @atan2f(f32, f32) -> f32
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %[[ARGS:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK-SAME: rt.range = 8
// CHECK: %[[P:.*]] = llvm.load
// CHECK: llvm.call @k_code(%[[P]], %[[BEGIN]], %[[END]])
// CHECK-LABEL: llvm.func internal @k_code(
// CHECK-SAME: !llvm.ptr {llvm.noalias}
// CHECK: llvm.call @atan2f
module @k attributes {rt.kernel} {
  func.func @k(%x: memref<8xf32>, %begin: index, %end: index) attributes {rt.range = 8} {
    %c1 = arith.constant 1 : index
    scf.for %i = %begin to %end step %c1 {
      %0 = memref.load %x[%i] : memref<8xf32>
      %1 = math.atan2 %0, %0 : f32
      memref.store %1, %x[%i] : memref<8xf32>
    }
    return
  }
}
