// RUN: dynamo-opt %s --split-input-file --codegen-parallel-range --verify-kernels | FileCheck %s

// Two loops that write different outputs are laid end to end.
// CHECK-LABEL: func.func @two(
// CHECK-SAME: %[[BEGIN:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index)
// CHECK-SAME: rt.range = 12
// CHECK: arith.subi %[[BEGIN]], %{{.*}} : index
// CHECK: scf.for
// CHECK: memref.store
// CHECK: scf.for
// CHECK: memref.store
module @two attributes {rt.kernel} {
  func.func @two(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
    %c = arith.constant 1.0 : f32
    scf.forall (%i) in (8) {
      memref.store %c, %y[%i] : memref<8xf32>
    }
    scf.forall (%i) = (0) to (8) step (2) {
      memref.store %c, %z[%i] : memref<8xf32>
    }
    return
  }
}

// -----

// The second reads what the first writes: one piece.
// CHECK-LABEL: func.func @dependent(
// CHECK-SAME: rt.range = 1
module @dependent attributes {rt.kernel} {
  func.func @dependent(%x: memref<8xf32>, %y: memref<8xf32>) {
    %c = arith.constant 1.0 : f32
    scf.forall (%i) in (8) {
      memref.store %c, %x[%i] : memref<8xf32>
    }
    scf.forall (%i) in (8) {
      %0 = memref.load %x[%i] : memref<8xf32>
      memref.store %0, %y[%i] : memref<8xf32>
    }
    return
  }
}

// -----

// Disjoint parts of one output, as a concatenation writes them.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME: rt.range = 8
module @parts attributes {rt.kernel} {
  func.func @parts(%x: memref<4xf32>, %y: memref<8xf32>) {
    %0 = memref.subview %y[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
    memref.copy %x, %0 : memref<4xf32> to memref<4xf32, strided<[1]>>
    %1 = memref.subview %y[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
    memref.copy %x, %1 : memref<4xf32> to memref<4xf32, strided<[1], offset: 4>>
    return
  }
}

// -----

// What every call would repeat may not write an output.
// CHECK-LABEL: func.func @outside(
// CHECK-SAME: rt.range = 1
module @outside attributes {rt.kernel} {
  func.func @outside(%x: memref<1xf32>, %y: memref<8xf32>) {
    %c = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : index
    memref.store %c, %x[%c0] : memref<1xf32>
    scf.forall (%i) in (8) {
      memref.store %c, %y[%i] : memref<8xf32>
    }
    return
  }
}
