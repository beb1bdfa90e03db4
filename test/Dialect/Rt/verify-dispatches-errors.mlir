// RUN: dynamo-opt %s --split-input-file -verify-diagnostics --verify-dispatches

// C1: the host does not compute.
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is not an operation of the host in phase P3: launches, aten.extern, rt.refuse_if and reshapes are accepted}}
  %0 = math.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// C1: nor has it memory yet.
func.func @main(%a: memref<4xf32>, %b: memref<4xf32>) {
  // expected-error @below {{is on memory, values are accepted}}
  rt.launch @k0::@k0(%a) outs(%b : memref<4xf32>) : (memref<4xf32>) -> ()
  return
}

// -----

// C1: one block.
// expected-error @below {{the host function has control flow, one block is accepted}}
func.func @branch() {
  cf.br ^bb1
^bb1:
  return
}

// -----

// C2: the kernel exists.
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{launches @k0::@k0, which is no kernel}}
  %0 = rt.launch @k0::@k0(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// C2: types agree.
func.func @main(%a: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{does not agree with the types of its kernel}}
  %0 = rt.launch @k0::@k0(%a) : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
module @k0 attributes {rt.kernel, rt.strategy = "rows"} {
  // expected-note @below {{the kernel has type}}
  func.func @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
    %0 = math.exp %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// C3: a known strategy.
module {
  // expected-error @below {{the kernel has no known rt.strategy}}
  module @k0 attributes {rt.kernel, rt.strategy = "fast"} {
  }
}

// -----

// C3: one function of the module's name.
module {
  // expected-error @below {{a kernel module holds one function of its name with one block}}
  module @k0 attributes {rt.kernel, rt.strategy = "rows"} {
    func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
      %0 = math.exp %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

// C3: the work is stated.
module {
  module @k0 attributes {rt.kernel, rt.strategy = "rows"} {
    // expected-error @below {{the kernel has no rt.work}}
    func.func @k0(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = math.exp %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}

// -----

// C4: values in.
module {
  module @k0 attributes {rt.kernel, rt.strategy = "rows"} {
    // expected-error @below {{a kernel takes ranked tensors and numbers, found 'memref<4xf32>'}}
    func.func @k0(%x: memref<4xf32>) attributes {rt.work = 4 : i64} {
      return
    }
  }
}

// -----

// C4: computed tensors out.
module {
  module @k0 attributes {rt.kernel, rt.strategy = "rows"} {
    func.func @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
      // expected-error @below {{a kernel returns tensors that it computed}}
      return %x : tensor<4xf32>
    }
  }
}

// -----

// C5: kernels launch nothing.
module {
  module @k0 attributes {rt.kernel, rt.strategy = "rows"} {
    func.func @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {rt.work = 4 : i64} {
      // expected-error @below {{is an operation of the host, inside a kernel}}
      %0 = rt.launch @k1::@k1(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
}
