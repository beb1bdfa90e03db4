// RUN: dynamo-opt %s --codegen-prepare-kernel | FileCheck %s

// The work is iterations times operations, a transcendental counts ten; the
// producer is fused into its only reader.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: rt.work = 1300
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK-NEXT: arith.negf
// CHECK-NOT: linalg.generic
#id = affine_map<(d0) -> (d0)>
module @chain attributes {rt.kernel, rt.strategy = "loops"} {
  func.func @chain(%x: tensor<100xf32>) -> tensor<100xf32> {
    %e = tensor.empty() : tensor<100xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : tensor<100xf32>) outs(%e : tensor<100xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = math.exp %a : f32
      linalg.yield %v : f32
    } -> tensor<100xf32>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%0 : tensor<100xf32>) outs(%e : tensor<100xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.negf %a : f32
      linalg.yield %v : f32
    } -> tensor<100xf32>
    return %1 : tensor<100xf32>
  }
}
