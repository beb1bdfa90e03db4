// RUN: dynamo-opt %s --split-input-file --verify-diagnostics --codegen-tile-matmul

// Nothing to schedule.
module @k attributes {rt.kernel, rt.strategy = "matmul"} {
  // expected-error @below {{cannot schedule a matmul kernel: no contraction in a matmul kernel}}
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// Sums that do not start from zero.
module @k attributes {rt.kernel, rt.strategy = "matmul"} {
  // expected-error @below {{the contraction does not start from a zero fill}}
  func.func @k(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>, %z: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = linalg.matmul ins(%x, %y : tensor<4x8xf32>, tensor<8x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// A reader that is no function of one element.
module @k attributes {rt.kernel, rt.strategy = "matmul"} {
  // expected-error @below {{two contractions in one kernel}}
  func.func @k(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<4x4xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %0 = linalg.matmul ins(%x, %y : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = linalg.matmul ins(%0, %0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

// The largest of products is no sum.
module @k attributes {rt.kernel, rt.strategy = "matmul"} {
  // expected-error @below {{the contraction's body is not a sum of products}}
  func.func @k(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<4x4xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %0 = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<4x8xf32>, tensor<8x4xf32>) outs(%f : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %1 = arith.mulf %p, %q : f32
      %2 = arith.maximumf %acc, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// A size known at run time only.
module @k attributes {rt.kernel, rt.strategy = "matmul"} {
  // expected-error @below {{a dynamic shape in the contraction}}
  func.func @k(%x: tensor<?x8xf32>, %y: tensor<8x4xf32>, %e: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %zero = arith.constant 0.0 : f32
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    %0 = linalg.matmul ins(%x, %y : tensor<?x8xf32>, tensor<8x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}
