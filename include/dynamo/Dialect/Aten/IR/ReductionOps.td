//===- ReductionOps.td - reductions, scans and sorts ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %r = aten.sum %x {dim = array<i64: -1>, keepdim = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
//   %v, %i = aten.max_dim %x {dim = 1 : i64} : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>)
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_REDUCTIONOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_REDUCTIONOPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_SumOp : Aten_Op<"sum"> {
  let summary = "sum over dim, accumulated in the result's type (half types in f32)";
  let description = [{
    `dim` absent or empty means every dimension.
  }];
  let overloads = ["aten.sum.default", "aten.sum.dim_IntList"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<DenseI64ArrayAttr>:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_MeanOp : Aten_Op<"mean"> {
  let summary = "arithmetic mean over dim; nan for an empty slice";
  let description = [{
    `dim` absent or empty means every dimension.
  }];
  let overloads = ["aten.mean.default", "aten.mean.dim"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<DenseI64ArrayAttr>:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_FloatTensor:$result);
}

def Aten_ProdOp : Aten_Op<"prod"> {
  let summary = "product over dim";
  let description = [{
    `dim` absent means every dimension.
  }];
  let overloads = ["aten.prod.default", "aten.prod.dim_int"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<I64Attr>:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AmaxOp : Aten_Op<"amax"> {
  let summary = "largest element over dim; nan if there is one";
  let description = [{
    `dim` absent or empty means every dimension.
  }];
  let overloads = ["aten.amax.default"];
  let arguments = (ins Aten_Tensor:$self,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AminOp : Aten_Op<"amin"> {
  let summary = "smallest element over dim; nan if there is one";
  let description = [{
    `dim` absent or empty means every dimension.
  }];
  let overloads = ["aten.amin.default"];
  let arguments = (ins Aten_Tensor:$self,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_MaxOp : Aten_Op<"max"> {
  let summary = "largest element of self; nan if there is one";
  let overloads = ["aten.max.default"];
  let arguments = (ins Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
}

def Aten_MinOp : Aten_Op<"min"> {
  let summary = "smallest element of self; nan if there is one";
  let overloads = ["aten.min.default"];
  let arguments = (ins Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
}

def Aten_MaxDimOp : Aten_Op<"max_dim"> {
  let summary = "largest elements over dim and the index of one of them";
  let description = [{
    nan counts as largest. Of equal elements the first is taken.
  }];
  let overloads = ["aten.max.dim"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_Tensor:$values, Aten_IntTensor:$indices);
}

def Aten_MinDimOp : Aten_Op<"min_dim"> {
  let summary = "smallest elements over dim and the index of one of them";
  let description = [{
    nan counts as smallest. Of equal elements the first is taken.
  }];
  let overloads = ["aten.min.dim"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_Tensor:$values, Aten_IntTensor:$indices);
}

def Aten_ArgmaxOp : Aten_Op<"argmax"> {
  let summary = "index of the largest element over dim; nan counts as largest, the first one wins";
  let description = [{
    Without `dim` the index is into self flattened.
  }];
  let overloads = ["aten.argmax.default"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<I64Attr>:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_IntTensor:$result);
}

def Aten_ArgminOp : Aten_Op<"argmin"> {
  let summary = "index of the smallest element over dim; nan counts as smallest, the first one wins";
  let description = [{
    Without `dim` the index is into self flattened.
  }];
  let overloads = ["aten.argmin.default"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<I64Attr>:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_IntTensor:$result);
}

def Aten_AnyOp : Aten_Op<"any"> {
  let summary = "true where some element over dim is not zero";
  let description = [{
    `dim` absent or empty means every dimension.
  }];
  let overloads = ["aten.any.default", "aten.any.dim", "aten.any.dims"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<DenseI64ArrayAttr>:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AllOp : Aten_Op<"all"> {
  let summary = "true where every element over dim is not zero";
  let description = [{
    `dim` absent or empty means every dimension.
  }];
  let overloads = ["aten.all.default", "aten.all.dim", "aten.all.dims"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<DenseI64ArrayAttr>:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_VarOp : Aten_Op<"var"> {
  let summary = "variance over dim, divided by max(0, n - correction)";
  let description = [{
    `dim` absent or empty means every dimension. An absent `correction` is 1.
  }];
  let overloads = ["aten.var.correction"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<DenseI64ArrayAttr>:$dim,
                       OptionalAttr<F64Attr>:$correction,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_FloatTensor:$result);
}

def Aten_StdOp : Aten_Op<"std"> {
  let summary = "square root of the variance over dim";
  let description = [{
    `dim` absent or empty means every dimension. An absent `correction` is 1.
  }];
  let overloads = ["aten.std.correction"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<DenseI64ArrayAttr>:$dim,
                       OptionalAttr<F64Attr>:$correction,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_FloatTensor:$result);
}

def Aten_VarMeanOp : Aten_Op<"var_mean"> {
  let summary = "variance and mean over dim";
  let description = [{
    `dim` absent or empty means every dimension. An absent `correction` is 1.
  }];
  let overloads = ["aten.var_mean.correction"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<DenseI64ArrayAttr>:$dim,
                       OptionalAttr<F64Attr>:$correction,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_FloatTensor:$var, Aten_FloatTensor:$mean);
}

def Aten_LinalgVectorNormOp : Aten_Op<"linalg_vector_norm"> {
  let summary = "vector norm of order `ord` over dim";
  let description = [{
    `dim` absent or empty means every dimension. `ord` may be inf, -inf and 0 (count of non-zeros).
  }];
  let overloads = ["aten.linalg_vector_norm.default"];
  let arguments = (ins Aten_Tensor:$self,
                       DefaultValuedAttr<F64Attr, "2.0">:$ord,
                       OptionalAttr<DenseI64ArrayAttr>:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_FloatTensor:$result);
}

def Aten_LogsumexpOp : Aten_Op<"logsumexp"> {
  let summary = "log of the sum of exp over dim, without overflow";
  let overloads = ["aten.logsumexp.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdim);
  let results = (outs Aten_FloatTensor:$result);
}

def Aten_CumsumOp : Aten_Op<"cumsum"> {
  let summary = "running sum along dim";
  let overloads = ["aten.cumsum.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_CumprodOp : Aten_Op<"cumprod"> {
  let summary = "running product along dim";
  let overloads = ["aten.cumprod.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SortOp : Aten_Op<"sort"> {
  let summary = "self sorted along dim and where each element came from";
  let description = [{
    nan sorts as the largest. Always stable.
  }];
  let overloads = ["aten.sort.default", "aten.sort.stable"];
  let ignored = ["stable"];
  let arguments = (ins Aten_Tensor:$self, DefaultValuedAttr<I64Attr, "-1">:$dim,
                       DefaultValuedAttr<BoolAttr, "false">:$descending);
  let results = (outs Aten_Tensor:$values, Aten_IntTensor:$indices);
}

def Aten_TopkOp : Aten_Op<"topk"> {
  let summary = "the k largest (or smallest) elements along dim and their indices";
  let description = [{
    In order when `sorted`; otherwise any order may be given.
  }];
  let overloads = ["aten.topk.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$k,
                       DefaultValuedAttr<I64Attr, "-1">:$dim,
                       DefaultValuedAttr<BoolAttr, "true">:$largest,
                       DefaultValuedAttr<BoolAttr, "true">:$sorted);
  let results = (outs Aten_Tensor:$values, Aten_IntTensor:$indices);
}

#endif
