//===- Rt.h - the rt dialect
//--------------------------------------------------===//
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

namespace dynamo::rt {

/// Marks a nested module as a kernel; `kStrategyAttr` says how it is compiled.
inline constexpr llvm::StringLiteral kKernelAttr = "rt.kernel";
inline constexpr llvm::StringLiteral kStrategyAttr = "rt.strategy";
/// On a kernel's function: number of parallel tiles, operations per run.
inline constexpr llvm::StringLiteral kRangeAttr = "rt.range";
inline constexpr llvm::StringLiteral kWorkAttr = "rt.work";
/// On arguments and results of @main: torch's name of the element type where
/// it is not the IR's ("bool", "uint8").  On aten.extern: those of operands,
/// then results, "" for the IR's.
inline constexpr llvm::StringLiteral kDtypeAttr = "rt.dtype";
inline constexpr llvm::StringLiteral kDtypesAttr = "rt.dtypes";
/// On a memory-planned @main: bytes of the arena, number of inputs.
inline constexpr llvm::StringLiteral kArenaBytesAttr = "rt.arena_bytes";
inline constexpr llvm::StringLiteral kNumInputsAttr = "rt.num_inputs";

/// Whether `strategy` is one that code generation knows.
bool isKnownStrategy(llvm::StringRef strategy);

} // namespace dynamo::rt

#define GET_OP_CLASSES
#include "dynamo/Dialect/Rt/IR/RtOps.h.inc"

#endif // DYNAMO_DIALECT_RT_IR_RT_H
