//===- PyEffectOps.td - effects, functions, calls and exits -------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_IR_PYEFFECTOPS_TD
#define DYNAMO_DIALECT_PY_IR_PYEFFECTOPS_TD

include "dynamo/Dialect/Py/IR/PyDialect.td"
include "dynamo/Dialect/Py/IR/PyGuardOps.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Effects: changes of what exists outside, in their order, after all tensor work
//===----------------------------------------------------------------------===//

class Py_EffectOp<string mnemonic> : Py_Op<mnemonic>;
def Py_Target : Arg<Py_Object, "", [MemWrite]>;

def Py_SetAttrOp : Py_EffectOp<"set_attr"> {
  let summary = "object.__setattr__(x, name, value)";
  let description = [{
    ```mlir
    py.set_attr %self "count" = %n
    ```
  }];
  let arguments = (ins Py_Target:$object, StrAttr:$name, Py_Object:$value);
  let assemblyFormat = "$object $name `=` $value attr-dict";
}
def Py_DelAttrOp : Py_EffectOp<"del_attr"> {
  let summary = "object.__delattr__(x, name)";
  let arguments = (ins Py_Target:$object, StrAttr:$name);
  let assemblyFormat = "$object $name attr-dict";
}
def Py_SetItemOp : Py_EffectOp<"set_item"> {
  let summary = "x[key] = value of a dict, list or deque";
  let description = [{
    ```mlir
    py.set_item %d[%k] = %v
    ```
  }];
  let arguments = (ins Py_Target:$object, Py_Object:$key, Py_Object:$value);
  let assemblyFormat = "$object `[` $key `]` `=` $value attr-dict";
}
def Py_DelItemOp : Py_EffectOp<"del_item"> {
  let summary = "del x[key] of a dict, list or deque";
  let arguments = (ins Py_Target:$object, Py_Object:$key);
  let assemblyFormat = "$object `[` $key `]` attr-dict";
}
def Py_SetCellOp : Py_EffectOp<"set_cell"> {
  let summary = "new contents of a cell; none: it is empty";
  let description = [{
    ```mlir
    py.set_cell %c = %v
    py.set_cell %c
    ```
  }];
  let arguments = (ins Py_Target:$cell, Optional<Py_Object>:$value);
  let assemblyFormat = "$cell (`=` $value^)? attr-dict";
}
def Py_MutateOp : Py_EffectOp<"mutate"> {
  let summary = "type(x).name(x, ...), a method in C; its result is dropped";
  let description = [{
    C1: the name is not empty.

    ```mlir
    py.mutate "append" %l (%v)
    ```
  }];
  let arguments = (ins StrAttr:$method, Py_Target:$object, Variadic<Py_Object>:$arguments);
  let assemblyFormat = "$method $object `(` $arguments `)` attr-dict";
  let hasVerifier = 1;
}
def Py_CopyTensorOp : Py_EffectOp<"copy_tensor"> {
  let summary = "writes elements into an outside tensor, below autograd";
  let description = [{
    A value holds them in the order of the target's memory.

    ```mlir
    py.copy_tensor %x, %v : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Py_Target:$object, Py_AnyTensor:$value);
  let assemblyFormat = "$object `,` $value `:` type($value) attr-dict";
}
def Py_GradModeOp : Py_Op<"grad_mode", [MemoryEffects<[MemWrite]>]> {
  let summary = "torch.set_grad_enabled";
  let arguments = (ins BoolAttr:$enabled);
  let assemblyFormat = "$enabled attr-dict";
}

//===----------------------------------------------------------------------===//
// Functions and calls
//===----------------------------------------------------------------------===//

def Py_FuncOp : Py_Op<"func", [FunctionOpInterface, IsolatedFromAbove, Symbol]> {
  let summary = "a stretch of a Python frame, or a part of one";
  let description = [{
    - `segment`: a stretch of a frame that runs compiled; its sources reach the
      frame, so it has no arguments. Ends with py.return or py.exit.
    - `unit`: a function that others invoke, of any arguments and results.
    - `guard`: sources and guards of a segment; returns the objects that the
      tensor function (the first `inputs` ones) and the exit function take.
    - `exit`: what a segment does at its end: takes what the guard function returned,
      then the results of the tensor function.

    C1: the body is one block that ends with py.return or py.exit.
    C2: a segment has no arguments, and py.return has one object there.
    C3: a guard function has no arguments, and 0 <= inputs <= number of results; only
    it has `inputs`.
    C4: what py.return hands over has the types of the function's results;
    py.exit stands in segments and exit functions.
    C5: sources that are roots (but py.const) stand in segments and guard functions.

    ```mlir
    py.func segment @forward() -> !py.object attributes {code = "Model.forward", start = 0 : i64} {
      %x = py.arg 0 "x"
      py.guard.type %x is #py.ref<0, "torch.Tensor"> version 12
      py.return %x : !py.object
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       Py_FunctionKind:$kind, OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<StrAttr>:$code, OptionalAttr<I64Attr>:$start,
                       OptionalAttr<I64Attr>:$inputs);
  let regions = (region MinSizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "FunctionKind":$kind,
                                 "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    bool isSegment() { return getKind() == FunctionKind::Segment; }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Py_InvokeOp : Py_Op<"invoke",
    [CallOpInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a unit";
  let description = [{
    C1: the callee is a py.func unit of these operand and result types.

    ```mlir
    %r = py.invoke @linear(%self, %x) : (!py.object, !py.object) -> !py.object
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$inputs,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)
  }];
  let extraClassDeclaration = [{
    operand_range getArgOperands() { return getInputs(); }
    ::mlir::MutableOperandRange getArgOperandsMutable() { return getInputsMutable(); }
    ::mlir::CallInterfaceCallable getCallableForCallee() { return getCalleeAttr(); }
    void setCalleeFromCallable(::mlir::CallInterfaceCallable callee) {
      setCalleeAttr(::llvm::cast<::mlir::FlatSymbolRefAttr>(::llvm::cast<::mlir::SymbolRefAttr>(callee)));
    }
  }];
}

//===----------------------------------------------------------------------===//
// Exits
//===----------------------------------------------------------------------===//

def Py_ReturnOp : Py_Op<"return", [Pure, Terminator, ReturnLike, HasParent<"FuncOp">]> {
  let summary = "the frame returns; a function of the IR hands over its results";
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange{}); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Py_ExitOp : Py_Op<"exit", [Terminator, AttrSizedOperandSegments, HasParent<"FuncOp">]> {
  let summary = "the frame goes on at an instruction";
  let description = [{
    With these locals (localsplus in order) and this value stack, at unit `next`
    (2 bytes each) of its code.

    C1: `next` is not negative.
    C2: there is an operand per bound local.

    ```mlir
    py.exit 24 locals [%x, unbound, %c] stack (%y)
    ```
  }];
  let arguments = (ins I64Attr:$next, Variadic<Py_Object>:$locals, DenseBoolArrayAttr:$bound,
                       Variadic<Py_Object>:$stack);
  let assemblyFormat = [{
    $next `locals` custom<Slots>($locals, $bound) `stack` `(` $stack `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Py_SideExitOp : Py_Op<"side_exit",
    [AttrSizedOperandSegments, MemoryEffects<[Py_MayLeave, MemWrite]>]> {
  let summary = "as py.exit if a condition holds";
  let description = [{
    The condition is a value of the tensor work, unlike that of a guard, which is
    known at the segment's start. Effects before it are done when it leaves.

    C1, C2: as py.exit.

    ```mlir
    py.side_exit %c to 24 locals [%x] stack ()
    ```
  }];
  let arguments = (ins I1:$condition, I64Attr:$next, Variadic<Py_Object>:$locals,
                       DenseBoolArrayAttr:$bound, Variadic<Py_Object>:$stack);
  let assemblyFormat = [{
    $condition `to` $next `locals` custom<Slots>($locals, $bound) `stack` `(` $stack `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif
