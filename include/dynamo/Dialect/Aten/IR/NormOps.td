//===- NormOps.td - normalisation, softmax, attention and losses ---------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gradient that output_mask leaves out is an absent result:
//
//   %dx, %db = aten.native_layer_norm_backward %dy, %x, %mean, %rstd {normalized_shape = array<i64: 8>,
//       operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>, output_mask = array<i1: true, false, true>,
//       resultSegmentSizes = array<i32: 1, 0, 1>}
//       : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> (tensor<4x8xf32>, tensor<8xf32>)
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_NORMOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_NORMOPS_TD

include "dynamo/Dialect/Aten/IR/AtenBase.td"

def Aten_NativeLayerNormOp : Aten_Op<"native_layer_norm",
    [AttrSizedOperandSegments]> {
  let summary = "(input - mean) * rstd * weight + bias over the last dimensions";
  let description = [{
    `mean` and `rstd` keep the normalised dimensions as 1 and are of the compute type: that of input, or f32
    for half types with f32 weight.
  }];
  let overloads = ["aten.native_layer_norm.default"];
  let arguments = (ins Aten_Tensor:$input, DenseI64ArrayAttr:$normalized_shape,
                       Optional<Aten_Tensor>:$weight,
                       Optional<Aten_Tensor>:$bias, F64Attr:$eps);
  let results = (outs Aten_FloatTensor:$result, Aten_FloatTensor:$mean,
                      Aten_FloatTensor:$rstd);
}

def Aten_NativeLayerNormBackwardOp : Aten_Op<"native_layer_norm_backward",
    [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "gradients of layer norm for input, weight and bias";
  let description = [{
    Results are those asked for by `output_mask`, in order.
  }];
  let overloads = ["aten.native_layer_norm_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_out, Aten_Tensor:$input,
                       DenseI64ArrayAttr:$normalized_shape, Aten_Tensor:$mean,
                       Aten_Tensor:$rstd, Optional<Aten_Tensor>:$weight,
                       Optional<Aten_Tensor>:$bias,
                       DenseBoolArrayAttr:$output_mask);
  let results = (outs Optional<Aten_Tensor>:$grad_input,
                      Optional<Aten_Tensor>:$grad_weight,
                      Optional<Aten_Tensor>:$grad_bias);
}

def Aten_FusedRmsNormOp : Aten_Op<"fused_rms_norm"> {
  let summary = "input * rsqrt(mean(input^2) + eps) * weight over the last dimensions";
  let overloads = ["aten._fused_rms_norm.default"];
  let arguments = (ins Aten_Tensor:$input, DenseI64ArrayAttr:$normalized_shape,
                       Optional<Aten_Tensor>:$weight,
                       OptionalAttr<F64Attr>:$eps);
  let results = (outs Aten_FloatTensor:$result, Aten_FloatTensor:$rstd);
}

def Aten_FusedRmsNormBackwardOp : Aten_Op<"fused_rms_norm_backward",
    [AttrSizedResultSegments]> {
  let summary = "gradients of RMS norm for input and weight";
  let description = [{
    Results are those asked for by `output_mask`, in order.
  }];
  let overloads = ["aten._fused_rms_norm_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_out, Aten_Tensor:$input,
                       DenseI64ArrayAttr:$normalized_shape, Aten_Tensor:$rstd,
                       Optional<Aten_Tensor>:$weight,
                       DenseBoolArrayAttr:$output_mask);
  let results = (outs Optional<Aten_Tensor>:$grad_input,
                      Optional<Aten_Tensor>:$grad_weight);
}

def Aten_NativeGroupNormOp : Aten_Op<"native_group_norm",
    [AttrSizedOperandSegments]> {
  let summary = "layer norm over groups of channels";
  let overloads = ["aten.native_group_norm.default"];
  let arguments = (ins Aten_Tensor:$input, Optional<Aten_Tensor>:$weight,
                       Optional<Aten_Tensor>:$bias, I64Attr:$N, I64Attr:$C,
                       I64Attr:$HxW, I64Attr:$group, F64Attr:$eps);
  let results = (outs Aten_FloatTensor:$result, Aten_FloatTensor:$mean,
                      Aten_FloatTensor:$rstd);
}

def Aten_NativeGroupNormBackwardOp : Aten_Op<"native_group_norm_backward",
    [AttrSizedResultSegments]> {
  let summary = "gradients of group norm for input, weight and bias";
  let description = [{
    Results are those asked for by `output_mask`, in order.
  }];
  let overloads = ["aten.native_group_norm_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_out, Aten_Tensor:$input,
                       Aten_Tensor:$mean, Aten_Tensor:$rstd,
                       Optional<Aten_Tensor>:$weight, I64Attr:$N, I64Attr:$C,
                       I64Attr:$HxW, I64Attr:$group,
                       DenseBoolArrayAttr:$output_mask);
  let results = (outs Optional<Aten_Tensor>:$grad_input,
                      Optional<Aten_Tensor>:$grad_weight,
                      Optional<Aten_Tensor>:$grad_bias);
}

def Aten_NativeBatchNormLegitNoTrainingOp :
    Aten_Op<"native_batch_norm_legit_no_training",
    [AttrSizedOperandSegments]> {
  let summary = "(input - running_mean) * rsqrt(running_var + eps) * weight + bias";
  let overloads = ["aten._native_batch_norm_legit_no_training.default"];
  let arguments = (ins Aten_Tensor:$input, Optional<Aten_Tensor>:$weight,
                       Optional<Aten_Tensor>:$bias, Aten_Tensor:$running_mean,
                       Aten_Tensor:$running_var, F64Attr:$momentum,
                       F64Attr:$eps);
  let results = (outs Aten_FloatTensor:$result, Aten_FloatTensor:$save_mean,
                      Aten_FloatTensor:$save_rstd);
}

def Aten_NativeBatchNormLegitNoStatsOp :
    Aten_Op<"native_batch_norm_legit_no_stats",
    [AttrSizedOperandSegments]> {
  let summary = "batch norm with the batch's own statistics and no running ones";
  let overloads = ["aten._native_batch_norm_legit.no_stats"];
  let arguments = (ins Aten_Tensor:$input, Optional<Aten_Tensor>:$weight,
                       Optional<Aten_Tensor>:$bias, BoolAttr:$training,
                       F64Attr:$momentum, F64Attr:$eps);
  let results = (outs Aten_FloatTensor:$result, Aten_FloatTensor:$save_mean,
                      Aten_FloatTensor:$save_rstd);
}

def Aten_NativeBatchNormLegitFunctionalOp :
    Aten_Op<"native_batch_norm_legit_functional",
    [AttrSizedOperandSegments]> {
  let summary = "batch norm that also returns the new running statistics";
  let overloads = ["aten._native_batch_norm_legit_functional.default"];
  let arguments = (ins Aten_Tensor:$input, Optional<Aten_Tensor>:$weight,
                       Optional<Aten_Tensor>:$bias, Aten_Tensor:$running_mean,
                       Aten_Tensor:$running_var, BoolAttr:$training,
                       F64Attr:$momentum, F64Attr:$eps);
  let results = (outs Aten_FloatTensor:$result, Aten_FloatTensor:$save_mean,
                      Aten_FloatTensor:$save_rstd,
                      Aten_FloatTensor:$new_running_mean,
                      Aten_FloatTensor:$new_running_var);
}

def Aten_NativeBatchNormBackwardOp : Aten_Op<"native_batch_norm_backward",
    [AttrSizedOperandSegments, AttrSizedResultSegments]> {
  let summary = "gradients of batch norm for input, weight and bias";
  let description = [{
    Results are those asked for by `output_mask`, in order.
  }];
  let overloads = ["aten.native_batch_norm_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_out, Aten_Tensor:$input,
                       Optional<Aten_Tensor>:$weight,
                       Optional<Aten_Tensor>:$running_mean,
                       Optional<Aten_Tensor>:$running_var,
                       Optional<Aten_Tensor>:$save_mean,
                       Optional<Aten_Tensor>:$save_invstd, BoolAttr:$train,
                       F64Attr:$eps, DenseBoolArrayAttr:$output_mask);
  let results = (outs Optional<Aten_Tensor>:$grad_input,
                      Optional<Aten_Tensor>:$grad_weight,
                      Optional<Aten_Tensor>:$grad_bias);
}

def Aten_SoftmaxOp : Aten_Op<"softmax"> {
  let summary = "exp(self) / sum(exp(self)) along dim, without overflow";
  let overloads = ["aten._softmax.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim,
                       BoolAttr:$half_to_float);
  let results = (outs Aten_FloatTensor:$result);
}

def Aten_SafeSoftmaxOp : Aten_Op<"safe_softmax"> {
  let summary = "softmax along dim that gives 0 where a whole slice is -inf";
  let overloads = ["aten._safe_softmax.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim);
  let results = (outs Aten_FloatTensor:$result);
}

def Aten_LogSoftmaxOp : Aten_Op<"log_softmax"> {
  let summary = "self - log(sum(exp(self))) along dim, without overflow";
  let overloads = ["aten._log_softmax.default"];
  let arguments = (ins Aten_Tensor:$self, I64Attr:$dim,
                       BoolAttr:$half_to_float);
  let results = (outs Aten_FloatTensor:$result);
}

def Aten_SoftmaxBackwardDataOp : Aten_Op<"softmax_backward_data"> {
  let summary = "output * (grad_output - sum(grad_output * output)) along dim";
  let overloads = ["aten._softmax_backward_data.default"];
  let ignored = ["input_dtype"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$output,
                       I64Attr:$dim);
  let results = (outs Aten_FloatTensor:$result);
}

def Aten_LogSoftmaxBackwardDataOp : Aten_Op<"log_softmax_backward_data"> {
  let summary = "grad_output - exp(output) * sum(grad_output) along dim";
  let overloads = ["aten._log_softmax_backward_data.default"];
  let ignored = ["input_dtype"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$output,
                       I64Attr:$dim);
  let results = (outs Aten_FloatTensor:$result);
}

def Aten_ScaledDotProductFlashAttentionForCpuOp :
    Aten_Op<"scaled_dot_product_flash_attention_for_cpu"> {
  let summary = "softmax(query x key^T * scale + attn_mask) x value, and the log of the softmax's sum";
  let description = [{
    `scale` defaults to 1/sqrt(head size). `logsumexp` is f32 [b, h, q].
  }];
  let overloads = ["aten._scaled_dot_product_flash_attention_for_cpu.default"];
  let arguments = (ins Aten_Tensor:$query, Aten_Tensor:$key, Aten_Tensor:$value,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout_p,
                       DefaultValuedAttr<BoolAttr, "false">:$is_causal,
                       Optional<Aten_Tensor>:$attn_mask,
                       OptionalAttr<F64Attr>:$scale);
  let results = (outs Aten_Tensor:$output, Aten_Tensor:$logsumexp);
}

def Aten_ScaledDotProductFlashAttentionForCpuBackwardOp :
    Aten_Op<"scaled_dot_product_flash_attention_for_cpu_backward"> {
  let summary = "gradients of attention for query, key and value";
  let overloads = [
    "aten._scaled_dot_product_flash_attention_for_cpu_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_out, Aten_Tensor:$query,
                       Aten_Tensor:$key, Aten_Tensor:$value, Aten_Tensor:$out,
                       Aten_Tensor:$logsumexp, F64Attr:$dropout_p,
                       BoolAttr:$is_causal, Optional<Aten_Tensor>:$attn_mask,
                       OptionalAttr<F64Attr>:$scale);
  let results = (outs Aten_Tensor:$grad_query, Aten_Tensor:$grad_key,
                      Aten_Tensor:$grad_value);
}

def Aten_MseLossOp : Aten_Op<"mse_loss"> {
  let summary = "squared difference, reduced";
  let overloads = ["aten.mse_loss.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_Tensor:$target,
                       DefaultValuedAttr<I64Attr, "1">:$reduction);
  let results = (outs Aten_Tensor:$result);
}

def Aten_MseLossBackwardOp : Aten_ElementwiseOp<"mse_loss_backward"> {
  let summary = "gradient of mse_loss for self";
  let overloads = ["aten.mse_loss_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self,
                       Aten_Tensor:$target, I64Attr:$reduction);
  let results = (outs Aten_Tensor:$result);
}

def Aten_NllLossForwardOp : Aten_Op<"nll_loss_forward"> {
  let summary = "-weight[target] * self[target], reduced, and the sum of weights";
  let overloads = ["aten.nll_loss_forward.default"];
  let arguments = (ins Aten_Tensor:$self, Aten_IntTensor:$target,
                       Optional<Aten_Tensor>:$weight, I64Attr:$reduction,
                       I64Attr:$ignore_index);
  let results = (outs Aten_Tensor:$output, Aten_Tensor:$total_weight);
}

def Aten_NllLossBackwardOp : Aten_Op<"nll_loss_backward"> {
  let summary = "gradient of nll_loss for self";
  let overloads = ["aten.nll_loss_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_Tensor:$self,
                       Aten_IntTensor:$target, Optional<Aten_Tensor>:$weight,
                       I64Attr:$reduction, I64Attr:$ignore_index,
                       Aten_Tensor:$total_weight);
  let results = (outs Aten_Tensor:$result);
}

def Aten_NativeDropoutBackwardOp : Aten_ElementwiseOp<"native_dropout_backward"> {
  let summary = "grad_output * mask * scale";
  let overloads = ["aten.native_dropout_backward.default"];
  let arguments = (ins Aten_Tensor:$grad_output, Aten_BoolTensor:$mask,
                       F64Attr:$scale);
  let results = (outs Aten_Tensor:$result);
}

#endif
