//===- AtenBase.td - what the op families of the aten dialect share ----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operand types and the base classes of operations.  One .td file per family;
// argument names, order and defaults are those of torch's operator schemas.
// cmake/gen_aten_ops.py reads the records to make the importer's table,
// so an overload listed here is one that the importer knows.
//
// Constraints have the same numbers in all operations; a diagnostic starts with
// the number:
//   C1  a declared result shape agrees with the one that operands imply
//   C2  operands that broadcast do so
//   C3  a dimension lies in [-rank, rank - 1]; rank 0 counts as 1
//   C4  dimensions of a list differ
//   C5  an operand has the rank that the operation wants
//   C6  sizes that must be equal are (the message says which)
//   C7  a list has the length that the operation wants
//   C8  an attribute's value is in the range or the set that is allowed
//   C9  there are as many results as attributes say
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_ATENBASE_TD
#define DYNAMO_DIALECT_ATEN_IR_ATENBASE_TD

include "dynamo/Dialect/Aten/IR/AtenDialect.td"
include "dynamo/Dialect/Aten/IR/AtenInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Element types of a tensor of phase P1.  Others (complex, float8) occur in
// aten.extern only.
def Aten_Tensor : RankedTensorOf<[I1, UI8, I8, I16, I32, I64, F16, BF16, F32, F64], [],
                                 "tensor">;
def Aten_FloatTensor : RankedTensorOf<[F16, BF16, F32, F64], [], "float tensor">;
def Aten_IntTensor : RankedTensorOf<[I32, I64], [], "index tensor">;
def Aten_BoolTensor : RankedTensorOf<[I1], [], "bool tensor">;

// A `Scalar` of the schema: f64 for a Python float, i64 for an int, i1 for a
// bool.  The importer makes the schema's default when the call leaves it out.
class Aten_Number<string default = ""> : AnyTypeOf<[F64, I64, I1], "number"> {
  string defaultNumber = default;
}

// An argument that is a tensor in one overload and a `Scalar` in another.
def Aten_TensorOrNumber
    : AnyTypeOf<[Aten_Tensor, F64, I64, I1], "tensor or number">;

class Aten_Op<string mnemonic, list<Trait> traits = []>
    : Op<Aten_Dialect, mnemonic,
         !listconcat([Pure, DeclareOpInterfaceMethods<Aten_ShapeInference>], traits)> {
  // The overloads of the dispatcher that this operation stands for.
  list<string> overloads = [];
  // Schema arguments without a meaning on values.  Besides these the importer
  // drops dtype, layout, device, pin_memory, memory_format and non_blocking.
  list<string> ignored = [];

  // The C++ function that is the shape rule; empty if the operation has its own.
  string shapes = "";

  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = !if(!empty(shapes), "", [{
    ::llvm::LogicalResult $cppClass::inferShapes(::dynamo::aten::Shapes &shapes) {
      return ::dynamo::aten::}] # shapes # [{(*this, shapes);
    }
  }]);
}

// Elementwise over any number of operands, with broadcast.
class Aten_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Aten_Op<mnemonic, traits> {
  let shapes = "inferBroadcast";
}

// Elements are moved, not computed: one element type throughout.
class Aten_MoveOp<string mnemonic, list<Trait> traits = []>
    : Aten_Op<mnemonic, !listconcat([SameOperandsAndResultElementType], traits)>;

// f(self), elementwise: self is promoted to the element type of the result
// (a float where f needs one) and the result has self's shape.
//
//   %r = aten.exp %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
class Aten_UnaryOp<string mnemonic, TypeConstraint resultType = Aten_Tensor,
                   list<Trait> traits = []> : Aten_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins Aten_Tensor:$self);
  let results = (outs resultType:$result);
}

// f(self, other), elementwise with broadcast: both are promoted to the element
// type of the result.
//
//   %r = aten.mul %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
class Aten_BinaryOp<string mnemonic, list<Trait> traits = []>
    : Aten_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins Aten_TensorOrNumber:$self, Aten_TensorOrNumber:$other);
  let results = (outs Aten_Tensor:$result);
}

// A predicate of two operands: these are promoted to their common type by
// torch's rules, in which a number does not widen a tensor of its category.
//
//   %r = aten.lt %x, %n : (tensor<4xf32>, f64) -> tensor<4xi1>
class Aten_CompareOp<string mnemonic, list<Trait> traits = []>
    : Aten_ElementwiseOp<mnemonic, traits> {
  let arguments = (ins Aten_TensorOrNumber:$self, Aten_TensorOrNumber:$other);
  let results = (outs Aten_BoolTensor:$result);
}

#endif
