//===- RtDialect.td - the rt dialect ------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_RT_IR_RTDIALECT_TD
#define DYNAMO_DIALECT_RT_IR_RTDIALECT_TD

include "mlir/IR/OpBase.td"

def Rt_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::dynamo::rt";
  let summary = "The host program that runs kernels.";
}

class Rt_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rt_Dialect, mnemonic, traits>;

#endif
