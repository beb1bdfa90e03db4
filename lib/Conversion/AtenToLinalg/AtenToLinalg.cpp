//===- AtenToLinalg.cpp - Lower aten operations to linalg on tensors
//----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sweep from P1 to P2: functions are visited op by op in program order; the
// families' lowerings (see Lowering.h) do the work, this file does the rest:
// signatures, bool and uint8 as bytes, constants, extern ops, what can't be
// lowered, and dead code.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Lowering.h"
#include "dynamo/Conversion/AtenToLinalg/Utils.h"
#include "dynamo/Conversion/Passes.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Rt/IR/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "convert-aten-to-linalg"

namespace dynamo {
#define GEN_PASS_DEF_CONVERTATENTOLINALGPASS
#include "dynamo/Conversion/Passes.h.inc"
} // namespace dynamo

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

Operand::Operand(Value value)
    : value(value), dtype(getElementTypeOrSelf(value.getType())) {}

LogicalResult Lowering::replace(Operation *op, ValueRange newValues) {
  if (newValues.size() != op->getNumResults())
    return fail(op, "the lowering gives " + Twine(newValues.size()) +
                        " results for " + Twine(op->getNumResults()));
  for (auto [result, value] : llvm::zip_equal(op->getResults(), newValues)) {
    if (!value) {
      if (!result.use_empty())
        return fail(op, "the lowering gives no value for a used result");
      continue;
    }
    Type expected = convertType(result.getType());
    Value replacement = value;
    if (value.getType() != expected) {
      auto from = dyn_cast<RankedTensorType>(value.getType());
      auto to = dyn_cast<RankedTensorType>(expected);
      // Static and dynamic forms of one shape may meet.
      if (!from || !to || from.getElementType() != to.getElementType() ||
          failed(verifyCompatibleShape(from, to)))
        return fail(op, "the lowering gives another type than the op's result");
      replacement = tensor::CastOp::create(*this, to, value);
    }
    values[result] = replacement;
  }
  return success();
}

LogicalResult Lowering::fail(Operation *op, const Twine &reason) {
  failure = reason.str();
  LLVM_DEBUG(llvm::dbgs() << "[" DEBUG_TYPE "] " << op->getName() << ": "
                          << failure << "\n");
  return failure.empty() ? success() : mlir::failure();
}

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

namespace dynamo::lowering {

/// Converts the functions of one module.
class Driver {
public:
  Driver(MLIRContext *context, const LoweringTable &table)
      : table(table), b(context) {}

  LogicalResult convertFunction(func::FuncOp func);

private:
  void convertArguments(func::FuncOp func);
  LogicalResult convertOp(Operation *op);
  /// An op of another class, or an aten op without a lowering: it stays, with
  /// its operands and results cast where their types changed.
  void keep(Operation *op);
  void convertExtern(Operation *op);
  bool convertConstant(arith::ConstantOp op);

  /// `value` (P2) in its P1 type again.
  Value asOriginal(Value value, Type type) {
    if (value.getType() == type)
      return value;
    return UnrealizedConversionCastOp::create(b, type, value).getResult(0);
  }

  const LoweringTable &table;
  Lowering b;
  /// Ops that have a replacement; erased at the end since lowerings read P1
  /// types from them.
  SmallVector<Operation *> replaced;
};

} // namespace dynamo::lowering

void Driver::convertArguments(func::FuncOp func) {
  Block &entry = func.front();
  for (unsigned i = 0, e = entry.getNumArguments(); i < e; ++i) {
    BlockArgument arg = entry.getArgument(i);
    Type dtype = changedDtype(arg.getType());
    if (!dtype)
      continue;
    b.values[arg] = entry.addArgument(convertType(arg.getType()), arg.getLoc());
    func.setArgAttr(i, rt::kDtypeAttr, TypeAttr::get(dtype));
  }
}

bool Driver::convertConstant(arith::ConstantOp op) {
  Type type = op.getType();
  if (!changedDtype(type))
    return false;
  auto dense = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!dense)
    return false;
  auto newType = cast<RankedTensorType>(convertType(type));
  DenseElementsAttr attr;
  if (dtypeOf(op.getResult()).isInteger(1)) {
    SmallVector<APInt> bytes;
    if (dense.isSplat()) {
      bytes.push_back(dense.getSplatValue<APInt>().zext(8));
    } else {
      for (APInt value : dense.getValues<APInt>())
        bytes.push_back(value.zext(8));
    }
    attr = DenseElementsAttr::get(newType, bytes);
  } else {
    attr = dense.bitcast(newType.getElementType());
  }
  b.values[op.getResult()] = arith::ConstantOp::create(b, attr);
  replaced.push_back(op);
  return true;
}

void Driver::convertExtern(Operation *op) {
  SmallVector<Attribute> dtypes;
  bool changed = false;
  auto note = [&](Type type) {
    changed |= bool(changedDtype(type));
    dtypes.push_back(TypeAttr::get(getElementTypeOrSelf(type)));
  };
  OperationState state(op->getLoc(), op->getName());
  state.addAttributes(llvm::to_vector(op->getAttrs()));
  for (Value operand : op->getOperands()) {
    note(operand.getType());
    state.addOperands(b.get(operand));
  }
  for (Type type : op->getResultTypes()) {
    note(type);
    state.addTypes(convertType(type));
  }
  Operation *converted = b.create(state);
  if (changed)
    converted->setAttr(rt::kDtypesAttr, b.getArrayAttr(dtypes));
  for (auto [from, to] :
       llvm::zip_equal(op->getResults(), converted->getResults()))
    b.values[from] = to;
  replaced.push_back(op);
}

void Driver::keep(Operation *op) {
  // Also what nested regions capture.
  op->walk([&](Operation *nested) {
    for (OpOperand &operand : nested->getOpOperands()) {
      Value value = b.get(operand.get());
      if (value != operand.get())
        operand.set(asOriginal(value, operand.get().getType()));
    }
  });
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults())
    if (Type type = convertType(result.getType()); type != result.getType())
      b.values[result] =
          UnrealizedConversionCastOp::create(b, type, result).getResult(0);
}

LogicalResult Driver::convertOp(Operation *op) {
  b.setInsertionPoint(op);
  b.setLoc(op->getLoc());
  if (auto constant = dyn_cast<arith::ConstantOp>(op);
      constant && convertConstant(constant))
    return success();
  if (isa<aten::ExternOp>(op)) {
    convertExtern(op);
    return success();
  }
  const LoweringTable::Fn *lower = table.find(op);
  if (!lower) {
    keep(op);
    return success();
  }

  Operation *before = op->getPrevNode();
  Block *block = op->getBlock();
  b.failure.clear();
  size_t numChecks = b.checks.size();
  if (succeeded((*lower)(op, b))) {
    replaced.push_back(op);
    return success();
  }
  auto first = before ? std::next(before->getIterator()) : block->begin();
  for (auto it = op->getIterator(); it != first;) {
    Operation *inserted = &*--it;
    auto next = std::next(inserted->getIterator());
    inserted->dropAllUses();
    inserted->erase();
    it = next;
  }
  b.checks.resize(numChecks);
  for (Value result : op->getResults())
    b.values.erase(result);
  b.setInsertionPoint(op);
  op->setAttr("aten.not_lowered", b.getStringAttr(b.failure));
  keep(op);
  return success();
}

LogicalResult Driver::convertFunction(func::FuncOp func) {
  if (func.isExternal())
    return success();
  if (!func.getBody().hasOneBlock())
    return func.emitError("expected a function of one block");
  b.values.clear();
  b.checks.clear();
  replaced.clear();

  Block &entry = func.front();
  unsigned numArgs = entry.getNumArguments();
  convertArguments(func);
  Operation *terminator = entry.getTerminator();
  for (Operation &op : llvm::make_early_inc_range(entry.without_terminator()))
    if (failed(convertOp(&op)))
      return failure();

  for (auto [i, operand] : llvm::enumerate(terminator->getOpOperands())) {
    if (Type dtype = changedDtype(operand.get().getType()))
      func.setResultAttr(i, rt::kDtypeAttr, TypeAttr::get(dtype));
    operand.set(b.get(operand.get()));
  }

  for (Operation *op : llvm::reverse(replaced)) {
    op->dropAllUses();
    op->erase();
  }
  // The new arguments were added at the end; put them in place of the old ones.
  unsigned next = numArgs;
  SmallVector<Type> argTypes;
  llvm::BitVector old(entry.getNumArguments());
  for (unsigned i = 0; i < numArgs; ++i) {
    BlockArgument arg = entry.getArgument(i);
    if (b.values.contains(arg)) {
      BlockArgument converted = entry.getArgument(next++);
      arg.setType(converted.getType());
      converted.replaceAllUsesWith(arg);
      old.set(converted.getArgNumber());
    }
    argTypes.push_back(arg.getType());
  }
  entry.eraseArguments(old);
  func.setType(b.getFunctionType(argTypes, terminator->getOperandTypes()));

  eraseDeadOps(entry);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertAtenToLinalg
    : dynamo::impl::ConvertAtenToLinalgPassBase<ConvertAtenToLinalg> {
  LogicalResult initialize(MLIRContext *) override {
    table = std::make_shared<LoweringTable>();
    populateActivationLowerings(*table);
    populateAttentionLowerings(*table);
    populateConvolutionLowerings(*table);
    populateDivisionLowerings(*table);
    populateFactoryLowerings(*table);
    populateIndexingLowerings(*table);
    populateLinearLowerings(*table);
    populateLossLowerings(*table);
    populateNormLowerings(*table);
    populatePointwiseLowerings(*table);
    populatePoolingLowerings(*table);
    populateReductionLowerings(*table);
    populateScanLowerings(*table);
    populateShapeLowerings(*table);
    populateSoftmaxLowerings(*table);
    populateUnaryLowerings(*table);
    return success();
  }

  void runOnOperation() override {
    Driver driver(&getContext(), *table);
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(driver.convertFunction(func)))
        return signalPassFailure();
  }

  std::shared_ptr<LoweringTable> table;
};
} // namespace
