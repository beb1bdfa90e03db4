// RUN: dynamo-opt %s --split-input-file --codegen-tile-conv --canonicalize --cse | FileCheck %s

// A 3x3 convolution that reads its filter as it lies (features first), and a
// bias + relu reader: channel blocks and row halves in parallel, the filter block
// packed once in each, pixel tiles of 4 (56 = 14 * 4), window loops that
// carry 4 vectors of 16 channels, the reader on the same tile.
// CHECK-LABEL: func.func @k
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (56, 64) step (14, 16)
// CHECK:   scf.for %{{.*}} = %c0 to %c576 step %c8
// CHECK-COUNT-24: vector.shuffle
// CHECK:   scf.for %{{.*}} = %c0 to %c14 step %c1
// CHECK:     scf.for %{{.*}} = %c0 to %c56 step %c4
// CHECK:       scf.for %{{.*}} = %c0 to %c3
// CHECK:         scf.for %{{.*}} = %c0 to %c3
// CHECK:           scf.for %{{.*}} = %c0 to %c64 step %c4
// CHECK-COUNT-16:    vector.fma {{.*}} : vector<16xf32>
// CHECK:         linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<4x16xf32>)
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d2)>
#in = affine_map<(h, w, f, kh, kw, c) -> (h + kh, w + kw, c)>
#filter = affine_map<(h, w, f, kh, kw, c) -> (f, c, kh, kw)>
#out = affine_map<(h, w, f, kh, kw, c) -> (h, w, f)>
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @k(%x: tensor<58x58x64xf32>, %w: tensor<64x64x3x3xf32>, %b: tensor<64xf32>) -> tensor<56x56x64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<56x56x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<56x56x64xf32>) -> tensor<56x56x64xf32>
    %y = linalg.generic {indexing_maps = [#in, #filter, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<58x58x64xf32>, tensor<64x64x3x3xf32>) outs(%f : tensor<56x56x64xf32>) {
    ^bb0(%a: f32, %v: f32, %acc: f32):
      %m = arith.mulf %a, %v : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<56x56x64xf32>
    %r = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %b : tensor<56x56x64xf32>, tensor<64xf32>) outs(%e : tensor<56x56x64xf32>) {
    ^bb0(%a: f32, %bias: f32, %o: f32):
      %s = arith.addf %a, %bias : f32
      %m = arith.maximumf %s, %zero : f32
      linalg.yield %m : f32
    } -> tensor<56x56x64xf32>
    return %r : tensor<56x56x64xf32>
  }
}

// -----

// Depthwise: rows in parallel, tiles of pixels by 16 channels, multiply-adds.
// CHECK-LABEL: func.func @d
// CHECK: scf.forall (%{{.*}}) in (28)
// CHECK-NOT: linalg.fill
// CHECK:   scf.for {{.*}} step %c6
// CHECK-COUNT-6:   vector.fma {{.*}} : vector<16xf32>
module @d attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @d(%x: tensor<1x58x58x32xf32>, %w: tensor<3x3x32xf32>) -> tensor<1x28x28x32xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x28x28x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
    %y = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x58x58x32xf32>, tensor<3x3x32xf32>) outs(%f : tensor<1x28x28x32xf32>) -> tensor<1x28x28x32xf32>
    return %y : tensor<1x28x28x32xf32>
  }
}

// -----

// A result that is also read by the rest of the epilogue leaves from the pixel
// loop: no operation acts on the whole column of pixels.
// CHECK-LABEL: func.func @two_results
// CHECK: scf.forall
// CHECK:   scf.for {{.*}} -> (tensor<300x16xf32>, tensor<300x16xf32>)
// CHECK-NOT: linalg.generic {{.*}}tensor<300x16xf32>
// CHECK:   scf.forall.in_parallel
#in = affine_map<(d0, d1, d2, d3) -> (d0 + d2, d3)>
#filter = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#out = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#bias = affine_map<(d0, d1) -> (d1)>
module @two_results attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @two_results(%x: tensor<602x8xf32>, %w: tensor<32x8x3xf32>, %b: tensor<32xf32>)
      -> (tensor<600x32xf32>, tensor<600x32xf32>) {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<600x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<600x32xf32>) -> tensor<600x32xf32>
    %y = linalg.generic {indexing_maps = [#in, #filter, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<602x8xf32>, tensor<32x8x3xf32>) outs(%f : tensor<600x32xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %m = arith.mulf %a, %c : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<600x32xf32>
    %p = linalg.generic {indexing_maps = [#id2, #bias, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%y, %b : tensor<600x32xf32>, tensor<32xf32>) outs(%e : tensor<600x32xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      linalg.yield %s : f32
    } -> tensor<600x32xf32>
    %r = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<600x32xf32>) outs(%e : tensor<600x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.maximumf %a, %zero : f32
      linalg.yield %m : f32
    } -> tensor<600x32xf32>
    return %p, %r : tensor<600x32xf32>, tensor<600x32xf32>
  }
}

// -----

// A depthwise filter is packed once for its channels and many rows: 48 channels
// (three cache lines) by 7 rows are a tile, of which there are 16.
// CHECK-LABEL: func.func @depthwise_packed
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (56, 96) step (7, 48)
// CHECK:   vector.shuffle
// CHECK:   scf.for
// CHECK:     vector.fma
#dwin = affine_map<(d0, d1, d2, d3, d4) -> (d0 + d3, d1 + d4, d2)>
#dwfilter = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>
#dwout = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
module @depthwise_packed attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @depthwise_packed(%x: tensor<62x62x96xf32>, %w: tensor<96x7x7xf32>) -> tensor<56x56x96xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<56x56x96xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<56x56x96xf32>) -> tensor<56x56x96xf32>
    %y = linalg.generic {indexing_maps = [#dwin, #dwfilter, #dwout], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<62x62x96xf32>, tensor<96x7x7xf32>) outs(%f : tensor<56x56x96xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %m = arith.mulf %a, %c : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<56x56x96xf32>
    return %y : tensor<56x56x96xf32>
  }
}

// -----

// Channels that are no whole cache lines stay together.
// CHECK-LABEL: func.func @depthwise_odd
// CHECK: scf.forall (%{{.*}}) in (28)
#dwin = affine_map<(d0, d1, d2, d3, d4) -> (d0 + d3, d1 + d4, d2)>
#dwfilter = affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>
#dwout = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
module @depthwise_odd attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @depthwise_odd(%x: tensor<30x30x72xf32>, %w: tensor<72x3x3xf32>) -> tensor<28x28x72xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<28x28x72xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<28x28x72xf32>) -> tensor<28x28x72xf32>
    %y = linalg.generic {indexing_maps = [#dwin, #dwfilter, #dwout], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<30x30x72xf32>, tensor<72x3x3xf32>) outs(%f : tensor<28x28x72xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %m = arith.mulf %a, %c : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<28x28x72xf32>
    return %y : tensor<28x28x72xf32>
  }
}

// -----

// A filter of 16 x 9 x 256 floats does not stay in L1: 32 input channels at a
// time, all pixels of the tile in turn; the epilogue follows in a pass of its own.
// CHECK-LABEL: func.func @channel_blocks
// CHECK: scf.forall {{.*}} = (0) to (64) step (16)
// CHECK:   %[[SUMS:.*]] = scf.for %{{.*}} = %c0 to %c256 step %c32 iter_args({{.*}}) -> (tensor<14x14x16xf32>)
// CHECK:     scf.for %{{.*}} = %c0 to %c14 step %c1
// CHECK:       vector.fma {{.*}} : vector<16xf32>
// CHECK:   tensor.extract_slice %[[SUMS]]
// CHECK:   linalg.generic
// CHECK:     arith.maximumf
#cin = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5)>
#cfilter = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d5, d3, d4)>
#cout = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
#cid = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module @channel_blocks attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @channel_blocks(%x: tensor<16x16x256xf32>, %w: tensor<64x256x3x3xf32>) -> tensor<14x14x64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<14x14x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<14x14x64xf32>) -> tensor<14x14x64xf32>
    %y = linalg.generic {indexing_maps = [#cin, #cfilter, #cout], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<16x16x256xf32>, tensor<64x256x3x3xf32>) outs(%f : tensor<14x14x64xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %m = arith.mulf %a, %c : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<14x14x64xf32>
    %r = linalg.generic {indexing_maps = [#cid, #cid], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<14x14x64xf32>) outs(%e : tensor<14x14x64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.maximumf %a, %zero : f32
      linalg.yield %m : f32
    } -> tensor<14x14x64xf32>
    return %r : tensor<14x14x64xf32>
  }
}

// -----

// A single long row is cut into parallel tiles.
// CHECK-LABEL: func.func @long_row
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (1500, 32) step (500, 16)
#lin = affine_map<(d0, d1, d2, d3) -> (d0 * 2 + d2, d3)>
#lfilter = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#lout = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
module @long_row attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @long_row(%x: tensor<3001x8xf32>, %w: tensor<32x8x3xf32>) -> tensor<1500x32xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1500x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1500x32xf32>) -> tensor<1500x32xf32>
    %y = linalg.generic {indexing_maps = [#lin, #lfilter, #lout], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<3001x8xf32>, tensor<32x8x3xf32>) outs(%f : tensor<1500x32xf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %m = arith.mulf %a, %c : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<1500x32xf32>
    return %y : tensor<1500x32xf32>
  }
}
