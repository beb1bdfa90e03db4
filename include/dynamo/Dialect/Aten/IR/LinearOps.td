//===- LinearOps.td - matrix products ------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %one = arith.constant 1 : i64
//   %r = aten.addmm %bias, %x, %w, %one, %one
//       : (tensor<5xf32>, tensor<4x3xf32>, tensor<3x5xf32>, i64, i64) -> tensor<4x5xf32>
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_LINEAROPS_TD
#define DYNAMO_DIALECT_ATEN_IR_LINEAROPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_MmOp : Aten_Op<"mm"> {
  let summary = "matrix product self [m,k] x mat2 [k,n]";
  let overloads = ["aten.mm.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$mat2);
  let results = (outs Aten_Tensor:$result);
}

def Aten_BmmOp : Aten_Op<"bmm"> {
  let summary = "batch of matrix products self [b,m,k] x mat2 [b,k,n]";
  let overloads = ["aten.bmm.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$mat2);
  let results = (outs Aten_Tensor:$result);
}

def Aten_MvOp : Aten_Op<"mv"> {
  let summary = "matrix times vector self [m,k] x vec [k]";
  let overloads = ["aten.mv.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$vec);
  let results = (outs Aten_Tensor:$result);
}

def Aten_DotOp : Aten_Op<"dot"> {
  let summary = "sum of self * tensor over one dimension";
  let overloads = ["aten.dot.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$tensor);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AddmmOp : Aten_Op<"addmm"> {
  let summary = "beta * self + alpha * (mat1 x mat2); self broadcasts";
  let description = [{
    nan in self is ignored when beta is 0.
  }];
  let overloads = ["aten.addmm.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$mat1, Aten_Tensor:$mat2,
                       Aten_Number<"1">:$beta, Aten_Number<"1">:$alpha);
  let results = (outs Aten_Tensor:$result);
}

def Aten_AddmvOp : Aten_Op<"addmv"> {
  let summary = "beta * self + alpha * (mat x vec); self broadcasts";
  let description = [{
    nan in self is ignored when beta is 0.
  }];
  let overloads = ["aten.addmv.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$mat, Aten_Tensor:$vec,
                       Aten_Number<"1">:$beta, Aten_Number<"1">:$alpha);
  let results = (outs Aten_Tensor:$result);
}

def Aten_BaddbmmOp : Aten_Op<"baddbmm"> {
  let summary = "beta * self + alpha * (batch1 x batch2); self broadcasts";
  let description = [{
    nan in self is ignored when beta is 0.
  }];
  let overloads = ["aten.baddbmm.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$batch1,
                       Aten_Tensor:$batch2, Aten_Number<"1">:$beta,
                       Aten_Number<"1">:$alpha);
  let results = (outs Aten_Tensor:$result);
}

def Aten_MatmulOp : Aten_Op<"matmul"> {
  let summary = "matrix product with torch's rules for 1-D operands and batch broadcast";
  let overloads = ["aten.matmul.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$other);
  let results = (outs Aten_Tensor:$result);
}

def Aten_LinearOp : Aten_Op<"linear"> {
  let summary = "input x weight^T + bias";
  let overloads = ["aten.linear.default"];
  let arguments = (ins Aten_Tensor:$input, Aten_Tensor:$weight,
                       Optional<Aten_Tensor>:$bias);
  let results = (outs Aten_Tensor:$result);
}

#endif
