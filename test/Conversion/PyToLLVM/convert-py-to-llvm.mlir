// RUN: dynamo-opt %s -convert-py-to-llvm | FileCheck %s
// RUN: dynamo-opt %s -convert-py-to-llvm="type-offset=8 type-version-offset=372 dict-version-offset=24 cell-offset=16" | FileCheck %s --check-prefix=RAW
// RUN: dynamo-opt %s -convert-py-to-llvm -convert-arith-to-llvm -mlir-print-op-generic | FileCheck %s --check-prefix=LLVM

// What the frame's tables must hold: names, values, tuples of keys; specs.
// CHECK: module attributes {
// CHECK-SAME: py.constants = ["weight", 3, ["a", "b"], "a"]
// CHECK-SAME: py.specs = [#py.spec<!py.tensor<4xf32>, python_type = <5>>]

// CHECK: llvm.func @dynamoPyDictVersion(!llvm.ptr) -> i64
// CHECK: llvm.func @dynamoPyIsTensor(!llvm.ptr, !llvm.ptr) -> i32

// Reads, null checks, compares; all failures leave by one block.
// CHECK-LABEL: llvm.func @f.guard(
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr) -> i32 attributes {py.guards = ["is", "type m.py:4", "equal", "keys", "absent", "tensor", "dict_version", "is", "true"], py.inputs = 1 : i64, py.memory_words = 2 : i64}
// CHECK: %[[LOCALS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: %[[SELF:.*]] = llvm.load
// CHECK: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: %[[THERE:.*]] = llvm.icmp "ne" %[[SELF]], %[[NULL]]
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: llvm.cond_br %[[THERE]], ^{{.*}}, ^[[FAIL:bb[0-9]+]](%[[ONE]] : i32)
// CHECK: ^[[FAIL]](%[[WHICH:.*]]: i32):
// CHECK-NEXT: llvm.return %[[WHICH]]
// CHECK: llvm.call @dynamoPyIsType
// CHECK: llvm.call @dynamoPyHasVersion
// CHECK: llvm.and
// CHECK: llvm.call @dynamoPyDictVersion
// CHECK: llvm.store
// CHECK: llvm.return

// RAW-LABEL: llvm.func @f.guard
// RAW-NOT: dynamoPyIsType
// RAW-NOT: dynamoPyHasVersion
// RAW: llvm.getelementptr %{{.*}}[8] : (!llvm.ptr) -> !llvm.ptr, i8
// RAW: llvm.getelementptr %{{.*}}[372] : (!llvm.ptr) -> !llvm.ptr, i8
// RAW-NOT: dynamoPyDictVersion
// RAW: llvm.getelementptr %{{.*}}[24] : (!llvm.ptr) -> !llvm.ptr, i8

// LLVM-NOT: arith.
py.func guard @f.guard() -> (!py.object, !py.object) attributes {inputs = 1} {
  %self = py.arg 0
  py.guard.is %self is #py.ref<0>
  py.guard.type %self is #py.ref<1> version 77 {line = "m.py:4"}
  %w = py.attr %self "weight"
  %n = py.stack 0
  py.guard.equal %n, 3
  %d = py.instance_dict %self
  py.guard.keys %d are ["a", "b"]
  %b = py.attr %self "a"
  py.guard.absent %b
  py.guard.tensor %w like #py.spec<!py.tensor<4xf32>, python_type = <5>>
  %a = py.guard.dict_version %d {
    %0 = py.dict_item %d["a"]
    py.guard.is %0 is #py.ref<2>
    py.yield %0
  } : !py.object
  %u = py.unbox %n : i64
  %zero = arith.constant 0 : i64
  %c = arith.cmpi sgt, %u, %zero : i64
  py.guard.true %c
  py.return %w, %a : !py.object, !py.object
}

// Exits stay.
// CHECK: py.func exit @f.exit
py.func exit @f.exit(%x: !py.object, %a: !py.object) -> !py.object {
  py.return %x : !py.object
}
