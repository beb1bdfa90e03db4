// RUN: dynamo-opt %s --split-input-file --codegen-bufferize-kernel --verify-diagnostics

// Scratch that does not fit on the stack is the caller's to avoid.
module @big attributes {rt.kernel} {
  func.func @big(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %z = arith.constant 0.0 : f32
    // expected-error @+1 {{kernel needs more than 524288 bytes of scratch: 4194304}}
    %e = tensor.empty() : tensor<1024x1024xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %0 = linalg.matmul ins(%x, %x : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %1 = linalg.matmul ins(%0, %x : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    return %1 : tensor<1024x1024xf32>
  }
}

// -----

module @dynamic attributes {rt.kernel} {
  // expected-error @+1 {{expected tensors of static shape, found 'tensor<?xf32>'}}
  func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
    return %x : tensor<?xf32>
  }
}
