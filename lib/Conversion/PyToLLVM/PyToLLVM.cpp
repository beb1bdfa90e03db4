//===- PyToLLVM.cpp - Guard functions to the LLVM dialect
//---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A guard function becomes straight-line code with one exit for failures.  It
// calls the process by the names of GuardAbi.h; where the place of a field is
// known (options), it loads.  What may be absent is compared with null once, in
// front of the first thing that looks at it.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/Passes.h"
#include "dynamo/Dialect/Py/IR/Py.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "convert-py-to-llvm"

namespace dynamo {
#define GEN_PASS_DEF_CONVERTPYTOLLVMPASS
#include "dynamo/Conversion/Passes.h.inc"
} // namespace dynamo

using namespace mlir;
using namespace dynamo;
using namespace dynamo::py;

namespace {
/// Fields of DynamoGuardFrame, in order.
enum Field {
  Locals,
  Stack,
  Function,
  References,
  Constants,
  Specs,
  Memory,
  Values
};

struct Layout {
  int64_t type, typeVersion, dictVersion, cell;
};

/// Attributes that become tables of objects, shared by a module's functions.
class Table {
public:
  int64_t indexOf(Attribute entry) {
    auto [place, isNew] = places.try_emplace(entry, places.size());
    return place->second;
  }
  SmallVector<Attribute> entries() const {
    return llvm::to_vector(llvm::make_first_range(places));
  }

private:
  llvm::MapVector<Attribute, int64_t> places;
};

class Emitter {
public:
  Emitter(ModuleOp module, const Layout &layout, Table &constants, Table &specs)
      : module(module), layout(layout), constants(constants), specs(specs),
        builder(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())),
        i32(builder.getI32Type()), i64(builder.getI64Type()) {}
  LogicalResult run(FuncOp function);

private:
  LogicalResult emitBlock(Block &block);
  LogicalResult emit(Operation *op);
  void emitSource(Operation *op);
  Value emitStep(Operation *op);
  LogicalResult emitGuard(Operation *op);
  void emitGroup(GuardDictVersionOp op);
  Value condition(Operation *guard);

  Value call(StringRef name, Type result, ValueRange arguments);
  Value number(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    IntegerAttr::get(type, value));
  }
  Value null() { return LLVM::ZeroOp::create(builder, loc, pointer); }
  /// The word at `index` words behind `base`.
  Value at(Value base, int64_t index) {
    return LLVM::GEPOp::create(builder, loc, pointer, i64, base,
                               ArrayRef<LLVM::GEPArg>{int32_t(index)});
  }
  Value loadAt(Value base, int64_t index, Type type) {
    return LLVM::LoadOp::create(builder, loc, type, at(base, index));
  }
  Value loadBytes(Value base, int64_t offset, Type type) {
    Value place =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), base,
                            ArrayRef<LLVM::GEPArg>{int32_t(offset)});
    return LLVM::LoadOp::create(builder, loc, type, place);
  }
  Value field(Field which) { return loadAt(frame, which, pointer); }
  Value reference(RefAttr ref) {
    return loadAt(field(References), ref.getIndex(), pointer);
  }
  /// The object of a constant.
  Value object(Attribute constant) {
    if (auto ref = dyn_cast<RefAttr>(constant))
      return reference(ref);
    return loadAt(field(Constants), constants.indexOf(constant), pointer);
  }
  Value compare(LLVM::ICmpPredicate predicate, Value a, Value b) {
    return LLVM::ICmpOp::create(builder, loc, predicate, a, b);
  }
  Value isTrue(Value flag) {
    return compare(LLVM::ICmpPredicate::ne, flag, number(i32, 0));
  }
  /// Leaves with `index` unless the condition holds.
  void require(Value condition, int64_t index);
  /// Leaves where nothing was found.
  void requireObject(Value source, int64_t index);

  ModuleOp module;
  const Layout &layout;
  Table &constants, &specs;
  OpBuilder builder;
  Location loc = UnknownLoc::get(module.getContext());
  Type pointer, i32, i64;
  Value frame;
  Block *fail = nullptr;
  LLVM::LLVMFuncOp target;
  IRMapping values;
  llvm::DenseSet<Value> present; ///< sources compared with null already
  SmallVector<Attribute> names;  ///< of the guards
  int64_t memoryWords = 0;
};
} // namespace

Value Emitter::call(StringRef name, Type result, ValueRange arguments) {
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    callee = LLVM::LLVMFuncOp::create(
        builder, module.getLoc(), name,
        LLVM::LLVMFunctionType::get(result,
                                    llvm::to_vector(arguments.getTypes())));
  }
  return LLVM::CallOp::create(builder, loc, callee, arguments).getResult();
}

void Emitter::require(Value condition, int64_t index) {
  Block *next = new Block;
  target.getBody().push_back(next);
  LLVM::CondBrOp::create(builder, loc, condition, next, ValueRange(), fail,
                         ValueRange(number(i32, index)));
  builder.setInsertionPointToStart(next);
}

void Emitter::requireObject(Value source, int64_t index) {
  Operation *op = source.getDefiningOp();
  auto place = dyn_cast_or_null<SourceOpInterface>(op);
  // An access gives null for an object of another kind, too.
  if (!place ||
      !(place.mayBeAbsent() ||
        isa<CodeOp, DefaultsOp, KwDefaultsOp, MethodSelfOp, MethodFuncOp>(op)))
    return;
  if (present.insert(source).second)
    require(compare(LLVM::ICmpPredicate::ne, values.lookup(source), null()),
            index);
}

/// One access through the ABI or by a load.
Value Emitter::emitStep(Operation *op) {
  Value parent =
      op->getNumOperands() ? values.lookup(op->getOperand(0)) : Value();
  auto step = [&](StringRef name) { return call(name, pointer, parent); };
  auto indexed = [&](StringRef name, int64_t index) {
    return call(name, pointer, {parent, number(i64, index)});
  };
  auto keyed = [&](StringRef name, Attribute key) {
    return call(name, pointer, {parent, object(key)});
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case(
          [&](ArgOp o) { return loadAt(field(Locals), o.getIndex(), pointer); })
      .Case([&](StackOp o) {
        return loadAt(field(Stack), o.getIndex(), pointer);
      })
      .Case([&](FunctionOp) { return field(Function); })
      .Case([&](ConstOp o) { return object(o.getValue()); })
      .Case([&](GlobalOp o) {
        return call("dynamoPyGlobal", pointer,
                    {field(Function), object(o.getNameAttr())});
      })
      .Case([&](FreeOp o) {
        return call("dynamoPyClosure", pointer,
                    {field(Function), number(i64, o.getIndex())});
      })
      .Case([&](AttrOp o) {
        return keyed("dynamoPyInstanceAttr", o.getNameAttr());
      })
      .Case([&](InstanceDictOp) { return step("dynamoPyInstanceDict"); })
      .Case([&](DictItemOp o) { return keyed("dynamoPyDictItem", o.getKey()); })
      .Case([&](ItemOp o) { return indexed("dynamoPyItem", o.getIndex()); })
      .Case([&](DequeItemOp o) {
        return indexed("dynamoPyDequeItem", o.getIndex());
      })
      .Case([&](SlotOp o) { return keyed("dynamoPySlot", o.getDescriptor()); })
      .Case([&](CellOp) {
        return layout.cell >= 0 ? loadBytes(parent, layout.cell, pointer)
                                : step("dynamoPyCell");
      })
      .Case(
          [&](ClosureOp o) { return indexed("dynamoPyClosure", o.getIndex()); })
      .Case([&](TypeOfOp) {
        return layout.type >= 0 ? loadBytes(parent, layout.type, pointer)
                                : step("dynamoPyTypeOf");
      })
      .Case([&](CodeOp) { return step("dynamoPyCode"); })
      .Case([&](DefaultsOp) { return step("dynamoPyDefaults"); })
      .Case([&](KwDefaultsOp) { return step("dynamoPyKwDefaults"); })
      .Case([&](MethodSelfOp) { return step("dynamoPyMethodSelf"); })
      .Case([&](MethodFuncOp) { return step("dynamoPyMethodFunc"); })
      .Case(
          [&](GetterOp o) { return keyed("dynamoPyGetter", o.getNameAttr()); })
      .Default([](Operation *) { return Value(); });
}

void Emitter::emitSource(Operation *op) {
  // A step from nothing fails the next guard, which stands behind it.
  if (op->getNumOperands() == 1)
    requireObject(op->getOperand(0), names.size() + 1);
  values.map(op->getResult(0), emitStep(op));
}

/// What a guard without a body compares; null if it is not known.
Value Emitter::condition(Operation *guard) {
  auto operand = [&](unsigned i) {
    return values.lookup(guard->getOperand(i));
  };
  auto check = [&](StringRef name, ValueRange arguments) {
    return isTrue(call(name, i32, arguments));
  };
  using Predicate = LLVM::ICmpPredicate;
  return llvm::TypeSwitch<Operation *, Value>(guard)
      .Case([&](GuardTypeOp op) {
        Value cls = reference(op.getCls());
        Value same =
            layout.type >= 0
                ? compare(Predicate::eq,
                          loadBytes(operand(0), layout.type, pointer), cls)
                : check("dynamoPyIsType", {operand(0), cls});
        if (!op.getVersion())
          return same;
        Value unchanged = layout.typeVersion >= 0
                              ? compare(Predicate::eq,
                                        loadBytes(cls, layout.typeVersion, i32),
                                        number(i32, int32_t(*op.getVersion())))
                              : check("dynamoPyHasVersion",
                                      {cls, number(i64, *op.getVersion())});
        return LLVM::AndOp::create(builder, loc, same, unchanged).getResult();
      })
      .Case([&](GuardIsOp op) {
        return compare(Predicate::eq, operand(0), reference(op.getValue()));
      })
      .Case([&](GuardEqualOp op) {
        return check("dynamoPyIsEqual", {operand(0), object(op.getValue())});
      })
      .Case([&](GuardPresentOp op) {
        present.insert(op.getObject());
        return compare(Predicate::ne, operand(0), null());
      })
      .Case([&](GuardAbsentOp) {
        return compare(Predicate::eq, operand(0), null());
      })
      .Case([&](GuardLengthOp op) {
        return compare(Predicate::eq, call("dynamoPyLength", i64, operand(0)),
                       number(i64, op.getLength()));
      })
      .Case([&](GuardKeysOp op) {
        return check("dynamoPyHasKeys", {operand(0), object(op.getKeys())});
      })
      .Case([&](GuardTensorOp op) {
        Value spec = loadAt(field(Specs), specs.indexOf(op.getSpec()), pointer);
        return check("dynamoPyIsTensor", {operand(0), spec});
      })
      .Case([&](GuardFunctionOp op) {
        return check("dynamoPyIsFunction",
                     {operand(0), reference(op.getValue())});
      })
      .Case([&](GuardSameOp) {
        return compare(Predicate::eq, operand(0), operand(1));
      })
      .Case([&](GuardDistinctOp) {
        return compare(Predicate::ne, operand(0), operand(1));
      })
      .Case([&](GuardNoAliasOp) {
        return check("dynamoPyIsDisjoint", {operand(0), operand(1)});
      })
      .Case([&](GuardStateOp op) {
        return check("dynamoPyIsState", reference(op.getState()));
      })
      .Case([&](GuardTrueOp) { return operand(0); })
      .Default([](Operation *) { return Value(); });
}

LogicalResult Emitter::emitGuard(Operation *op) {
  int64_t index = names.size() + 1;
  StringRef name = op->getName().stripDialect();
  name.consume_front("guard.");
  auto line = op->getAttrOfType<StringAttr>("line");
  names.push_back(builder.getStringAttr(line ? name + " " + line.getValue()
                                             : llvm::Twine(name)));
  if (!isa<GuardPresentOp, GuardAbsentOp>(op))
    for (Value operand : op->getOperands())
      requireObject(operand, index);
  if (auto group = dyn_cast<GuardDictVersionOp>(op)) {
    emitGroup(group);
    return success();
  }
  Value holds = condition(op);
  if (!holds)
    return op->emitOpError("has no lowering");
  require(holds, index);
  return success();
}

/// The version and, behind it, the results of the last time that the body held.
void Emitter::emitGroup(GuardDictVersionOp op) {
  int64_t place = memoryWords;
  memoryWords += 1 + op.getNumResults();
  Value dict = values.lookup(op.getObject());
  Value version = layout.dictVersion >= 0
                      ? loadBytes(dict, layout.dictVersion, i64)
                      : call("dynamoPyDictVersion", i64, dict);
  Value memory = field(Memory);
  Value unchanged =
      compare(LLVM::ICmpPredicate::eq, version, loadAt(memory, place, i64));
  auto addBlock = [&] {
    Block *block = new Block;
    target.getBody().push_back(block);
    return block;
  };
  Block *known = addBlock(), *check = addBlock(), *done = addBlock();
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    values.map(op.getResult(i), done->addArgument(pointer, loc));
  LLVM::CondBrOp::create(builder, loc, unchanged, known, ValueRange(), check,
                         ValueRange());

  builder.setInsertionPointToStart(known);
  SmallVector<Value> remembered;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    remembered.push_back(loadAt(memory, place + 1 + i, pointer));
  LLVM::BrOp::create(builder, loc, remembered, done);

  builder.setInsertionPointToStart(check);
  Block &body = op.getBody().front();
  for (Operation &inner : body.without_terminator())
    (void)emit(&inner); // its verifier allows only what has a lowering
  SmallVector<Value> read;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    requireObject(value, names.size());
    read.push_back(values.lookup(value));
    LLVM::StoreOp::create(builder, loc, read.back(), at(memory, place + 1 + i));
  }
  // Last, so that a body that fails is not remembered.
  LLVM::StoreOp::create(builder, loc, version, at(memory, place));
  LLVM::BrOp::create(builder, loc, read, done);
  builder.setInsertionPointToStart(done);
}

LogicalResult Emitter::emit(Operation *op) {
  loc = op->getLoc();
  if (isa<SourceOpInterface>(op)) {
    emitSource(op);
    return success();
  }
  if (isa<GuardOpInterface>(op))
    return emitGuard(op);
  if (auto unbox = dyn_cast<UnboxOp>(op)) {
    requireObject(unbox.getObject(), names.size() + 1);
    Value object = values.lookup(unbox.getObject());
    Value result;
    if (unbox.getType().isF64())
      result = call("dynamoPyUnboxFloat", builder.getF64Type(), object);
    else if (unbox.getType().isInteger(64))
      result = call("dynamoPyUnboxInt", i64, object);
    else
      result = isTrue(call("dynamoPyUnboxBool", i32, object));
    values.map(unbox.getResult(), result);
    return success();
  }
  if (isa<arith::ArithDialect>(op->getDialect())) {
    builder.clone(*op, values); // convert-arith-to-llvm's part
    return success();
  }
  return op->emitOpError(
      "can't be lowered: guard functions hold sources, guards "
      "and numbers only");
}

LogicalResult Emitter::run(FuncOp function) {
  loc = function.getLoc();
  builder.setInsertionPoint(function);
  std::string name = function.getSymName().str();
  target = LLVM::LLVMFuncOp::create(
      builder, loc, name, LLVM::LLVMFunctionType::get(i32, {pointer}));
  Block *entry = target.addEntryBlock(builder);
  fail = new Block;
  target.getBody().push_back(fail);
  builder.setInsertionPointToStart(fail);
  LLVM::ReturnOp::create(builder, loc, fail->addArgument(i32, loc));

  frame = entry->getArgument(0);
  builder.setInsertionPointToStart(entry);
  for (Operation &op : function.getBody().front().without_terminator())
    if (failed(emit(&op)))
      return failure();
  loc = function.getBody().front().getTerminator()->getLoc();
  auto last = cast<ReturnOp>(function.getBody().front().getTerminator());
  Value out;
  for (Value value : last.getValues())
    requireObject(value, names.size() + 1);
  for (auto [i, value] : llvm::enumerate(last.getValues())) {
    if (!out)
      out = field(Values);
    LLVM::StoreOp::create(builder, loc, values.lookup(value), at(out, i));
  }
  LLVM::ReturnOp::create(builder, loc, number(i32, 0));
  target->setAttr("py.guards", builder.getArrayAttr(names));
  target->setAttr("py.inputs",
                  builder.getI64IntegerAttr(function.getInputs().value_or(0)));
  target->setAttr("py.memory_words", builder.getI64IntegerAttr(memoryWords));
  function.erase();
  return success();
}

namespace {
struct ConvertPyToLLVM
    : dynamo::impl::ConvertPyToLLVMPassBase<ConvertPyToLLVM> {
  using ConvertPyToLLVMPassBase::ConvertPyToLLVMPassBase;

  void runOnOperation() override {
    Layout layout = {typeOffset, typeVersionOffset, dictVersionOffset,
                     cellOffset};
    Table constants, specs;
    SmallVector<FuncOp> guards;
    for (auto function : getOperation().getOps<FuncOp>())
      if (function.getKind() == FunctionKind::Guard)
        guards.push_back(function);
    for (FuncOp guard : guards)
      if (failed(Emitter(getOperation(), layout, constants, specs).run(guard)))
        return signalPassFailure();
    if (guards.empty())
      return;
    Builder builder(&getContext());
    getOperation()->setAttr("py.constants",
                            builder.getArrayAttr(constants.entries()));
    getOperation()->setAttr("py.specs", builder.getArrayAttr(specs.entries()));
  }
};
} // namespace
