// RUN: dynamo-opt %s --codegen-legalize-floats=target=avx2 | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: dynamo-opt %s --codegen-legalize-floats=target=generic | FileCheck %s --check-prefixes=CHECK,GENERIC

// bf16 is shifted and rounded as bits on every target.
// CHECK-LABEL: func.func @k
// CHECK: arith.shli
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.shrui
// AVX2: arith.extf {{.*}} : f16 to f32
// AVX2: math.exp {{.*}} : f32
// AVX2: arith.truncf {{.*}} : f32 to f16
// GENERIC-NOT: arith.extf
// GENERIC-NOT: arith.truncf
module @k attributes {rt.kernel} {
  func.func @k(%x: memref<1xbf16>, %y: memref<1xf16>) {
    %c0 = arith.constant 0 : index
    %0 = memref.load %x[%c0] : memref<1xbf16>
    %1 = arith.addf %0, %0 : bf16
    memref.store %1, %x[%c0] : memref<1xbf16>
    %2 = memref.load %y[%c0] : memref<1xf16>
    %3 = math.exp %2 : f16
    memref.store %3, %y[%c0] : memref<1xf16>
    return
  }
}
