//===- BufferizeKernel.cpp - Put a kernel's tensors into its buffers ------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Destination passing, then one-shot bufferisation.  A kernel has no heap, so
// what does not fit in the output buffers goes to the stack, in the entry
// block: an alloca inside a loop would grow the stack at every iteration.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "codegen-bufferize-kernel"

namespace dynamo::codegen {
#define GEN_PASS_DEF_BUFFERIZEKERNELPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding();
}

static MemRefType getBufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// Makes `value` be computed in `buffer`. Reshapes are undone on the buffer's
/// side: one-shot bufferisation cannot see through them to the producer's
/// destination and would copy.
static void materialize(OpBuilder &builder, Location loc, Value value,
                        Value buffer) {
  while (Operation *def = value.getDefiningOp()) {
    auto reshape = [&](Value source, auto reassociation, bool expands) {
      MemRefType type = getBufferType(source.getType());
      if (expands)
        buffer = memref::CollapseShapeOp::create(builder, loc, type, buffer,
                                                 reassociation);
      else
        buffer = memref::ExpandShapeOp::create(builder, loc, type, buffer,
                                               reassociation);
      value = source;
    };
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(def))
      reshape(expand.getSrc(), expand.getReassociationIndices(), true);
    else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(def))
      reshape(collapse.getSrc(), collapse.getReassociationIndices(), false);
    else
      break;
  }
  bufferization::MaterializeInDestinationOp::create(
      builder, loc, TypeRange{}, value, buffer, /*restrict=*/true,
      /*writable=*/true);
}

/// Tensors in the signature become memrefs, results trailing ones.
static LogicalResult passDestinations(func::FuncOp func) {
  Block &entry = func.getBody().front();
  auto ret = cast<func::ReturnOp>(entry.getTerminator());
  for (Type type :
       llvm::concat<const Type>(func.getArgumentTypes(), func.getResultTypes()))
    if (!isStaticTensor(type))
      return func.emitError("expected tensors of static shape, found ") << type;

  OpBuilder builder(&entry, entry.begin());
  Location loc = func.getLoc();
  SmallVector<Type> types;
  for (BlockArgument arg : entry.getArguments()) {
    Type tensorType = arg.getType();
    types.push_back(getBufferType(tensorType));
    arg.setType(types.back());
    auto toTensor = bufferization::ToTensorOp::create(
        builder, loc, tensorType, arg, /*restrict=*/true, /*writable=*/false);
    arg.replaceAllUsesExcept(toTensor.getResult(), toTensor);
  }
  builder.setInsertionPoint(ret);
  for (Value result : ret.getOperands()) {
    types.push_back(getBufferType(result.getType()));
    Value buffer = entry.addArgument(types.back(), loc);
    materialize(builder, ret.getLoc(), result, buffer);
  }
  ret->setOperands({});
  func.setArgAttrsAttr(nullptr);
  func.setResAttrsAttr(nullptr);
  func.setFunctionType(FunctionType::get(func.getContext(), types, {}));
  return success();
}

/// Each operation gets a destination of its own. Two results that start from
/// one `tensor.empty` would be put in the same output: empty tensor elimination
/// decides by an analysis that its own rewrites invalidate.
static void separateDestinations(func::FuncOp func) {
  SmallVector<Operation *> sources;
  func.walk([&](Operation *op) {
    if (isa<tensor::EmptyOp, linalg::FillOp>(op) && op->getNumResults() == 1)
      sources.push_back(op);
  });
  // Readers first: a fill that is copied takes its empty tensor along.
  for (Operation *source : llvm::reverse(sources)) {
    OpBuilder builder(source);
    SmallVector<OpOperand *> uses = llvm::to_vector(llvm::map_range(
        source->getResult(0).getUses(), [](OpOperand &use) { return &use; }));
    for (OpOperand *use : llvm::drop_begin(uses)) {
      builder.setInsertionPoint(source);
      use->set(builder.clone(*source)->getResult(0));
    }
  }
  // The empties of the copies just made.
  SmallVector<tensor::EmptyOp> empties;
  func.walk([&](tensor::EmptyOp op) { empties.push_back(op); });
  for (tensor::EmptyOp empty : empties) {
    SmallVector<OpOperand *> uses = llvm::to_vector(
        llvm::map_range(empty->getUses(), [](OpOperand &use) { return &use; }));
    OpBuilder builder(empty);
    for (OpOperand *use : llvm::drop_begin(uses))
      use->set(builder.clone(*empty.getOperation())->getResult(0));
  }
}

/// The operand whose buffer `value` takes over when it is computed in place.
static OpOperand *getDestination(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return nullptr;
  if (auto loop = dyn_cast<scf::ForallOp>(result.getOwner()))
    return loop.getTiedOpOperand(result);
  if (auto loop = dyn_cast<LoopLikeOpInterface>(result.getOwner()))
    return loop.getTiedLoopInit(result);
  if (auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner()))
    return op.getTiedOpOperand(result);
  return nullptr;
}

namespace {
/// How a value came to be in place, last operation first, from a tensor without
/// content.
struct Chain {
  SmallVector<Operation *> ops;
  /// Of the first operation, which is given the `tensor.empty`.
  OpOperand *start = nullptr;
};
} // namespace

static std::optional<Chain> getChain(Value value) {
  Chain chain;
  while (OpOperand *destination = getDestination(value)) {
    chain.ops.push_back(destination->getOwner());
    chain.start = destination;
    value = destination->get();
  }
  if (!chain.start || !value.getDefiningOp<tensor::EmptyOp>())
    return std::nullopt;
  return chain;
}

/// Whether the chain can move to its end: nothing else uses what it makes.
static bool canSink(const Chain &chain) {
  Block *block = chain.ops.front()->getBlock();
  return llvm::all_of(chain.ops, [&](Operation *op) {
    return op->getBlock() == block && op->getNumResults() == 1 &&
           op->getResult(0).hasOneUse() && isPure(op);
  });
}

/// What starts from nothing and is then put into an output, or a part of
/// another tensor, starts from that instead, so that it is made in place. Any
/// content will do for a tensor without content, so this is right even where
/// bufferisation finds that the place is needed and makes a copy. One walk back
/// from each result: upstream's empty tensor elimination follows every path
/// from a write and does not end in time on long ones.
static void nameDestinations(func::FuncOp func) {
  Block &entry = func.getBody().front();
  for (auto store : llvm::to_vector(
           entry.getOps<bufferization::MaterializeInDestinationOp>())) {
    std::optional<Chain> chain = getChain(store.getSource());
    if (!chain)
      continue;
    // The buffer may be a view that is made behind the chain.
    SmallVector<Operation *> views;
    Value buffer = store.getDest();
    while (Operation *view = buffer.getDefiningOp()) {
      views.push_back(view);
      buffer = view->getOperand(0);
    }
    Operation *first = chain->ops.back();
    for (Operation *view : llvm::reverse(views))
      if (!view->isBeforeInBlock(first))
        view->moveBefore(first);
    OpBuilder builder(first);
    chain->start->set(bufferization::ToTensorOp::create(
        builder, store.getLoc(), chain->start->get().getType(), store.getDest(),
        /*restrict=*/true, /*writable=*/true));
  }

  SmallVector<Operation *> inserts;
  func.walk([&](Operation *op) {
    if (isa<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(op))
      inserts.push_back(op);
  });
  // The outer ones first: what is put into a part may consist of parts.
  DominanceInfo dominance(func);
  for (Operation *op : llvm::reverse(inserts)) {
    auto name = [&](auto insert) {
      std::optional<Chain> chain = getChain(insert.getSource());
      if (!chain)
        return;
      Operation *first = chain->ops.back();
      bool isKnown = llvm::all_of(insert->getOperands(), [&](Value operand) {
        return operand == insert.getSource() ||
               dominance.properlyDominates(operand, first);
      });
      if (!isKnown) {
        // A concatenation of computed parts: each is made when it is its turn.
        if (first->getBlock() != op->getBlock() || !canSink(*chain))
          return;
        for (Operation *link : llvm::reverse(chain->ops))
          link->moveBefore(op);
      }
      OpBuilder builder(first);
      chain->start->set(tensor::ExtractSliceOp::create(
          builder, op->getLoc(),
          cast<RankedTensorType>(chain->start->get().getType()),
          insert.getDest(), insert.getMixedOffsets(), insert.getMixedSizes(),
          insert.getMixedStrides()));
    };
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      name(insert);
    else
      name(cast<tensor::ParallelInsertSliceOp>(op));
  }
}

/// What is written into a copy of an input is written into the output, where
/// the copy then is: bufferisation alone would make the copy in scratch.
static void copyWrittenInputs(func::FuncOp func) {
  SmallVector<OpOperand *> written;
  func.walk([&](Operation *op) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      written.push_back(&insert.getDestMutable());
    else if (auto insert = dyn_cast<tensor::InsertOp>(op))
      written.push_back(&insert.getDestMutable());
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      for (OpOperand &init : loop.getInitArgsMutable())
        written.push_back(&init);
  });
  for (OpOperand *operand : written) {
    Value input = operand->get();
    if (!input.getDefiningOp<bufferization::ToTensorOp>())
      continue;
    OpBuilder builder(operand->getOwner());
    Location loc = operand->getOwner()->getLoc();
    auto type = cast<RankedTensorType>(input.getType());
    Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                          type.getElementType());
    operand->set(
        linalg::CopyOp::create(builder, loc, input, empty).getResult(0));
  }
}

/// The copies at the end fill outputs; one must not read what an earlier one
/// overwrote.
static LogicalResult verifyCopies(func::FuncOp func) {
  llvm::SmallPtrSet<Value, 4> overwritten;
  auto base = [](Value buffer) {
    while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
      buffer = view.getViewSource();
    return buffer;
  };
  for (Operation &op : func.getBody().front().without_terminator()) {
    auto copy = dyn_cast<memref::CopyOp>(op);
    if (!copy) {
      if (!isMemoryEffectFree(&op))
        overwritten.clear();
      continue;
    }
    Value from = base(copy.getSource()), to = base(copy.getTarget());
    if (from != to && overwritten.contains(from))
      return copy.emitError("an output is read after it was overwritten");
    if (isa<BlockArgument>(to)) // scratch is filled to be read
      overwritten.insert(to);
  }
  return success();
}

/// Every allocation becomes an alloca at the function's start.
static LogicalResult promoteToStack(func::FuncOp func) {
  Block &entry = func.getBody().front();
  SmallVector<memref::AllocOp> allocs;
  func.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  int64_t bytes = 0;
  func.walk([&](memref::AllocaOp alloca) {
    MemRefType type = alloca.getType();
    if (type.hasStaticShape() && type.getElementType().isIntOrFloat())
      bytes += type.getNumElements() *
               llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  });
  OpBuilder builder(func.getContext());
  for (memref::AllocOp alloc : allocs) {
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape())
      return alloc.emitError("scratch of dynamic size: ") << type;
    int64_t elementBytes =
        type.getElementType().isIndex()
            ? 8
            : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    bytes += llvm::alignTo(type.getNumElements() * elementBytes, 64);
    if (bytes > kMaxScratchBytes)
      return alloc.emitError("kernel needs more than ")
             << kMaxScratchBytes << " bytes of scratch: " << bytes;
    builder.setInsertionPointToStart(&entry);
    auto alloca = memref::AllocaOp::create(builder, alloc.getLoc(), type,
                                           builder.getI64IntegerAttr(64));
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    alloc.replaceAllUsesWith(alloca.getResult());
    alloc.erase();
  }
  return success();
}

namespace {
struct BufferizeKernel
    : dynamo::codegen::impl::BufferizeKernelPassBase<BufferizeKernel> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp func = requireKernelFunction(module);
    if (!func)
      return signalPassFailure();
    bool onTensors =
        llvm::any_of(func.getArgumentTypes(), llvm::IsaPred<TensorType>) ||
        func.getNumResults() != 0;
    if (onTensors && failed(bufferize(func)))
      return signalPassFailure();
    if (failed(promoteToStack(func)))
      return signalPassFailure();
    // The parallel loops of a kernel that comes on memory write its outputs: of
    // one that folded away, every part of the range would write them again.
    cleanUp(func, onTensors ? patterns : patternsWithoutForall);
  }

  LogicalResult bufferize(func::FuncOp func) {
    if (failed(passDestinations(func)))
      return failure();
    cleanUp(func, patterns);
    separateDestinations(func);
    copyWrittenInputs(func);
    nameDestinations(func);
    bufferization::OneShotBufferizationOptions options;
    options.setFunctionBoundaryTypeConversion(
        bufferization::LayoutMapOption::IdentityLayoutMap);
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotBufferize(func, options, state)))
      return failure();
    cleanUp(func, patterns);
    return verifyCopies(func);
  }

  /// The canonicalisation patterns are collected once per pass, not per use.
  LogicalResult initialize(MLIRContext *context) override {
    auto collect = [&](bool withForall) {
      RewritePatternSet set(context);
      for (StringRef name : {"tensor", "memref", "scf", "linalg",
                             "bufferization", "affine", "arith"})
        if (Dialect *dialect = context->getLoadedDialect(name))
          dialect->getCanonicalizationPatterns(set);
      for (RegisteredOperationName op : context->getRegisteredOperations())
        if (llvm::is_contained({"tensor", "memref", "scf", "linalg",
                                "bufferization", "affine", "vector"},
                               op.getDialectNamespace()) &&
            (withForall ||
             op.getStringRef() != scf::ForallOp::getOperationName()))
          op.getCanonicalizationPatterns(set, context);
      return FrozenRewritePatternSet(std::move(set));
    };
    patterns = collect(/*withForall=*/true);
    patternsWithoutForall = collect(/*withForall=*/false);
    return success();
  }

  /// Folds, drops dead and double operations and copies onto themselves.
  void cleanUp(func::FuncOp func, const FrozenRewritePatternSet &patterns) {
    (void)applyPatternsGreedily(func, patterns);
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(func);
    eliminateCommonSubExpressions(rewriter, dominance, func);
  }

  FrozenRewritePatternSet patterns, patternsWithoutForall;
};
} // namespace
