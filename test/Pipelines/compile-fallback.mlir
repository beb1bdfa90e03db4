// RUN: dynamo-opt %s --compile-to=llvm -verify-diagnostics | FileCheck %s

// As one kernel this needs its intermediate value whole, more than a stack may
// hold: each of its operations is compiled alone, and the user learns of it.
// expected-remark @below {{kernel @k0 (loops) is compiled in parts}}
module {
  // CHECK-LABEL: func.func @main
  // CHECK: rt.launch @[[A:k[0-9]+]]::
  // CHECK: rt.launch @[[B:k[0-9]+]]::
  func.func @main(%a: tensor<512x1024xf32>, %i: tensor<512x1024xi64>) -> tensor<512x1024xf32> {
    %0 = rt.launch @k0::@k0(%a, %i) : (tensor<512x1024xf32>, tensor<512x1024xi64>) -> tensor<512x1024xf32>
    return %0 : tensor<512x1024xf32>
  }
  // CHECK: llvm.func @[[A]]
  // CHECK: llvm.func @[[B]]
  module @k0 attributes {rt.kernel, rt.strategy = "loops"} {
    func.func @k0(%x: tensor<512x1024xf32>, %i: tensor<512x1024xi64>) -> tensor<512x1024xf32> attributes {rt.work = 4 : i64} {
      %e = tensor.empty() : tensor<512x1024xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<512x1024xf32>) outs(%e : tensor<512x1024xf32>) {
      ^bb0(%p: f32, %o: f32):
        %s = arith.mulf %p, %p : f32
        linalg.yield %s : f32
      } -> tensor<512x1024xf32>
      %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<512x1024xi64>) outs(%e : tensor<512x1024xf32>) {
      ^bb0(%p: i64, %o: f32):
        %row = arith.index_cast %p : i64 to index
        %column = linalg.index 1 : index
        %s = tensor.extract %0[%row, %column] : tensor<512x1024xf32>
        linalg.yield %s : f32
      } -> tensor<512x1024xf32>
      return %1 : tensor<512x1024xf32>
    }
  }
}
