//===- RowsEmitter.cpp - Vector code of a rows kernel ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits scf loops and one-dimensional vectors from a schedule.  There is no
// remainder loop: the last chunk of a dim starts early enough to be whole.
// Elementwise results are then computed twice, to the same; a reduction masks
// the lanes that it has seen.
//
//===----------------------------------------------------------------------===//

#include "RowsEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dynamo::codegen::rows;

/// A sum over more iterations than this is made of partial sums, which bounds
/// the rounding error.
static constexpr int64_t kMaxChain = 512;

namespace {
/// A value at the current point: a scalar (of all lanes), a vector, or `base`,
/// `base` + 1, ... along the lanes.
struct Lanes {
  enum Kind { Uniform, Vector, Iota } kind = Uniform;
  Value value;
};

class Emitter {
public:
  Emitter(OpBuilder &builder, Location loc, const Graph &graph,
          const Schedule &plan, ArrayRef<Value> memories, unsigned numInputs)
      : b(builder), loc(loc), graph(graph), plan(plan), memories(memories),
        numInputs(numInputs), index(graph.dimSizes.size()) {}

  void emit() {
    allocateScratch();
    int64_t perTask = plan.unitsPerTask;
    int64_t tasks = llvm::divideCeil(plan.units, perTask);
    auto forall = scf::ForallOp::create(
        b, loc, {b.getIndexAttr(0)}, {b.getIndexAttr(tasks)},
        {b.getIndexAttr(1)}, ValueRange{}, std::nullopt);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(forall.getBody());
    Value task = forall.getInductionVar(0);
    if (perTask == 1)
      return emitUnit(task);
    Value lo = mul(task, constant(perTask));
    Value hi = add(lo, constant(perTask));
    if (plan.units % perTask != 0)
      hi = arith::MinUIOp::create(b, loc, hi, constant(plan.units));
    loop(lo, hi, constant(1), {}, [&](Value unit, ValueRange) {
      emitUnit(unit);
      return SmallVector<Value>();
    });
  }

private:
  //===--------------------------------------------------------------------===//
  // Small helpers
  //===--------------------------------------------------------------------===//

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }

  SmallVector<Value>
  loop(Value lo, Value hi, Value step, ValueRange inits,
       llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    auto forOp = scf::ForOp::create(b, loc, lo, hi, step, inits);
    OpBuilder::InsertionGuard guard(b);
    if (inits.empty()) {
      b.setInsertionPoint(forOp.getBody()->getTerminator());
      body(forOp.getInductionVar(), {});
      return {};
    }
    b.setInsertionPointToStart(forOp.getBody());
    SmallVector<Value> results =
        body(forOp.getInductionVar(), forOp.getRegionIterArgs());
    scf::YieldOp::create(b, loc, results);
    return llvm::to_vector(ValueRange(forOp.getResults()));
  }

  VectorType vectorOf(Type element) const {
    return VectorType::get({lanes}, element);
  }

  Value toVector(Lanes x) {
    if (x.kind == Lanes::Vector)
      return x.value;
    VectorType type = vectorOf(x.value.getType());
    Value splat = vector::BroadcastOp::create(b, loc, type, x.value);
    if (x.kind == Lanes::Uniform)
      return splat;
    SmallVector<Attribute> steps;
    for (int64_t i = 0; i < lanes; ++i)
      steps.push_back(b.getIntegerAttr(type.getElementType(), i));
    Value iota = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(cast<ShapedType>(type), steps));
    return add(splat, iota);
  }

  /// Whether the lanes of the vector dim are bound and `node` has them.
  bool isVectorized(const Node &node) const {
    return lanes > 1 && vectorDim >= 0 && node.has(vectorDim);
  }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// The element offset of an access; `skip` is a dim whose index counts as 0.
  Value offsetOf(int64_t offset, ArrayRef<int64_t> strides, int skip = -1) {
    AffineExpr expr = b.getAffineConstantExpr(offset);
    SmallVector<Value> dims;
    for (auto [dim, stride] : llvm::enumerate(strides)) {
      if (stride == 0 || static_cast<int>(dim) == skip)
        continue;
      expr = expr + b.getAffineDimExpr(dims.size()) * stride;
      dims.push_back(index[dim]);
    }
    if (dims.empty())
      return constant(offset);
    return affine::AffineApplyOp::create(
        b, loc, AffineMap::get(dims.size(), 0, expr), dims);
  }

  Lanes load(Value memory, Value offset, int64_t laneStride) {
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    if (laneStride == 0 || lanes == 1)
      return {Lanes::Uniform, memref::LoadOp::create(b, loc, memory, offset)};
    if (laneStride == 1)
      return {Lanes::Vector, vector::LoadOp::create(b, loc, vectorOf(element),
                                                    memory, offset)};
    SmallVector<Value> elements;
    for (int64_t i = 0; i < lanes; ++i)
      elements.push_back(memref::LoadOp::create(
          b, loc, memory, add(offset, constant(i * laneStride))));
    return {Lanes::Vector, vector::FromElementsOp::create(
                               b, loc, vectorOf(element), elements)};
  }

  void store(Lanes value, Value memory, Value offset, int64_t laneStride) {
    if (laneStride == 0 || lanes == 1) {
      memref::StoreOp::create(b, loc, value.value, memory, offset);
      return;
    }
    Value lanesValue = toVector(value);
    if (laneStride == 1) {
      vector::StoreOp::create(b, loc, lanesValue, memory, offset);
      return;
    }
    for (int64_t i = 0; i < lanes; ++i) {
      Value element = vector::ExtractOp::create(b, loc, lanesValue, i);
      memref::StoreOp::create(b, loc, element, memory,
                              add(offset, constant(i * laneStride)));
    }
  }

  int64_t laneStride(ArrayRef<int64_t> strides) const {
    return vectorDim < 0 ? 0 : strides[vectorDim];
  }

  Lanes loadAccess(unsigned argument, const Access &access) {
    return load(memories[argument], offsetOf(access.offset, access.strides),
                laneStride(access.strides));
  }

  /// i1 has no address for its elements: a byte in scratch.
  static Type storedType(Type element) {
    return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                                : element;
  }

  void allocateScratch() {
    OpBuilder::InsertionGuard guard(b);
    Block *entry = b.getInsertionBlock();
    b.setInsertionPointToStart(entry);
    for (const auto &[value, buffer] : plan.buffers) {
      if (buffer.output)
        continue;
      Type element = graph.nodes[value.first].results[value.second].elementType;
      auto type = MemRefType::get({buffer.size}, storedType(element));
      scratch[value] =
          memref::AllocaOp::create(b, loc, type, b.getI64IntegerAttr(64));
    }
  }

  using ValueKey = std::pair<unsigned, unsigned>;

  int scratchSkip() const {
    return plan.vectorIsParallel ? plan.vectorDim : -1;
  }

  Lanes loadBuffer(ValueKey key) {
    const BufferPlan &buffer = plan.buffers.find(key)->second;
    if (buffer.output)
      return loadAccess(numInputs + buffer.output->output,
                        buffer.output->access);
    Lanes value =
        load(scratch.lookup(key), offsetOf(0, buffer.strides, scratchSkip()),
             laneStride(buffer.strides));
    if (graph.nodes[key.first].results[key.second].elementType.isInteger(1)) {
      Type type = b.getI1Type();
      if (value.kind == Lanes::Vector)
        type = vectorOf(type);
      value.value = arith::TruncIOp::create(b, loc, type, value.value);
    }
    return value;
  }

  /// Writes a result to the outputs and the buffer that it has.
  void storeResult(ValueKey key, Lanes value) {
    const Result &result = graph.nodes[key.first].results[key.second];
    for (const Store &place : result.stores)
      store(value, memories[numInputs + place.output],
            offsetOf(place.access.offset, place.access.strides),
            laneStride(place.access.strides));
    auto it = plan.buffers.find(key);
    if (it == plan.buffers.end() || it->second.output)
      return;
    if (result.elementType.isInteger(1)) {
      Type type = b.getI8Type();
      if (value.kind == Lanes::Vector)
        type = vectorOf(type);
      value.value = arith::ExtUIOp::create(b, loc, type, value.value);
    }
    store(value, scratch.lookup(key),
          offsetOf(0, it->second.strides, scratchSkip()),
          laneStride(it->second.strides));
  }

  //===--------------------------------------------------------------------===//
  // Points
  //===--------------------------------------------------------------------===//

  Lanes getOperand(const Operand &operand) {
    switch (operand.source.kind) {
    case Source::Scalar:
      return {Lanes::Uniform, operand.source.scalar};
    case Source::Memory:
      return loadAccess(operand.source.argument, operand.access);
    case Source::Undefined:
      return {Lanes::Uniform, arith::ConstantOp::create(
                                  b, loc, b.getZeroAttr(operand.elementType))};
    case Source::Node:
      break;
    }
    ValueKey key{operand.source.node, operand.source.result};
    if (auto it = pointValues.find(key); it != pointValues.end())
      return it->second;
    if (auto it = unitValues.find(key); it != unitValues.end())
      return it->second;
    return loadBuffer(key);
  }

  /// The body of a node at the current point. `accumulators` stand for the
  /// init operands of a reduction.
  SmallVector<Lanes> emitBody(const Node &node, ArrayRef<Lanes> accumulators) {
    if (!node.op)
      return {getOperand(node.inputs[0])};
    Block *body = node.body();
    llvm::DenseMap<Value, Lanes> values;
    for (auto [i, operand] : llvm::enumerate(node.inputs))
      if (!body->getArgument(i).use_empty())
        values[body->getArgument(i)] = getOperand(operand);
    for (auto [i, operand] : llvm::enumerate(node.inits)) {
      BlockArgument arg = body->getArgument(node.inputs.size() + i);
      if (!arg.use_empty())
        values[arg] =
            accumulators.empty() ? getOperand(operand) : accumulators[i];
    }
    auto lookup = [&](Value value) {
      auto it = values.find(value);
      return it != values.end() ? it->second : Lanes{Lanes::Uniform, value};
    };
    for (Operation &op : body->without_terminator()) {
      SmallVector<Lanes> operands;
      for (Value operand : op.getOperands())
        operands.push_back(lookup(operand));
      if (auto indexOp = dyn_cast<linalg::IndexOp>(op))
        values[indexOp.getResult()] = emitIndex(node, indexOp.getDim());
      else if (auto extract = dyn_cast<tensor::ExtractOp>(op))
        values[extract.getResult()] =
            emitGather(graph.gathers.find(extract)->second,
                       ArrayRef(operands).drop_front());
      else
        values[op.getResult(0)] = emitOperation(op, operands);
    }
    SmallVector<Lanes> results;
    for (Value result : body->getTerminator()->getOperands())
      results.push_back(lookup(result));
    return results;
  }

  Lanes emitIndex(const Node &node, unsigned loopNumber) {
    int dim = node.loopDims[loopNumber];
    if (dim < 0)
      return {Lanes::Uniform, constant(0)};
    bool alongLanes = dim == vectorDim && lanes > 1;
    return {alongLanes ? Lanes::Iota : Lanes::Uniform, index[dim]};
  }

  Lanes emitOperation(Operation &op, ArrayRef<Lanes> operands) {
    auto clone = [&](ValueRange values, Type type) {
      OperationState state(loc, op.getName(), values, {type}, op.getAttrs());
      return b.create(state)->getResult(0);
    };
    Type type = op.getResult(0).getType();
    SmallVector<Value> values;
    for (const Lanes &operand : operands)
      values.push_back(operand.value);
    bool uniform = llvm::all_of(
        operands, [](const Lanes &x) { return x.kind == Lanes::Uniform; });
    if (uniform)
      return {Lanes::Uniform, clone(values, type)};
    // Lane numbers stay such under a shift and a cast: contiguous gathers.
    bool shifts =
        isa<arith::AddIOp>(op) &&
        llvm::none_of(operands,
                      [](auto &x) { return x.kind == Lanes::Vector; }) &&
        operands[0].kind != operands[1].kind;
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
      shifts = operands[0].kind == Lanes::Iota;
    if (isa<arith::SubIOp>(op))
      shifts =
          operands[0].kind == Lanes::Iota && operands[1].kind == Lanes::Uniform;
    if (shifts)
      return {Lanes::Iota, clone(values, type)};
    for (auto [value, operand] : llvm::zip_equal(values, operands)) {
      // A condition of all lanes stays one.
      if (isa<arith::SelectOp>(op) && operand.kind == Lanes::Uniform &&
          &operand == &operands[0])
        continue;
      value = toVector(operand);
    }
    return {Lanes::Vector, clone(values, vectorOf(type))};
  }

  Lanes emitGather(const Source &source, ArrayRef<Lanes> indices) {
    Value memory = memories[source.argument];
    Value offset = constant(source.view.offset);
    bool iota = false, vector = false;
    SmallVector<std::pair<Value, int64_t>> varying;
    for (auto [x, stride] : llvm::zip_equal(indices, source.view.strides)) {
      if (x.kind == Lanes::Vector || (x.kind == Lanes::Iota && stride != 1)) {
        vector = true;
        varying.push_back({toVector(x), stride});
        continue;
      }
      iota |= x.kind == Lanes::Iota;
      offset = add(offset, mul(x.value, constant(stride)));
    }
    if (!vector)
      return load(memory, offset, iota ? 1 : 0);
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    SmallVector<Value> elements;
    for (int64_t i = 0; i < lanes; ++i) {
      Value place = iota ? add(offset, constant(i)) : offset;
      for (auto [positions, stride] : varying)
        place = add(place, mul(vector::ExtractOp::create(b, loc, positions, i),
                               constant(stride)));
      elements.push_back(memref::LoadOp::create(b, loc, memory, place));
    }
    return {Lanes::Vector, vector::FromElementsOp::create(
                               b, loc, vectorOf(element), elements)};
  }

  /// All members of the stage at the current point. Takes and returns the
  /// accumulators of its reductions, in order.
  SmallVector<Value> emitPoint(const Stage &stage, ValueRange accumulators) {
    SmallVector<Value> next;
    unsigned number = &stage - plan.stages.begin();
    for (unsigned n : stage.members) {
      const Node &node = graph.nodes[n];
      if (!node.isReduction()) {
        SmallVector<Lanes> results = emitBody(node, {});
        for (auto [r, value] : llvm::enumerate(results)) {
          pointValues[{n, r}] = value;
          if (plan.stageOf.lookup(n) == number)
            storeResult({n, static_cast<unsigned>(r)}, value);
        }
        continue;
      }
      SmallVector<Lanes> old;
      for (unsigned r = 0, e = node.results.size(); r < e; ++r) {
        Value acc = accumulators[next.size() + r];
        old.push_back(
            {isa<VectorType>(acc.getType()) ? Lanes::Vector : Lanes::Uniform,
             acc});
      }
      SmallVector<Lanes> results = emitBody(node, old);
      for (auto [before, after] : llvm::zip_equal(old, results)) {
        Value value =
            before.kind == Lanes::Vector ? toVector(after) : after.value;
        if (mask && before.kind == Lanes::Vector)
          value = arith::SelectOp::create(b, loc, mask, value, before.value);
        next.push_back(value);
      }
    }
    return next;
  }

  //===--------------------------------------------------------------------===//
  // Loops
  //===--------------------------------------------------------------------===//

  static int64_t lanesFor(int64_t size, int64_t atMost) {
    while (atMost > size)
      atMost /= 2;
    return atMost;
  }

  void emitUnit(Value unit) {
    Value rest = unit;
    auto split = [&](int64_t size, bool last) {
      if (last)
        return rest;
      Value c = constant(size);
      Value part = arith::RemUIOp::create(b, loc, rest, c);
      rest = arith::DivUIOp::create(b, loc, rest, c);
      return part;
    };
    int64_t size = plan.vectorIsParallel ? graph.dimSizes[plan.vectorDim] : 0;
    int64_t blocks =
        plan.vectorIsParallel ? llvm::divideCeil(size, plan.vectorBlock) : 1;
    Value block;
    if (plan.vectorIsParallel && !plan.blocksOutermost)
      block = split(blocks, plan.parallel.empty());
    for (int i = static_cast<int>(plan.parallel.size()) - 1; i >= 0; --i) {
      int dim = plan.parallel[i];
      bool last = i == 0 && !(plan.vectorIsParallel && plan.blocksOutermost);
      index[dim] = split(graph.dimSizes[dim], last);
    }
    if (!plan.vectorIsParallel)
      return emitStages();
    if (plan.blocksOutermost)
      block = rest;
    lanes = plan.lanes;
    Value lo = mul(block, constant(plan.vectorBlock));
    auto place = [&](Value at) {
      if (size % lanes == 0)
        return at;
      return Value(arith::MinUIOp::create(b, loc, at, constant(size - lanes)));
    };
    if (plan.vectorBlock == lanes) {
      index[plan.vectorDim] = place(lo);
      return emitStages();
    }
    Value hi = add(lo, constant(plan.vectorBlock));
    if (size % plan.vectorBlock != 0)
      hi = arith::MinUIOp::create(b, loc, hi, constant(size));
    loop(lo, hi, constant(lanes), {}, [&](Value at, ValueRange) {
      index[plan.vectorDim] = place(at);
      emitStages();
      return SmallVector<Value>();
    });
  }

  void emitStages() {
    unitValues.clear();
    for (const Stage &stage : plan.stages) {
      vectorDim = stage.vectorDim;
      if (!plan.vectorIsParallel)
        lanes = 1;
      emitKept(stage, 0);
    }
  }

  void emitKept(const Stage &stage, unsigned k) {
    pointValues.clear();
    if (k == stage.kept.size())
      return emitReduction(stage);
    int dim = stage.kept[k];
    int64_t size = graph.dimSizes[dim];
    bool vectorized = dim == vectorDim && !stage.scalar;
    if (vectorized)
      lanes = lanesFor(size, plan.lanes);
    int64_t step = vectorized ? lanes : 1;
    loop(constant(0), constant(size), constant(step), {},
         [&](Value at, ValueRange) {
           index[dim] = at;
           if (size % step != 0)
             index[dim] =
                 arith::MinUIOp::create(b, loc, at, constant(size - step));
           emitKept(stage, k + 1);
           return SmallVector<Value>();
         });
    if (vectorized)
      lanes = 1;
  }

  /// One accumulator of a stage.
  struct Accumulator {
    unsigned node, result;
    Operation *combiner; ///< null if elements must come in order
    Lanes init;
  };

  /// Whether the lanes of the vector dim are reduced: each lane then starts at
  /// the neutral element.
  bool reducesLanes(const Stage &stage) const {
    return !stage.scalar && llvm::is_contained(stage.reduced, vectorDim);
  }

  Value neutral(const Accumulator &acc) {
    TypedAttr attr = getNeutralElement(acc.combiner);
    Value value = arith::ConstantOp::create(b, loc, attr);
    return lanes > 1 ? toVector({Lanes::Uniform, value}) : value;
  }

  Value combine(Operation *combiner, Value x, Value y) {
    OperationState state(loc, combiner->getName(), {x, y}, {x.getType()},
                         combiner->getAttrs());
    return b.create(state)->getResult(0);
  }

  void emitReduction(const Stage &stage) {
    SmallVector<Accumulator> accs;
    for (unsigned n : stage.members) {
      const Node &node = graph.nodes[n];
      if (node.isReduction())
        for (unsigned r = 0, e = node.results.size(); r < e; ++r)
          accs.push_back(
              {n, r, getCombiner(node, r), getOperand(node.inits[r])});
    }
    if (accs.empty()) {
      emitPoint(stage, {});
      if (stage.kept.empty())
        for (auto &[key, value] : pointValues)
          unitValues[key] = value;
      pointValues.clear();
      return;
    }
    bool acrossLanes = reducesLanes(stage);
    int64_t outerLanes = lanes;
    if (acrossLanes)
      lanes = lanesFor(graph.dimSizes[vectorDim], plan.lanes);
    SmallVector<Value> values;
    for (Accumulator &acc : accs) {
      if (acrossLanes)
        values.push_back(neutral(acc));
      else
        values.push_back(isVectorized(graph.nodes[acc.node])
                             ? toVector(acc.init)
                             : acc.init.value);
    }
    pointValues.clear();
    values = emitReduced(stage, accs, 0, values);
    pointValues.clear();
    for (auto [acc, value] : llvm::zip_equal(accs, values)) {
      if (acrossLanes) {
        value = foldLanes(acc.combiner, value);
        value = combine(acc.combiner, acc.init.value, value);
      }
    }
    lanes = outerLanes;
    for (auto [acc, value] : llvm::zip_equal(accs, values)) {
      Lanes result{isa<VectorType>(value.getType()) ? Lanes::Vector
                                                    : Lanes::Uniform,
                   value};
      storeResult({acc.node, acc.result}, result);
      if (stage.kept.empty())
        unitValues[{acc.node, acc.result}] = result;
    }
  }

  /// Halves added to halves: the same order for every run and thread count.
  Value foldLanes(Operation *combiner, Value value) {
    for (int64_t n = lanes; n > 1; n /= 2) {
      Value lo = vector::ExtractStridedSliceOp::create(
          b, loc, value, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{n / 2},
          ArrayRef<int64_t>{1});
      Value hi = vector::ExtractStridedSliceOp::create(
          b, loc, value, ArrayRef<int64_t>{n / 2}, ArrayRef<int64_t>{n / 2},
          ArrayRef<int64_t>{1});
      value = combine(combiner, lo, hi);
    }
    return vector::ExtractOp::create(b, loc, value, 0);
  }

  SmallVector<Value> emitReduced(const Stage &stage, ArrayRef<Accumulator> accs,
                                 unsigned k, ValueRange values) {
    if (k == stage.reduced.size()) {
      pointValues.clear();
      return emitPoint(stage, values);
    }
    int dim = stage.reduced[k];
    int64_t size = graph.dimSizes[dim];
    bool acrossLanes = dim == vectorDim && !stage.scalar;
    int64_t step = acrossLanes ? lanes : 1;
    auto body = [&](Value at, ValueRange carried) {
      index[dim] = at;
      return emitReduced(stage, accs, k + 1, carried);
    };
    SmallVector<Value> result =
        emitChain(accs, size / step, step, values, body);
    if (size % step == 0)
      return result;
    SmallVector<bool> fresh(lanes, true);
    for (int64_t i = 0; i < lanes - size % step; ++i)
      fresh[i] = false;
    mask = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()),
                               ArrayRef<bool>(fresh)));
    result = body(constant(size - lanes), result);
    mask = nullptr;
    return result;
  }

  /// `count` iterations of `step` each. Long sums are sums of partial sums.
  SmallVector<Value>
  emitChain(ArrayRef<Accumulator> accs, int64_t count, int64_t step,
            ValueRange values,
            llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    bool sums =
        llvm::all_of(accs,
                     [](const Accumulator &acc) { return acc.combiner; }) &&
        llvm::any_of(accs, [](const Accumulator &acc) {
          return isa<arith::AddFOp>(acc.combiner);
        });
    Value stepValue = constant(step);
    if (count <= 2 * kMaxChain || !sums)
      return loop(constant(0), constant(count * step), stepValue, values, body);
    auto partial = [&](Value lo, Value hi, ValueRange carried) {
      SmallVector<Value> zeros;
      for (auto [acc, value] : llvm::zip_equal(accs, carried)) {
        TypedAttr attr = getNeutralElement(acc.combiner);
        Value zero = arith::ConstantOp::create(b, loc, attr);
        if (isa<VectorType>(value.getType()))
          zero = toVector({Lanes::Uniform, zero});
        zeros.push_back(zero);
      }
      SmallVector<Value> sums = loop(lo, hi, stepValue, zeros, body);
      for (auto [acc, value, sum] : llvm::zip_equal(accs, carried, sums))
        sum = combine(acc.combiner, value, sum);
      return sums;
    };
    int64_t chunk = kMaxChain * step;
    int64_t whole = count / kMaxChain * chunk;
    SmallVector<Value> result =
        loop(constant(0), constant(whole), constant(chunk), values,
             [&](Value at, ValueRange carried) {
               return partial(at, add(at, constant(chunk)), carried);
             });
    if (whole != count * step)
      result = partial(constant(whole), constant(count * step), result);
    return result;
  }

  OpBuilder &b;
  Location loc;
  const Graph &graph;
  const Schedule &plan;
  ArrayRef<Value> memories;
  unsigned numInputs;

  int vectorDim = -1; ///< of the current stage
  /// Lanes of the vector dim where it is bound, else 1.
  int64_t lanes = 1;
  SmallVector<Value> index; ///< per dim; of the vector dim, that of lane 0
  Value mask;               ///< lanes that a reduction has not seen, if not all
  llvm::DenseMap<ValueKey, Value> scratch;
  /// Values of this point and of this unit.
  llvm::DenseMap<ValueKey, Lanes> pointValues, unitValues;
};
} // namespace

void dynamo::codegen::rows::emitComponent(OpBuilder &builder, Location loc,
                                          const Graph &graph,
                                          const Schedule &schedule,
                                          ArrayRef<Value> memories,
                                          unsigned numInputs) {
  Emitter(builder, loc, graph, schedule, memories, numInputs).emit();
}
