// RUN: dynamo-opt %s --codegen-legalize-floats=target=toaster --verify-diagnostics

// A target that is not known may lack the conversions; the message lists those that are.
// expected-error @below {{unknown target 'toaster', accepted are host, generic, avx2, avx512}}
module @k attributes {rt.kernel} {
  func.func @k(%x: bf16) -> bf16 {
    %0 = arith.negf %x : bf16
    return %0 : bf16
  }
}
