// RUN: dynamo-opt %s --split-input-file --dynamo-kernel-to-memory-pipeline=target=avx2 | FileCheck %s

// Whatever a tile of a convolution needs is made in it: a part that left the
// parallel loop would take the threads away.

// Sums over blocks of input channels start from zeros in scratch.
// CHECK-LABEL: func.func @channel_blocks
// CHECK-SAME: rt.range = 4 :
// CHECK-NOT: memref<14x14x16xf32>{{.*}}memref<14x14x16xf32>
// CHECK: scf.for %{{.*}} = %arg3 to %arg4
// CHECK:   memref.store
// CHECK:   vector.fma
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

// CHECK-LABEL: func.func @long_row
// CHECK-SAME: rt.range = 6 :
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
