//===- PySourceOps.td - where objects come from -------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Roots, and steps from an object to what it holds.  A step reads the object's
// own storage and never runs code of the user's.  Equal places are one source:
// sources are pure (see the dialect's notes on time), so CSE merges them.
//
// Constraints: (C1) an index is not negative; (C2) a key is a constant without
// identity or an object reference; (C3) a name is not empty.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_IR_PYSOURCEOPS_TD
#define DYNAMO_DIALECT_PY_IR_PYSOURCEOPS_TD

include "dynamo/Dialect/Py/IR/PyDialect.td"
include "dynamo/Dialect/Py/IR/PyInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Py_SourceOp<string mnemonic, bit absent, list<Trait> traits = []>
    : Py_Op<mnemonic, !listconcat([Pure, Py_SourceOpInterface], traits)> {
  let results = (outs Py_Object:$result);
  code sourceMethods = "bool mayBeAbsent() { return " # !if(absent, "true", "false") # "; }";
  let extraClassDeclaration = sourceMethods;
}

// The steps share how they are written: `py.type_of %x`, `py.item %x[0]`.
class Py_StepOp<string mnemonic, bit absent = 0> : Py_SourceOp<mnemonic, absent> {
  let arguments = (ins Py_Object:$object);
  let assemblyFormat = "$object attr-dict";
}
class Py_IndexOp<string mnemonic, bit absent> : Py_SourceOp<mnemonic, absent> {
  let arguments = (ins Py_Object:$object, I64Attr:$index);
  let assemblyFormat = "$object `[` $index `]` attr-dict";
  let hasVerifier = 1;
}
class Py_NameOp<string mnemonic, bit absent> : Py_SourceOp<mnemonic, absent> {
  let arguments = (ins Py_Object:$object, StrAttr:$name);
  let assemblyFormat = "$object $name attr-dict";
  let hasVerifier = 1;
}

def Py_ArgOp : Py_SourceOp<"arg", 1> {
  let summary = "a slot of the frame's locals";
  let description = [{
    Slot `index` of localsplus, which may be a cell; `name` is for readers.

    C1: the index is not negative.

    ```mlir
    %x = py.arg 0 "x"
    ```
  }];
  let arguments = (ins I64Attr:$index, OptionalAttr<StrAttr>:$name);
  let assemblyFormat = "$index ($name^)? attr-dict";
  let hasVerifier = 1;
}

def Py_StackOp : Py_SourceOp<"stack", 0> {
  let summary = "a slot of the frame's value stack";
  let description = [{
    0 is the bottom.  C1: the index is not negative.

    ```mlir
    %x = py.stack 2
    ```
  }];
  let arguments = (ins I64Attr:$index);
  let assemblyFormat = "$index attr-dict";
  let hasVerifier = 1;
}

def Py_FunctionOp : Py_SourceOp<"function", 0> {
  let summary = "the function object of the frame";
  let assemblyFormat = "attr-dict";
}

def Py_ConstOp : Py_SourceOp<"const", 0, [ConstantLike]> {
  let summary = "a constant";
  let description = [{
    An object of the process's table, or a value without identity.

    ```mlir
    %c = py.const #py.ref<3, "torch.nn.functional">
    %n = py.const 12 : i64
    %none = py.const unit
    ```
  }];
  let arguments = (ins Py_Constant:$value);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def Py_GlobalOp : Py_SourceOp<"global", 1> {
  let summary = "a global of the frame's function";
  let description = [{
    C3: the name is not empty.

    ```mlir
    %m = py.global "model"
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "$name attr-dict";
  let hasVerifier = 1;
}

def Py_FreeOp : Py_SourceOp<"free", 0> {
  let summary = "a cell of the frame's function's closure";
  let description = [{
    The cell, not its contents.  C1: the index is not negative.

    ```mlir
    %cell = py.free 0 "scale"
    %scale = py.cell %cell
    ```
  }];
  let arguments = (ins I64Attr:$index, OptionalAttr<StrAttr>:$name);
  let assemblyFormat = "$index ($name^)? attr-dict";
  let hasVerifier = 1;
}

def Py_AttrOp : Py_NameOp<"attr", 1> {
  let summary = "an attribute in the instance's own storage";
  let description = [{
    Inline values or the instance's dict; no lookup in the type.
    C3: the name is not empty.

    ```mlir
    %w = py.attr %self "weight"
    ```
  }];
}

def Py_InstanceDictOp : Py_StepOp<"instance_dict", 1> {
  let summary = "the dict object behind x.__dict__";
}

def Py_DictItemOp : Py_SourceOp<"dict_item", 1> {
  let summary = "what dict's own lookup finds under a key";
  let description = [{
    Of a dict or a subclass.
    C2: the key is a constant.

    ```mlir
    %v = py.dict_item %d["weight"]
    ```
  }];
  let arguments = (ins Py_Object:$object, Py_Constant:$key);
  let assemblyFormat = "$object `[` $key `]` attr-dict";
}

def Py_ItemOp : Py_IndexOp<"item", 1> {
  let summary = "an item of a list, a tuple or a subclass";
  let description = [{
    C1: the index is not negative.

    ```mlir
    %v = py.item %l[0]
    ```
  }];
}

def Py_DequeItemOp : Py_IndexOp<"deque_item", 1> {
  let summary = "an item of a collections.deque";
  let description = "C1: the index is not negative.";
}

def Py_SlotOp : Py_SourceOp<"slot", 1> {
  let summary = "what a member descriptor reads";
  let description = [{
    ```mlir
    %v = py.slot %x by #py.ref<4, "Point.x">
    ```
  }];
  let arguments = (ins Py_Object:$object, Py_Ref:$descriptor);
  let assemblyFormat = "$object `by` qualified($descriptor) attr-dict";
}

def Py_CellOp : Py_StepOp<"cell", 1> {
  let summary = "the contents of a cell";
}

def Py_ClosureOp : Py_IndexOp<"closure", 1> {
  let summary = "a cell of a function's closure";
  let description = [{
    C1: the index is not negative.

    ```mlir
    %cell = py.closure %f[0]
    ```
  }];
}

def Py_TypeOfOp : Py_StepOp<"type_of"> { let summary = "type(x)"; }
def Py_CodeOp : Py_StepOp<"code"> { let summary = "x.__code__ of a function"; }
def Py_DefaultsOp : Py_StepOp<"defaults"> {
  let summary = "x.__defaults__ of a function, or None";
}
def Py_KwDefaultsOp : Py_StepOp<"kw_defaults"> {
  let summary = "x.__kwdefaults__ of a function, or None";
}
def Py_MethodSelfOp : Py_StepOp<"method_self"> {
  let summary = "x.__self__ of a bound method, in Python or in C";
}
def Py_MethodFuncOp : Py_StepOp<"method_func"> {
  let summary = "x.__func__ of a bound method";
}

def Py_GetterOp : Py_NameOp<"getter", 1> {
  let summary = "what a descriptor in C reads: tensor.grad, partial.func";
  let description = [{
    C3: the name is not empty.

    ```mlir
    %g = py.getter %t "grad"
    ```
  }];
}

#endif
