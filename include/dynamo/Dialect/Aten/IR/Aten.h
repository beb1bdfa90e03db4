//===- Aten.h - the aten dialect
//----------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_ATEN_H
#define DYNAMO_DIALECT_ATEN_IR_ATEN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dynamo/Dialect/Aten/IR/ShapeInference.h"

#include "dynamo/Dialect/Aten/IR/AtenDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dynamo/Dialect/Aten/IR/AtenAttrs.h.inc"

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/ActivationOps.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/BinaryOps.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/ConvOps.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/ExternOp.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/FactoryOps.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/IndexOps.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/LinearOps.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/NormOps.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/PoolOps.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/ReductionOps.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/ShapeOps.h.inc"
#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/UnaryOps.h.inc"

#endif // DYNAMO_DIALECT_ATEN_IR_ATEN_H
