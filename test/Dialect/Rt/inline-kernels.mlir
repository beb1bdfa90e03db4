// RUN: dynamo-opt %s --rt-inline-kernels=kernels=k0 | FileCheck %s
// RUN: dynamo-opt %s --rt-inline-kernels=kernels=k0 --rt-form-dispatches=fuse=false --rt-outline-dispatches --rt-dedup-kernels --verify-dispatches | FileCheck %s --check-prefix=SPLIT

#id = affine_map<(d0) -> (d0)>

// The kernel's operations take the place of each of its launches; others stay.
// CHECK-LABEL: func.func @main
// CHECK: %[[E:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[E]]
// CHECK: math.tanh
// CHECK: rt.launch @k1::@k1
// CHECK: math.exp
// CHECK: math.tanh
// CHECK-NOT: module @k0
// CHECK: module @k1

// Then each is a kernel of its own, of which there are two.
// SPLIT-LABEL: func.func @main
// SPLIT: rt.launch @[[A:.*]]::
// SPLIT: rt.launch @[[B:.*]]::
// SPLIT: rt.launch @k1::@k1
// SPLIT: rt.launch @[[A]]::
// SPLIT: rt.launch @[[B]]::
// SPLIT: module @k1
// SPLIT: module @[[A]] attributes
// SPLIT: module @[[B]] attributes
// SPLIT-NOT: module
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = rt.launch @k0::@k0(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = rt.launch @k1::@k1(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = rt.launch @k0::@k0(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
module @k0 attributes {rt.kernel, rt.strategy = "rows"} {
  func.func @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
    %e = tensor.empty() : tensor<4xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = math.exp %p : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %s = math.tanh %p : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
module @k1 attributes {rt.kernel, rt.strategy = "rows"} {
  func.func @k1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
    %0 = math.exp %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
