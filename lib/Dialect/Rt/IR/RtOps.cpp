//===- RtOps.cpp - operations of the rt dialect ---------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/IR/Rt.h"

using namespace mlir;
using namespace dynamo::rt;

bool dynamo::rt::isKnownStrategy(StringRef strategy) {
  return llvm::is_contained({"rows", "matmul", "conv", "attention", "loops"},
                            strategy);
}

/// Static with the identity layout: what every host buffer is.
static bool isDense(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape() && memref.getLayout().isIdentity();
}

LogicalResult DispatchOp::verify() {
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getOperandTypes() != getResultTypes()) // C1
    return emitOpError("yields other types than its results");
  return success();
}

LogicalResult LaunchOp::verify() {
  if (!getOutputs().empty() && getNumResults() != 0) // C1
    return emitOpError("has results and outputs, one of them is accepted");
  return success();
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  for (OpOperand &operand : getOutputsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
}

LogicalResult SlotOp::verify() {
  int64_t offset = getOffset();
  if (offset < 0 || offset % 64 != 0) // C1
    return emitOpError("has offset ")
           << offset << ", a multiple of 64 is accepted";
  if (!isDense(getType())) // C2
    return emitOpError("needs a static memref with identity layout");
  return success();
}

LogicalResult ReinterpretOp::verify() {
  auto source = dyn_cast<MemRefType>(getSource().getType());
  auto result = dyn_cast<MemRefType>(getType());
  if (!isDense(getSource().getType()) || !isDense(getType()) ||
      source.getElementType() != result.getElementType() ||
      source.getNumElements() != result.getNumElements()) // C1
    return emitOpError("needs two static memrefs with identity layout and "
                       "equal elements");
  return success();
}

LogicalResult CallExternOp::verify() {
  if (getOperandDtypes().size() != getNumOperands() ||
      getResultDtypes().size() != getNumResults())
    return emitOpError("needs one dtype per operand and result");
  return success();
}

void CallExternOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // An operator may do anything, so it stays where it is.
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult RefuseIfOp::verify() {
  auto type = dyn_cast<ShapedType>(getFlag().getType());
  if (!isa<RankedTensorType, MemRefType>(getFlag().getType()) ||
      type.getRank() != 0 || !type.getElementType().isInteger(8)) // C1
    return emitOpError("has a flag of type ")
           << getFlag().getType() << ", one i8 of rank 0 is accepted";
  return success();
}

void RefuseIfOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isa<BaseMemRefType>(getFlag().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getFlagMutable());
  // It may end the run.
  effects.emplace_back(MemoryEffects::Write::get());
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Rt/IR/RtOps.cpp.inc"
