// RUN: dynamo-opt %s --split-input-file --codegen-tile-matmul=target=avx2 --cse | FileCheck %s

// A linear layer: 48 panels of 16 columns in parallel; the weight is transposed
// into a panel by squares of 8 x 8; 21 register tiles of 6 x 16 and the rest of
// two rows; the epilogue runs on rows of the tile of C.
// CHECK-LABEL: func.func @linear
// CHECK: scf.forall (%[[N:.*]]) = (0) to (768) step (16)
// CHECK:   %[[C:.*]] = bufferization.alloc_tensor() : tensor<128x16xf32>
// CHECK:   %[[P:.*]] = bufferization.alloc_tensor() : tensor<768x16xf32>
// CHECK:   scf.for %{{.*}} = %c0 to %c768 step %c8 iter_args(%{{.*}} = %[[P]])
// CHECK-COUNT-48: vector.shuffle
// CHECK:   scf.for %{{.*}} = %c0 to %c126 step %c6
// CHECK:     scf.for %{{.*}} = %c0 to %c768 step %c4
// CHECK-COUNT-24: vector.fma
// CHECK:     } {{.*}}
// CHECK:   scf.for %{{.*}} = %c0 to %c768 step %c4
// CHECK-COUNT-8: vector.fma
// CHECK:   scf.for %{{.*}} = %c0 to %c128 step %c1
// CHECK:     linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<16xf32>)
// CHECK:   tensor.parallel_insert_slice
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
module @linear attributes {rt.kernel, rt.strategy = "matmul"} {
  func.func @linear(%x: tensor<128x768xf32>, %w: tensor<768x768xf32>, %bias: tensor<768xf32>) -> tensor<128x768xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x768xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x768xf32>) -> tensor<128x768xf32>
    %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<128x768xf32>, tensor<768x768xf32>) outs(%f : tensor<128x768xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<128x768xf32>
    %z = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y, %bias : tensor<128x768xf32>, tensor<768xf32>) outs(%e : tensor<128x768xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.addf %p, %q : f32
      %1 = arith.maximumf %0, %zero : f32
      linalg.yield %1 : f32
    } -> tensor<128x768xf32>
    return %z : tensor<128x768xf32>
  }
}

// -----

// One row times a weight [n, k]: dot products of the row with four rows of the
// weight at a time; no panel.
// CHECK-LABEL: func.func @one_row
// CHECK: scf.forall (%{{.*}}) = (0) to (768) step (96)
// CHECK-NOT: vector.shuffle
// CHECK:   scf.for %{{.*}} = %c0 to %c768 step %c16
// CHECK-COUNT-8: vector.fma {{.*}} : vector<8xf32>
// CHECK-COUNT-4: vector.reduction <add>
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
module @one_row attributes {rt.kernel, rt.strategy = "matmul"} {
  func.func @one_row(%x: tensor<1x768xf32>, %w: tensor<768x768xf32>) -> tensor<1x768xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x768xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x768xf32>) -> tensor<1x768xf32>
    %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<1x768xf32>, tensor<768x768xf32>) outs(%f : tensor<1x768xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<1x768xf32>
    return %y : tensor<1x768xf32>
  }
}

// -----

// Half types are packed as f32: A row by row, B into its panel; the named
// operation is read like a generic. The weight is [k, n]: rows are copied.
// 50 columns end in a panel of 2, for which 8 suffice.
// CHECK-LABEL: func.func @half
// CHECK: scf.forall
// CHECK:   arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
// CHECK:   arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK:   vector.fma {{.*}} : vector<16xf32>
// CHECK:   arith.extf %{{.*}} : vector<2xf16> to vector<2xf32>
// CHECK:   vector.fma {{.*}} : vector<8xf32>
// CHECK:   linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<32xf16>)
// CHECK:   linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<16xf16>)
// CHECK:   linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<2xf16>)
#id = affine_map<(m, n) -> (m, n)>
module @half attributes {rt.kernel, rt.strategy = "matmul"} {
  func.func @half(%x: tensor<32x64xf16>, %w: tensor<64x50xf16>) -> tensor<32x50xf16> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x50xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x50xf32>) -> tensor<32x50xf32>
    %y = linalg.matmul ins(%x, %w : tensor<32x64xf16>, tensor<64x50xf16>) outs(%f : tensor<32x50xf32>) -> tensor<32x50xf32>
    %h = tensor.empty() : tensor<32x50xf16>
    %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y : tensor<32x50xf32>) outs(%h : tensor<32x50xf16>) {
    ^bb0(%p: f32, %o: f16):
      %0 = arith.truncf %p : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<32x50xf16>
    return %z : tensor<32x50xf16>
  }
}

// -----

// Attention scores with heads inside of rows: the heads are parallel, and
// register tiles go straight to the result when nothing follows.
// CHECK-LABEL: func.func @heads
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (12, 128) step (1, 128)
// CHECK:   scf.for %{{.*}} = %c0 to %c64 step %c4
// CHECK:   vector.transfer_write %{{.*}} : vector<16xf32>, tensor<1x1x128x128xf32>
module @heads attributes {rt.kernel, rt.strategy = "matmul"} {
  func.func @heads(%q: tensor<1x128x12x64xf32>, %k: tensor<1x128x12x64xf32>) -> tensor<1x12x128x128xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x12x128x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x12x128x128xf32>) -> tensor<1x12x128x128xf32>
    %y = linalg.generic {
        indexing_maps = [affine_map<(b, h, l, s, d) -> (b, l, h, d)>, affine_map<(b, h, l, s, d) -> (b, s, h, d)>, affine_map<(b, h, l, s, d) -> (b, h, l, s)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<1x128x12x64xf32>, tensor<1x128x12x64xf32>) outs(%f : tensor<1x12x128x128xf32>) {
    ^bb0(%p: f32, %r: f32, %acc: f32):
      %0 = arith.mulf %p, %r : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<1x12x128x128xf32>
    return %y : tensor<1x12x128x128xf32>
  }
}

// -----

// Kernels of other strategies stay as they are.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: return
module @rows attributes {rt.kernel, rt.strategy = "rows"} {
  func.func @rows(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
