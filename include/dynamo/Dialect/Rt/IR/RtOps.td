//===- RtOps.td - operations of the rt dialect --------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_RT_IR_RTOPS_TD
#define DYNAMO_DIALECT_RT_IR_RTOPS_TD

include "dynamo/Dialect/Rt/IR/RtDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rt_DispatchOp : Rt_Op<"dispatch",
    [SingleBlockImplicitTerminator<"YieldOp">, NoRegionArguments]> {
  let summary = "a group of tensor operations that becomes one kernel";
  let description = [{
    Captures outer values implicitly; `rt-outline-dispatches` turns it into a
    kernel module and an `rt.launch`.
  }];
  let arguments = (ins StrAttr:$strategy);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $strategy (`->` type($results)^)? $body attr-dict
  }];
}

def Rt_YieldOp : Rt_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"DispatchOp">]> {
  let summary = "hands the results of a dispatch to the host";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange{}); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Rt_LaunchOp : Rt_Op<"launch", [AttrSizedOperandSegments]> {
  let summary = "runs a kernel";
  let description = [{
    Two forms.  On values (P3): `inputs` are tensors, `results` fresh tensors.
    On memory (P4): `inputs` and `outputs` are memrefs and there is no result.
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Variadic<AnyType>:$inputs,
                       Variadic<AnyMemRef>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    attr-dict `:` functional-type($inputs, $results)
  }];
}

def Rt_AttentionOp : Rt_Op<"attention", [Pure]> {
  let summary = "scaled dot product attention of whole heads";
  let description = [{
    With q `[B, H, L, D]`, k `[B, G, S, D]`, v `[B, G, S, E]`, and an additive
    mask whose dims are each 1 or those of `[B, H, L, S]`:

    ```
    s[b,h,l,j]   = scale * sum_d q[b,h,l,d] * k[b,h/(H/G),j,d] + mask[b,h,l,j]
    s[b,h,l,j]   = -inf where causal and j > l
    lse[b,h,l]   = log(sum_j exp(s[b,h,l,j]))
    out[b,h,l,e] = sum_j exp(s[b,h,l,j] - lse[b,h,l]) * v[b,h/(H/G),j,e]
    ```

    `causal` counts from the upper left corner (query l sees the keys 0..l), as
    ATen does.  A row that sees no key at all (every score -inf) is 0 in `out`
    and 0 in `lse`, as in ATen's CPU kernel.  Scores, sums and `lse` are f32
    for half types and f32, f64 for f64.  A kernel need not compute `lse` when
    it has no use.

    Constraints:
    - C1: q, k, v and the mask have rank 4.
    - C2: q, k, v, mask and out share one floating-point element type.
    - C3: batch, head and feature sizes agree as above; H is a multiple of G.
    - C4: each mask dim is 1 or that of `[B, H, L, S]`.
    - C5: out is `[B, H, L, E]`; lse is `[B, H, L]`, f64 for f64, else f32.

    Example:

    ```mlir
    %out, %lse = rt.attention %q, %k, %v mask %m {scale = 0.125 : f64}
        : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>,
           tensor<1x12x128x64xf32>, tensor<1x1x128x128xf32>)
        -> (tensor<1x12x128x64xf32>, tensor<1x12x128xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$query, AnyRankedTensor:$key,
                       AnyRankedTensor:$value, Optional<AnyRankedTensor>:$mask,
                       UnitAttr:$causal, F64Attr:$scale);
  let results = (outs AnyRankedTensor:$out, AnyRankedTensor:$logsumexp);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
