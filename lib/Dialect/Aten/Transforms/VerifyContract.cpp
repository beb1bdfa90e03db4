//===- VerifyContract.cpp - Check the contract of phase P1
//--------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every producer of P1 (the importers, IR text) owes to the conversion to
// linalg: one straight-line function of aten operations on tensors.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Aten/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "verify-aten"

namespace dynamo::aten {
#define GEN_PASS_DEF_ATENVERIFYCONTRACTPASS
#include "dynamo/Dialect/Aten/Transforms/Passes.h.inc"
} // namespace dynamo::aten

using namespace mlir;
using namespace dynamo;

static bool isNumber(Type type) {
  return type.isF64() || type.isInteger(64) || type.isInteger(1);
}

/// The element types of Aten_Tensor in AtenBase.td.
static bool isElement(Type type) {
  if (type.isUnsignedInteger())
    return type.isInteger(8);
  return type.isSignlessInteger(1) || type.isSignlessInteger(8) ||
         type.isSignlessInteger(16) || type.isSignlessInteger(32) ||
         type.isSignlessInteger(64) ||
         isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

/// C4 for one value; `what` names it in the diagnostic.
static LogicalResult checkValue(Operation *op, Value value, StringRef what) {
  Type type = value.getType();
  if (type.isSignlessIntOrFloat() && isNumber(type))
    return success();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return op->emitOpError()
           << "C4: " << what << " of type " << type
           << " is neither a ranked tensor nor a number (f64, i64, i1)";
  if (tensor.getEncoding())
    return op->emitOpError()
           << "C4: " << what << " of type " << type << " has an encoding";
  if (isElement(tensor.getElementType()))
    return success();
  bool opaque =
      isa<BlockArgument>(value) || isa<aten::ExternOp>(value.getDefiningOp());
  for (Operation *user : value.getUsers())
    opaque &= isa<aten::ExternOp, func::ReturnOp>(user);
  if (opaque)
    return success();
  return op->emitOpError()
         << "C4: " << what << " of type " << type
         << " is not a tensor of bool, uint8, an int or a float, and not only "
            "aten.extern reads it";
}

static LogicalResult checkFunction(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitOpError("C2: must be one block");
  for (BlockArgument argument : function.getArguments())
    if (failed(checkValue(function, argument, "an argument")))
      return failure();
  for (Operation &op : function.getBody().front()) {
    bool known = isa_and_present<aten::AtenDialect>(op.getDialect());
    if (!known && !isa<arith::ConstantOp, func::ReturnOp>(op))
      return op.emitOpError(
          "C3: is neither an aten operation nor arith.constant or func.return");
    for (Value result : op.getResults())
      if (failed(checkValue(&op, result, "a result")))
        return failure();
  }
  return success();
}

namespace {
struct AtenVerifyContract
    : aten::impl::AtenVerifyContractPassBase<AtenVerifyContract> {
  void runOnOperation() override {
    func::FuncOp main;
    for (Operation &op : *getOperation().getBody()) {
      // The Python side of a trace: verify-py-split's part.
      if (op.getName().getDialectNamespace() == "py")
        continue;
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function || function.getName() != "main") {
        op.emitOpError("C1: a module of phase P1 holds the function @main and "
                       "nothing else");
        return signalPassFailure();
      }
      main = function;
    }
    if (!main) {
      getOperation().emitOpError("C1: there is no function @main");
      return signalPassFailure();
    }
    if (failed(checkFunction(main)))
      signalPassFailure();
  }
};
} // namespace
