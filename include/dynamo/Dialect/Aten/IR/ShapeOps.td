//===- ShapeOps.td - reshapes, slices and padding ------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %v = aten.view %x {size = array<i64: 2, -1>} : (tensor<4x8xf32>) -> tensor<2x16xf32>
//   %p:2 = aten.split %x {dim = 1 : i64, split_size = 4 : i64}
//       : (tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_SHAPEOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_SHAPEOPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_ViewOp : Aten_MoveOp<"view"> {
  let summary = "same elements in row-major order, another shape";
  let description = [{
    `size` may hold one -1, which is inferred.
  }];
  let overloads = ["aten.view.default", "aten._unsafe_view.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$size);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Aten_PermuteOp : Aten_MoveOp<"permute"> {
  let summary = "dimension i of the result is dimension dims[i] of self";
  let overloads = ["aten.permute.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$dims);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Aten_TransposeOp : Aten_MoveOp<"transpose"> {
  let summary = "two dimensions swapped";
  let overloads = ["aten.transpose.int"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim0, I64Attr:$dim1);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_TOp : Aten_MoveOp<"t"> {
  let summary = "matrix transposed; a vector or scalar as it is";
  let overloads = ["aten.t.default"];
  let arguments = (ins Aten_Tensor:$self);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_UnsqueezeOp : Aten_MoveOp<"unsqueeze"> {
  let summary = "a dimension of size 1 put in before dim";
  let overloads = ["aten.unsqueeze.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SqueezeOp : Aten_MoveOp<"squeeze"> {
  let summary = "dimensions of size 1 dropped";
  let description = [{
    Without `dim` all of them, otherwise those of `dim` that have size 1.
  }];
  let overloads = ["aten.squeeze.default", "aten.squeeze.dim",
                   "aten.squeeze.dims"];
  let arguments = (ins Aten_Tensor:$self, OptionalAttr<DenseI64ArrayAttr>:$dim);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_ExpandOp : Aten_MoveOp<"expand"> {
  let summary = "dimensions of size 1 and new leading dimensions repeated to size";
  let description = [{
    -1 keeps a dimension.
  }];
  let overloads = ["aten.expand.default"];
  let ignored = ["implicit"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$size);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_SliceOp : Aten_MoveOp<"slice"> {
  let summary = "elements start, start + step, ... below end of dim";
  let description = [{
    Negative positions count from the end; positions are clamped.
  }];
  let overloads = ["aten.slice.Tensor"];
  let arguments = (ins Aten_Tensor:$self, DefaultValuedAttr<I64Attr, "0">:$dim,
                       OptionalAttr<I64Attr>:$start, OptionalAttr<I64Attr>:$end,
                       DefaultValuedAttr<I64Attr, "1">:$step);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_SelectOp : Aten_MoveOp<"select"> {
  let summary = "one index of dim, which is dropped";
  let overloads = ["aten.select.int"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim, I64Attr:$index);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SplitOp : Aten_MoveOp<"split"> {
  let summary = "pieces of split_size along dim; the last may be smaller";
  let overloads = ["aten.split.Tensor"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$split_size,
                       DefaultValuedAttr<I64Attr, "0">:$dim);
  let results = (outs Variadic<Aten_Tensor>:$results);
}

def Aten_SplitWithSizesOp : Aten_MoveOp<"split_with_sizes"> {
  let summary = "pieces of the given sizes along dim";
  let overloads = ["aten.split_with_sizes.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$split_sizes,
                       DefaultValuedAttr<I64Attr, "0">:$dim);
  let results = (outs Variadic<Aten_Tensor>:$results);
}

def Aten_UnbindOp : Aten_MoveOp<"unbind"> {
  let summary = "every index of dim as a result of its own";
  let overloads = ["aten.unbind.int"];
  let arguments = (ins Aten_Tensor:$self, DefaultValuedAttr<I64Attr, "0">:$dim);
  let results = (outs Variadic<Aten_Tensor>:$results);
}

def Aten_CatOp : Aten_Op<"cat"> {
  let summary = "tensors one after the other along dim";
  let description = [{
    Element types may differ: each tensor is promoted to that of the result.
  }];
  let overloads = ["aten.cat.default"];
  let arguments = (ins Variadic<Aten_Tensor>:$tensors,
                       DefaultValuedAttr<I64Attr, "0">:$dim);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_StackOp : Aten_Op<"stack"> {
  let summary = "tensors along a new dimension dim";
  let description = [{
    Element types may differ: each tensor is promoted to that of the result.
  }];
  let overloads = ["aten.stack.default"];
  let arguments = (ins Variadic<Aten_Tensor>:$tensors,
                       DefaultValuedAttr<I64Attr, "0">:$dim);
  let results = (outs Aten_Tensor:$result);
}

def Aten_RepeatOp : Aten_MoveOp<"repeat"> {
  let summary = "self tiled `repeats` times in each dimension";
  let overloads = ["aten.repeat.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$repeats);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_FlipOp : Aten_MoveOp<"flip"> {
  let summary = "order reversed along dims";
  let overloads = ["aten.flip.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$dims);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_RollOp : Aten_MoveOp<"roll"> {
  let summary = "elements shifted along dims, wrapping around; over self flattened without dims";
  let overloads = ["aten.roll.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$shifts,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$dims);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_ConstantPadNdOp : Aten_Op<"constant_pad_nd",
    [AllElementTypesMatch<["self", "result"]>]> {
  let summary = "value put around self; negative padding crops";
  let description = [{
    `pad` holds (before, after) pairs from the last dimension backwards.
  }];
  let overloads = ["aten.constant_pad_nd.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$pad,
                       Aten_Number<"0">:$value);
  let results = (outs Aten_Tensor:$result);
  let hasFolder = 1;
}

def Aten_ReflectionPad1dOp : Aten_MoveOp<"reflection_pad1d"> {
  let summary = "last dimension padded with its mirror image without the edge";
  let overloads = ["aten.reflection_pad1d.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$padding);
  let results = (outs Aten_Tensor:$result);
}

def Aten_ReflectionPad2dOp : Aten_MoveOp<"reflection_pad2d"> {
  let summary = "last two dimensions padded with their mirror image without the edge";
  let overloads = ["aten.reflection_pad2d.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$padding);
  let results = (outs Aten_Tensor:$result);
}

def Aten_TrilOp : Aten_MoveOp<"tril"> {
  let summary = "elements on and below the diagonal, 0 elsewhere";
  let overloads = ["aten.tril.default"];
  let arguments = (ins Aten_Tensor:$self,
                       DefaultValuedAttr<I64Attr, "0">:$diagonal);
  let results = (outs Aten_Tensor:$result);
}

def Aten_TriuOp : Aten_MoveOp<"triu"> {
  let summary = "elements on and above the diagonal, 0 elsewhere";
  let overloads = ["aten.triu.default"];
  let arguments = (ins Aten_Tensor:$self,
                       DefaultValuedAttr<I64Attr, "0">:$diagonal);
  let results = (outs Aten_Tensor:$result);
}

def Aten_DiagonalOp : Aten_MoveOp<"diagonal"> {
  let summary = "diagonal of dim1 and dim2 as a new last dimension";
  let overloads = ["aten.diagonal.default"];
  let arguments = (ins Aten_Tensor:$self,
                       DefaultValuedAttr<I64Attr, "0">:$offset,
                       DefaultValuedAttr<I64Attr, "0">:$dim1,
                       DefaultValuedAttr<I64Attr, "1">:$dim2);
  let results = (outs Aten_Tensor:$result);
}

def Aten_UnfoldOp : Aten_MoveOp<"unfold"> {
  let summary = "windows of dim as a new last dimension";
  let overloads = ["aten.unfold.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dimension, I64Attr:$size,
                       I64Attr:$step);
  let results = (outs Aten_Tensor:$result);
}

def Aten_PixelShuffleOp : Aten_MoveOp<"pixel_shuffle"> {
  let summary = "[.., c*r*r, h, w] rearranged to [.., c, h*r, w*r]";
  let overloads = ["aten.pixel_shuffle.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$upscale_factor);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AsStridedOp : Aten_MoveOp<"as_strided"> {
  let summary = "elements of self's row-major memory at the given strides";
  let overloads = ["aten.as_strided.default"];
  let arguments = (ins Aten_Tensor:$self, DenseI64ArrayAttr:$size,
                       DenseI64ArrayAttr:$stride,
                       OptionalAttr<I64Attr>:$storage_offset);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SliceScatterOp : Aten_MoveOp<"slice_scatter"> {
  let summary = "self with a slice replaced by src";
  let overloads = ["aten.slice_scatter.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$src,
                       DefaultValuedAttr<I64Attr, "0">:$dim,
                       OptionalAttr<I64Attr>:$start, OptionalAttr<I64Attr>:$end,
                       DefaultValuedAttr<I64Attr, "1">:$step);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SelectScatterOp : Aten_MoveOp<"select_scatter"> {
  let summary = "self with one index of dim replaced by src";
  let overloads = ["aten.select_scatter.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$src, I64Attr:$dim,
                       I64Attr:$index);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SliceBackwardOp : Aten_MoveOp<"slice_backward"> {
  let summary = "zeros of input_sizes with a slice replaced by grad_output";
  let overloads = ["aten.slice_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, DenseI64ArrayAttr:$input_sizes,
                       I64Attr:$dim, I64Attr:$start, I64Attr:$end,
                       I64Attr:$step);
  let results = (outs Aten_Tensor:$result);
}

def Aten_SelectBackwardOp : Aten_MoveOp<"select_backward"> {
  let summary = "zeros of input_sizes with one index of dim replaced by grad_output";
  let overloads = ["aten.select_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, DenseI64ArrayAttr:$input_sizes,
                       I64Attr:$dim, I64Attr:$index);
  let results = (outs Aten_Tensor:$result);
}

#endif
