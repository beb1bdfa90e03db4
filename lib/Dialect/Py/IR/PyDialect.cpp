//===- PyDialect.cpp - the py dialect, its types and attributes
//---------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/IR/Py.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dynamo::py;

#include "dynamo/Dialect/Py/IR/PyDialect.cpp.inc"
#include "dynamo/Dialect/Py/IR/PyEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dynamo/Dialect/Py/IR/PyTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dynamo/Dialect/Py/IR/PyAttrs.cpp.inc"

namespace {
/// Units may be inlined wherever they are invoked; nothing else is called.
struct PyInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *call, Operation *callable,
                       bool) const override {
    auto function = dyn_cast<FuncOp>(callable);
    return isa<InvokeOp>(call) && function &&
           function.getKind() == FunctionKind::Unit;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool,
                       IRMapping &) const override {
    return true;
  }
  void handleTerminator(Operation *op, ValueRange results) const override {
    for (auto [result, value] :
         llvm::zip_equal(results, cast<ReturnOp>(op).getValues()))
      result.replaceAllUsesWith(value);
  }
};
} // namespace

void PyDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dynamo/Dialect/Py/IR/PyTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dynamo/Dialect/Py/IR/PyAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Py/IR/PyOps.cpp.inc"
      >();
  addInterfaces<PyInlinerInterface>();
}

Operation *PyDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                          Type type, Location loc) {
  if (isa<ObjectType>(type))
    return isConstant(value)
               ? ConstOp::create(builder, loc, type, value).getOperation()
               : nullptr;
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

bool dynamo::py::isConstant(Attribute attr) {
  if (auto array = dyn_cast<ArrayAttr>(attr))
    return llvm::all_of(array, isConstant);
  if (auto number = dyn_cast<FloatAttr>(attr))
    return number.getType().isF64();
  if (auto number = dyn_cast<IntegerAttr>(attr))
    return number.getType().isSignlessInteger();
  return isa<UnitAttr, StringAttr, RefAttr>(attr);
}

Attribute dynamo::py::getConstant(Value object) {
  auto op = object.getDefiningOp<ConstOp>();
  return op ? op.getValue() : Attribute();
}

bool dynamo::py::areDifferent(Attribute a, Attribute b) {
  auto refA = dyn_cast<RefAttr>(a), refB = dyn_cast<RefAttr>(b);
  if (refA && refB)
    return refA.getIndex() != refB.getIndex();
  // What an entry of the table is equal to can't be seen here.
  auto hasRef = [](Attribute attr) {
    bool found = false;
    attr.walk([&](RefAttr) { found = true; });
    return found;
  };
  return a != b && !hasRef(a) && !hasRef(b);
}

//===----------------------------------------------------------------------===//
// !py.tensor
//===----------------------------------------------------------------------===//

SmallVector<int64_t> dynamo::py::denseStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    strides[i] = stride;
    if (ShapedType::isDynamic(shape[i]) || ShapedType::isDynamic(stride))
      stride = ShapedType::kDynamic;
    else
      stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

Type TensorRefType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(elementType))
    return {};
  auto parseStride = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      strides.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(strides.emplace_back());
  };
  if (succeeded(parser.parseOptionalComma()))
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       parseStride))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TensorRefType>(loc, parser.getContext(), shape,
                                          elementType, strides);
}

void TensorRefType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << (getShape().empty() ? "" : "x") << getElementType();
  if (!getStrides().empty()) {
    printer << ", [";
    llvm::interleaveComma(getStrides(), printer, [&](int64_t stride) {
      if (ShapedType::isDynamic(stride))
        printer << "?";
      else
        printer << stride;
    });
    printer << "]";
  }
  printer << ">";
}

LogicalResult
TensorRefType::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> shape, Type elementType,
                      ArrayRef<int64_t> strides) {
  if (!BaseMemRefType::isValidElementType(elementType))
    return emitError() << "has elements of type " << elementType
                       << ", a number is accepted";
  if (!strides.empty() && strides.size() != shape.size())
    return emitError() << "has " << strides.size() << " strides for "
                       << shape.size() << " sizes";
  return success();
}

FailureOr<SmallVector<int64_t>> TensorRefType::getDenseOrder() const {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, getRank()));
  if (getStrides().empty())
    return order;
  if (llvm::any_of(getShape(), ShapedType::isDynamic) ||
      llvm::any_of(getStrides(), ShapedType::isDynamic))
    return failure();
  // A dim of size 1 may be anywhere: where it is in the row-major order.
  auto size = [&](int64_t dim) { return getShape()[dim]; };
  SmallVector<int64_t> others;
  for (int64_t dim : order)
    if (size(dim) != 1)
      others.push_back(dim);
  llvm::sort(others, [&](int64_t a, int64_t b) {
    return std::pair(-getStrides()[a], a) < std::pair(-getStrides()[b], b);
  });
  int64_t expected = 1;
  for (int64_t dim : llvm::reverse(others)) {
    if (getStrides()[dim] != expected && !llvm::is_contained(getShape(), 0))
      return failure();
    expected *= size(dim);
  }
  auto next = others.begin();
  for (int64_t &dim : order)
    if (size(dim) != 1)
      dim = *next++;
  return order;
}

//===----------------------------------------------------------------------===//
// #py.ref
//===----------------------------------------------------------------------===//

Attribute RefAttr::parse(AsmParser &parser, Type) {
  int64_t index = 0;
  std::string name;
  bool fixed = false;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(index))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseString(&name))
      return {};
    if (succeeded(parser.parseOptionalComma())) {
      if (parser.parseKeyword("fixed"))
        return {};
      fixed = true;
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<RefAttr>(loc, parser.getContext(), index, name,
                                    fixed);
}

void RefAttr::print(AsmPrinter &printer) const {
  printer << "<" << getIndex();
  if (!getName().empty() || getFixed()) {
    printer << ", ";
    printer.printString(getName());
  }
  if (getFixed())
    printer << ", fixed";
  printer << ">";
}

LogicalResult RefAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t index, StringRef, bool) {
  if (index < 0)
    return emitError() << "has index " << index << ", 0 or more is accepted";
  return success();
}
