// RUN: dynamo-opt %s --split-input-file --verify-kernels --verify-diagnostics

module @no_range attributes {rt.kernel} {
  // expected-error @+1 {{expected the attribute 'rt.range', the number of parallel tiles}}
  func.func @no_range(%x: memref<8xf32>, %b: index, %e: index) {
    return
  }
}

// -----

module @no_bounds attributes {rt.kernel} {
  // expected-error @+1 {{expected buffers, then the range as two index arguments, and no result}}
  func.func @no_bounds(%x: memref<8xf32>) attributes {rt.range = 1} {
    return
  }
}

// -----

module @strided attributes {rt.kernel} {
  // expected-error @+1 {{expected static memrefs of identity layout}}
  func.func @strided(%x: memref<8xf32, strided<[2]>>, %b: index, %e: index) attributes {rt.range = 1} {
    return
  }
}

// -----

module @heap attributes {rt.kernel} {
  func.func @heap(%b: index, %e: index) attributes {rt.range = 1} {
    // expected-error @+1 {{expected no 'memref.alloc' in a kernel on memory}}
    %0 = memref.alloc() : memref<8xf32>
    return
  }
}

// -----

module @tensors attributes {rt.kernel} {
  func.func @tensors(%b: index, %e: index) attributes {rt.range = 1} {
    // expected-error @+1 {{expected no tensors in a kernel on memory}}
    %0 = tensor.empty() : tensor<8xf32>
    return
  }
}
