//===- PyValueOps.td - tensors, numbers and objects made in a segment ---------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_IR_PYVALUEOPS_TD
#define DYNAMO_DIALECT_PY_IR_PYVALUEOPS_TD

include "dynamo/Dialect/Py/IR/PyDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Tensors and numbers
//===----------------------------------------------------------------------===//

def Py_UnwrapOp : Py_Op<"unwrap", [Pure]> {
  let summary = "the tensor in a Python object";
  let description = [{
    As a reference, or (once functional) as the value that it has at the segment's
    start: its elements in the order of memory, so that a permuted tensor has its
    physical shape.

    ```mlir
    %t = py.unwrap %x : !py.tensor<4x8xf32>
    %v = py.unwrap %x : tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Py_Object:$object);
  let results = (outs Py_AnyTensor:$result);
  let assemblyFormat = "$object attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Py_WrapOp : Py_Op<"wrap", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "the Python object of a tensor";
  let description = [{
    Of a reference: the one object that it is. Of a value: a new tensor that looks
    like `as` (sizes and strides) and has these elements in the order of memory.

    C1: `as` is given for a value and only there.
    C2: `as` is dense in some order of dims, and the value has its element type
    and its sizes in that order.

    ```mlir
    %o = py.wrap %t : !py.tensor<4x8xf32>
    %p = py.wrap %v : tensor<8x4xf32> as !py.tensor<4x8xf32, [1, 4]>
    ```
  }];
  let arguments = (ins Py_AnyTensor:$tensor, OptionalAttr<TypeAttrOf<Py_Tensor>>:$as);
  let results = (outs Py_Object:$result);
  let assemblyFormat = "$tensor `:` type($tensor) (`as` $as^)? attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Py_UnboxOp : Py_Op<"unbox", [Pure]> {
  let summary = "the number in a Python int, bool or float";
  let description = [{
    An int lies in 64 bits: something has guarded that.

    ```mlir
    %n = py.unbox %x : i64
    ```
  }];
  let arguments = (ins Py_Object:$object);
  let results = (outs Py_Number:$result);
  let assemblyFormat = "$object attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Py_BoxOp : Py_Op<"box", [Pure]> {
  let summary = "a number as a Python int (i64), bool (i1) or float (f64)";
  let arguments = (ins Py_Number:$number);
  let results = (outs Py_Object:$result);
  let assemblyFormat = "$number attr-dict `:` type($number)";
  let hasFolder = 1;
}

def Py_TorchCallOp : Py_Op<"torch_call"> {
  let summary = "an operator of torch on references";
  let description = [{
    `arguments` holds the arguments under their schema names: a tensor (or a number
    that is a value) is `#aten.operand<i>`, a list an array, None `unit`, a dtype,
    layout or device a string such as `"torch.float32"`; others are at their
    defaults. `writes` are the operands that change; `views` says for each result
    which operand's memory it sees, -1: none. A result that is one of the
    operands themselves (of an in-place operator) is left out. It may do anything,
    so calls stay where they are.

    C1: `name` is `namespace::name` or `namespace::name.overload`.
    C2: each `#aten.operand<i>` is one of the operands, and each operand is there.
    C3: `writes` and `views` name tensor operands; `views` has one entry per result.

    ```mlir
    %v = py.torch_call "aten::t"(%x) {self = #aten.operand<0>} views [0]
        : (!py.tensor<4x8xf32>) -> !py.tensor<8x4xf32, [1, 8]>
    py.torch_call "aten::add_.Tensor"(%v, %y) {other = #aten.operand<1>, self = #aten.operand<0>}
        writes [0] : (!py.tensor<8x4xf32, [1, 8]>, !py.tensor<8x4xf32>) -> ()
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyTypeOf<[Py_Tensor, Py_Number]>>:$inputs,
                       DictionaryAttr:$arguments, OptionalAttr<DenseI64ArrayAttr>:$writes,
                       OptionalAttr<DenseI64ArrayAttr>:$views);
  let results = (outs Variadic<Py_Tensor>:$results);
  let assemblyFormat = [{
    $name `(` $inputs `)` $arguments (`writes` $writes^)? (`views` $views^)? attr-dict
    `:` functional-type($inputs, $results)
  }];
  let extraClassDeclaration = [{
    /// The operand whose memory result `i` sees; -1: none.
    int64_t getViewed(unsigned i) { return getViews() ? (*getViews())[i] : -1; }
    bool isWritten(unsigned operand) {
      return getWrites() && ::llvm::is_contained(*getWrites(), int64_t(operand));
    }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Objects made in the segment, as they are at its end.  Each is one object:
// what names the value twice gets the same one.  `as` is a subclass.  Cycles are
// closed with py.fill, py.init_attr and py.init_slot.
//===----------------------------------------------------------------------===//

class Py_FreshOp<string mnemonic> : Py_Op<mnemonic> {
  let results = (outs Res<Py_Object, "", [MemAlloc]>:$result);
}
class Py_ContainerOp<string mnemonic> : Py_FreshOp<mnemonic> {
  let arguments = (ins Variadic<Py_Object>:$items, OptionalAttr<Py_Ref>:$cls);
  let assemblyFormat = "`(` $items `)` (`as` qualified($cls)^)? attr-dict";
}

def Py_TupleOp : Py_ContainerOp<"tuple"> {
  let summary = "a tuple, or a subclass such as a namedtuple";
  let description = [{
    ```mlir
    %t = py.tuple (%a, %b)
    %p = py.tuple (%a, %b) as #py.ref<3, "Point">
    ```
  }];
}
def Py_ListOp : Py_ContainerOp<"list"> { let summary = "a list or a subclass"; }
def Py_SetOp : Py_ContainerOp<"set"> {
  let summary = "a set, or a frozenset or other subclass";
}
def Py_DictOp : Py_ContainerOp<"dict"> {
  let summary = "a dict or a subclass";
  let description = [{
    Items are keys and values in turns.  C1: their number is even.

    ```mlir
    %d = py.dict (%k0, %v0, %k1, %v1)
    ```
  }];
  let hasVerifier = 1;
}
def Py_DequeOp : Py_FreshOp<"deque"> {
  let summary = "a collections.deque or a subclass";
  let description = "`max_length` is absent if it has none.  C1: it is not negative.";
  let arguments = (ins Variadic<Py_Object>:$items, OptionalAttr<I64Attr>:$max_length,
                       OptionalAttr<Py_Ref>:$cls);
  let assemblyFormat = "`(` $items `)` (`max` $max_length^)? (`as` qualified($cls)^)? attr-dict";
  let hasVerifier = 1;
}
def Py_ObjectOp : Py_FreshOp<"object"> {
  let summary = "an instance of a Python class over `object`, without attributes";
  let description = [{
    ```mlir
    %o = py.object #py.ref<3, "Output">
    py.init_attr %o "logits" = %l
    ```
  }];
  let arguments = (ins Py_Ref:$cls);
  let assemblyFormat = "qualified($cls) attr-dict";
}
def Py_MakeCellOp : Py_FreshOp<"make_cell"> {
  let summary = "a cell, empty or with contents";
  let arguments = (ins Optional<Py_Object>:$contents);
  let assemblyFormat = "`(` ($contents^)? `)` attr-dict";
}
def Py_MakeFunctionOp : Py_FreshOp<"make_function"> {
  let summary = "a function like another one, over these cells";
  let description = [{
    ```mlir
    %f = py.make_function #py.ref<8, "inner"> closure (%cell)
    ```
  }];
  let arguments = (ins Py_Ref:$template_function, Variadic<Py_Object>:$cells);
  let assemblyFormat = "qualified($template_function) `closure` `(` $cells `)` attr-dict";
}
def Py_BoundMethodOp : Py_FreshOp<"bound_method"> {
  let summary = "a function bound to an object";
  let arguments = (ins Py_Object:$function, Py_Object:$self);
  let assemblyFormat = "$function `of` $self attr-dict";
}
def Py_SliceOp : Py_FreshOp<"slice"> {
  let summary = "slice(start, stop, step)";
  let arguments = (ins Py_Object:$start, Py_Object:$stop, Py_Object:$step);
  let assemblyFormat = "`(` $start `,` $stop `,` $step `)` attr-dict";
}

def Py_FillOp : Py_Op<"fill"> {
  let summary = "items of a container that was made empty";
  let description = [{
    Of a py.list, py.set, py.dict (keys and values in turns), py.deque or py.make_cell
    whose items came into being after it.

    C1: the container is the result of one of these, without items.
    C2: a dict gets an even number, a cell one item.

    ```mlir
    %l = py.list ()
    py.fill %l (%l)
    ```
  }];
  let arguments = (ins Arg<Py_Object, "", [MemWrite]>:$container, Variadic<Py_Object>:$items);
  let assemblyFormat = "$container `(` $items `)` attr-dict";
  let hasVerifier = 1;
}
def Py_InitAttrOp : Py_Op<"init_attr"> {
  let summary = "puts an attribute into the storage of an object made here";
  let description = "C1: the object was made in the segment.";
  let arguments = (ins Arg<Py_Object, "", [MemWrite]>:$object, StrAttr:$name, Py_Object:$value);
  let assemblyFormat = "$object $name `=` $value attr-dict";
  let hasVerifier = 1;
}
def Py_InitSlotOp : Py_Op<"init_slot"> {
  let summary = "puts a value into a slot of an object made here";
  let description = "C1: the object was made in the segment.";
  let arguments = (ins Arg<Py_Object, "", [MemWrite]>:$object, Py_Ref:$descriptor, Py_Object:$value);
  let assemblyFormat = "$object `by` qualified($descriptor) `=` $value attr-dict";
  let hasVerifier = 1;
}

#endif
