//===- PlanMemory.cpp - Give every host value a place in memory -----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From values to memory on the host.  The program is a straight line of static
// shapes, so lifetimes are intervals and the arena is laid out once, at compile
// time: a run allocates nothing.  Results are written where the caller wants
// them; reshapes cost nothing.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "rt-plan-memory"

namespace dynamo::rt {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;
using namespace dynamo::rt;

namespace {
constexpr int64_t kAlignment = 64;

/// The memory behind one or more host values.
struct Buffer {
  enum Kind { Input, Output, Arena, Extern } kind = Arena;
  int64_t id = 0; ///< in order of creation
  int64_t bytes = 0;
  int64_t first = 0, last = 0; ///< steps of the first write and last access
  int64_t index = 0;           ///< of the input or output
  int64_t offset = -1;         ///< in the arena
  Value externResult;          ///< the extern result, once rewritten
  /// What an extern result may alias: lives as long as it does.
  SmallVector<Buffer *> mayAlias;
};

/// Plans one host function and rewrites it.
class Planner {
public:
  explicit Planner(func::FuncOp func) : func(func) {}
  LogicalResult run();
  int64_t arenaBytes() const { return arena; }
  int64_t numReused() const { return reused; }

private:
  LogicalResult check();
  void assignBuffers();
  void placeArena();
  void rewriteExtern(Operation &op, OpBuilder &builder);
  void rewrite();
  Value access(Value tensor, OpBuilder &builder);
  Buffer *add(Buffer::Kind kind, Value value, int64_t step);
  static bool isReshape(Operation *op) {
    return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
  }

  func::FuncOp func;
  std::vector<std::unique_ptr<Buffer>> buffers;
  llvm::DenseMap<Value, Buffer *> bufferOf;
  /// Returned values (after reshapes) that need a copy into output `second`.
  SmallVector<std::pair<Value, int64_t>> copies;
  llvm::DenseMap<std::pair<Buffer *, Type>, Value> views;
  int64_t arena = 0, reused = 0, numInputs = 0;
};
} // namespace

static int64_t bytesOf(Type type) {
  auto shaped = cast<ShapedType>(type);
  int64_t bits =
      shaped.getElementType().isIndex() ? 64 : shaped.getElementTypeBitWidth();
  return shaped.getNumElements() * std::max<int64_t>(bits / 8, 1);
}

static MemRefType memrefOf(Type type) {
  auto shaped = cast<ShapedType>(type);
  return MemRefType::get(shaped.getShape(), shaped.getElementType());
}

Buffer *Planner::add(Buffer::Kind kind, Value value, int64_t step) {
  buffers.push_back(std::make_unique<Buffer>());
  Buffer *buffer = buffers.back().get();
  buffer->id = buffers.size();
  buffer->kind = kind;
  buffer->bytes = bytesOf(value.getType());
  buffer->first = buffer->last = step;
  bufferOf[value] = buffer;
  return buffer;
}

LogicalResult Planner::check() {
  if (!func.getBody().hasOneBlock())
    return func.emitError(
        "the host function has control flow, one block is accepted");
  auto checkType = [](Operation *op, Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return op->emitOpError("needs ranked tensors of static shape on the "
                             "host, found ")
             << type;
    return success();
  };
  for (Type type : func.getArgumentTypes())
    if (failed(checkType(func, type)))
      return failure();
  for (Operation &op : func.getBody().front()) {
    bool isExtern = op.getName().getStringRef() == "aten.extern";
    if (!isa<LaunchOp, RefuseIfOp, func::ReturnOp>(op) && !isExtern &&
        !isReshape(&op))
      return op.emitOpError("is not an operation of the host: launches, "
                            "aten.extern, rt.refuse_if and reshapes are "
                            "accepted");
    for (Type type : op.getResultTypes())
      if (failed(checkType(&op, type)))
        return failure();
    for (Type type : op.getOperandTypes())
      if (failed(checkType(&op, type)))
        return failure();
  }
  return success();
}

/// Finds the buffer of each value and the steps at which it is live.
void Planner::assignBuffers() {
  Block &block = func.getBody().front();
  auto ret = cast<func::ReturnOp>(block.getTerminator());

  // Results that can be computed in the caller's buffer: the value (before
  // reshapes) comes from a launch and is returned once.
  llvm::DenseMap<Value, int64_t> direct;
  for (OpOperand &operand : ret->getOpOperands()) {
    Value value = operand.get();
    while (value.getDefiningOp() && isReshape(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    int64_t index = operand.getOperandNumber();
    if (!value.getDefiningOp<LaunchOp>() ||
        !direct.try_emplace(value, index).second)
      copies.emplace_back(operand.get(), index);
  }

  for (BlockArgument arg : func.getArguments())
    add(Buffer::Input, arg, 0)->index = arg.getArgNumber();

  int64_t step = 0;
  std::function<void(Buffer *)> touch = [&](Buffer *buffer) {
    buffer->last = step;
    for (Buffer *alias : buffer->mayAlias)
      touch(alias);
  };
  for (Operation &op : block) {
    ++step;
    if (isReshape(&op)) { // no access by itself
      bufferOf[op.getResult(0)] = bufferOf.lookup(op.getOperand(0));
      continue;
    }
    for (Value operand : op.getOperands())
      touch(bufferOf.lookup(operand));
    for (Value result : op.getResults()) {
      auto it = direct.find(result);
      if (it != direct.end()) {
        add(Buffer::Output, result, step)->index = it->second;
      } else if (isa<LaunchOp>(op)) {
        add(Buffer::Arena, result, step);
      } else {
        Buffer *buffer = add(Buffer::Extern, result, step);
        for (Value operand : op.getOperands())
          buffer->mayAlias.push_back(bufferOf.lookup(operand));
      }
    }
  }
}

/// Largest first, each at the smallest gap that its lifetime leaves.
void Planner::placeArena() {
  SmallVector<Buffer *> order;
  for (const std::unique_ptr<Buffer> &buffer : buffers)
    if (buffer->kind == Buffer::Arena)
      order.push_back(buffer.get());
  // Ties by first use, so that the layout is the same every time.
  llvm::sort(order, [](Buffer *a, Buffer *b) {
    return std::tuple(-a->bytes, a->first, a->id) <
           std::tuple(-b->bytes, b->first, b->id);
  });
  auto size = [](Buffer *b) {
    return llvm::alignTo(std::max<int64_t>(b->bytes, 1), kAlignment);
  };
  SmallVector<Buffer *> placed; // by offset
  for (Buffer *buffer : order) {
    int64_t best = -1, bestGap = 0, end = 0;
    for (Buffer *other : placed) {
      if (other->first > buffer->last || buffer->first > other->last)
        continue;
      int64_t gap = other->offset - end;
      if (gap >= int64_t(size(buffer)) && (best < 0 || gap < bestGap)) {
        best = end;
        bestGap = gap;
      }
      end = std::max<int64_t>(end, other->offset + size(other));
    }
    buffer->offset = best < 0 ? end : best;
    if (buffer->offset + int64_t(size(buffer)) <= arena)
      ++reused;
    arena = std::max<int64_t>(arena, buffer->offset + size(buffer));
    placed.insert(llvm::upper_bound(placed, buffer,
                                    [](Buffer *a, Buffer *b) {
                                      return a->offset < b->offset;
                                    }),
                  buffer);
  }
}

/// The memref of a tensor's buffer under the tensor's shape; made at the first
/// use, which comes before the others.
Value Planner::access(Value tensor, OpBuilder &builder) {
  Buffer *buffer = bufferOf.lookup(tensor);
  MemRefType type = memrefOf(tensor.getType());
  Value &view = views[{buffer, type}];
  if (view)
    return view;
  Location loc = tensor.getLoc();
  if (buffer->kind == Buffer::Arena)
    return view = SlotOp::create(builder, loc, type, buffer->offset);
  Value base;
  if (buffer->kind == Buffer::Input)
    base = func.getArgument(buffer->index);
  else if (buffer->kind == Buffer::Output)
    base = func.getArgument(numInputs + buffer->index);
  else
    base = buffer->externResult;
  view = base.getType() == type
             ? base
             : ReinterpretOp::create(builder, loc, type, base);
  return view;
}

void Planner::rewriteExtern(Operation &op, OpBuilder &builder) {
  auto dtypes = op.getAttrOfType<ArrayAttr>(kDtypesAttr);
  SmallVector<Attribute> operandTypes, resultTypes;
  unsigned next = 0;
  auto dtype = [&](Value value) -> Attribute {
    Type type = getElementTypeOrSelf(value.getType());
    // Bytes of P2 are bools or unsigned in the operator's eyes.
    if (dtypes && next < dtypes.size())
      if (auto original = dyn_cast<TypeAttr>(dtypes[next]))
        type = original.getValue();
    ++next;
    return TypeAttr::get(type);
  };
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    operandTypes.push_back(dtype(operand));
    operands.push_back(access(operand, builder));
  }
  SmallVector<Type> types;
  for (Value result : op.getResults()) {
    resultTypes.push_back(dtype(result));
    types.push_back(memrefOf(result.getType()));
  }
  auto args = op.getAttrOfType<ArrayAttr>("args");
  auto kwargs = op.getAttrOfType<DictionaryAttr>("kwargs");
  auto call = CallExternOp::create(
      builder, op.getLoc(), types, op.getAttrOfType<StringAttr>("name"),
      operands, args ? args : builder.getArrayAttr({}),
      kwargs ? kwargs : builder.getDictionaryAttr({}),
      builder.getArrayAttr(operandTypes), builder.getArrayAttr(resultTypes));
  for (auto [tensor, memref] :
       llvm::zip_equal(op.getResults(), call.getResults()))
    bufferOf.lookup(tensor)->externResult = memref;
}

void Planner::rewrite() {
  Block &block = func.getBody().front();
  auto ret = cast<func::ReturnOp>(block.getTerminator());
  OpBuilder builder(func.getContext());
  numInputs = func.getNumArguments();
  func->setAttr(kNumInputsAttr, builder.getI64IntegerAttr(numInputs));
  func->setAttr(kArenaBytesAttr, builder.getI64IntegerAttr(arena));

  // Outputs become arguments, with the attributes of the results.
  SmallVector<DictionaryAttr> attrs;
  for (int64_t i = 0; i < numInputs; ++i)
    attrs.push_back(func.getArgAttrDict(i));
  for (unsigned i = 0, e = func.getNumResults(); i < e; ++i)
    attrs.push_back(func.getResultAttrDict(i));
  for (DictionaryAttr &attr : attrs)
    attr = attr ? attr : builder.getDictionaryAttr({});
  for (BlockArgument arg : block.getArguments())
    arg.setType(memrefOf(arg.getType()));
  for (Value operand : ret.getOperands())
    block.addArgument(memrefOf(operand.getType()), operand.getLoc());

  SmallVector<Operation *> old;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    builder.setInsertionPoint(&op);
    old.push_back(&op);
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      SmallVector<Value> inputs, outputs;
      for (Value input : launch.getInputs())
        inputs.push_back(access(input, builder));
      for (Value result : launch.getResults())
        outputs.push_back(access(result, builder));
      LaunchOp::create(builder, op.getLoc(), TypeRange(), launch.getKernel(),
                       inputs, outputs);
    } else if (auto check = dyn_cast<RefuseIfOp>(op)) {
      RefuseIfOp::create(builder, op.getLoc(), access(check.getFlag(), builder),
                         check.getReason());
    } else if (isa<func::ReturnOp>(op)) {
      for (auto [value, index] : copies)
        CopyOp::create(builder, value.getLoc(), access(value, builder),
                       func.getArgument(numInputs + index));
      func::ReturnOp::create(builder, op.getLoc());
    } else if (!isReshape(&op)) {
      rewriteExtern(op, builder);
    }
  }
  for (Operation *op : llvm::reverse(old))
    op->erase();
  func.setType(builder.getFunctionType(block.getArgumentTypes(), {}));
  func.setAllArgAttrs(attrs);
  func.removeResAttrsAttr();
}

LogicalResult Planner::run() {
  if (failed(check()))
    return failure();
  assignBuffers();
  placeArena();
  rewrite();
  return success();
}

namespace {
struct PlanMemory : dynamo::rt::impl::PlanMemoryPassBase<PlanMemory> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal() || func->hasAttr(kNumInputsAttr))
        continue;
      Planner planner(func);
      if (failed(planner.run()))
        return signalPassFailure();
      arenaBytes += planner.arenaBytes();
      numReused += planner.numReused();
    }
  }
};
} // namespace
