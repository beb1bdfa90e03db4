//===- GraphBuilder.cpp - Builds the aten module of a graph ---------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"

#include "dynamo/InitAll.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dynamo::python;

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

/// Registered once; every module has a context of its own, so that compiles of
/// several threads don't meet and a dropped module gives all its memory back.
static const DialectRegistry &registry() {
  static const DialectRegistry *all = [] {
    auto *made = new DialectRegistry;
    dynamo::registerAllDialects(*made);
    return made;
  }();
  return *all;
}

struct Module::Impl {
  Impl() : context(registry(), MLIRContext::Threading::DISABLED) {}
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

Module::Module() : impl(std::make_unique<Impl>()) {}
Module::~Module() = default;
MLIRContext &Module::context() const { return impl->context; }
ModuleOp Module::op() const { return *impl->module; }

std::string Module::print(bool withLocations) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(withLocations, /*prettyForm=*/false);
  ModuleOp module = op();
  module.print(stream, flags);
  return text;
}

std::string Module::verify() const {
  std::string text;
  ScopedDiagnosticHandler handler(&impl->context, [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream stream(text);
    stream << diagnostic.getLocation() << ": " << diagnostic << "\n";
    return success();
  });
  if (succeeded(mlir::verify(op())))
    return "";
  return text.empty() ? "the module does not verify" : text;
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

static Type elementType(MLIRContext &context, int32_t dtype) {
  Builder b(&context);
  switch (dtype) {
  case 0:
    return IntegerType::get(&context, 8, IntegerType::Unsigned);
  case 1:
    return b.getI8Type();
  case 2:
    return b.getI16Type();
  case 3:
    return b.getI32Type();
  case 4:
    return b.getI64Type();
  case 5:
    return b.getF16Type();
  case 6:
    return b.getF32Type();
  case 7:
    return b.getF64Type();
  case 11:
    return b.getI1Type();
  case 15:
    return b.getBF16Type();
  }
  throw CompilerFailure{"no element type for torch's dtype number " +
                        std::to_string(dtype)};
}

static RankedTensorType tensorType(MLIRContext &context,
                                   const TensorTypeDesc &desc) {
  return RankedTensorType::get(desc.sizes, elementType(context, desc.dtype));
}

static Attribute operandAttr(MLIRContext &context, int64_t index) {
  // The attribute's class is the dialect's own business; its text is contract.
  Attribute attr = mlir::parseAttribute(
      "#aten.operand<" + std::to_string(index) + ">", &context);
  if (!attr)
    throw CompilerFailure{"#aten.operand is not registered"};
  return attr;
}

static Attribute toAttribute(MLIRContext &context, const AttrValue &value) {
  Builder b(&context);
  switch (value.kind) {
  case AttrValue::Unit:
    return b.getUnitAttr();
  case AttrValue::Bool:
    return b.getBoolAttr(value.b);
  case AttrValue::Int:
    return b.getI64IntegerAttr(value.i);
  case AttrValue::Float:
    return b.getF64FloatAttr(value.f);
  case AttrValue::Str:
    return b.getStringAttr(value.s);
  case AttrValue::Operand:
    return operandAttr(context, value.i);
  case AttrValue::Ints:
    return b.getDenseI64ArrayAttr(value.ints);
  case AttrValue::Floats:
    return b.getDenseF64ArrayAttr(value.floats);
  case AttrValue::Bools: {
    SmallVector<bool> bools(value.ints.begin(), value.ints.end());
    return b.getDenseBoolArrayAttr(bools);
  }
  case AttrValue::Int32s: {
    SmallVector<int32_t> ints(value.ints.begin(), value.ints.end());
    return b.getDenseI32ArrayAttr(ints);
  }
  case AttrValue::List: {
    SmallVector<Attribute> list;
    for (const AttrValue &item : value.list)
      list.push_back(toAttribute(context, item));
    return b.getArrayAttr(list);
  }
  case AttrValue::Dict: {
    SmallVector<NamedAttribute> named;
    for (size_t i = 0; i < value.keys.size(); ++i)
      named.push_back(
          b.getNamedAttr(value.keys[i], toAttribute(context, value.list[i])));
    return b.getDictionaryAttr(named);
  }
  }
  throw CompilerFailure{"unknown kind of attribute"};
}

static AttrValue fromAttribute(Attribute attr) {
  AttrValue value;
  if (isa<UnitAttr>(attr)) {
    value.kind = AttrValue::Unit;
  } else if (auto b = dyn_cast<BoolAttr>(attr)) {
    value.kind = AttrValue::Bool;
    value.b = b.getValue();
  } else if (auto i = dyn_cast<IntegerAttr>(attr)) {
    value.kind = AttrValue::Int;
    value.i = i.getInt();
  } else if (auto f = dyn_cast<FloatAttr>(attr)) {
    value.kind = AttrValue::Float;
    value.f = f.getValueAsDouble();
  } else if (auto s = dyn_cast<StringAttr>(attr)) {
    value.kind = AttrValue::Str;
    value.s = s.getValue().str();
  } else if (auto list = dyn_cast<ArrayAttr>(attr)) {
    value.kind = AttrValue::List;
    for (Attribute item : list)
      value.list.push_back(fromAttribute(item));
  } else if (auto dict = dyn_cast<DictionaryAttr>(attr)) {
    value.kind = AttrValue::Dict;
    for (NamedAttribute item : dict) {
      value.keys.push_back(item.getName().str());
      value.list.push_back(fromAttribute(item.getValue()));
    }
  } else if (auto ints = dyn_cast<DenseI64ArrayAttr>(attr)) {
    value.kind = AttrValue::Ints;
    value.ints.assign(ints.asArrayRef().begin(), ints.asArrayRef().end());
  } else {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << attr;
    StringRef rest(text);
    if (!rest.consume_front("#aten.operand<") || !rest.consume_back(">") ||
        rest.getAsInteger(10, value.i))
      throw CompilerFailure{"an extern argument can't be " + text};
    value.kind = AttrValue::Operand;
  }
  return value;
}

AttrValue dynamo::python::parseAttribute(const std::string &text) {
  MLIRContext context(registry(), MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  Attribute attr = mlir::parseAttribute(text, &context);
  if (!attr)
    throw CompilerFailure{"malformed attribute: " + text};
  return fromAttribute(attr);
}

//===----------------------------------------------------------------------===//
// GraphBuilder
//===----------------------------------------------------------------------===//

struct GraphBuilder::Impl {
  std::shared_ptr<Module> owner = std::make_shared<Module>();
  OpBuilder builder{&owner->context()};
  func::FuncOp function;
  SmallVector<Value> values;

  int64_t add(Value value) {
    values.push_back(value);
    return values.size() - 1;
  }
  template <typename AttrT> int64_t constant(AttrT attr) {
    return add(arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                         cast<TypedAttr>(attr)));
  }
};

GraphBuilder::GraphBuilder() : impl(std::make_unique<Impl>()) {
  MLIRContext &context = impl->owner->context();
  context.loadDialect<func::FuncDialect, arith::ArithDialect>();
  if (!context.getOrLoadDialect("aten"))
    throw CompilerFailure{"the aten dialect is not registered"};
  OpBuilder &b = impl->builder;
  Location loc = b.getUnknownLoc();
  ModuleOp module = ModuleOp::create(loc);
  impl->owner->impl->module = module;
  b.setInsertionPointToEnd(module.getBody());
  impl->function =
      func::FuncOp::create(b, loc, "main", b.getFunctionType({}, {}));
  b.setInsertionPointToEnd(impl->function.addEntryBlock());
}

GraphBuilder::~GraphBuilder() = default;

int64_t GraphBuilder::addInput(const TensorTypeDesc &type) {
  return impl->add(impl->function.front().addArgument(
      tensorType(impl->owner->context(), type), impl->builder.getUnknownLoc()));
}

int64_t GraphBuilder::addFloat(double value) {
  return impl->constant(impl->builder.getF64FloatAttr(value));
}
int64_t GraphBuilder::addInt(int64_t value) {
  return impl->constant(impl->builder.getI64IntegerAttr(value));
}
int64_t GraphBuilder::addBool(bool value) {
  return impl->constant(impl->builder.getBoolAttr(value));
}

int64_t GraphBuilder::addOp(const std::string &op,
                            const std::vector<int64_t> &operands,
                            const std::vector<NamedAttrValue> &attributes,
                            const std::vector<TensorTypeDesc> &results,
                            const Position &position) {
  MLIRContext &context = impl->owner->context();
  OperationName name(op, &context);
  if (!name.isRegistered())
    throw CompilerFailure{"there is no operation " + op};
  Location loc = impl->builder.getUnknownLoc();
  if (position.line > 0)
    loc = FileLineColLoc::get(&context, position.file, position.line,
                              position.column);
  if (!position.name.empty())
    loc = NameLoc::get(StringAttr::get(&context, position.name), loc);
  OperationState state(loc, name);
  for (int64_t operand : operands)
    state.addOperands(impl->values[operand]);
  for (const TensorTypeDesc &type : results)
    state.addTypes(tensorType(context, type));
  for (const NamedAttrValue &attr : attributes)
    state.addAttribute(attr.first, toAttribute(context, attr.second));
  Operation *made = impl->builder.create(state);
  int64_t first = impl->values.size();
  for (Value result : made->getResults())
    impl->values.push_back(result);
  return first;
}

std::shared_ptr<Module>
GraphBuilder::finish(const std::vector<int64_t> &outputs) {
  SmallVector<Value> returned;
  for (int64_t output : outputs)
    returned.push_back(impl->values[output]);
  OpBuilder &b = impl->builder;
  func::ReturnOp::create(b, b.getUnknownLoc(), returned);
  SmallVector<Type> types;
  for (Value value : returned)
    types.push_back(value.getType());
  impl->function.setFunctionType(
      b.getFunctionType(impl->function.front().getArgumentTypes(), types));
  return std::move(impl->owner);
}
