//===- Pointwise.cpp - lower pointwise arithmetic
//-----------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Utils.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

static RankedTensorType resultType(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType());
}

static LogicalResult lowerRelu(aten::ReluOp op, Lowering &b) {
  Type compute = computeType(dtypeOf(op.getResult()));
  return b.replace(op, elementwise(b, b.operand(op.getSelf()), resultType(op),
                                   compute, [&](ArrayRef<Value> in) {
                                     return maxScalar(
                                         b, compute, in[0],
                                         numberConstant(b, compute, 0));
                                   }));
}

static LogicalResult lowerAdd(aten::AddOp op, Lowering &b) {
  Type compute = computeType(dtypeOf(op.getResult()));
  SmallVector<Operand> operands = {b.operand(op.getSelf()),
                                   b.operand(op.getOther()),
                                   b.operand(op.getAlpha())};
  bool alphaIsOne = knownNumber(operands[2]) == 1.0;
  return b.replace(
      op, elementwise(
              b, operands, resultType(op), compute, [&](ArrayRef<Value> in) {
                Value other =
                    alphaIsOne ? in[1] : mulScalar(b, compute, in[1], in[2]);
                return addScalar(b, compute, in[0], other);
              }));
}

void lowering::populatePointwiseLowerings(LoweringTable &table) {
  table.add<aten::ReluOp>(lowerRelu);
  table.add<aten::AddOp>(lowerAdd);
}
