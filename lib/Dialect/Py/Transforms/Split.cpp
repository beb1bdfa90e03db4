//===- Split.cpp - Guard, tensor and exit function of a segment
//---------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What stands in which function is told by what it needs: the frame, tensors as
// values, or the objects at the end.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Py/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "py-split"

namespace dynamo::py {
#define GEN_PASS_DEF_PYSPLITPASS
#include "dynamo/Dialect/Py/Transforms/Passes.h.inc"
} // namespace dynamo::py

using namespace mlir;
using namespace dynamo;
using namespace dynamo::py;

namespace {
class Splitter {
public:
  Splitter(ModuleOp module, FuncOp segment)
      : module(module), segment(segment) {}
  LogicalResult run();

private:
  LogicalResult classify();
  bool isFrameValue(Value value) const;
  void collect();
  void addPresence();
  void makeGuard();
  void makeMain();
  void makeExit();
  void cloneConstants(OpBuilder &builder, Operation *op, IRMapping &mapping);

  ModuleOp module;
  FuncOp segment;
  llvm::SetVector<Operation *> guardOps, tensorOps, exitOps;
  SmallVector<UnwrapOp> inputs;   ///< arguments of the tensor function
  llvm::SetVector<Value> passed;  ///< other objects that the exit needs
  llvm::SetVector<Value> results; ///< of the tensor function
};
} // namespace

static bool isValue(Type type) { return isa<RankedTensorType>(type); }

LogicalResult Splitter::classify() {
  for (Operation &op : segment.getBody().front()) {
    if (isa<SideExitOp>(op))
      return op.emitOpError("can't be split yet, a segment has one exit");
    if (isa<InvokeOp>(op))
      return op.emitOpError("is not inlined");
    auto unwrap = dyn_cast<UnwrapOp>(op);
    if (unwrap && isValue(unwrap.getType())) {
      if (getConstant(unwrap.getObject()) || isFrameValue(unwrap.getObject())) {
        inputs.push_back(unwrap);
        continue;
      }
      return op.emitOpError(
          "reads a tensor that is not at hand when the segment "
          "starts");
    }
    if (isa<SourceOpInterface, GuardOpInterface, UnboxOp>(op)) {
      guardOps.insert(&op);
    } else if (isa_and_present<aten::AtenDialect>(op.getDialect())) {
      tensorOps.insert(&op);
    } else if (isa_and_present<arith::ArithDialect>(op.getDialect())) {
      // A number of the guards, of the tensor work, or of both.
      bool ofFrame = llvm::all_of(op.getOperands(), [&](Value operand) {
        return guardOps.contains(operand.getDefiningOp());
      });
      if (!ofFrame)
        return op.emitOpError("computes with numbers that guards don't know");
      guardOps.insert(&op);
    } else {
      exitOps.insert(&op);
    }
  }
  for (Operation *op : tensorOps)
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (guardOps.contains(source) &&
          !source->hasTrait<OpTrait::ConstantLike>())
        return op->emitOpError(
            "takes a number that varies, which tensor functions "
            "don't take yet");
    }
  return success();
}

bool Splitter::isFrameValue(Value value) const {
  return guardOps.contains(value.getDefiningOp());
}

void Splitter::collect() {
  for (Operation *op : exitOps)
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (isValue(operand.getType()))
        results.insert(operand);
      else if (guardOps.contains(source) &&
               !source->hasTrait<OpTrait::ConstantLike>())
        passed.insert(operand);
    }
  for (UnwrapOp input : inputs)
    passed.remove(input.getObject());
}

/// What is handed over must be there, though nothing may have looked at it.
void Splitter::addPresence() {
  auto check = [&](Value object) {
    auto source = object.getDefiningOp<SourceOpInterface>();
    if (!source || !source.mayBeAbsent())
      return;
    for (OpOperand &use : object.getUses())
      if (isa<GuardOpInterface>(use.getOwner()) && use.getOperandNumber() == 0)
        return;
    OpBuilder builder(source->getContext());
    builder.setInsertionPointAfter(source);
    guardOps.insert(GuardPresentOp::create(builder, source->getLoc(), object));
  };
  for (UnwrapOp input : inputs)
    check(input.getObject());
  for (Value object : passed)
    check(object);
}

/// Constants are not handed over.
void Splitter::cloneConstants(OpBuilder &builder, Operation *op,
                              IRMapping &mapping) {
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (source && source->hasTrait<OpTrait::ConstantLike>() &&
        !mapping.contains(operand))
      builder.clone(*source, mapping);
  }
}

void Splitter::makeGuard() {
  SmallVector<Value> objects;
  for (UnwrapOp input : inputs)
    objects.push_back(input.getObject());
  llvm::append_range(objects, passed);
  OpBuilder builder(segment);
  auto guard = FuncOp::create(
      builder, segment.getLoc(), (segment.getSymName() + ".guard").str(),
      FunctionKind::Guard,
      builder.getFunctionType({},
                              llvm::to_vector(ValueRange(objects).getTypes())));
  guard.setInputs(inputs.size());
  if (std::optional<StringRef> code = segment.getCode())
    guard.setCode(*code);
  if (std::optional<uint64_t> start = segment.getStart())
    guard.setStart(*start);
  builder.setInsertionPointToStart(&guard.getBody().front());
  IRMapping mapping;
  for (Operation &op : segment.getBody().front())
    if (guardOps.contains(&op))
      builder.clone(op, mapping);
  SmallVector<Value> returned;
  for (Value object : objects)
    returned.push_back(mapping.lookup(object));
  ReturnOp::create(builder, segment.getLoc(), returned);
  // Constants of the other two.
  SmallVector<Operation *> all;
  for (Operation &op : guard.getBody().front())
    all.push_back(&op);
  for (Operation *op : llvm::reverse(all))
    if (isOpTriviallyDead(op))
      op->erase();
}

void Splitter::makeMain() {
  SmallVector<Type> argumentTypes;
  SmallVector<Location> locs;
  for (UnwrapOp input : inputs) {
    argumentTypes.push_back(input.getType());
    locs.push_back(input.getLoc());
  }
  OpBuilder builder(segment);
  auto type = builder.getFunctionType(
      argumentTypes,
      llvm::to_vector(ValueRange(results.getArrayRef()).getTypes()));
  auto main = func::FuncOp::create(builder, segment.getLoc(), "main", type);
  Block *body = main.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  for (auto [input, argument] : llvm::zip_equal(inputs, body->getArguments()))
    mapping.map(input.getResult(), argument);
  for (Operation &op : segment.getBody().front())
    if (tensorOps.contains(&op)) {
      cloneConstants(builder, &op, mapping);
      builder.clone(op, mapping);
    }
  SmallVector<Value> returned;
  for (Value result : results)
    returned.push_back(mapping.lookup(result));
  func::ReturnOp::create(builder, segment.getLoc(), returned);
}

void Splitter::makeExit() {
  SmallVector<Value> taken;
  for (UnwrapOp input : inputs)
    taken.push_back(input.getObject());
  llvm::append_range(taken, passed);
  llvm::append_range(taken, results);
  OpBuilder builder(segment);
  auto exit = FuncOp::create(
      builder, segment.getLoc(), (segment.getSymName() + ".exit").str(),
      FunctionKind::Exit,
      builder.getFunctionType(llvm::to_vector(ValueRange(taken).getTypes()),
                              segment.getResultTypes()));
  Block &body = exit.getBody().front();
  builder.setInsertionPointToStart(&body);
  IRMapping mapping;
  for (auto [value, argument] : llvm::zip_equal(taken, body.getArguments()))
    if (!mapping.contains(value))
      mapping.map(value, argument);
  for (Operation &op : segment.getBody().front())
    if (exitOps.contains(&op)) {
      cloneConstants(builder, &op, mapping);
      builder.clone(op, mapping);
    }
}

LogicalResult Splitter::run() {
  if (failed(classify()))
    return failure();
  if (module.lookupSymbol("main") && segment.getSymName() != "main")
    return segment.emitOpError("the module has a function @main already");
  collect();
  addPresence();
  makeGuard();
  makeExit();
  makeMain();
  segment.erase();
  return success();
}

namespace {
struct Split : dynamo::py::impl::PySplitPassBase<Split> {
  void runOnOperation() override {
    SmallVector<FuncOp> segments;
    for (auto function : getOperation().getOps<FuncOp>())
      if (function.isSegment())
        segments.push_back(function);
    if (segments.size() > 1) {
      segments.back().emitOpError("is a second segment, one is accepted");
      return signalPassFailure();
    }
    if (!segments.empty() &&
        failed(Splitter(getOperation(), segments.front()).run()))
      signalPassFailure();
  }
};
} // namespace
