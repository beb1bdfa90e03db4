//===- IndexOps.td - indexing by tensors ---------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x[:, i]:
//
//   %r = aten.index %x, %i {indices_present = array<i1: false, true>}
//       : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4x3xf32>
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_INDEXOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_INDEXOPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_EmbeddingOp : Aten_Op<"embedding",
    [AllElementTypesMatch<["weight", "result"]>]> {
  let summary = "rows of weight at indices";
  let description = [{
    An index out of range is the caller's error; it must not touch other memory.
  }];
  let overloads = ["aten.embedding.default"];
  let ignored = ["padding_idx", "scale_grad_by_freq", "sparse"];
  let arguments = (ins Aten_Tensor:$weight, Aten_IntTensor:$indices);
  let results = (outs Aten_Tensor:$result);
}

def Aten_EmbeddingDenseBackwardOp : Aten_Op<"embedding_dense_backward"> {
  let summary = "grad_output added into num_weights rows at indices";
  let description = [{
    Rows of `padding_idx` get 0; with `scale_grad_by_freq` each row is divided by
    its count.
  }];
  let overloads = ["aten.embedding_dense_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_IntTensor:$indices,
                       I64Attr:$num_weights, I64Attr:$padding_idx,
                       BoolAttr:$scale_grad_by_freq);
  let results = (outs Aten_Tensor:$result);
}

def Aten_IndexOp : Aten_Op<"index",
    [AllElementTypesMatch<["self", "result"]>]> {
  let summary = "elements at index tensors, broadcast together (NumPy's rules)";
  let description = [{
    `indices_present` says which leading dimensions have an index tensor. The
    broadcast shape stands at the first indexed dimension if these are adjacent,
    else in front. Masks are turned into indices before (they are extern).
  }];
  let overloads = ["aten.index.Tensor", "aten._unsafe_index.Tensor"];
  let arguments = (ins Aten_Tensor:$self, Variadic<Aten_IntTensor>:$indices,
                       DenseBoolArrayAttr:$indices_present);
  let results = (outs Aten_Tensor:$result);
}

def Aten_IndexPutOp : Aten_Op<"index_put",
    [AllElementTypesMatch<["self", "result"]>]> {
  let summary = "self with values put (or added) at index tensors";
  let description = [{
    As `aten.index`; without `accumulate` the last of equal indices wins.
  }];
  let overloads = ["aten.index_put.default", "aten._unsafe_index_put.default"];
  let arguments = (ins Aten_Tensor:$self, Variadic<Aten_IntTensor>:$indices,
                       DenseBoolArrayAttr:$indices_present, Aten_Tensor:$values,
                       DefaultValuedAttr<BoolAttr, "false">:$accumulate);
  let results = (outs Aten_Tensor:$result);
}

def Aten_IndexSelectOp : Aten_Op<"index_select",
    [AllElementTypesMatch<["self", "result"]>]> {
  let summary = "slices of dim at a vector of indices";
  let overloads = ["aten.index_select.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim, Aten_IntTensor:$index);
  let results = (outs Aten_Tensor:$result);
}

def Aten_IndexAddOp : Aten_Op<"index_add",
    [AllElementTypesMatch<["self", "result"]>]> {
  let summary = "self with alpha * source added at slices of dim";
  let overloads = ["aten.index_add.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim, Aten_IntTensor:$index,
                       Aten_Tensor:$source, Aten_Number<"1">:$alpha);
  let results = (outs Aten_Tensor:$result);
}

def Aten_GatherOp : Aten_Op<"gather",
    [AllElementTypesMatch<["self", "result"]>]> {
  let summary = "result[i][j] = self[index[i][j]][j] for dim 0, and so on";
  let overloads = ["aten.gather.default"];
  let ignored = ["sparse_grad"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim, Aten_IntTensor:$index);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ScatterOp : Aten_Op<"scatter", [AttrSizedOperandSegments]> {
  let summary = "self with src (or value) put at the places that gather would read";
  let overloads = ["aten.scatter.src", "aten.scatter.value"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim, Aten_IntTensor:$index,
                       Optional<Aten_Tensor>:$src,
                       Optional<Aten_Number<>>:$value);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ScatterAddOp : Aten_Op<"scatter_add",
    [AllElementTypesMatch<["self", "result"]>]> {
  let summary = "self with src added at the places that gather would read";
  let overloads = ["aten.scatter_add.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim, Aten_IntTensor:$index,
                       Aten_Tensor:$src);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ScatterReduceOp : Aten_Op<"scatter_reduce",
    [AllElementTypesMatch<["self", "result"]>]> {
  let summary = "self with src reduced into the places that gather would read";
  let description = [{
    `reduce` is `"sum"`, `"prod"`, `"mean"`, `"amax"` or `"amin"`.
  }];
  let overloads = ["aten.scatter_reduce.two"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim, Aten_IntTensor:$index,
                       Aten_Tensor:$src, StrAttr:$reduce,
                       DefaultValuedAttr<BoolAttr, "true">:$include_self);
  let results = (outs Aten_Tensor:$result);
}

#endif
