// RUN: dynamo-opt %s --codegen-parallel-range --split-input-file --verify-diagnostics

// A module without a kernel has no range.
// expected-error @below {{expected a kernel module with one public function}}
module @k attributes {rt.kernel} {
}

// -----

// Two functions do not say whose range it is.
// expected-error @below {{expected a kernel module with one public function}}
module @k attributes {rt.kernel} {
  func.func @k(%x: memref<4xf32>) {
    return
  }
  func.func @other(%x: memref<4xf32>) {
    return
  }
}

// -----

// A kernel that was not bufferised has no loops on memory.
module @k attributes {rt.kernel} {
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    %c = arith.constant 1.0 : f32
    // expected-error @below {{expected operands in memory, found tensors}}
    %0 = linalg.fill ins(%c : f32) outs(%x : tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// The same inside of a loop, where tiles are.
module @k attributes {rt.kernel} {
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    %c = arith.constant 1.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %x) -> tensor<4xf32> {
      // expected-error @below {{expected operands in memory, found tensors}}
      %0 = linalg.fill ins(%c : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
      scf.yield %0 : tensor<4xf32>
    }
    return %r : tensor<4xf32>
  }
}
