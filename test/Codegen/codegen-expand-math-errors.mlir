// RUN: dynamo-opt %s --codegen-expand-math=target=toaster --verify-diagnostics

// A target that is not known may lack fused products; the message lists those that are.
// expected-error @below {{unknown target 'toaster', accepted are host, generic, avx2, avx512}}
module @k attributes {rt.kernel} {
  func.func @k(%x: f32) -> f32 {
    %0 = math.exp %x : f32
    return %0 : f32
  }
}
