// RUN: dynamo-opt %s --codegen-vectorize --codegen-hoist | FileCheck %s

// A contraction on tiles inside a loop is one vector.contract whose accumulator
// the loop carries; what is outside of loops stays.
// CHECK-LABEL: func.func @k
// CHECK: linalg.fill
// CHECK: scf.for {{.*}} -> ({{.*}}vector<4x16xf32>)
// CHECK: vector.contract {{.*}} : vector<4x2xf32>, vector<2x16xf32> into vector<4x16xf32>
// CHECK-NOT: linalg.generic
module @k attributes {rt.kernel, rt.strategy = "conv"} {
  func.func @k(%a: tensor<4x64xf32>, %b: tensor<64x16xf32>) -> tensor<4x16xf32> {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x16xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
    %r = scf.for %k = %c0 to %c64 step %c2 iter_args(%acc = %f) -> tensor<4x16xf32> {
      %0 = tensor.extract_slice %a[0, %k] [4, 2] [1, 1] : tensor<4x64xf32> to tensor<4x2xf32>
      %1 = tensor.extract_slice %b[%k, 0] [2, 16] [1, 1] : tensor<64x16xf32> to tensor<2x16xf32>
      %2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%0, %1 : tensor<4x2xf32>, tensor<2x16xf32>) outs(%acc : tensor<4x16xf32>) {
      ^bb0(%x: f32, %y: f32, %o: f32):
        %m = arith.mulf %x, %y : f32
        %s = arith.addf %o, %m : f32
        linalg.yield %s : f32
      } -> tensor<4x16xf32>
      scf.yield %2 : tensor<4x16xf32>
    }
    return %r : tensor<4x16xf32>
  }
}
