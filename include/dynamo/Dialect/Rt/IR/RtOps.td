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

#endif
