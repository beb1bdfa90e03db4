// RUN: dynamo-opt %s --split-input-file --codegen-tile-rows=target=avx2 | FileCheck %s

// Softmax of rows: one parallel loop; a stage for the maximum, one for exponential
// and sum, one for the quotient. The exponentials travel in a buffer of one row.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: memref<64x1024xf32>, %{{.*}}: memref<64x1024xf32>)
// CHECK: memref.alloca() {{.*}} : memref<1024xf32>
// CHECK: scf.forall
// CHECK:   scf.for {{.*}} -> (vector<32xf32>)
// CHECK:     arith.maximumf {{.*}} : vector<32xf32>
// CHECK:   arith.maximumf {{.*}} : vector<16xf32>
// CHECK:   scf.for {{.*}} -> (vector<32xf32>)
// CHECK:     math.exp {{.*}} : vector<32xf32>
// CHECK:     vector.store
// CHECK:     arith.addf {{.*}} : vector<32xf32>
// CHECK:   scf.for
// CHECK:     vector.load
// CHECK:     arith.divf {{.*}} : vector<32xf32>
// CHECK:     vector.store
#m = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
module @softmax attributes {rt.kernel, rt.strategy = "rows"} {
  func.func @softmax(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
    %ninf = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %e2 = tensor.empty() : tensor<64x1024xf32>
    %i = linalg.fill ins(%ninf : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %max = linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<64x1024xf32>) outs(%i : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.maximumf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<64xf32>
    %ex = linalg.generic {indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "parallel"]}
        ins(%x, %max : tensor<64x1024xf32>, tensor<64xf32>) outs(%e2 : tensor<64x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.subf %a, %b : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<64x1024xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %sum = linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]}
        ins(%ex : tensor<64x1024xf32>) outs(%z : tensor<64xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = arith.addf %a, %o : f32
      linalg.yield %0 : f32
    } -> tensor<64xf32>
    %q = linalg.generic {indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "parallel"]}
        ins(%ex, %sum : tensor<64x1024xf32>, tensor<64xf32>) outs(%e2 : tensor<64x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.divf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<64x1024xf32>
    return %q : tensor<64x1024xf32>
  }
}

// -----

// Contiguous dims are one loop; the last chunk starts early enough to be whole.
// CHECK-LABEL: func.func @collapse(
// CHECK: arith.minui
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK-NOT: arith.remui
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module @collapse attributes {rt.kernel, rt.strategy = "rows"} {
  func.func @collapse(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
    %e = tensor.empty() : tensor<1x2x3xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%x : tensor<1x2x3xf32>) outs(%e : tensor<1x2x3xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.negf %a : f32
      linalg.yield %v : f32
    } -> tensor<1x2x3xf32>
    return %0 : tensor<1x2x3xf32>
  }
}

// -----

// Rows of a table picked by number are vector loads: a gather whose last index is
// the lane number.
// CHECK-LABEL: func.func @embedding(
// CHECK: memref.load %{{.*}} : memref<7xi64>
// CHECK: vector.load {{.*}} vector<32xf32>
// CHECK: vector.store
// CHECK-NOT: vector.from_elements
module @embedding attributes {rt.kernel, rt.strategy = "loops"} {
  func.func @embedding(%i: tensor<7xi64>, %w: tensor<5x64xf32>) -> tensor<7x64xf32> {
    %e = tensor.empty() : tensor<7x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%i : tensor<7xi64>) outs(%e : tensor<7x64xf32>) {
    ^bb0(%a: i64, %o: f32):
      %k = arith.index_cast %a : i64 to index
      %l = linalg.index 1 : index
      %v = tensor.extract %w[%k, %l] : tensor<5x64xf32>
      linalg.yield %v : f32
    } -> tensor<7x64xf32>
    return %0 : tensor<7x64xf32>
  }
}
