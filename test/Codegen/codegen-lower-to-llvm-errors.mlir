// RUN: dynamo-opt %s --codegen-lower-to-llvm --split-input-file --verify-diagnostics

// An entry needs a function to call.
// expected-error @below {{expected a kernel module with one public function}}
module @k attributes {rt.kernel} {
  func.func private @k(%x: memref<8xf32>, %begin: index, %end: index) {
    return
  }
}

// -----

// The range is missing: codegen-parallel-range did not run.
module @k attributes {rt.kernel} {
  // expected-error @below {{expected memrefs, then the range as two index arguments, and no result, found '(memref<8xf32>) -> ()'}}
  func.func @k(%x: memref<8xf32>) {
    return
  }
}

// -----

// The ABI passes pointers to data, not numbers.
module @k attributes {rt.kernel} {
  // expected-error @below {{expected memrefs, then the range as two index arguments, and no result, found '(f32, index, index) -> ()'}}
  func.func @k(%x: f32, %begin: index, %end: index) {
    return
  }
}

// -----

// Results go to buffers of the caller.
module @k attributes {rt.kernel} {
  // expected-error @below {{expected memrefs, then the range as two index arguments, and no result, found '(index, index) -> index'}}
  func.func @k(%begin: index, %end: index) -> index {
    return %begin : index
  }
}

// -----

// What no pass before has lowered is named.
module @k attributes {rt.kernel} {
  func.func @k(%x: memref<8xf32>, %begin: index, %end: index) {
    %c = arith.constant 1.0 : f32
    // expected-error @below {{failed to legalize operation 'linalg.fill'}}
    linalg.fill ins(%c : f32) outs(%x : memref<8xf32>)
    return
  }
}
