//===- VerifyLinalg.cpp - Check the contract of phase P2
//----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What dispatch formation may rely on; see docs/Architecture.md, P2.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Lowering.h"
#include "dynamo/Conversion/Passes.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Rt/IR/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "verify-linalg"

namespace dynamo {
#define GEN_PASS_DEF_VERIFYLINALGPASS
#include "dynamo/Conversion/Passes.h.inc"
} // namespace dynamo

using namespace mlir;
using namespace dynamo;

/// C1
static LogicalResult verifyDialect(Operation *op) {
  if (isa<ModuleOp, aten::ExternOp, rt::AttentionOp, rt::RefuseIfOp>(op) ||
      isa_and_nonnull<linalg::LinalgDialect, tensor::TensorDialect,
                      arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      func::FuncDialect>(op->getDialect()))
    return success();
  InFlightDiagnostic diag = op->emitOpError(
      "is not of phase P2: linalg, tensor, arith, math, scf, func, "
      "rt.attention, rt.refuse_if and aten.extern are accepted");
  if (auto reason = op->getAttrOfType<StringAttr>("aten.not_lowered"))
    diag.attachNote() << "not lowered: " << reason.getValue();
  return diag;
}

/// C2
static LogicalResult verifyTypes(Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    if (lowering::changedDtype(type))
      return op->emitOpError("has ")
             << type << ": bool and unsigned integers are stored as signless "
             << "bytes in phase P2";
    return success();
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  return success();
}

/// C3
static LogicalResult verifyReduction(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0)
    return success();
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (llvm::any_of(map.getResults(), [](AffineExpr expr) {
          return expr.isSymbolicOrConstant();
        }))
      return op.emitOpError("has a result map with a constant: a reduction "
                            "drops the reduced dims");
  }
  return success();
}

/// C4
static LogicalResult verifyExtern(aten::ExternOp op) {
  auto dtypes = op->getAttrOfType<ArrayAttr>(rt::kDtypesAttr);
  if (!dtypes)
    return success();
  if (dtypes.size() != op->getNumOperands() + op->getNumResults() ||
      !llvm::all_of(dtypes, llvm::IsaPred<TypeAttr>))
    return op.emitOpError("has rt.dtypes that are not one type per operand and "
                          "result");
  return success();
}

namespace {
struct VerifyLinalg : dynamo::impl::VerifyLinalgPassBase<VerifyLinalg> {
  void runOnOperation() override {
    bool ok = true;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      // The Python side of a trace is no part of the tensor program.
      if (op->getName().getDialectNamespace() == "py")
        return WalkResult::skip();
      if (failed(verifyDialect(op)) || failed(verifyTypes(op)))
        ok = false;
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        ok &= succeeded(verifyReduction(generic));
      if (auto externOp = dyn_cast<aten::ExternOp>(op))
        ok &= succeeded(verifyExtern(externOp));
      return WalkResult::advance();
    });
    if (!ok)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
