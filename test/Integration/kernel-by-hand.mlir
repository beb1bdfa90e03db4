// RUN: dynamo-run %s --input 2.5 | FileCheck %s
// RUN: dynamo-run %s --input 2.5 --from llvm --report --time 3 --profile | FileCheck %s --check-prefix=REPORT

// Phase llvm, written by hand: a kernel of 4 tiles run twice through the arena
// (2.5 + 2.5, and again), and a copy of the input.
// CHECK: result 0: 4xf32 [10, 10, 10, 10]
// CHECK: result 1: 4xf32 [2.5, 2.5, 2.5, 2.5]
// REPORT: compiled in
// REPORT: twice rows 2 4 4
// REPORT: arena 64 bytes, 3 instructions
// REPORT: best {{.*}} ms, median {{.*}} ms
// REPORT: us/run
// REPORT-DAG: #0 twice
// REPORT-DAG: #1 twice
// REPORT-DAG: #2 copy
func.func @main(%in: memref<4xf32>, %out: memref<4xf32>, %same: memref<4xf32>)
    attributes {rt.num_inputs = 1 : i64, rt.arena_bytes = 64 : i64} {
  %s = rt.slot 0 : memref<4xf32>
  rt.launch @twice::@twice(%in) outs(%s : memref<4xf32>) : (memref<4xf32>) -> ()
  rt.launch @twice::@twice(%s) outs(%out : memref<4xf32>) : (memref<4xf32>) -> ()
  rt.copy %in to %same : memref<4xf32>
  return
}
module @twice attributes {rt.kernel, rt.strategy = "rows"} {
  llvm.func @twice(%args: !llvm.ptr, %begin: i64, %end: i64)
      attributes {rt.range = 4 : i64, rt.work = 4 : i64} {
    %one = llvm.mlir.constant(1 : i64) : i64
    %x = llvm.load %args : !llvm.ptr -> !llvm.ptr
    %slot = llvm.getelementptr %args[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %slot : !llvm.ptr -> !llvm.ptr
    llvm.br ^head(%begin : i64)
  ^head(%i: i64):
    %more = llvm.icmp "slt" %i, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %from : !llvm.ptr -> f32
    %r = llvm.fadd %v, %v : f32
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %r, %to : f32, !llvm.ptr
    %next = llvm.add %i, %one : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }
}
