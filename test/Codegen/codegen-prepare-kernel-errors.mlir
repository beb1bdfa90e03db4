// RUN: dynamo-opt %s --codegen-prepare-kernel --split-input-file --verify-diagnostics

// Nothing to launch: a private function is no kernel.
// expected-error @below {{expected a kernel module with one public function}}
module @k attributes {rt.kernel, rt.strategy = "loops"} {
  func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// Two functions do not say which one is launched.
// expected-error @below {{expected a kernel module with one public function}}
module @k attributes {rt.kernel, rt.strategy = "loops"} {
  func.func @k(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
