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
    Reads outer values where it needs them; `rt-outline-dispatches` turns it
    into a kernel module and an `rt.launch`.

    C1: the yielded values have the types of the results.

    ```mlir
    %r = rt.dispatch "rows" -> tensor<4xf32> {
      %0 = linalg.generic ...
      rt.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$strategy);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $strategy (`->` type($results)^)? $body attr-dict
  }];
  let hasVerifier = 1;
}

def Rt_YieldOp : Rt_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"DispatchOp">]> {
  let summary = "hands the results of a dispatch to the host";
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange{}); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Rt_LaunchOp : Rt_Op<"launch",
    [AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    On values (P3): `inputs` are tensors, the results fresh tensors, and there
    is no effect.  On memory (P4): `inputs` and `outputs` are memrefs and there
    is no result; no output overlaps another operand.

    C1: the form is one of the two: results, or outputs, not both.

    ```mlir
    %r = rt.launch @k0::@k0(%a) : (tensor<4xf32>) -> tensor<4xf32>
    rt.launch @k0::@k0(%m) outs(%s : memref<4xf32>) : (memref<4xf32>) -> ()
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Variadic<AnyType>:$inputs,
                       Variadic<AnyMemRef>:$outputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

def Rt_SlotOp : Rt_Op<"slot", [Pure]> {
  let summary = "a place in the program's arena";
  let description = [{
    `offset` is in bytes from the start of the arena and a multiple of 64.
    Slots that are live at different times may overlap.

    C1: the offset is not negative and a multiple of 64.
    C2: the memref is static and has the identity layout.

    ```mlir
    %s = rt.slot 128 : memref<4x8xf32>
    ```
  }];
  let arguments = (ins I64Attr:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Rt_ReinterpretOp : Rt_Op<"reinterpret", [Pure]> {
  let summary = "the same bytes under another shape";
  let description = [{
    What is left of a reshape on memory.

    C1: both memrefs are static with identity layout, of equal element type
    and number of elements.

    ```mlir
    %v = rt.reinterpret %m : memref<4x8xf32> to memref<32xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
}

def Rt_CopyOp : Rt_Op<"copy", [SameTypeOperands]> {
  let summary = "copies a whole buffer";
  let description = [{
    C1: source and target have the same type.

    ```mlir
    rt.copy %a to %b : memref<4xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
                       Arg<AnyMemRef, "", [MemWrite]>:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source)";
}

def Rt_CallExternOp : Rt_Op<"call_extern",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "runs an operator of the embedder";
  let description = [{
    `aten.extern` on memory: same name, `args` and `kwargs`.  The results are
    buffers that the runtime owns until the end of the run; one may alias an
    operand, so that the operand's slot is not used again while a result is.
    `operand_dtypes` and `result_dtypes` are the element types that the
    operator sees (i1 and ui8 are i8 here).

    ```mlir
    %r = rt.call_extern "aten::cumsum"(%m)
        {args = [#aten.operand<0>, 0 : i64], kwargs = {}, operand_dtypes = [f32], result_dtypes = [f32]}
        : (memref<4xf32>) -> memref<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AnyMemRef>:$operands,
                       ArrayAttr:$args, DictionaryAttr:$kwargs,
                       TypeArrayAttr:$operand_dtypes, TypeArrayAttr:$result_dtypes);
  let results = (outs Variadic<AnyMemRef>:$results);
  let assemblyFormat = [{
    $name `(` $operands `)` attr-dict `:` functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

def Rt_RefuseIfOp : Rt_Op<"refuse_if",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "ends the run without results if a byte is not 0";
  let description = [{
    Where eager raises because of what the data is, the compiled program does
    this: the runtime reports that the run was refused, and the caller runs the
    same work in eager PyTorch, which raises. Nothing that the program wrote is
    looked at then. `reason` is for readers.

    It stands before the extern calls that follow it in program order and after
    what it reads, and is free otherwise. The flag is a tensor on values (P2 and
    P3), a memref on memory (P4).

    C1: the flag is one i8 of rank 0.

    ```mlir
    rt.refuse_if %bad, "an index is out of range" : tensor<i8>
    ```
  }];
  let arguments = (ins AnyType:$flag, StrAttr:$reason);
  let assemblyFormat = "$flag `,` $reason attr-dict `:` type($flag)";
  let hasVerifier = 1;
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
