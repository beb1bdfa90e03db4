// RUN: dynamo-opt %s --split-input-file --codegen-tile-rows --verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
module @k attributes {rt.kernel, rt.strategy = "rows"} {
  // expected-error @+1 {{not a rows kernel: a computed tensor read under two permutations}}
  func.func @k(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %e = tensor.empty() : tensor<8x8xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.negf %a : f32
      linalg.yield %v : f32
    } -> tensor<8x8xf32>
    %1 = linalg.generic {indexing_maps = [#id, #tr, #id], iterator_types = ["parallel", "parallel"]}
        ins(%0, %0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %v = arith.addf %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<8x8xf32>
    return %1 : tensor<8x8xf32>
  }
}

// -----

module @d attributes {rt.kernel, rt.strategy = "rows"} {
  // expected-error @+1 {{not a rows kernel: a tensor that is not static or of bytes}}
  func.func @d(%x: tensor<?xf32>) -> tensor<?xf32> {
    return %x : tensor<?xf32>
  }
}
