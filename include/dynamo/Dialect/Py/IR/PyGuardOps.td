//===- PyGuardOps.td - what must be true for a trace to be valid --------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is a condition on the world at the segment's start.  A guard stays until
// it is shown to follow from others; canonicalisation drops what is true by
// itself and the second of two equal ones.  `line` says where the program
// relied on it ("model.py:12").
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_IR_PYGUARDOPS_TD
#define DYNAMO_DIALECT_PY_IR_PYGUARDOPS_TD

include "dynamo/Dialect/Py/IR/PyDialect.td"
include "dynamo/Dialect/Py/IR/PyInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// The segment may end here: keeps the guard, and unlike a write does not keep
// reads from being merged across it.
def Py_MayLeave : MemoryEffect<"::dynamo::py::MayLeave", DefaultResource, 0, PartialEffect>;

class Py_GuardOp<string mnemonic, int cost, list<Trait> traits = []>
    : Py_Op<"guard." # mnemonic,
            !listconcat([MemoryEffects<[Py_MayLeave]>, Py_GuardOpInterface], traits)> {
  let extraClassDeclaration = "unsigned getCost() { return " # cost # "; }";
}

def Py_GuardTypeOp : Py_GuardOp<"type", 3> {
  let summary = "type(x) is a class that is as it was";
  let description = [{
    `version` is the class's version tag, which changes with the class or one of
    its bases; absent: the class is `fixed`, or another guard of the function
    compares the version of the same class.

    ```mlir
    py.guard.type %x is #py.ref<1, "Linear"> version 4711
    ```
  }];
  let arguments = (ins Py_Object:$object, Py_Ref:$cls, OptionalAttr<I64Attr>:$version);
  let assemblyFormat = "$object `is` qualified($cls) (`version` $version^)? attr-dict";
}

def Py_GuardIsOp : Py_GuardOp<"is", 1> {
  let summary = "x is this object";
  let description = [{
    ```mlir
    py.guard.is %f is #py.ref<2, "relu">
    ```
  }];
  let arguments = (ins Py_Object:$object, Py_Ref:$value);
  let assemblyFormat = "$object `is` qualified($value) attr-dict";
}

def Py_GuardEqualOp : Py_GuardOp<"equal", 2> {
  let summary = "x has this type and value";
  let description = [{
    A value without identity; floats by their bits.

    ```mlir
    py.guard.equal %n, 12 : i64
    py.guard.equal %d, #py.ref<5, "torch.float32", fixed>
    ```
  }];
  let arguments = (ins Py_Object:$object, Py_Constant:$value);
  let assemblyFormat = "$object `,` $value attr-dict";
}

def Py_GuardPresentOp : Py_GuardOp<"present", 1> {
  let summary = "the step to x finds something";
  let description = [{
    What else looks at x implies it.

    C1: the object is a source.

    ```mlir
    py.guard.present %x
    ```
  }];
  let arguments = (ins Py_Object:$object);
  let assemblyFormat = "$object attr-dict";
  let hasVerifier = 1;
}

def Py_GuardAbsentOp : Py_GuardOp<"absent", 1> {
  let summary = "the step to x finds nothing";
  let description = [{
    C1: the object is a source that may find nothing.
    C2: nothing but guards of its absence reads it.

    ```mlir
    %x = py.attr %self "bias"
    py.guard.absent %x
    ```
  }];
  let arguments = (ins Py_Object:$object);
  let assemblyFormat = "$object attr-dict";
  let hasVerifier = 1;
}

def Py_GuardLengthOp : Py_GuardOp<"length", 2> {
  let summary = "len(x) of a list, tuple, dict, set or deque";
  let description = [{
    C1: the length is not negative.

    ```mlir
    py.guard.length %l is 3
    ```
  }];
  let arguments = (ins Py_Object:$object, I64Attr:$length);
  let assemblyFormat = "$object `is` $length attr-dict";
  let hasVerifier = 1;
}

def Py_GuardKeysOp : Py_GuardOp<"keys", 20> {
  let summary = "the keys of a dict or the elements of a set, in their order";
  let description = [{
    ```mlir
    py.guard.keys %d are ["weight", "bias"]
    ```
  }];
  let arguments = (ins Py_Object:$object, ArrayAttr:$keys);
  let assemblyFormat = "$object `are` $keys attr-dict";
}

def Py_GuardTensorOp : Py_GuardOp<"tensor", 10> {
  let summary = "a tensor looks as described";
  let description = [{
    ```mlir
    py.guard.tensor %x like #py.spec<!py.tensor<4x8xf32>, python_type = <0, "torch.Tensor">>
    ```
  }];
  let arguments = (ins Py_Object:$object, Py_Spec:$spec);
  let assemblyFormat = "$object `like` qualified($spec) attr-dict";
}

def Py_GuardFunctionOp : Py_GuardOp<"function", 4> {
  let summary = "code and defaults of a function are as they were";
  let description = [{
    Code, defaults and keyword defaults are the objects that `value` has: a
    function, or a tuple of the three.

    ```mlir
    py.guard.function %f like #py.ref<6, "forward">
    ```
  }];
  let arguments = (ins Py_Object:$object, Py_Ref:$value);
  let assemblyFormat = "$object `like` qualified($value) attr-dict";
}

def Py_GuardSameOp : Py_GuardOp<"same", 1> {
  let summary = "both are one object";
  let arguments = (ins Py_Object:$object, Py_Object:$other);
  let assemblyFormat = "$object `,` $other attr-dict";
}

def Py_GuardDistinctOp : Py_GuardOp<"distinct", 1> {
  let summary = "both are not one object";
  let arguments = (ins Py_Object:$object, Py_Object:$other);
  let assemblyFormat = "$object `,` $other attr-dict";
}

def Py_GuardNoAliasOp : Py_GuardOp<"no_alias", 6> {
  let summary = "two tensors share no memory";
  let arguments = (ins Py_Object:$object, Py_Object:$other);
  let assemblyFormat = "$object `,` $other attr-dict";
}

def Py_GuardStateOp : Py_GuardOp<"state", 5> {
  let summary = "torch's state is as it was";
  let description = [{
    Grad mode, inference mode, autocast, default dtype, modes and their like, as
    entry `state` of the table holds them.

    ```mlir
    py.guard.state #py.ref<7, "grad mode, float32">
    ```
  }];
  let arguments = (ins Py_Ref:$state);
  let assemblyFormat = "qualified($state) attr-dict";
}

def Py_GuardTrueOp : Py_GuardOp<"true", 1> {
  let summary = "a computed condition holds";
  let description = [{
    ```mlir
    %n = py.unbox %x : i64
    %c = arith.cmpi sgt, %n, %zero : i64
    py.guard.true %c
    ```
  }];
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

def Py_GuardDictVersionOp : Py_GuardOp<"dict_version", 2,
    [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments]> {
  let summary = "reads and guards of one dict behind one comparison";
  let description = [{
    While the version of the dict is what it was when the body last held, the
    body is skipped: its results are the objects that they were then. So the body
    may only hold what nothing but a change of the dict can change.

    C1: the body holds py.dict_item of this dict, and of guards those of
    identity, value, presence and absence of these, and keys and length of this
    dict.
    C2: there is one result per yielded object.

    ```mlir
    %w, %b = py.guard.dict_version %d {
      %0 = py.dict_item %d["weight"]
      %1 = py.dict_item %d["bias"]
      py.guard.equal %1, unit
      py.yield %0, %1
    } : !py.object, !py.object
    ```
  }];
  let arguments = (ins Py_Object:$object);
  let results = (outs Variadic<Py_Object>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$object $body (`:` type($results)^)? attr-dict";
  let hasVerifier = 1;
}

def Py_YieldOp : Py_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"GuardDictVersionOp">]> {
  let summary = "the objects that a py.guard.dict_version has read";
  let arguments = (ins Variadic<Py_Object>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange{}); }]>];
  let assemblyFormat = "($values^)? attr-dict";
}

#endif
