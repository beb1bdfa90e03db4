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

// Disjoint parts of one output, as a concatenation writes them. A tile is of
// no less than 1024 operations.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME: rt.range = 2 :
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

// -----

// A few long rows: the range takes the rows and blocks of their elements, one
// inner loop is left to vectorise.
// CHECK-LABEL: func.func @long_rows(
// CHECK-SAME: %[[BEGIN:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index)
// CHECK-SAME: rt.range = 294
// CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]]
// CHECK:   arith.remui %[[I]]
// CHECK:   arith.divui %[[I]]
// CHECK:   arith.minui
// CHECK:   scf.for
// CHECK:     memref.load
// CHECK:     memref.store
module @long_rows attributes {rt.kernel} {
  func.func @long_rows(%x: memref<3x100000xf32>, %y: memref<3x100000xf32>) {
    linalg.copy ins(%x : memref<3x100000xf32>) outs(%y : memref<3x100000xf32>)
    return
  }
}

// -----

// Many short rows: some rows to a tile, whole. Dims of one element take no part.
// CHECK-LABEL: func.func @short_rows(
// CHECK-SAME: %[[BEGIN:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index)
// CHECK-SAME: rt.range = 500
// CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]]
// CHECK-NOT: arith.remui
// CHECK:   scf.for
// CHECK:     scf.for
// CHECK:       memref.store
module @short_rows attributes {rt.kernel} {
  func.func @short_rows(%x: memref<1x10000x1x64xf32>, %y: memref<1x10000x1x64xf32>) {
    linalg.copy ins(%x : memref<1x10000x1x64xf32>) outs(%y : memref<1x10000x1x64xf32>)
    return
  }
}

// -----

// Few results of long sums are as many tiles.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME: rt.range = 6 :
module @sums attributes {rt.kernel} {
  func.func @sums(%x: memref<6x5000xf32>, %y: memref<6xf32>) {
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<6x5000xf32>) outs(%y : memref<6xf32>) {
    ^bb0(%a: f32, %s: f32):
      %0 = arith.addf %a, %s : f32
      linalg.yield %0 : f32
    }
    return
  }
}
