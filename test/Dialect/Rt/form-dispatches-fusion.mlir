// RUN: dynamo-opt %s --split-input-file --rt-form-dispatches | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#stat = affine_map<(d0, d1) -> (d0)>

// Softmax is one rows kernel: maximum, exp, sum and division share the rows.
// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // CHECK: %[[R:.*]] = rt.dispatch "rows" -> tensor<8x16xf32> {
  // CHECK: arith.maximumf
  // CHECK: math.exp
  // CHECK: arith.addf
  // CHECK: %[[Y:.*]] = linalg.generic
  // CHECK: arith.divf
  // CHECK: rt.yield %[[Y]]
  // CHECK-NOT: rt.dispatch
  // CHECK: return %[[R]]
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %e1 = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %f0 = linalg.fill ins(%ninf : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %max = linalg.generic {indexing_maps = [#id, #stat], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x16xf32>) outs(%f0 : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.maximumf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %exp = linalg.generic {indexing_maps = [#id, #stat, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %s = math.exp %d : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #stat], iterator_types = ["parallel", "reduction"]} ins(%exp : tensor<8x16xf32>) outs(%f1 : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %div = linalg.generic {indexing_maps = [#id, #stat, #id], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<8x16xf32>, tensor<8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.divf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %div : tensor<8x16xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#stat = affine_map<(d0, d1) -> (d0)>

// Rows too long to keep are not shared.
// CHECK-LABEL: @long_rows
func.func @long_rows(%x: tensor<8x32768xf32>) -> tensor<8x32768xf32> {
  // CHECK: rt.dispatch "rows"
  // CHECK: math.exp
  // CHECK: rt.dispatch "rows"
  // CHECK: arith.addf
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<8xf32>
  %e = tensor.empty() : tensor<8x32768xf32>
  %exp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x32768xf32>) outs(%e : tensor<8x32768xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.exp %p : f32
    linalg.yield %s : f32
  } -> tensor<8x32768xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #stat], iterator_types = ["parallel", "reduction"]} ins(%exp : tensor<8x32768xf32>) outs(%f1 : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %div = linalg.generic {indexing_maps = [#id, #stat, #id], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : tensor<8x32768xf32>, tensor<8xf32>) outs(%e : tensor<8x32768xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.divf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<8x32768xf32>
  return %div : tensor<8x32768xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
#stat = affine_map<(d0, d1) -> (d0)>

// A contraction takes bias and activation behind it, also by a transpose; a
// value with another reader leaves the kernel as well.  What needs the whole
// result (its row sums) does not join, nor what waits for that.
// CHECK-LABEL: @epilogue
func.func @epilogue(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>, %b: tensor<8x32xf32>) -> (tensor<32x8xf32>, tensor<8x32xf32>) {
  // CHECK: %[[M:.*]]:2 = rt.dispatch "matmul" -> tensor<8x32xf32>, tensor<32x8xf32> {
  // CHECK: %[[A:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
  // CHECK: %[[B:.*]] = linalg.generic
  // CHECK: arith.addf
  // CHECK: %[[T:.*]] = linalg.generic
  // CHECK: math.exp
  // CHECK: rt.yield %[[B]], %[[T]]
  // CHECK: %[[R:.*]] = rt.dispatch "rows" -> tensor<8x32xf32> {
  // CHECK: iterator_types = ["parallel", "reduction"]
  // CHECK: iterator_types = ["parallel", "parallel"]
  // CHECK: return %[[M]]#1, %[[R]]
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %et = tensor.empty() : tensor<32x8xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<8x16xf32>, tensor<16x32xf32>) outs(%f : tensor<8x32xf32>) {
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x32xf32>
  %a = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<8x32xf32>, tensor<8x32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<8x32xf32>
  %t = linalg.generic {indexing_maps = [#tr, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x32xf32>) outs(%et : tensor<32x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = math.exp %p : f32
    linalg.yield %0 : f32
  } -> tensor<32x8xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #stat], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8x32xf32>) outs(%f1 : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#id, #stat, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %sum : tensor<8x32xf32>, tensor<8xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %0 = arith.subf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<8x32xf32>
  return %t, %d : tensor<32x8xf32>, tensor<8x32xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The mean of a difference is one kernel down to its single value.
// CHECK-LABEL: @full_reduction
func.func @full_reduction(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<f32> {
  // CHECK: rt.dispatch "rows" -> tensor<f32>
  // CHECK: arith.subf
  // CHECK: iterator_types = ["reduction", "reduction"]
  // CHECK: arith.divf
  // CHECK-NOT: rt.dispatch
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 128.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %e0 = tensor.empty() : tensor<f32>
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.subf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%d : tensor<8x16xf32>) outs(%f : tensor<f32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %mean = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%sum : tensor<f32>) outs(%e0 : tensor<f32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.divf %p, %n : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %mean : tensor<f32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Two elementwise readers of one tensor are one kernel with two results.
// CHECK-LABEL: @siblings
func.func @siblings(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  // CHECK: rt.dispatch "rows" -> tensor<8x16xf32>, tensor<8x16xf32>
  // CHECK-NOT: rt.dispatch
  %e = tensor.empty() : tensor<8x16xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.exp %p : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.tanh %p : f32
    linalg.yield %s : f32
  } -> tensor<8x16xf32>
  return %a, %b : tensor<8x16xf32>, tensor<8x16xf32>
}
