//===- AtenCall.cpp - From an operator's name and arguments to aten
//-----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C++ twin of the Python importer's node conversion, over the same
// generated table of overloads.
//
//===----------------------------------------------------------------------===//

#include "AtenCall.h"

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::py;

namespace {
/// One argument of an overload.
struct Argument {
  StringRef name, kind, defaultNumber;
  bool isAttribute = false, isOptional = false, isIgnored = false;
};

struct Overload {
  StringRef op;
  bool segments = false;
  SmallVector<Argument, 4> arguments;
};
} // namespace

/// Arguments of no meaning where the result type says all, as the importer has
/// it.
static bool isDropped(StringRef name) {
  return llvm::is_contained({"dtype", "layout", "device", "pin_memory",
                             "memory_format", "non_blocking"},
                            name);
}

/// "self:tensor", "alpha:number=1", "@dim:ints?", "!implicit:"
static Argument parseArgument(StringRef text) {
  Argument argument;
  argument.isIgnored = text.consume_front("!");
  argument.isAttribute = text.consume_front("@");
  argument.isOptional = text.consume_back("?");
  std::tie(argument.name, text) = text.split(':');
  std::tie(argument.kind, argument.defaultNumber) = text.split('=');
  return argument;
}

static const llvm::StringMap<Overload> &overloads() {
  static const llvm::StringMap<Overload> table = [] {
    llvm::StringMap<Overload> result;
    auto add = [&](StringRef name, StringRef op, bool segments,
                   std::initializer_list<StringRef> arguments) {
      Overload &entry = result[name];
      entry.op = op;
      entry.segments = segments;
      for (StringRef argument : arguments)
        entry.arguments.push_back(parseArgument(argument));
    };
#define ATEN_OVERLOAD(NAME, OP, SEGMENTS, ...)                                 \
  add(NAME, OP, SEGMENTS, {__VA_ARGS__});
#include "dynamo/Dialect/Aten/IR/AtenOverloads.inc"
#undef ATEN_OVERLOAD
    return result;
  }();
  return table;
}

std::string dynamo::py::functionalOverload(StringRef name) {
  auto [space, operation] = name.split("::");
  auto [base, overload] = operation.split('.');
  // Operators whose functional form has another name.
  if (base == "zero_")
    base = "zeros_like";
  if (overload.empty() &&
      (base == "native_batch_norm" || base == "_native_batch_norm_legit"))
    base = "_native_batch_norm_legit_functional";
  if (!base.ends_with("__")) // __and__ and its like are functional
    base.consume_back("_");
  return (space + "." + base + "." + (overload.empty() ? "default" : overload))
      .str();
}

Value dynamo::py::emitAten(OpBuilder &builder, Location loc, StringRef op,
                           ValueRange operands, Type type,
                           ArrayRef<NamedAttribute> attrs) {
  OperationState state(loc, op, operands, type, attrs);
  return builder.create(state)->getResult(0);
}

namespace {
/// The operation under construction.
class Conversion {
public:
  Conversion(OpBuilder &builder, TorchCallOp call, ValueRange values)
      : builder(builder), call(call), values(values) {}

  /// Null if the arguments do not fit the overload: `reason` tells.
  Operation *make(const Overload &overload, TypeRange types);
  Operation *makeExtern(StringRef name, TypeRange types);
  std::string reason;

private:
  bool addOperand(const Argument &argument, Attribute given,
                  SmallVectorImpl<Value> &operands);
  Attribute attribute(const Argument &argument, Attribute given);
  /// A tensor or a number as an operand; null if it is neither.
  Value operand(Attribute given);

  OpBuilder &builder;
  TorchCallOp call;
  ValueRange values;
  SmallVector<bool> present; ///< of `indices`
};
} // namespace

Value Conversion::operand(Attribute given) {
  if (auto place = dyn_cast_or_null<aten::OperandAttr>(given))
    return values[place.getIndex()];
  auto number = dyn_cast_or_null<TypedAttr>(given);
  if (number && isa<IntegerAttr, FloatAttr>(given))
    return arith::ConstantOp::create(builder, call.getLoc(), number);
  return {};
}

bool Conversion::addOperand(const Argument &argument, Attribute given,
                            SmallVectorImpl<Value> &operands) {
  if (argument.kind == "variadic") {
    auto list = dyn_cast_or_null<ArrayAttr>(given);
    if (!list)
      return false;
    for (Attribute entry : list) {
      Value value = operand(entry);
      // How many elements a mask chooses depends on its values.
      Type element = value ? getElementTypeOrSelf(value.getType()) : Type();
      if (argument.name == "indices" && element &&
          (element.isInteger(1) || element.isUnsignedInteger(8)))
        return false;
      present.push_back(static_cast<bool>(value));
      if (value)
        operands.push_back(value);
      else if (!isa<UnitAttr>(entry))
        return false;
    }
    return true;
  }
  if (Value value = operand(given)) {
    operands.push_back(value);
    return true;
  }
  if (given && !isa<UnitAttr>(given))
    return false;
  if (argument.kind == "optional")
    return true;
  double number;
  if (argument.defaultNumber.empty() ||
      argument.defaultNumber.getAsDouble(number))
    return false;
  int64_t whole;
  Attribute value = argument.defaultNumber.getAsInteger(10, whole)
                        ? Attribute(builder.getF64FloatAttr(number))
                        : Attribute(builder.getI64IntegerAttr(whole));
  operands.push_back(operand(value));
  return true;
}

/// Null: the argument is of another kind.
Attribute Conversion::attribute(const Argument &argument, Attribute given) {
  auto integer = [](Attribute attr) -> std::optional<int64_t> {
    auto number = dyn_cast<IntegerAttr>(attr);
    if (!number || number.getType().isInteger(1))
      return std::nullopt;
    return number.getInt();
  };
  auto asFloat = [&](Attribute attr) -> std::optional<double> {
    if (auto number = dyn_cast<FloatAttr>(attr))
      return number.getValueAsDouble();
    return integer(attr);
  };
  auto asBool = [](Attribute attr) -> std::optional<bool> {
    auto number = dyn_cast<IntegerAttr>(attr);
    if (!number || !number.getType().isInteger(1))
      return std::nullopt;
    return number.getValue().getBoolValue();
  };
  // A list, or one entry that stands for a list of one.
  auto list = [&](auto convert, auto make) -> Attribute {
    SmallVector<std::decay_t<decltype(*convert(given))>> entries;
    auto array = dyn_cast<ArrayAttr>(given);
    ArrayRef<Attribute> attrs = array ? array.getValue() : ArrayRef(given);
    for (Attribute attr : attrs) {
      auto value = convert(attr);
      if (!value)
        return {};
      entries.push_back(*value);
    }
    return make(entries);
  };
  StringRef kind = argument.kind;
  if (kind == "int")
    if (std::optional<int64_t> value = integer(given))
      return builder.getI64IntegerAttr(*value);
  if (kind == "float")
    if (std::optional<double> value = asFloat(given))
      return builder.getF64FloatAttr(*value);
  if (kind == "bool")
    if (std::optional<bool> value = asBool(given))
      return builder.getBoolAttr(*value);
  if (kind == "str")
    return dyn_cast<StringAttr>(given);
  if (kind == "ints")
    return list(integer, [&](ArrayRef<int64_t> v) {
      return builder.getDenseI64ArrayAttr(v);
    });
  if (kind == "floats")
    return list(asFloat, [&](ArrayRef<double> v) {
      return builder.getDenseF64ArrayAttr(v);
    });
  if (kind == "bools")
    return list(asBool, [&](ArrayRef<bool> v) {
      return builder.getDenseBoolArrayAttr(v);
    });
  return {};
}

Operation *Conversion::make(const Overload &overload, TypeRange types) {
  OperationState state(call.getLoc(), overload.op);
  SmallVector<Value> operands;
  SmallVector<int32_t> segments;
  NamedAttrList attrs;
  for (const Argument &argument : overload.arguments) {
    Attribute given = call.getArguments().get(argument.name);
    if (argument.isIgnored)
      continue;
    if (!argument.isAttribute) {
      size_t before = operands.size();
      if (!addOperand(argument, given, operands)) {
        reason =
            ("argument '" + argument.name + "' is no " + argument.kind).str();
        return nullptr;
      }
      segments.push_back(operands.size() - before);
      continue;
    }
    if (argument.name == "indices_present") {
      attrs.append(argument.name, builder.getDenseBoolArrayAttr(present));
      continue;
    }
    if (!given || isa<UnitAttr>(given)) {
      if (argument.isOptional)
        continue; // at its default
      reason = ("argument '" + argument.name + "' is missing").str();
      return nullptr;
    }
    Attribute attr = attribute(argument, given);
    if (!attr) {
      reason =
          ("argument '" + argument.name + "' is no " + argument.kind).str();
      return nullptr;
    }
    attrs.append(argument.name, attr);
  }
  NamedAttrList ignored;
  for (NamedAttribute given : call.getArguments()) {
    StringRef name = given.getName();
    auto *known = llvm::find_if(overload.arguments, [&](const Argument &entry) {
      return entry.name == name;
    });
    bool means = known == overload.arguments.end() && !isDropped(name);
    if (means && !isa<UnitAttr>(given.getValue())) {
      reason = ("argument '" + name + "' has no word in " + overload.op).str();
      return nullptr;
    }
    // Kept for the case that the operator is called after all.
    if (known != overload.arguments.end() && known->isIgnored &&
        !isa<aten::OperandAttr>(given.getValue()))
      ignored.append(given);
  }
  if (overload.segments)
    attrs.append("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));
  state.addOperands(operands);
  state.addTypes(types);
  state.addAttributes(attrs);
  Operation *op = builder.create(state);
  // For aten-to-extern: which overload it is, and its arguments' names.
  std::string name = functionalOverload(call.getName());
  StringRef base = StringRef(name).drop_front(StringRef("aten.").size());
  base.consume_back(".default");
  op->setAttr("aten.overload", builder.getStringAttr("aten::" + base));
  SmallVector<Attribute> schema;
  for (NamedAttribute argument : call.getArguments())
    schema.push_back(argument.getName());
  op->setAttr("aten.schema", builder.getArrayAttr(schema));
  if (!ignored.empty())
    op->setAttr("aten.ignored", ignored.getDictionary(builder.getContext()));
  return op;
}

/// Everything by name.
Operation *Conversion::makeExtern(StringRef name, TypeRange types) {
  return aten::ExternOp::create(builder, call.getLoc(), types, name, values,
                                builder.getArrayAttr({}), call.getArguments());
}

FailureOr<SmallVector<Value>> dynamo::py::emitAten(OpBuilder &builder,
                                                   TorchCallOp call,
                                                   ValueRange values,
                                                   TypeRange types) {
  std::string name = functionalOverload(call.getName());
  Conversion conversion(builder, call, values);
  auto known = overloads().find(name);
  if (known != overloads().end()) {
    if (Operation *op = conversion.make(known->second, types)) {
      if (failed(verify(op)))
        return failure();
      return SmallVector<Value>(op->getResults());
    }
  }
  // An operator without a word in the dialect runs as it is, if it is
  // functional.
  if (call.getWrites()) {
    InFlightDiagnostic diag = call.emitOpError("has no functional form: ");
    if (conversion.reason.empty())
      diag << "there is no operation of aten for " << name;
    else
      diag << conversion.reason;
    return diag;
  }
  return SmallVector<Value>(
      conversion.makeExtern(call.getName(), types)->getResults());
}
