// RUN: dynamo-opt %s --split-input-file -verify-diagnostics --verify-kernels

// Inputs and outputs of a launch are apart, also by their bytes in the arena.
func.func @main(%a: memref<64xf32>) attributes {rt.num_inputs = 1 : i64, rt.arena_bytes = 512 : i64} {
  %0 = rt.slot 0 : memref<64xf32>
  %1 = rt.slot 128 : memref<64xf32>
  // expected-error @below {{writes output 0 over another operand}}
  rt.launch @k::@k(%0) outs(%1 : memref<64xf32>) : (memref<64xf32>) -> ()
  return
}

// -----

// Slots end before the arena does.
func.func @main() attributes {rt.num_inputs = 0 : i64, rt.arena_bytes = 64 : i64} {
  // expected-error @below {{ends behind the arena of 64 bytes}}
  %0 = rt.slot 0 : memref<64xf32>
  return
}

// -----

// The host computes nothing.
func.func @main() attributes {rt.num_inputs = 0 : i64, rt.arena_bytes = 0 : i64} {
  // expected-error @below {{is not an operation of the host in phase P4}}
  %0 = arith.constant 1.0 : f32
  return
}

// -----

// The plan is complete.
// expected-error @below {{expected a memory-planned host function: one block, no result, rt.num_inputs and rt.arena_bytes}}
func.func @main() attributes {rt.num_inputs = 0 : i64} {
  return
}

// -----

// Values are of phase P3.
func.func @main(%a: tensor<4xf32>) attributes {rt.num_inputs = 1 : i64, rt.arena_bytes = 0 : i64} {
  // expected-error @below {{is on values, memory is accepted}}
  %0 = rt.launch @k::@k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Launch and kernel agree.
module {
  func.func @main(%a: memref<4xf32>, %b: memref<8xf32>) attributes {rt.num_inputs = 1 : i64, rt.arena_bytes = 0 : i64} {
    // expected-error @below {{does not agree with the types of its kernel}}
    rt.launch @k::@k(%a) outs(%b : memref<8xf32>) : (memref<4xf32>) -> ()
    return
  }
  module @k attributes {rt.kernel, rt.strategy = "loops"} {
    // expected-note @below {{the kernel has type}}
    func.func @k(%a: memref<4xf32>, %b: memref<4xf32>, %i: index, %j: index) attributes {rt.range = 1 : i64, rt.work = 4 : i64} {
      return
    }
  }
}
