//===- Functionalize.cpp - Tensor references to values
//------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A straight-line version of what torch's own functionalisation does: each
// memory has a current value, each reference a chain of views from there.  A
// read recomputes the chain if the memory was written since; a write computes
// the values of the whole chain backwards.
//
//===----------------------------------------------------------------------===//

#include "AtenCall.h"

#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Py/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

#define DEBUG_TYPE "py-functionalize"

namespace dynamo::py {
#define GEN_PASS_DEF_PYFUNCTIONALIZEPASS
#include "dynamo/Dialect/Py/Transforms/Passes.h.inc"
} // namespace dynamo::py

using namespace mlir;
using namespace dynamo;
using namespace dynamo::py;

namespace {
/// One view: result `result` of `call`, which looks at one operand.
struct Step {
  TorchCallOp call;
  unsigned result;
};

/// Memory with its current value.
struct Storage {
  TensorRefType type;
  Value current;   ///< logical shape
  Value object;    ///< outside tensors: the Python object
  int version = 0; ///< counts writes
  Value wrapped;   ///< the Python object of a tensor made here, once made
};

/// A !py.tensor value.
struct Reference {
  unsigned storage;
  SmallVector<Step, 2> views;
  Value cached;
  int version = -1; ///< of the storage when `cached` was made
};

class Functionalizer {
public:
  explicit Functionalizer(FuncOp function)
      : function(function), builder(function.getContext()) {}
  LogicalResult run();

private:
  LogicalResult visit(UnwrapOp op);
  LogicalResult visit(TorchCallOp op);
  LogicalResult visit(CopyTensorOp op);
  LogicalResult finish();

  unsigned storageOf(Value object, TensorRefType type, Location loc);
  /// The value that the reference has now.
  FailureOr<Value> read(Value reference);
  FailureOr<Value> apply(const Step &step, Value input);
  /// The value of what `step` looks at, given that of what it shows.
  FailureOr<Value> invert(const Step &step, Value input, Value shown,
                          Operation *writer);
  LogicalResult write(Value reference, Value value, Operation *writer);
  LogicalResult checkAliases(unsigned storage, Operation *writer);
  Value permuted(Value value, ArrayRef<int64_t> order, Location loc);
  /// In the order of memory; failure where the elements do not lie densely.
  FailureOr<Value> physical(Value value, TensorRefType type, Location loc);
  FailureOr<Value> wrapStorage(Storage &storage, Operation *at);
  FailureOr<Value> wrapReference(Value reference, Operation *at);

  FuncOp function;
  OpBuilder builder;
  std::vector<Storage> storages;
  llvm::MapVector<Value, Reference> references;
  llvm::DenseMap<Value, unsigned> inputs; ///< object -> storage
  SmallVector<Operation *> calls;         ///< replaced
};
} // namespace

/// The order of dims that takes a tensor whose dim i is dim order[i] back.
static SmallVector<int64_t> inverse(ArrayRef<int64_t> order) {
  SmallVector<int64_t> result(order.size());
  for (auto [i, dim] : llvm::enumerate(order))
    result[dim] = i;
  return result;
}

static bool isIdentity(ArrayRef<int64_t> order) {
  return llvm::all_of(llvm::enumerate(order), [](auto entry) {
    return static_cast<int64_t>(entry.index()) == entry.value();
  });
}

Value Functionalizer::permuted(Value value, ArrayRef<int64_t> order,
                               Location loc) {
  if (isIdentity(order))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getDimSize(dim));
  return emitAten(
      builder, loc, "aten.permute", value, type.clone(shape),
      builder.getNamedAttr("dims", builder.getDenseI64ArrayAttr(order)));
}

FailureOr<Value> Functionalizer::physical(Value value, TensorRefType type,
                                          Location loc) {
  FailureOr<SmallVector<int64_t>> order = type.getDenseOrder();
  if (failed(order))
    return failure();
  return permuted(value, *order, loc);
}

unsigned Functionalizer::storageOf(Value object, TensorRefType type,
                                   Location loc) {
  auto [entry, isNew] = inputs.try_emplace(object, storages.size());
  if (!isNew)
    return entry->second;
  Storage &storage = storages.emplace_back();
  storage.type = type;
  storage.object = object;
  // What is not dense enters as a dense copy in its logical shape.
  SmallVector<int64_t> order = type.getDenseOrder().value_or(
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(type.getShape()[dim]);
  Value value = UnwrapOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()),
      object);
  storage.current = permuted(value, inverse(order), loc);
  return storages.size() - 1;
}

LogicalResult Functionalizer::visit(UnwrapOp op) {
  auto type = dyn_cast<TensorRefType>(op.getType());
  if (!type)
    return op.emitOpError("gives a value: the function is functional already");
  references[op] = {storageOf(op.getObject(), type, op.getLoc()), {}, {}, -1};
  return success();
}

FailureOr<Value> Functionalizer::apply(const Step &step, Value input) {
  TorchCallOp call = step.call;
  SmallVector<Value> values(call.getInputs());
  values[call.getViewed(step.result)] = input;
  SmallVector<Type> types;
  for (Type type : call.getResultTypes())
    types.push_back(cast<TensorRefType>(type).getValueType());
  FailureOr<SmallVector<Value>> results =
      emitAten(builder, call, values, types);
  if (failed(results))
    return failure();
  return (*results)[step.result];
}

FailureOr<Value> Functionalizer::read(Value reference) {
  auto found = references.find(reference);
  if (found == references.end())
    return emitError(reference.getLoc(),
                     "a tensor reference of unknown origin");
  Reference &entry = found->second;
  Storage &storage = storages[entry.storage];
  if (entry.version == storage.version)
    return entry.cached;
  Value value = storage.current;
  for (const Step &step : entry.views) {
    FailureOr<Value> next = apply(step, value);
    if (failed(next))
      return failure();
    value = *next;
  }
  entry.version = storage.version;
  return entry.cached = value;
}

/// An int argument of a call, or its default.
static int64_t intArgument(TorchCallOp call, StringRef name,
                           int64_t otherwise) {
  auto attr = dyn_cast_or_null<IntegerAttr>(call.getArguments().get(name));
  return attr ? attr.getInt() : otherwise;
}

FailureOr<Value> Functionalizer::invert(const Step &step, Value input,
                                        Value shown, Operation *writer) {
  TorchCallOp call = step.call;
  Location loc = writer->getLoc();
  auto type = cast<RankedTensorType>(input.getType());
  auto shownType = cast<RankedTensorType>(shown.getType());
  std::string name = functionalOverload(call.getName());
  StringRef base = StringRef(name).drop_front(5).split('.').first;
  auto make = [&](StringRef op, ValueRange operands,
                  ArrayRef<NamedAttribute> attrs) {
    return emitAten(builder, loc, op, operands, type, attrs);
  };
  auto integer = [&](StringRef attr, int64_t value) {
    return builder.getNamedAttr(attr, builder.getI64IntegerAttr(value));
  };

  if (type == shownType &&
      llvm::is_contained({"alias", "detach", "expand", "view"}, base))
    return shown;
  if (llvm::is_contained({"view", "_unsafe_view", "unsqueeze", "squeeze"},
                         base) &&
      type.hasStaticShape() &&
      type.getElementType() == shownType.getElementType())
    return make("aten.view", shown,
                builder.getNamedAttr(
                    "size", builder.getDenseI64ArrayAttr(type.getShape())));
  if (base == "t")
    return make("aten.t", shown, {});
  if (base == "transpose")
    return make("aten.transpose", shown,
                {integer("dim0", intArgument(call, "dim0", 0)),
                 integer("dim1", intArgument(call, "dim1", 0))});
  if (base == "permute")
    if (auto dims =
            dyn_cast_or_null<ArrayAttr>(call.getArguments().get("dims"))) {
      SmallVector<int64_t> order;
      for (Attribute dim : dims) {
        int64_t value = cast<IntegerAttr>(dim).getInt();
        order.push_back(value < 0 ? value + type.getRank() : value);
      }
      return make("aten.permute", shown,
                  builder.getNamedAttr(
                      "dims", builder.getDenseI64ArrayAttr(inverse(order))));
    }
  if (base == "select")
    return make("aten.select_scatter", {input, shown},
                {integer("dim", intArgument(call, "dim", 0)),
                 integer("index", intArgument(call, "index", 0))});
  if (base == "slice") {
    SmallVector<NamedAttribute> attrs = {
        integer("dim", intArgument(call, "dim", 0)),
        integer("step", intArgument(call, "step", 1))};
    for (StringRef bound : {"start", "end"})
      if (isa_and_present<IntegerAttr>(call.getArguments().get(bound)))
        attrs.push_back(integer(bound, intArgument(call, bound, 0)));
    return make("aten.slice_scatter", {input, shown}, attrs);
  }
  if (base == "split" || base == "split_with_sizes") {
    // The pieces lie one behind the other.
    int64_t dim = intArgument(call, "dim", 0), start = 0;
    if (dim < 0)
      dim += type.getRank();
    for (unsigned i = 0; i < step.result; ++i)
      start += cast<TensorRefType>(call.getResult(i).getType()).getShape()[dim];
    return make("aten.slice_scatter", {input, shown},
                {integer("dim", dim), integer("start", start),
                 integer("end", start + shownType.getDimSize(dim)),
                 integer("step", 1)});
  }
  InFlightDiagnostic diag =
      writer->emitError("writes through a view that has no inverse");
  diag.attachNote(call.getLoc()) << "view made by " << call.getName();
  return diag;
}

/// Outside tensors may share memory with each other unless a guard denies it.
LogicalResult Functionalizer::checkAliases(unsigned written,
                                           Operation *writer) {
  Value object = storages[written].object;
  if (!object)
    return success();
  for (auto [other, storage] : inputs) {
    if (storage == written)
      continue;
    auto denies = [&, other = other](Operation *user) {
      auto guard = dyn_cast<GuardNoAliasOp>(user);
      return guard && (guard.getObject() == other || guard.getOther() == other);
    };
    if (llvm::none_of(object.getUsers(), denies)) {
      InFlightDiagnostic diag = writer->emitError(
          "writes an outside tensor that may share memory with another one");
      diag.attachNote(other.getLoc()) << "no py.guard.no_alias names both";
      return diag;
    }
  }
  return success();
}

LogicalResult Functionalizer::write(Value reference, Value value,
                                    Operation *writer) {
  auto found = references.find(reference);
  if (found == references.end())
    return writer->emitError("writes a tensor reference of unknown origin");
  Reference &entry = found->second;
  Storage &storage = storages[entry.storage];
  // The values on the way from the memory to the reference.
  SmallVector<Value> inputsOfSteps;
  Value current = storage.current;
  for (const Step &step : entry.views) {
    inputsOfSteps.push_back(current);
    if (inputsOfSteps.size() == entry.views.size())
      break; // what the last one shows is written, not read
    FailureOr<Value> next = apply(step, current);
    if (failed(next))
      return failure();
    current = *next;
  }
  Value written = value;
  for (auto [step, input] :
       llvm::reverse(llvm::zip_equal(entry.views, inputsOfSteps))) {
    FailureOr<Value> whole = invert(step, input, written, writer);
    if (failed(whole))
      return failure();
    written = *whole;
  }
  storage.current = written;
  entry.version = ++storage.version;
  entry.cached = value;
  return success();
}

LogicalResult Functionalizer::visit(TorchCallOp op) {
  calls.push_back(op);
  // A view is only noted: it is computed where something reads it.
  bool isView = op.getNumResults() != 0 && !op.getWrites() &&
                llvm::all_of(llvm::seq<unsigned>(0, op.getNumResults()),
                             [&](unsigned i) { return op.getViewed(i) >= 0; });
  if (isView) {
    for (auto [i, result] : llvm::enumerate(op.getResults())) {
      auto viewed = references.find(op.getInputs()[op.getViewed(i)]);
      if (viewed == references.end())
        return op.emitOpError("views a tensor reference of unknown origin");
      Reference reference = {
          viewed->second.storage, viewed->second.views, {}, -1};
      reference.views.push_back({op, static_cast<unsigned>(i)});
      references[result] = reference;
    }
    return success();
  }
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    if (op.getViewed(i) >= 0)
      return op.emitOpError("makes a view and something else at a time");

  SmallVector<Value> values;
  for (Value input : op.getInputs()) {
    if (!isa<TensorRefType>(input.getType())) {
      values.push_back(input);
      continue;
    }
    FailureOr<Value> value = read(input);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  // Functional forms return what is written: alone, or behind the results.
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.push_back(cast<TensorRefType>(type).getValueType());
  ArrayRef<int64_t> writes = op.getWrites().value_or(ArrayRef<int64_t>());
  bool isBatchNorm = functionalOverload(op.getName()) ==
                     "aten._native_batch_norm_legit_functional.default";
  if (isBatchNorm
          ? writes.size() != 2 || op.getNumResults() != 3
          : writes.size() > 1 || (!writes.empty() && op.getNumResults() != 0))
    return op.emitOpError("has no functional form: it writes several tensors "
                          "or returns others");
  // In place, operands are promoted among each other and the result is cast: a
  // result type alone does not say that.
  for (StringRef name :
       {"other", "exponent", "end", "weight", "tensor1", "tensor2"}) {
    auto place =
        dyn_cast_or_null<aten::OperandAttr>(op.getArguments().get(name));
    if (writes.empty() || !place)
      continue;
    auto type =
        dyn_cast<TensorRefType>(op.getInputs()[place.getIndex()].getType());
    auto target = cast<TensorRefType>(op.getInputs()[writes.front()].getType());
    if (type && type.getElementType() != target.getElementType())
      return op.emitOpError("has no functional form: it mixes ")
             << target.getElementType() << " and " << type.getElementType()
             << " in place";
  }
  for (int64_t i : writes)
    types.push_back(
        cast<TensorRefType>(op.getInputs()[i].getType()).getValueType());
  FailureOr<SmallVector<Value>> results = emitAten(builder, op, values, types);
  if (failed(results))
    return failure();
  ArrayRef<Value> made(*results);
  unsigned numResults = op.getNumResults();
  for (auto [i, value] : llvm::zip_equal(writes, made.drop_front(numResults))) {
    Value target = op.getInputs()[i];
    if (failed(checkAliases(references.find(target)->second.storage, op)) ||
        failed(write(target, value, op)))
      return failure();
  }
  for (auto [result, value] :
       llvm::zip_equal(op.getResults(), made.take_front(numResults))) {
    Storage &storage = storages.emplace_back();
    storage.type = cast<TensorRefType>(result.getType());
    storage.current = value;
    references[result] = {
        static_cast<unsigned>(storages.size() - 1), {}, value, 0};
  }
  return success();
}

/// A write that the recorder has found: the whole of an outside tensor.
LogicalResult Functionalizer::visit(CopyTensorOp op) {
  TensorRefType type;
  for (Operation *user : op.getObject().getUsers())
    if (auto guard = dyn_cast<GuardTensorOp>(user))
      type = guard.getSpec().getTensor();
  if (!type)
    return op.emitOpError("no py.guard.tensor tells how the target looks");
  if (!isa<TensorRefType>(op.getValue().getType()))
    return op.emitOpError("copies a value: the function is functional already");
  FailureOr<Value> value = read(op.getValue());
  if (failed(value))
    return failure();
  if (cast<ShapedType>(value->getType()).getShape() != type.getShape())
    return op.emitOpError("copies a tensor of other sizes than the target's");
  FailureOr<Value> inOrder = physical(*value, type, op.getLoc());
  op.getValueMutable().assign(succeeded(inOrder) ? *inOrder : *value);
  return success();
}

FailureOr<Value> Functionalizer::wrapStorage(Storage &storage, Operation *at) {
  if (storage.object)
    return storage.object;
  if (storage.wrapped)
    return storage.wrapped;
  FailureOr<Value> value =
      physical(storage.current, storage.type, at->getLoc());
  if (failed(value))
    return at->emitError("a tensor of type ")
           << storage.type << " leaves, which is neither dense nor a view";
  storage.wrapped =
      WrapOp::create(builder, at->getLoc(), builder.getType<ObjectType>(),
                     *value, TypeAttr::get(storage.type));
  return storage.wrapped;
}

/// The Python object of a reference; a view is made again from what it views.
FailureOr<Value> Functionalizer::wrapReference(Value reference, Operation *at) {
  auto found = references.find(reference);
  if (found == references.end())
    return at->emitError("a tensor reference of unknown origin leaves");
  const Reference &entry = found->second;
  FailureOr<Value> base = wrapStorage(storages[entry.storage], at);
  if (failed(base) || entry.views.empty())
    return base;
  Value current = UnwrapOp::create(builder, at->getLoc(),
                                   storages[entry.storage].type, *base);
  for (const Step &step : entry.views) {
    IRMapping mapping;
    TorchCallOp call = step.call;
    mapping.map(call.getInputs()[call.getViewed(step.result)], current);
    current = builder.clone(*call, mapping)->getResult(step.result);
  }
  return WrapOp::create(builder, at->getLoc(), builder.getType<ObjectType>(),
                        current, TypeAttr())
      .getResult();
}

LogicalResult Functionalizer::finish() {
  Block &block = function.getBody().front();
  // What is done at the end goes there, in its order.
  SmallVector<Operation *> late;
  SmallVector<WrapOp> wraps;
  for (Operation &op : block.without_terminator()) {
    auto wrap = dyn_cast<WrapOp>(op);
    if (wrap && isa<TensorRefType>(wrap.getTensor().getType()))
      wraps.push_back(wrap);
    else if (isContainer(&op) || isEffect(&op) || isa<SideExitOp>(op))
      late.push_back(&op);
  }
  Operation *terminator = block.getTerminator();
  builder.setInsertionPoint(terminator);
  // Values first: they belong to the tensor work.
  SmallVector<std::pair<Value, Value>> writeBacks;
  for (Storage &storage : storages) {
    if (!storage.object || storage.version == 0)
      continue;
    FailureOr<Value> value =
        physical(storage.current, storage.type, terminator->getLoc());
    writeBacks.emplace_back(storage.object,
                            succeeded(value) ? *value : storage.current);
  }
  for (WrapOp wrap : wraps) {
    builder.setInsertionPoint(terminator);
    FailureOr<Value> object = wrapReference(wrap.getTensor(), wrap);
    if (failed(object))
      return failure();
    wrap.replaceAllUsesWith(*object);
    wrap.erase();
  }
  builder.setInsertionPoint(terminator);
  for (auto [object, value] : writeBacks)
    CopyTensorOp::create(builder, terminator->getLoc(), object, value);
  for (Operation *op : late)
    op->moveBefore(terminator);
  for (Operation *call : llvm::reverse(calls)) {
    if (!call->use_empty())
      return call->emitOpError("has a use that is not functional");
    call->erase();
  }
  for (auto unwrap : llvm::make_early_inc_range(block.getOps<UnwrapOp>()))
    if (unwrap.use_empty())
      unwrap.erase();
  return success();
}

LogicalResult Functionalizer::run() {
  for (Operation &op : llvm::make_early_inc_range(
           function.getBody().front().without_terminator())) {
    builder.setInsertionPoint(&op);
    LogicalResult result = success();
    if (auto unwrap = dyn_cast<UnwrapOp>(op))
      result = visit(unwrap);
    else if (auto call = dyn_cast<TorchCallOp>(op))
      result = visit(call);
    else if (auto copy = dyn_cast<CopyTensorOp>(op))
      result = visit(copy);
    else if (isa<InvokeOp>(op))
      result = op.emitOpError("is not inlined");
    if (failed(result))
      return failure();
  }
  return finish();
}

namespace {
struct Functionalize
    : dynamo::py::impl::PyFunctionalizePassBase<Functionalize> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<FuncOp>())
      if (function.isSegment() && failed(Functionalizer(function).run()))
        return signalPassFailure();
  }
};
} // namespace
