//===- PyOps.td - operations of the py dialect --------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_IR_PYOPS_TD
#define DYNAMO_DIALECT_PY_IR_PYOPS_TD

include "dynamo/Dialect/Py/IR/PyEffectOps.td"
include "dynamo/Dialect/Py/IR/PyGuardOps.td"
include "dynamo/Dialect/Py/IR/PySourceOps.td"
include "dynamo/Dialect/Py/IR/PyValueOps.td"

#endif
