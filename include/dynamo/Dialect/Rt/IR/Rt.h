//===- Rt.h - the rt dialect --------------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_RT_IR_RT_H
#define DYNAMO_DIALECT_RT_IR_RT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dynamo/Dialect/Rt/IR/RtDialect.h.inc"

#define GET_OP_CLASSES
#include "dynamo/Dialect/Rt/IR/RtOps.h.inc"

#endif // DYNAMO_DIALECT_RT_IR_RT_H
