// RUN: dynamo-opt %s --codegen-tile-rows=target=toaster --verify-diagnostics
// RUN: dynamo-opt %s --codegen-tile-matmul=target=toaster --verify-diagnostics
// RUN: dynamo-opt %s --codegen-tile-attention=target=toaster --verify-diagnostics
// RUN: dynamo-opt %s --codegen-legalize-floats=target=toaster --verify-diagnostics
// RUN: dynamo-opt %s --codegen-expand-math=target=toaster --verify-diagnostics

// Whatever pass is told a target that is none, the error says which there are.
// expected-error @below {{unknown target 'toaster', accepted are host, generic, avx2, avx512}}
module @k attributes {rt.kernel, rt.strategy = "rows"} {
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
