//===- RowsSchedule.cpp - Which loops a rows kernel becomes ---------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowsSchedule.h"
#include "Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dynamo::codegen;
using namespace dynamo::codegen::rows;

/// Scalar operations of a parallel task, about 10 us.
static constexpr int64_t kTaskWork = 40000;
/// Most elements along the vector dim of one unit.
static constexpr int64_t kMaxVectorBlock = 4096;

static bool dependsOnAccumulator(Value value, const Node &node) {
  if (auto arg = dyn_cast<BlockArgument>(value))
    return arg.getOwner() == node.body() &&
           arg.getArgNumber() >= node.inputs.size();
  Operation *def = value.getDefiningOp();
  return def->getBlock() == node.body() &&
         llvm::any_of(def->getOperands(), [&](Value operand) {
           return dependsOnAccumulator(operand, node);
         });
}

TypedAttr dynamo::codegen::rows::getNeutralElement(Operation *combiner) {
  Type type = combiner->getResult(0).getType();
  OpBuilder b(combiner->getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    if (isa<arith::AddFOp>(combiner))
      return b.getFloatAttr(type, APFloat::getZero(semantics, true));
    if (isa<arith::MulFOp>(combiner))
      return b.getFloatAttr(type, 1.0);
    bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner);
    return b.getFloatAttr(type, APFloat::getInf(semantics, isMax));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(combiner))
    return b.getIntegerAttr(type, APInt::getZero(width));
  if (isa<arith::MulIOp>(combiner))
    return b.getIntegerAttr(type, APInt(width, 1));
  if (isa<arith::MaxSIOp>(combiner))
    return b.getIntegerAttr(type, APInt::getSignedMinValue(width));
  if (isa<arith::MinSIOp>(combiner))
    return b.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  return b.getIntegerAttr(type, APInt::getAllOnes(width)); // and, minui
}

Operation *dynamo::codegen::rows::getCombiner(const Node &node,
                                              unsigned result) {
  Block *body = node.body();
  Operation *op = body->getTerminator()->getOperand(result).getDefiningOp();
  if (!op || op->getBlock() != body ||
      !isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
           arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::MulIOp,
           arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp,
           arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return nullptr;
  BlockArgument acc = body->getArgument(node.inputs.size() + result);
  Value other =
      op->getOperand(0) == acc ? op->getOperand(1) : op->getOperand(0);
  bool isOperand = op->getOperand(0) == acc || op->getOperand(1) == acc;
  if (!isOperand || !acc.hasOneUse() || !op->getResult(0).hasOneUse() ||
      dependsOnAccumulator(other, node))
    return nullptr;
  return op;
}

static int64_t bodyCost(const Node &node) {
  int64_t cost = 1;
  if (node.op)
    for (Operation &op : node.body()->without_terminator())
      cost += isa_and_nonnull<math::MathDialect>(op.getDialect()) ? 16 : 1;
  return cost;
}

namespace {
class Scheduler {
public:
  Scheduler(const Graph &graph, unsigned component,
            const dynamo::target::MachineModel &machine, bool recompute)
      : graph(graph), machine(machine), recompute(recompute) {
    for (unsigned n = 0, e = graph.nodes.size(); n < e; ++n)
      if (graph.nodes[n].component == component)
        nodes.push_back(n);
  }

  FailureOr<Schedule> run(int64_t &scratchBytes, std::string &reason) {
    findParallelDims();
    orderDims();
    chooseVectorDim();
    if (!makeStages()) {
      reason = "operations that cannot be put in order";
      return failure();
    }
    if (failed(planBuffers(scratchBytes, reason)))
      return failure();
    chooseTasks();
    return std::move(plan);
  }

private:
  const Node &node(unsigned n) const { return graph.nodes[n]; }

  /// With the number of elements accessed as weight, twice for stores: a store
  /// with a stride costs more than a load.
  template <typename Fn> void forEachAccess(Fn fn) const {
    auto elements = [&](const Access &access) {
      double count = 1;
      for (auto [stride, size] :
           llvm::zip_equal(access.strides, graph.dimSizes))
        count *= stride != 0 ? size : 1;
      return count;
    };
    for (unsigned n : nodes) {
      for (const Operand &operand : node(n).inputs)
        if (operand.source.kind == Source::Memory)
          fn(operand.access, elements(operand.access));
      for (const Result &result : node(n).results)
        for (const Store &store : result.stores)
          fn(store.access, 2 * elements(store.access));
    }
  }

  void findParallelDims() {
    isParallel.assign(graph.dimSizes.size(), true);
    inUse.assign(graph.dimSizes.size(), false);
    for (unsigned n : nodes)
      for (int dim = 0, e = graph.dimSizes.size(); dim < e; ++dim) {
        bool reduced = llvm::is_contained(node(n).reduced, dim);
        isParallel[dim] = isParallel[dim] && node(n).has(dim) && !reduced;
        inUse[dim] = inUse[dim] || node(n).has(dim);
      }
  }

  /// Outer to inner, as the heaviest accesses have it.
  void orderDims() {
    SmallVector<std::pair<double, const Access *>> accesses;
    forEachAccess([&](const Access &access, double weight) {
      accesses.push_back({weight, &access});
    });
    llvm::stable_sort(accesses, [](const auto &a, const auto &b) {
      return a.first > b.first;
    });
    for (auto &[weight, access] : accesses) {
      SmallVector<int> dims;
      for (int dim = 0, e = graph.dimSizes.size(); dim < e; ++dim)
        if (inUse[dim] && access->strides[dim] != 0 &&
            !llvm::is_contained(order, dim))
          dims.push_back(dim);
      llvm::stable_sort(dims, [&, access = access](int a, int b) {
        return access->strides[a] > access->strides[b];
      });
      order.append(dims);
    }
    for (int dim = 0, e = graph.dimSizes.size(); dim < e; ++dim)
      if (inUse[dim] && !llvm::is_contained(order, dim))
        order.push_back(dim);
  }

  void chooseVectorDim() {
    score.assign(graph.dimSizes.size(), 0);
    forEachAccess([&](const Access &access, double weight) {
      for (int dim : order)
        if (access.strides[dim] == 1)
          score[dim] += weight;
    });
    double best = -1;
    for (int dim : order)
      if (score[dim] >= best && graph.dimSizes[dim] > 1) {
        best = score[dim];
        plan.vectorDim = dim;
      }
    int64_t bits = 32;
    for (unsigned n : nodes) {
      auto widen = [&](Type type) {
        bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
      };
      for (const Operand &operand : node(n).inputs)
        if (operand.source.kind != Source::Memory || plan.vectorDim < 0 ||
            operand.access.strides[plan.vectorDim] != 0)
          widen(operand.elementType);
      for (const Result &result : node(n).results)
        widen(result.elementType);
    }
    // Four registers hide the latency of one dependent chain; with two a chain
    // of polynomials takes twice as long.
    plan.lanes = 4 * machine.vectorBits / bits;
    for (int dim : order) {
      if (!isParallel[dim])
        continue;
      if (dim == plan.vectorDim)
        plan.vectorIsParallel = true;
      else
        plan.parallel.push_back(dim);
    }
    // Cheap sums over other dims: longer pieces of each row of memory.
    bool cheapSums = llvm::all_of(nodes, [&](unsigned n) {
      return node(n).isReduction() && bodyCost(node(n)) <= 4;
    });
    if (plan.vectorIsParallel && cheapSums)
      plan.lanes *= 2;
    if (plan.vectorIsParallel)
      while (plan.lanes > graph.dimSizes[plan.vectorDim])
        plan.lanes /= 2;
  }

  //===--------------------------------------------------------------------===//
  // Stages
  //===--------------------------------------------------------------------===//

  /// The dims of a node that are loops inside a unit, as a bit set.
  uint64_t innerDims(unsigned n) const {
    uint64_t set = 0;
    for (int dim : node(n).dims)
      if (!isParallel[dim])
        set |= uint64_t(1) << dim;
    return set;
  }

  template <typename Fn> void forEachProducer(unsigned n, Fn fn) const {
    for (const Operand &operand : node(n).inputs)
      if (operand.source.kind == Source::Node)
        fn(operand.source.node);
    for (const Operand &operand : node(n).inits)
      if (operand.source.kind == Source::Node)
        fn(operand.source.node);
  }

  bool isRoot(unsigned n) const {
    if (node(n).isReduction())
      return true;
    for (const Result &result : node(n).results)
      if (!result.stores.empty())
        return true;
    bool root = false;
    for (unsigned reader : nodes)
      forEachProducer(reader, [&](unsigned producer) {
        root |= producer == n && innerDims(reader) != innerDims(n);
      });
    return root;
  }

  /// Two operations on one argument or row value cost no more than to store
  /// and load it again.
  bool isCheap(unsigned n) const {
    if (node(n).isReduction() || !node(n).op ||
        llvm::any_of(node(n).results,
                     [](const Result &r) { return !r.stores.empty(); }))
      return false;
    if (recompute)
      return true;
    int64_t loads = 0;
    for (const Operand &operand : node(n).inputs) {
      if (operand.source.kind == Source::Node &&
          innerDims(operand.source.node) != 0)
        return false;
      loads += operand.source.kind == Source::Memory &&
               operand.access.strides[std::max(plan.vectorDim, 0)] != 0;
    }
    return loads <= 1 && bodyCost(node(n)) <= 3 &&
           llvm::none_of(*node(n).body(), llvm::IsaPred<tensor::ExtractOp>);
  }

  /// Whether `n` can be computed in the stage; if so adds what it needs there
  /// to `pulled`.
  bool canJoin(unsigned n, unsigned stage, SmallVectorImpl<unsigned> &pulled) {
    bool ok = true;
    forEachProducer(n, [&](unsigned producer) {
      if (!ok || llvm::is_contained(pulled, producer))
        return;
      auto it = plan.stageOf.find(producer);
      if (it != plan.stageOf.end()) {
        if (it->second == stage) {
          ok = !node(producer).isReduction();
          return;
        }
        bool sameLoops = innerDims(producer) == innerDims(n);
        if (!sameLoops || innerDims(n) == 0 || !isCheap(producer))
          return;
        if (!canJoin(producer, stage, pulled)) {
          ok = false;
          return;
        }
        pulled.push_back(producer); // computed again
        return;
      }
      ok = !node(producer).isReduction() &&
           innerDims(producer) == innerDims(n) &&
           canJoin(producer, stage, pulled);
      if (ok)
        pulled.push_back(producer);
    });
    return ok;
  }

  /// The vector dim of a stage over these loops.
  int vectorDimOf(uint64_t loops) const {
    if (plan.vectorDim < 0 || plan.vectorIsParallel ||
        loops >> plan.vectorDim & 1)
      return plan.vectorDim;
    int best = -1;
    for (int dim : order)
      if (loops >> dim & 1 && (best < 0 || score[dim] >= score[best]))
        best = dim;
    return best;
  }

  bool needsOrder(unsigned n) const {
    if (!llvm::is_contained(node(n).reduced, vectorDimOf(innerDims(n))))
      return false;
    for (unsigned r = 0, e = node(n).results.size(); r < e; ++r)
      if (!getCombiner(node(n), r))
        return true;
    return false;
  }

  /// Whether every root has found its stage.
  bool makeStages() {
    SmallVector<unsigned> roots;
    for (unsigned n : nodes)
      if (isRoot(n))
        roots.push_back(n);
    while (true) {
      unsigned number = plan.stages.size();
      Stage stage;
      bool hasReduction = false;
      uint64_t loops = 0, reduced = 0;
      for (unsigned n : roots) {
        if (plan.stageOf.count(n))
          continue;
        uint64_t reduces = 0;
        for (int dim : node(n).reduced)
          reduces |= uint64_t(1) << dim;
        bool first = stage.members.empty();
        if (!first && innerDims(n) != loops)
          continue;
        if (!first && node(n).isReduction() && hasReduction &&
            (reduces != reduced || needsOrder(n) != stage.scalar))
          continue;
        SmallVector<unsigned> pulled;
        if (!canJoin(n, number, pulled))
          continue;
        pulled.push_back(n);
        loops = innerDims(n);
        if (node(n).isReduction()) {
          hasReduction = true;
          reduced = reduces;
          stage.scalar = needsOrder(n);
        }
        for (unsigned member : pulled) {
          if (!llvm::is_contained(stage.members, member))
            stage.members.push_back(member);
          plan.stageOf.try_emplace(member, number);
        }
      }
      if (stage.members.empty())
        return llvm::all_of(roots,
                            [&](unsigned n) { return plan.stageOf.count(n); });
      llvm::sort(stage.members);
      for (int dim : order)
        if (loops >> dim & 1)
          (reduced >> dim & 1 ? stage.reduced : stage.kept).push_back(dim);
      stage.vectorDim = vectorDimOf(loops);
      for (auto *dims : {&stage.kept, &stage.reduced})
        if (llvm::is_contained(*dims, stage.vectorDim)) {
          llvm::erase(*dims, stage.vectorDim);
          dims->push_back(stage.vectorDim);
        }
      plan.stages.push_back(std::move(stage));
    }
  }

  //===--------------------------------------------------------------------===//
  // Buffers and tasks
  //===--------------------------------------------------------------------===//

  LogicalResult planBuffers(int64_t &scratchBytes, std::string &reason) {
    for (auto [s, stage] : llvm::enumerate(plan.stages))
      for (unsigned n : stage.members) {
        auto need = [&](const Operand &operand) {
          if (operand.source.kind != Source::Node)
            return;
          unsigned producer = operand.source.node;
          // Computed here too, or a value of the unit that needs no memory.
          if ((llvm::is_contained(stage.members, producer) &&
               !node(producer).isReduction()) ||
              resultDims(producer) == 0)
            return;
          plan.buffers[{producer, operand.source.result}].needed = true;
        };
        for (const Operand &operand : node(n).inputs)
          need(operand);
        for (const Operand &operand : node(n).inits)
          need(operand);
      }
    for (auto &[value, buffer] : plan.buffers) {
      const Result &result = node(value.first).results[value.second];
      for (const Store &store : result.stores)
        if (plan.vectorDim < 0 || store.access.strides[plan.vectorDim] <= 1)
          buffer.output = &store;
      if (buffer.output)
        continue;
      buffer.strides.assign(graph.dimSizes.size(), 0);
      buffer.size = 1;
      uint64_t dims = resultDims(value.first);
      bool hasVector = plan.vectorDim >= 0 &&
                       (plan.vectorIsParallel || dims >> plan.vectorDim & 1);
      if (hasVector) {
        buffer.strides[plan.vectorDim] = 1;
        buffer.size =
            plan.vectorIsParallel ? plan.lanes : graph.dimSizes[plan.vectorDim];
      }
      for (int dim : llvm::reverse(order))
        if (dim != plan.vectorDim && dims >> dim & 1) {
          buffer.strides[dim] = buffer.size;
          buffer.size *= graph.dimSizes[dim];
        }
      int64_t elementBytes =
          std::max<int64_t>(1, result.elementType.getIntOrFloatBitWidth() / 8);
      scratchBytes += llvm::alignTo(buffer.size * elementBytes, 64);
      if (scratchBytes > kMaxScratchBytes) {
        reason = "rows that need " + std::to_string(scratchBytes) +
                 " bytes of scratch";
        return failure();
      }
    }
    return success();
  }

  /// The inner dims that a node's results have.
  uint64_t resultDims(unsigned n) const {
    uint64_t set = innerDims(n);
    for (int dim : node(n).reduced)
      set &= ~(uint64_t(1) << dim);
    return set;
  }

  void chooseTasks() {
    int64_t cost = 0;
    for (unsigned n : nodes) {
      int64_t points = bodyCost(node(n));
      for (int dim : node(n).dims)
        if (!isParallel[dim])
          points *= graph.dimSizes[dim];
      cost += points;
    }
    for (int dim : plan.parallel)
      plan.units *= graph.dimSizes[dim];
    if (plan.vectorIsParallel) {
      int64_t size = graph.dimSizes[plan.vectorDim];
      // Reads with a stride: a block of few lanes first along the other dims,
      // so that the cache lines are used whole.
      forEachAccess([&](const Access &access, double) {
        plan.blocksOutermost |= access.strides[plan.vectorDim] > 1;
      });
      plan.vectorBlock = plan.lanes;
      bool oneStage = llvm::all_of(plan.stages, [](const Stage &stage) {
        return stage.kept.empty() && stage.reduced.empty();
      });
      if (oneStage && !plan.blocksOutermost)
        plan.vectorBlock = size <= 2 * kMaxVectorBlock
                               ? llvm::alignTo(size, plan.lanes)
                               : llvm::alignTo(kMaxVectorBlock, plan.lanes);
      plan.units *= llvm::divideCeil(size, plan.vectorBlock);
      cost *= plan.vectorBlock;
    }
    cost = std::max<int64_t>(cost, 1);
    plan.unitsPerTask = std::clamp<int64_t>(kTaskWork / cost, 1,
                                            std::max<int64_t>(1, plan.units));
  }

  const Graph &graph;
  const dynamo::target::MachineModel &machine;
  bool recompute; ///< rather than keep rows
  SmallVector<unsigned> nodes;
  SmallVector<bool> isParallel, inUse;
  SmallVector<int> order;
  SmallVector<double> score; ///< per dim, of contiguous accesses along it
  Schedule plan;
};
} // namespace

FailureOr<Schedule> dynamo::codegen::rows::makeSchedule(
    const Graph &graph, unsigned component, const target::MachineModel &machine,
    int64_t &scratchBytes, std::string &reason) {
  if (graph.dimSizes.size() > 64) {
    reason = "more than 64 dims";
    return failure();
  }
  int64_t before = scratchBytes;
  FailureOr<Schedule> schedule =
      Scheduler(graph, component, machine, /*recompute=*/false)
          .run(scratchBytes, reason);
  if (succeeded(schedule))
    return schedule;
  // Rows too long to keep are computed again where they are needed.
  scratchBytes = before;
  return Scheduler(graph, component, machine, /*recompute=*/true)
      .run(scratchBytes, reason);
}
