//===- ExternOp.td - any operator of the dispatcher ---------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_EXTERNOP_TD
#define DYNAMO_DIALECT_ATEN_IR_EXTERNOP_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"
include "mlir/IR/AttrTypeBase.td"

def Aten_OperandAttr : AttrDef<Aten_Dialect, "Operand"> {
  let mnemonic = "operand";
  let summary = "the place of a tensor in the arguments of an aten.extern";
  let parameters = (ins "int64_t":$index);
  let assemblyFormat = "`<` $index `>`";
}

// Not Pure: the operator may draw random numbers or have another effect that
// its name does not tell, so calls stay in order and unused ones stay.
def Aten_ExternOp : Op<Aten_Dialect, "extern"> {
  let summary = "a call of any operator of the dispatcher by name";
  let description = [{
    `args` and `kwargs` are the operator's arguments in the order of its schema:
    a tensor or a number that is a value is `#aten.operand<i>`, the i-th operand;
    a list is an array, None is `unit`, a dtype, layout or device is a string
    such as `"torch.float32"`.

    Constraints: (C1) `name` is `namespace::name` or `namespace::name.overload`;
    (C2) each `#aten.operand<i>` is one of the operands; (C3) each operand is in
    `args` or `kwargs`.

    ```mlir
    %r = aten.extern "aten::bernoulli.p"(%x) {args = [#aten.operand<0>, 0.5 : f64]}
        : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyType>:$inputs,
                       DefaultValuedAttr<ArrayAttr, "{}">:$args,
                       DefaultValuedAttr<DictionaryAttr, "{}">:$kwargs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $name `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

#endif
