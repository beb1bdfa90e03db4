//===- AtenToExtern.cpp - Make extern calls of what is left
//-------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after convert-aten-to-linalg and is what makes a missing lowering cost
// speed, not the program. It puts the arguments of torch's schema together
// again from operands (whose names come from TableGen) and attributes.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Aten/Transforms/Passes.h"
#include "dynamo/Dialect/Rt/IR/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "aten-to-extern"

namespace dynamo::aten {
#define GEN_PASS_DEF_ATENTOEXTERNPASS
#include "dynamo/Dialect/Aten/Transforms/Passes.h.inc"
} // namespace dynamo::aten

using namespace mlir;
using namespace dynamo;
using namespace dynamo::aten;

namespace {
/// Operand names of an op, with "?" or "*" behind optional and variadic ones.
using Names = SmallVector<StringRef, 4>;

/// One argument's share of the op's operands.
struct Group {
  ValueRange values;
  char kind; ///< 0, '?' or '*'
};
} // namespace

static llvm::StringMap<Names> operandNames() {
  llvm::StringMap<Names> result;
  auto add = [&](StringRef op, std::initializer_list<StringRef> names) {
    result[op] = Names(names);
  };
#define ATEN_OPERANDS(OP, ...) add(OP, {__VA_ARGS__});
#include "dynamo/Dialect/Aten/IR/AtenOperandNames.inc"
#undef ATEN_OPERANDS
  return result;
}

/// The op's operands by schema name, or failure if they can't be told apart.
static FailureOr<llvm::StringMap<Group>> groupOperands(Operation *op,
                                                       const Names &names) {
  SmallVector<int64_t> lengths;
  if (auto segments = dyn_cast_or_null<DenseI32ArrayAttr>(
          op->getPropertiesAsAttribute()
              ? cast<DictionaryAttr>(op->getPropertiesAsAttribute())
                    .get("operandSegmentSizes")
              : Attribute())) {
    lengths.assign(segments.asArrayRef().begin(), segments.asArrayRef().end());
  } else {
    int64_t single = llvm::count_if(names, [](StringRef name) {
      return name.back() != '?' && name.back() != '*';
    });
    if (int64_t(names.size()) - single > 1)
      return failure();
    for (StringRef name : names)
      lengths.push_back(name.back() == '?' || name.back() == '*'
                            ? int64_t(op->getNumOperands()) - single
                            : 1);
  }
  llvm::StringMap<Group> groups;
  int64_t next = 0;
  if (lengths.size() != names.size())
    return failure();
  for (auto [name, length] : llvm::zip_equal(names, lengths)) {
    char kind = name.back() == '?' || name.back() == '*' ? name.back() : '\0';
    if (length < 0 || next + length > int64_t(op->getNumOperands()))
      return failure();
    groups[name.rtrim("?*")] = {op->getOperands().slice(next, length), kind};
    next += length;
  }
  if (next != int64_t(op->getNumOperands()))
    return failure();
  return groups;
}

/// An element type as torch names it.
static StringRef torchName(Type dtype) {
  if (dtype.isUnsignedInteger(8))
    return "torch.uint8";
  if (dtype.isF64())
    return "torch.float64";
  if (dtype.isF32())
    return "torch.float32";
  if (dtype.isF16())
    return "torch.float16";
  if (dtype.isBF16())
    return "torch.bfloat16";
  switch (dtype.isSignlessInteger() ? dtype.getIntOrFloatBitWidth() : 0) {
  case 1:
    return "torch.bool";
  case 8:
    return "torch.int8";
  case 16:
    return "torch.int16";
  case 32:
    return "torch.int32";
  case 64:
    return "torch.int64";
  default:
    return "";
  }
}

namespace {
struct AtenToExtern : dynamo::aten::impl::AtenToExternPassBase<AtenToExtern> {
  LogicalResult initialize(MLIRContext *) override {
    names = std::make_shared<llvm::StringMap<Names>>(operandNames());
    return success();
  }

  void runOnOperation() override {
    SmallVector<Operation *> left;
    getOperation().walk([&](Operation *op) {
      if (isa_and_nonnull<AtenDialect>(op->getDialect()) && !isa<ExternOp>(op))
        left.push_back(op);
    });
    for (Operation *op : left)
      if (failed(rewrite(op)))
        return signalPassFailure();
  }

  LogicalResult rewrite(Operation *op);

  std::shared_ptr<llvm::StringMap<Names>> names;
};

/// The extern call under construction.
struct Call {
  explicit Call(Operation *op) : op(op), builder(op) {}

  /// An argument that is an operand: a place, or the number that it is.
  Attribute argument(Value value) {
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      if (isa<FloatAttr, IntegerAttr>(constant.getValue()))
        return constant.getValue();
    noteDtype(value.getType());
    // Past the cast that convert-aten-to-linalg leaves at a byte tensor.
    auto cast = value.getDefiningOp<UnrealizedConversionCastOp>();
    inputs.push_back(cast && cast.getNumOperands() == 1 ? cast.getOperand(0)
                                                        : value);
    return OperandAttr::get(op->getContext(), inputs.size() - 1);
  }

  Attribute argument(const Group &group) {
    if (group.kind == 0)
      return argument(group.values.front());
    if (group.kind == '?')
      return group.values.empty() ? Attribute(builder.getUnitAttr())
                                  : argument(group.values.front());
    return list(group.values, {});
  }

  /// A list of tensors; `present` tells which entries are not None.
  Attribute list(ValueRange values, ArrayRef<bool> present) {
    SmallVector<Attribute> entries;
    unsigned next = 0;
    for (unsigned i = 0, e = present.empty() ? values.size() : present.size();
         i < e; ++i)
      entries.push_back(present.empty() || present[i]
                            ? argument(values[next++])
                            : Attribute(builder.getUnitAttr()));
    return builder.getArrayAttr(entries);
  }

  void noteDtype(Type type) {
    dtypes.push_back(TypeAttr::get(getElementTypeOrSelf(type)));
  }

  Operation *op;
  OpBuilder builder;
  SmallVector<Value> inputs;
  SmallVector<Attribute> dtypes;
};
} // namespace

/// An array attribute of the op as a list of the extern's arguments.
static Attribute plainAttribute(OpBuilder &builder, Attribute attr) {
  if (auto ints = dyn_cast<DenseI64ArrayAttr>(attr))
    return builder.getI64ArrayAttr(ints.asArrayRef());
  if (auto bools = dyn_cast<DenseBoolArrayAttr>(attr))
    return builder.getBoolArrayAttr(bools.asArrayRef());
  if (auto floats = dyn_cast<DenseF64ArrayAttr>(attr))
    return builder.getF64ArrayAttr(floats.asArrayRef());
  return attr;
}

/// The result type that the readers want: the byte tensor to which the result
/// is cast, or the op's own.
static Type resultTypeOf(Value result) {
  if (result.use_empty())
    return result.getType();
  Type type;
  for (Operation *user : result.getUsers()) {
    auto cast = dyn_cast<UnrealizedConversionCastOp>(user);
    if (!cast || cast.getNumResults() != 1)
      return result.getType();
    type = cast.getType(0);
  }
  return type;
}

LogicalResult AtenToExtern::rewrite(Operation *op) {
  auto overload = op->getAttrOfType<StringAttr>("aten.overload");
  auto schema = op->getAttrOfType<ArrayAttr>("aten.schema");
  auto known = names->find(op->getName().getStringRef());
  if (!overload || !schema || known == names->end()) {
    InFlightDiagnostic diag =
        op->emitError("has no lowering, and no overload to call in its place");
    if (auto reason = op->getAttrOfType<StringAttr>("aten.not_lowered"))
      diag.attachNote() << "not lowered: " << reason.getValue();
    return diag;
  }
  FailureOr<llvm::StringMap<Group>> groups = groupOperands(op, known->second);
  if (failed(groups))
    return op->emitError("operands do not match the operation's definition");

  Call call(op);
  SmallVector<NamedAttribute> kwargs;
  // Arguments that mean nothing on values, but that the overload wants.
  auto ignored = op->getAttrOfType<DictionaryAttr>("aten.ignored");
  auto properties =
      dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  ArrayRef<StringAttr> attributeNames =
      op->getRegisteredInfo()->getAttributeNames();
  for (Attribute entry : schema) {
    StringRef name = cast<StringAttr>(entry).getValue();
    Attribute value;
    auto group = groups->find(name);
    auto present = properties
                       ? properties.getAs<DenseBoolArrayAttr>("indices_present")
                       : DenseBoolArrayAttr();
    if (name == "indices" && present && group != groups->end()) {
      value = call.list(group->second.values, present.asArrayRef());
    } else if (group != groups->end()) {
      value = call.argument(group->second);
    } else if (Attribute attr =
                   properties ? properties.get(name) : Attribute()) {
      value = plainAttribute(call.builder, attr);
    } else if (llvm::any_of(attributeNames, [&](StringAttr attr) {
                 return attr.getValue() == name;
               })) {
      value = call.builder.getUnitAttr(); // an optional one that is absent
    } else if (name == "dtype" || name == "input_dtype") {
      StringRef dtype =
          torchName(getElementTypeOrSelf(op->getResult(0).getType()));
      if (!dtype.empty())
        value = call.builder.getStringAttr(dtype);
    } else if (ignored && ignored.contains(name)) {
      value = ignored.get(name);
    } else if (name == "stable") {
      value = call.builder.getBoolAttr(true);
    }
    // Anything else is at its default.
    if (value)
      kwargs.emplace_back(call.builder.getStringAttr(name), value);
  }

  SmallVector<Type> types;
  bool changed = false;
  for (Value result : op->getResults()) {
    call.noteDtype(result.getType());
    types.push_back(resultTypeOf(result));
    changed |= types.back() != result.getType();
  }
  for (Value input : call.inputs)
    changed |= !llvm::is_contained(op->getOperands(), input);
  auto externOp = ExternOp::create(call.builder, op->getLoc(), types, overload,
                                   call.inputs, call.builder.getArrayAttr({}),
                                   call.builder.getDictionaryAttr(kwargs));
  if (changed)
    externOp->setAttr(rt::kDtypesAttr, call.builder.getArrayAttr(call.dtypes));

  SmallVector<Operation *> casts;
  for (Value operand : op->getOperands())
    if (auto cast = operand.getDefiningOp<UnrealizedConversionCastOp>())
      if (!llvm::is_contained(casts, cast))
        casts.push_back(cast);
  for (auto [result, replacement] :
       llvm::zip_equal(op->getResults(), externOp.getResults())) {
    if (result.getType() == replacement.getType()) {
      result.replaceAllUsesWith(replacement);
      continue;
    }
    for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
      user->getResult(0).replaceAllUsesWith(replacement);
      user->erase();
    }
  }
  op->erase();
  for (Operation *cast : casts)
    if (cast->use_empty())
      cast->erase();
  return success();
}
