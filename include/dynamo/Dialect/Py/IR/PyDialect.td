//===- PyDialect.td - the py dialect, its types and attributes ----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_IR_PYDIALECT_TD
#define DYNAMO_DIALECT_PY_IR_PYDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Py_Dialect : Dialect {
  let name = "py";
  let cppNamespace = "::dynamo::py";
  let summary = "The Python side of a trace.";
  let description = [{
    Where values come from (sources), what must be true of them (guards), which
    tensor work is done, what must be done to the outside world (effects) and how
    to leave (exits).

    Time: a segment is a transaction. Its sources and guards see the world as it
    is when the segment starts, wherever they stand; its effects happen in their
    order when all tensor work has succeeded. So sources are pure, guards
    are conditions of one conjunction that may be moved and merged, and only
    effects are ordered. Whoever makes the IR reads what the segment itself has
    written from what it wrote, not from a source.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Py_ObjectType : TypeDef<Py_Dialect, "Object"> {
  let mnemonic = "object";
  let summary = "a Python object";
}

def Py_TensorType : TypeDef<Py_Dialect, "TensorRef"> {
  let mnemonic = "tensor";
  let summary = "a reference to a torch tensor";
  let description = [{
    A tensor of torch that may change and share memory with others, unlike a
    value of builtin tensor type. Sizes and element type, and strides in elements
    where these are not dense row-major; `?` is not known.

    ```mlir
    !py.tensor<4x8xf32>
    !py.tensor<4x8xf32, [1, 4]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        ArrayRefParameter<"int64_t">:$strides);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                        "::mlir::Type":$elementType), [{
      return $_get(elementType.getContext(), shape, elementType, ::llvm::ArrayRef<int64_t>());
    }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// Its elements as a value: the logical shape.
    ::mlir::RankedTensorType getValueType() const {
      return ::mlir::RankedTensorType::get(getShape(), getElementType());
    }
    /// The order of dims from the slowest in memory to the fastest, or failure
    /// if the elements do not lie densely in some order of dims.
    ::llvm::FailureOr<::llvm::SmallVector<int64_t>> getDenseOrder() const;
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Py_RefAttr : AttrDef<Py_Dialect, "Ref"> {
  let mnemonic = "ref";
  let summary = "an object of the process";
  let description = [{
    Entry `index` of a table of objects that the process keeps beside the IR;
    `name` is for readers. `fixed`: its type, and what `type(x)` finds, can't be
    changed: None, functions of C, classes that are immutable.

    ```mlir
    #py.ref<3, "torch.nn.Linear">
    #py.ref<4, "function", fixed>
    ```
  }];
  let parameters = (ins "int64_t":$index, StringRefParameter<"">:$name,
                        DefaultValuedParameter<"bool", "false">:$fixed);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Py_SpecAttr : AttrDef<Py_Dialect, "Spec"> {
  let mnemonic = "spec";
  let summary = "what a tensor must look like";
  let description = [{
    `offset` is that of the storage in elements, -1: any. `keys` are torch's
    dispatch keys: layout, conjugate and negative views, inference tensors,
    subclasses, transforms.

    ```mlir
    #py.spec<!py.tensor<4x8xf32>, python_type = <0, "torch.Tensor">, requires_grad = true>
    ```
  }];
  let parameters = (ins "TensorRefType":$tensor, "RefAttr":$python_type,
                        StringRefParameter<"", "\"cpu\"">:$device,
                        DefaultValuedParameter<"int64_t", "-1">:$offset,
                        DefaultValuedParameter<"uint64_t", "0">:$keys,
                        DefaultValuedParameter<"bool", "false">:$requires_grad,
                        DefaultValuedParameter<"bool", "true">:$leaf);
  let assemblyFormat = [{
    `<` qualified($tensor) `,` struct($python_type, $device, $offset, $keys, $requires_grad, $leaf) `>`
  }];
}

def Py_FunctionKind : I32EnumAttr<"FunctionKind", "what a py.func is", [
    I32EnumAttrCase<"Segment", 0, "segment">,
    I32EnumAttrCase<"Unit", 1, "unit">,
    I32EnumAttrCase<"Guard", 2, "guard">,
    I32EnumAttrCase<"Exit", 3, "exit">]> {
  let cppNamespace = "::dynamo::py";
}

//===----------------------------------------------------------------------===//
// What operations take
//===----------------------------------------------------------------------===//

def Py_Object : DialectType<Py_Dialect, CPred<"::llvm::isa<::dynamo::py::ObjectType>($_self)">,
                            "Python object">,
                BuildableType<"$_builder.getType<::dynamo::py::ObjectType>()">;
def Py_Tensor : DialectType<Py_Dialect, CPred<"::llvm::isa<::dynamo::py::TensorRefType>($_self)">,
                            "tensor reference">;
// A tensor as a reference, or its elements as a value.
def Py_AnyTensor : AnyTypeOf<[Py_Tensor, AnyRankedTensor], "tensor reference or tensor">;
def Py_Number : AnyTypeOf<[I1, I64, F64], "number (i1, i64, f64)">;

def Py_Ref : Attr<CPred<"::llvm::isa<::dynamo::py::RefAttr>($_self)">, "object reference"> {
  let storageType = "::dynamo::py::RefAttr";
  let returnType = "::dynamo::py::RefAttr";
  let convertFromStorage = "$_self";
}
def Py_Spec : Attr<CPred<"::llvm::isa<::dynamo::py::SpecAttr>($_self)">, "tensor spec"> {
  let storageType = "::dynamo::py::SpecAttr";
  let returnType = "::dynamo::py::SpecAttr";
  let convertFromStorage = "$_self";
}
// A value without identity: None is `unit`, an int is an integer, a bool `i1`, a
// float `f64`, a tuple an array; what has no builtin attribute (bytes, complex,
// a dtype, a slice) is a `#py.ref`.
def Py_Constant : Attr<CPred<"::dynamo::py::isConstant($_self)">, "constant"> {
  let storageType = "::mlir::Attribute";
  let returnType = "::mlir::Attribute";
  let convertFromStorage = "$_self";
}

class Py_Op<string mnemonic, list<Trait> traits = []> : Op<Py_Dialect, mnemonic, traits>;

#endif
