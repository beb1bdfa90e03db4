//===- AtenOps.td - operations of the aten dialect ----------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All families together, for the documentation and the importer's table; C++
// is generated family by family.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_ATEN_IR_ATENOPS_TD
#define DYNAMO_DIALECT_ATEN_IR_ATENOPS_TD

include "dynamo/Dialect/Aten/IR/ActivationOps.td"
include "dynamo/Dialect/Aten/IR/BinaryOps.td"
include "dynamo/Dialect/Aten/IR/ConvOps.td"
include "dynamo/Dialect/Aten/IR/ExternOp.td"
include "dynamo/Dialect/Aten/IR/FactoryOps.td"
include "dynamo/Dialect/Aten/IR/IndexOps.td"
include "dynamo/Dialect/Aten/IR/LinearOps.td"
include "dynamo/Dialect/Aten/IR/NormOps.td"
include "dynamo/Dialect/Aten/IR/PoolOps.td"
include "dynamo/Dialect/Aten/IR/ReductionOps.td"
include "dynamo/Dialect/Aten/IR/ShapeOps.td"
include "dynamo/Dialect/Aten/IR/UnaryOps.td"

#endif
