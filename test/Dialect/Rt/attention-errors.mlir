// RUN: dynamo-opt %s -split-input-file -verify-diagnostics

// C1: the operands have rank 4.
func.func @rank(%q: tensor<4x8x16xf32>, %o: tensor<2x4x8x16xf32>) {
  // expected-error @below {{expects query, key, value and mask of rank 4}}
  %0:2 = rt.attention %q, %o, %o {scale = 1.0 : f64}
      : (tensor<4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

// C2: one element type.
func.func @element(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xbf16>) {
  // expected-error @below {{expects query, key, value, mask and out of one element type}}
  %0:2 = rt.attention %q, %k, %k {scale = 1.0 : f64}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

// C3: query heads are a multiple of key heads.
func.func @heads(%q: tensor<2x4x8x16xf32>, %k: tensor<2x3x8x16xf32>) {
  // expected-error @below {{has 4 query heads, not a multiple of 3 key heads}}
  %0:2 = rt.attention %q, %k, %k {scale = 1.0 : f64}
      : (tensor<2x4x8x16xf32>, tensor<2x3x8x16xf32>, tensor<2x3x8x16xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

// C4: the mask broadcasts to the scores.
func.func @mask(%q: tensor<2x4x8x16xf32>, %m: tensor<2x4x8x5xf32>) {
  // expected-error @below {{does not broadcast to the scores}}
  %0:2 = rt.attention %q, %q, %q mask %m {scale = 1.0 : f64}
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x5xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

// C5: the log of the sums is f32.
func.func @lse(%q: tensor<2x4x8x16xbf16>) {
  // expected-error @below {{is not [batch, heads, queries] of 'f32'}}
  %0:2 = rt.attention %q, %q, %q {scale = 1.0 : f64}
      : (tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>)
      -> (tensor<2x4x8x16xbf16>, tensor<2x4x8xbf16>)
  return
}
