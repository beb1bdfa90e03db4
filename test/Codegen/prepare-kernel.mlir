// RUN: dynamo-opt %s --split-input-file --codegen-prepare-kernel | FileCheck %s

// The work is iterations times operations, a transcendental counts ten; the
// producer is fused into its only reader.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: rt.work = 1300
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK-NEXT: arith.negf
// CHECK-NOT: linalg.generic
#id = affine_map<(d0) -> (d0)>
module @chain attributes {rt.kernel, rt.strategy = "loops"} {
  func.func @chain(%x: tensor<100xf32>) -> tensor<100xf32> {
    %e = tensor.empty() : tensor<100xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : tensor<100xf32>) outs(%e : tensor<100xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = math.exp %a : f32
      linalg.yield %v : f32
    } -> tensor<100xf32>
    %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%0 : tensor<100xf32>) outs(%e : tensor<100xf32>) {
    ^bb0(%a: f32, %o: f32):
      %v = arith.negf %a : f32
      linalg.yield %v : f32
    } -> tensor<100xf32>
    return %1 : tensor<100xf32>
  }
}

// -----

// Padding is written in parts that do not meet: what borders a dim is as long as
// the source in the dims before it.
// CHECK-LABEL: func.func @pad
// CHECK-SAME: %[[X:.*]]: tensor<4x5xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<7x8xf32>
// CHECK: %[[F0:.*]] = linalg.fill {{.*}} -> tensor<1x8xf32>
// CHECK: %[[R0:.*]] = tensor.insert_slice %[[F0]] into %[[E]][0, 0] [1, 8] [1, 1]
// CHECK: %[[R1:.*]] = tensor.insert_slice %{{.*}} into %[[R0]][5, 0] [2, 8] [1, 1]
// CHECK: %[[R2:.*]] = tensor.insert_slice %{{.*}} into %[[R1]][1, 5] [4, 3] [1, 1]
// CHECK: %[[R3:.*]] = tensor.insert_slice %[[X]] into %[[R2]][1, 0] [4, 5] [1, 1]
// CHECK: return %[[R3]]
module @pad attributes {rt.kernel, rt.strategy = "loops"} {
  func.func @pad(%x: tensor<4x5xf32>) -> tensor<7x8xf32> {
    %c = arith.constant -1.0 : f32
    %0 = tensor.pad %x low[1, 0] high[2, 3] {
    ^bb0(%i: index, %j: index):
      tensor.yield %c : f32
    } : tensor<4x5xf32> to tensor<7x8xf32>
    return %0 : tensor<7x8xf32>
  }
}
