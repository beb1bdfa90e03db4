//===- RowsGraph.cpp - A rows kernel as linear accesses over dims ---------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowsGraph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace dynamo::codegen::rows;

namespace {
class GraphBuilder {
public:
  GraphBuilder(func::FuncOp func, std::string &reason)
      : func(func), reason(reason) {}

  FailureOr<Graph> build() {
    Block &entry = func.getBody().front();
    for (Type type : llvm::concat<const Type>(func.getArgumentTypes(),
                                              func.getResultTypes()))
      if (!isSupported(type))
        return fail("a tensor that is not static or of bytes");
    for (Operation &op : entry.without_terminator())
      if (failed(addOperation(op)))
        return failure();
    auto ret = cast<func::ReturnOp>(entry.getTerminator());
    for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
      auto type = cast<RankedTensorType>(value.getType());
      View view{0, rowMajor(type.getShape())};
      if (failed(addStore(value, i, view)))
        return failure();
    }
    if (failed(unifyDims()))
      return failure();
    removeDeadNodes();
    resolveAccesses();
    mergeDims();
    return std::move(graph);
  }

private:
  LogicalResult fail(const Twine &why) {
    reason = why.str();
    return failure();
  }

  static bool isSupported(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || tensor.getEncoding() ||
        tensor.getNumElements() == 0)
      return false;
    Type element = tensor.getElementType();
    return element.isIntOrFloat() && element.getIntOrFloatBitWidth() >= 8 &&
           element.getIntOrFloatBitWidth() <= 64;
  }

  static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
    SmallVector<int64_t> strides(shape.size(), 1);
    for (int i = static_cast<int>(shape.size()) - 2; i >= 0; --i)
      strides[i] = strides[i + 1] * shape[i + 1];
    return strides;
  }

  //===--------------------------------------------------------------------===//
  // Operations and sources
  //===--------------------------------------------------------------------===//

  LogicalResult addOperation(Operation &op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      if (isa<linalg::FillOp>(op))
        return success(); // a source
      return addNode(linalgOp);
    }
    // The rest are sources of operands, looked at from there.
    if (isa<tensor::EmptyOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp,
            tensor::CollapseShapeOp, tensor::InsertSliceOp>(op) ||
        (op.getNumRegions() == 0 && isPure(&op) &&
         llvm::none_of(op.getOperandTypes(), llvm::IsaPred<ShapedType>)))
      return success();
    return fail("an operation '" + op.getName().getStringRef() + "'");
  }

  LogicalResult addNode(linalg::LinalgOp op) {
    Node node;
    node.op = op;
    node.sizes = op.getStaticLoopRanges();
    node.iterators = op.getIteratorTypesArray();
    for (int64_t size : node.sizes)
      if (ShapedType::isDynamic(size) || size == 0)
        return fail("loops that are dynamic or empty");
    unsigned number = graph.nodes.size();
    for (OpOperand &operand : op->getOpOperands()) {
      FailureOr<Source> source = getSource(operand.get());
      if (failed(source))
        return failure();
      Operand entry{*source,
                    op.getMatchingIndexingMap(&operand),
                    getElementTypeOrSelf(operand.get().getType()),
                    {}};
      if (!isa<RankedTensorType>(operand.get().getType())) {
        entry.map = AffineMap();
      } else if (!isLinear(entry.map)) {
        return fail("an indexing map that is not linear");
      }
      bool isInit = op.isDpsInit(&operand);
      (isInit ? node.inits : node.inputs).push_back(std::move(entry));
      if (!isInit)
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (!map.isProjectedPermutation())
        return fail("a result map that is not a projected permutation");
      // Elementwise operations write each point once, all of them.
      for (unsigned d = 0, e = node.sizes.size(); d < e; ++d)
        if (node.iterators[d] == utils::IteratorType::parallel &&
            node.sizes[d] != 1 &&
            !map.getResultPosition(getAffineDimExpr(d, op.getContext())))
          return fail("a result without one of the parallel dims");
      node.results.push_back(
          {getElementTypeOrSelf(operand.get().getType()), map, {}});
    }
    if (failed(checkBody(op)))
      return failure();
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      producers[result] = {number, static_cast<unsigned>(i)};
    graph.nodes.push_back(std::move(node));
    return success();
  }

  /// All that the emitter meets in a body, it can make vectors of.
  LogicalResult checkBody(linalg::LinalgOp op) {
    for (Operation &inner : op.getBlock()->without_terminator()) {
      if (isa<linalg::IndexOp, arith::ConstantOp>(inner))
        continue;
      if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
        FailureOr<Source> source = getSource(extract.getTensor());
        if (failed(source))
          return failure();
        if (source->kind != Source::Memory)
          return fail("a tensor.extract of a computed tensor");
        graph.gathers[extract] = *source;
        continue;
      }
      if (inner.getNumRegions() != 0 || inner.getNumResults() != 1 ||
          !OpTrait::hasElementwiseMappableTraits(&inner))
        return fail("an operation '" + inner.getName().getStringRef() +
                    "' in a body");
    }
    return success();
  }

  static std::optional<int64_t>
  linearize(AffineExpr expr, MutableArrayRef<int64_t> factors, int64_t scale) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return constant.getValue() * scale;
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      factors[dim.getPosition()] += scale;
      return 0;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return std::nullopt;
    if (binary.getKind() == AffineExprKind::Add) {
      auto l = linearize(binary.getLHS(), factors, scale),
           r = linearize(binary.getRHS(), factors, scale);
      if (!l || !r)
        return std::nullopt;
      return *l + *r;
    }
    if (binary.getKind() == AffineExprKind::Mul)
      if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
        return linearize(binary.getLHS(), factors, scale * factor.getValue());
    return std::nullopt;
  }

  static bool isLinear(AffineMap map) {
    SmallVector<int64_t> factors(map.getNumDims());
    return map.getNumSymbols() == 0 &&
           llvm::all_of(map.getResults(), [&](AffineExpr expr) {
             return linearize(expr, factors, 1).has_value();
           });
  }

  FailureOr<Source> getSource(Value value) {
    Source source;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      source.kind = Source::Scalar;
      source.scalar = value;
      return source;
    }
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      source.kind = Source::Memory;
      source.argument = arg.getArgNumber();
      source.view.strides = rowMajor(type.getShape());
      return source;
    }
    if (auto it = producers.find(value); it != producers.end()) {
      source.kind = Source::Node;
      std::tie(source.node, source.result) = it->second;
      for (int i = 0, e = type.getRank(); i < e; ++i)
        source.dimMap.push_back(type.getDimSize(i) == 1 ? -1 : i);
      return source;
    }
    Operation *def = value.getDefiningOp();
    if (isa<tensor::EmptyOp>(def))
      return source;
    if (auto fill = dyn_cast<linalg::FillOp>(def)) {
      source.kind = Source::Scalar;
      source.scalar = fill.getInputs()[0];
      return source;
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(def)) {
      auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
      if (!splat) {
        (void)fail("a constant tensor");
        return failure();
      }
      source.kind = Source::Scalar;
      OpBuilder builder(def);
      source.scalar = arith::ConstantOp::create(
          builder, def->getLoc(),
          cast<TypedAttr>(splat.getSplatValue<Attribute>()));
      return source;
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(def))
      return getSliceSource(slice);
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(def))
      return getReshapeSource(expand.getSrc(), type,
                              expand.getReassociationIndices(), true);
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(def))
      return getReshapeSource(collapse.getSrc(), type,
                              collapse.getReassociationIndices(), false);
    (void)fail("an operand from '" + def->getName().getStringRef() + "'");
    return failure();
  }

private:
  FailureOr<Source> getSliceSource(tensor::ExtractSliceOp slice) {
    FailureOr<Source> source = getSource(slice.getSource());
    if (failed(source) || source->kind == Source::Scalar ||
        source->kind == Source::Undefined)
      return source;
    if (source->kind != Source::Memory) {
      (void)fail("a slice of a computed tensor");
      return failure();
    }
    View view{source->view.offset, {}};
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (unsigned i = 0, e = slice.getStaticOffsets().size(); i < e; ++i) {
      int64_t offset = slice.getStaticOffsets()[i],
              stride = slice.getStaticStrides()[i];
      if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride)) {
        (void)fail("a dynamic slice");
        return failure();
      }
      view.offset += offset * source->view.strides[i];
      if (!dropped.test(i))
        view.strides.push_back(stride * source->view.strides[i]);
    }
    source->view = std::move(view);
    return source;
  }

  /// The strides of a view whose memory is seen under another shape, or none.
  static std::optional<SmallVector<int64_t>>
  reshapeStrides(ArrayRef<int64_t> strides, ArrayRef<int64_t> from,
                 ArrayRef<int64_t> to, ArrayRef<ReassociationIndices> groups,
                 bool expands) {
    SmallVector<int64_t> result(to.size(), 0);
    for (auto [i, group] : llvm::enumerate(groups)) {
      if (expands) {
        int64_t stride = strides[i];
        for (int64_t dim : llvm::reverse(group)) {
          result[dim] = stride;
          stride *= to[dim];
        }
        continue;
      }
      int64_t stride = 0, next = 0;
      bool first = true;
      for (int64_t dim : llvm::reverse(group)) {
        if (from[dim] == 1)
          continue;
        if (first)
          stride = strides[dim];
        else if (strides[dim] != next)
          return std::nullopt;
        first = false;
        next = strides[dim] * from[dim];
      }
      result[i] = stride;
    }
    return result;
  }

  FailureOr<Source> getReshapeSource(Value from, RankedTensorType to,
                                     ArrayRef<ReassociationIndices> groups,
                                     bool expands) {
    FailureOr<Source> source = getSource(from);
    if (failed(source) || source->kind == Source::Scalar ||
        source->kind == Source::Undefined)
      return source;
    ArrayRef<int64_t> fromShape =
        cast<RankedTensorType>(from.getType()).getShape();
    if (source->kind == Source::Memory) {
      auto strides = reshapeStrides(source->view.strides, fromShape,
                                    to.getShape(), groups, expands);
      if (!strides) {
        (void)fail("a reshape of a strided slice");
        return failure();
      }
      source->view.strides = std::move(*strides);
      return source;
    }
    // Of a computed tensor: only dims of size 1 may come and go.
    SmallVector<int> dimMap(to.getRank(), -1);
    for (auto [i, group] : llvm::enumerate(groups)) {
      ArrayRef<int64_t> shape = expands ? to.getShape() : fromShape;
      int64_t whole = -1;
      for (int64_t dim : group) {
        if (shape[dim] == 1)
          continue;
        if (whole >= 0) {
          (void)fail("a reshape of a computed tensor");
          return failure();
        }
        whole = dim;
      }
      if (whole < 0)
        continue;
      if (expands)
        dimMap[whole] = source->dimMap[i];
      else
        dimMap[i] = source->dimMap[whole];
    }
    source->dimMap = std::move(dimMap);
    return source;
  }

  //===--------------------------------------------------------------------===//
  // Outputs
  //===--------------------------------------------------------------------===//

  LogicalResult addStore(Value value, unsigned output, const View &view) {
    auto type = cast<RankedTensorType>(value.getType());
    if (value.getDefiningOp<tensor::EmptyOp>())
      return success();
    if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
      return addInsertions(insert, output, view);
    if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>()) {
      auto strides = reshapeStrides(view.strides, type.getShape(),
                                    expand.getSrcType().getShape(),
                                    expand.getReassociationIndices(), false);
      if (!strides)
        return fail("a reshape into a strided slice");
      return addStore(expand.getSrc(), output, {view.offset, *strides});
    }
    if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>()) {
      auto strides = reshapeStrides(view.strides, type.getShape(),
                                    collapse.getSrcType().getShape(),
                                    collapse.getReassociationIndices(), true);
      return addStore(collapse.getSrc(), output, {view.offset, *strides});
    }
    if (auto it = producers.find(value); it != producers.end()) {
      auto [node, result] = it->second;
      graph.nodes[node].results[result].stores.push_back({output, view, {}});
      return success();
    }
    // An argument, a slice of one, or a filled tensor: a copy.
    FailureOr<Source> source = getSource(value);
    if (failed(source))
      return failure();
    if (!isSupported(type))
      return fail("a copy of an unsupported tensor");
    Node node;
    MLIRContext *context = func.getContext();
    AffineMap identity =
        AffineMap::getMultiDimIdentityMap(type.getRank(), context);
    node.sizes = llvm::to_vector(type.getShape());
    node.iterators.assign(type.getRank(), utils::IteratorType::parallel);
    Type element = type.getElementType();
    node.inputs.push_back({*source, identity, element, {}});
    node.results.push_back({element, identity, {{output, view, {}}}});
    graph.nodes.push_back(std::move(node));
    return success();
  }

  /// A chain of insertions into nothing, apart from each other: a
  /// concatenation.
  LogicalResult addInsertions(tensor::InsertSliceOp last, unsigned output,
                              const View &view) {
    SmallVector<tensor::InsertSliceOp> chain;
    Value dest = last.getResult();
    while (auto insert = dest.getDefiningOp<tensor::InsertSliceOp>()) {
      for (tensor::InsertSliceOp other : chain)
        if (!areDisjoint(insert, other))
          return fail("insertions that may overlap");
      chain.push_back(insert);
      dest = insert.getDest();
    }
    if (!dest.getDefiningOp<tensor::EmptyOp>())
      return fail("an insertion into a computed tensor");
    for (tensor::InsertSliceOp insert : llvm::reverse(chain)) {
      View part{view.offset, {}};
      llvm::SmallBitVector dropped = insert.getDroppedDims();
      for (unsigned i = 0, e = insert.getStaticOffsets().size(); i < e; ++i) {
        int64_t offset = insert.getStaticOffsets()[i],
                stride = insert.getStaticStrides()[i];
        if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride))
          return fail("a dynamic insertion");
        part.offset += offset * view.strides[i];
        if (!dropped.test(i))
          part.strides.push_back(stride * view.strides[i]);
      }
      if (failed(addStore(insert.getSource(), output, part)))
        return failure();
    }
    return success();
  }

  static bool areDisjoint(tensor::InsertSliceOp a, tensor::InsertSliceOp b) {
    for (unsigned i = 0, e = a.getStaticOffsets().size(); i < e; ++i) {
      int64_t ao = a.getStaticOffsets()[i], as = a.getStaticSizes()[i],
              bo = b.getStaticOffsets()[i], bs = b.getStaticSizes()[i];
      if (ShapedType::isDynamic(ao) || ShapedType::isDynamic(as) ||
          ShapedType::isDynamic(bo) || ShapedType::isDynamic(bs) ||
          a.getStaticStrides()[i] != 1 || b.getStaticStrides()[i] != 1)
        continue;
      if (ao + as <= bo || bo + bs <= ao)
        return true;
    }
    return false;
  }

  //===--------------------------------------------------------------------===//
  // Dims
  //===--------------------------------------------------------------------===//

  using Loop = std::pair<unsigned, unsigned>; // node, loop

  LogicalResult unifyDims() {
    llvm::EquivalenceClasses<Loop> classes;
    llvm::EquivalenceClasses<unsigned> components;
    for (auto [n, node] : llvm::enumerate(graph.nodes)) {
      components.insert(n);
      for (unsigned d = 0, e = node.sizes.size(); d < e; ++d)
        if (node.sizes[d] != 1)
          classes.insert({n, d});
      for (Operand &operand : llvm::concat<Operand>(node.inputs, node.inits)) {
        if (operand.source.kind != Source::Node)
          continue;
        components.unionSets(n, operand.source.node);
        Node &producer = graph.nodes[operand.source.node];
        AffineMap map = producer.results[operand.source.result].map;
        for (auto [dim, expr] :
             llvm::zip_equal(operand.source.dimMap, operand.map.getResults())) {
          if (dim < 0)
            continue;
          auto reader = dyn_cast<AffineDimExpr>(expr);
          auto writer = dyn_cast<AffineDimExpr>(map.getResult(dim));
          if (!reader || !writer)
            return fail("a computed tensor read at shifted places");
          if (node.sizes[reader.getPosition()] !=
              producer.sizes[writer.getPosition()])
            return fail("a computed tensor read in part");
          classes.unionSets({n, reader.getPosition()},
                            {operand.source.node, writer.getPosition()});
        }
      }
    }
    unifySharedReads(classes, components);
    std::map<Loop, int> numbers; // leader to dim
    std::map<unsigned, unsigned> componentNumbers;
    for (auto [n, node] : llvm::enumerate(graph.nodes)) {
      node.component = componentNumbers
                           .try_emplace(components.getLeaderValue(n),
                                        componentNumbers.size())
                           .first->second;
      for (unsigned d = 0, e = node.sizes.size(); d < e; ++d) {
        if (node.sizes[d] == 1) {
          node.loopDims.push_back(-1);
          continue;
        }
        auto [it, isNew] = numbers.try_emplace(
            classes.getLeaderValue({static_cast<unsigned>(n), d}),
            graph.dimSizes.size());
        if (isNew)
          graph.dimSizes.push_back(node.sizes[d]);
        int dim = it->second;
        if (node.has(dim))
          return fail("a computed tensor read under two permutations");
        node.loopDims.push_back(dim);
        node.dims.push_back(dim);
        if (node.iterators[d] == utils::IteratorType::reduction)
          node.reduced.push_back(dim);
      }
    }
    graph.numComponents = componentNumbers.size();
    return success();
  }

  /// Operations that hand values to each other and read one argument at the
  /// same place should do so in one loop: the maximum and the exponential of
  /// softmax. Where a node would then have a dim twice, they stay apart.
  void unifySharedReads(llvm::EquivalenceClasses<Loop> &classes,
                        llvm::EquivalenceClasses<unsigned> &components) {
    struct Read {
      unsigned node;
      const Operand *operand;
    };
    SmallVector<Read> reads;
    for (auto [n, node] : llvm::enumerate(graph.nodes))
      for (Operand &operand : node.inputs)
        if (operand.source.kind == Source::Memory)
          reads.push_back({static_cast<unsigned>(n), &operand});
    auto separate = [&](Loop a, Loop b) {
      for (unsigned n = 0, e = graph.nodes.size(); n < e; ++n) {
        bool hasA = false, hasB = false;
        for (unsigned d = 0, r = graph.nodes[n].sizes.size(); d < r; ++d) {
          if (graph.nodes[n].sizes[d] == 1)
            continue;
          hasA |= classes.isEquivalent({n, d}, a);
          hasB |= classes.isEquivalent({n, d}, b);
        }
        if (hasA && hasB)
          return false;
      }
      return true;
    };
    for (unsigned i = 0; i < reads.size(); ++i) {
      // The nearest earlier read of the same argument is enough: equivalence is
      // transitive.
      for (unsigned j = i; j-- > 0;) {
        const Read &a = reads[i], &b = reads[j];
        const Source &x = a.operand->source, &y = b.operand->source;
        if (x.argument != y.argument || x.view.offset != y.view.offset ||
            x.view.strides != y.view.strides || a.node == b.node ||
            !components.isEquivalent(a.node, b.node))
          continue;
        for (auto [ea, eb] : llvm::zip_equal(a.operand->map.getResults(),
                                             b.operand->map.getResults())) {
          auto da = dyn_cast<AffineDimExpr>(ea),
               db = dyn_cast<AffineDimExpr>(eb);
          if (!da || !db)
            continue;
          Loop la{a.node, da.getPosition()}, lb{b.node, db.getPosition()};
          int64_t size = graph.nodes[a.node].sizes[da.getPosition()];
          if (size == 1 ||
              size != graph.nodes[b.node].sizes[db.getPosition()] ||
              classes.isEquivalent(la, lb) || !separate(la, lb))
            continue;
          classes.unionSets(la, lb);
        }
        break;
      }
    }
  }

  /// Nodes whose results nobody uses, from the last to the first.
  void removeDeadNodes() {
    SmallVector<bool> live(graph.nodes.size(), false);
    for (int n = graph.nodes.size() - 1; n >= 0; --n) {
      Node &node = graph.nodes[n];
      bool stored = llvm::any_of(node.results, [](const Result &result) {
        return !result.stores.empty();
      });
      if (!live[n] && !stored)
        continue;
      live[n] = true;
      for (Operand &operand : llvm::concat<Operand>(node.inputs, node.inits))
        if (operand.source.kind == Source::Node)
          live[operand.source.node] = true;
    }
    SmallVector<unsigned> newNumber(graph.nodes.size(), 0);
    SmallVector<Node, 0> kept;
    for (auto [n, node] : llvm::enumerate(graph.nodes)) {
      if (!live[n])
        continue;
      newNumber[n] = kept.size();
      kept.push_back(std::move(node));
    }
    for (Node &node : kept)
      for (Operand &operand : llvm::concat<Operand>(node.inputs, node.inits))
        if (operand.source.kind == Source::Node)
          operand.source.node = newNumber[operand.source.node];
    graph.nodes = std::move(kept);
  }

  void resolveAccesses() {
    for (Node &node : graph.nodes) {
      auto resolve = [&](const View &view, AffineMap map) {
        Access access{view.offset,
                      SmallVector<int64_t>(graph.dimSizes.size(), 0)};
        for (auto [stride, expr] :
             llvm::zip_equal(view.strides, map.getResults())) {
          SmallVector<int64_t> factors(map.getNumDims(), 0);
          access.offset += *linearize(expr, factors, stride);
          for (auto [d, factor] : llvm::enumerate(factors))
            if (node.loopDims[d] >= 0)
              access.strides[node.loopDims[d]] += factor;
        }
        return access;
      };
      for (Operand &operand : llvm::concat<Operand>(node.inputs, node.inits))
        if (operand.source.kind == Source::Memory)
          operand.access = resolve(operand.source.view, operand.map);
      for (Result &result : node.results)
        for (Store &store : result.stores)
          store.access = resolve(store.view, result.map);
    }
  }

  /// Two dims that lie next to each other in all memory become one: longer
  /// loops, no index arithmetic.
  void mergeDims() {
    llvm::SmallDenseSet<int> indexed;
    for (Node &node : graph.nodes)
      if (node.op)
        node.op.getBlock()->walk([&](linalg::IndexOp op) {
          indexed.insert(node.loopDims[op.getDim()]);
        });
    int numDims = graph.dimSizes.size();
    for (bool changed = true; changed;) {
      changed = false;
      for (int a = 0; a < numDims; ++a)
        for (int b = 0; b < numDims; ++b)
          if (a != b && !indexed.contains(a) && !indexed.contains(b) &&
              canMerge(a, b)) {
            merge(a, b);
            changed = true;
          }
    }
  }

  bool canMerge(int a, int b) {
    bool used = false;
    for (Node &node : graph.nodes) {
      if (node.has(a) != node.has(b) || llvm::is_contained(node.reduced, a) !=
                                            llvm::is_contained(node.reduced, b))
        return false;
      if (!node.has(a))
        continue;
      used = true;
      auto inOrder = [&](const Access &access) {
        return access.strides[a] == access.strides[b] * graph.dimSizes[b];
      };
      for (Operand &operand : llvm::concat<Operand>(node.inputs, node.inits)) {
        if (operand.source.kind == Source::Memory && !inOrder(operand.access))
          return false;
        // Of a computed tensor both or neither, for its buffer.
        if (operand.source.kind == Source::Node) {
          Node &producer = graph.nodes[operand.source.node];
          if (producer.has(a) != producer.has(b))
            return false;
        }
      }
      for (Result &result : node.results)
        for (Store &store : result.stores)
          if (!inOrder(store.access))
            return false;
    }
    return used;
  }

  /// `a` becomes the outer part of `b`.
  void merge(int a, int b) {
    graph.dimSizes[b] *= graph.dimSizes[a];
    graph.dimSizes[a] = 1;
    for (Node &node : graph.nodes) {
      llvm::erase(node.dims, a);
      llvm::erase(node.reduced, a);
      llvm::replace(node.loopDims, a, -2);
      for (Operand &operand : llvm::concat<Operand>(node.inputs, node.inits))
        if (operand.source.kind == Source::Memory)
          operand.access.strides[a] = 0;
      for (Result &result : node.results)
        for (Store &store : result.stores)
          store.access.strides[a] = 0;
    }
  }

  func::FuncOp func;
  std::string &reason;
  Graph graph;
  llvm::DenseMap<Value, std::pair<unsigned, unsigned>> producers;
};
} // namespace

FailureOr<Graph> dynamo::codegen::rows::buildGraph(func::FuncOp func,
                                                   std::string &reason) {
  return GraphBuilder(func, reason).build();
}
