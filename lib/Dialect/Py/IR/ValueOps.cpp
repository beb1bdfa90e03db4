//===- ValueOps.cpp - tensors, numbers and objects made in a segment
//----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Py/IR/Py.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dynamo::py;

bool dynamo::py::isFresh(Value object) {
  return isa_and_present<TupleOp, ListOp, SetOp, DictOp, DequeOp, ObjectOp,
                         MakeCellOp, MakeFunctionOp, BoundMethodOp, SliceOp>(
      object.getDefiningOp());
}

bool dynamo::py::isContainer(Operation *op) {
  return isa<TupleOp, ListOp, SetOp, DictOp, DequeOp, ObjectOp, MakeCellOp,
             MakeFunctionOp, BoundMethodOp, SliceOp, FillOp, InitAttrOp,
             InitSlotOp>(op);
}

//===----------------------------------------------------------------------===//
// Tensors and numbers
//===----------------------------------------------------------------------===//

OpFoldResult UnwrapOp::fold(FoldAdaptor) {
  auto wrap = getObject().getDefiningOp<WrapOp>();
  if (wrap && wrap.getTensor().getType() == getType() &&
      isa<TensorRefType>(getType()))
    return wrap.getTensor();
  return {};
}

OpFoldResult WrapOp::fold(FoldAdaptor) {
  auto unwrap = getTensor().getDefiningOp<UnwrapOp>();
  if (unwrap && isa<TensorRefType>(getTensor().getType()))
    return unwrap.getObject();
  return {};
}

void WrapOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!isa<TensorRefType>(getTensor().getType()))
    effects.emplace_back(MemoryEffects::Allocate::get(),
                         cast<OpResult>(getResult()));
}

LogicalResult WrapOp::verify() {
  auto value = dyn_cast<RankedTensorType>(getTensor().getType());
  if (!value != !getAs()) // C1
    return emitOpError(value ? "C1: a value needs a type to look like"
                             : "C1: a reference has its own looks");
  if (!value)
    return success();
  auto type = cast<TensorRefType>(*getAs());
  FailureOr<SmallVector<int64_t>> order = type.getDenseOrder();
  if (failed(order))
    return emitOpError("C2: ") << type << " is not dense";
  SmallVector<int64_t> physical;
  for (int64_t dim : *order)
    physical.push_back(type.getShape()[dim]);
  if (failed(verifyCompatibleShape(physical, value.getShape())) ||
      value.getElementType() != type.getElementType())
    return emitOpError("C2: ")
           << value << " is not what " << type << " has in memory";
  return success();
}

OpFoldResult UnboxOp::fold(FoldAdaptor) {
  if (auto box = getObject().getDefiningOp<BoxOp>())
    if (box.getNumber().getType() == getType())
      return box.getNumber();
  auto constant = dyn_cast_or_null<TypedAttr>(getConstant(getObject()));
  if (constant && constant.getType() == getType())
    return constant;
  return {};
}

OpFoldResult BoxOp::fold(FoldAdaptor adaptor) { return adaptor.getNumber(); }

LogicalResult TorchCallOp::verify() {
  auto [space, operation] = getName().split("::");
  if (space.empty() || operation.empty()) // C1
    return emitOpError("C1: has the name '")
           << getName() << "', namespace::name.overload is accepted";
  SmallVector<bool> used(getInputs().size(), false);
  int64_t wrong = -1;
  getArguments().walk([&](aten::OperandAttr operand) {
    if (operand.getIndex() < 0 || operand.getIndex() >= int64_t(used.size()))
      wrong = operand.getIndex();
    else
      used[operand.getIndex()] = true;
  });
  if (wrong != -1) // C2
    return emitOpError("C2: has an argument that is operand ")
           << wrong << ", it has " << used.size();
  if (!llvm::all_of(used, [](bool u) { return u; }))
    return emitOpError("C2: has an operand that is no argument");
  auto isTensor = [&](int64_t i) {
    return i >= 0 && i < int64_t(getInputs().size()) &&
           isa<TensorRefType>(getInputs()[i].getType());
  };
  if (getWrites() && !llvm::all_of(*getWrites(), isTensor)) // C3
    return emitOpError("C3: writes what is no tensor operand");
  if (getViews()) {
    if (getViews()->size() != getNumResults())
      return emitOpError("C3: has ") << getViews()->size() << " views for "
                                     << getNumResults() << " results";
    if (!llvm::all_of(*getViews(),
                      [&](int64_t i) { return i == -1 || isTensor(i); }))
      return emitOpError("C3: views what is no tensor operand");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

LogicalResult DictOp::verify() {
  if (getItems().size() % 2 != 0)
    return emitOpError("C1: has ")
           << getItems().size() << " items, keys and values in turns are "
           << "accepted";
  return success();
}

LogicalResult DequeOp::verify() {
  if (getMaxLength() && static_cast<int64_t>(*getMaxLength()) < 0)
    return emitOpError("C1: has a negative maximum length");
  return success();
}

LogicalResult FillOp::verify() {
  Operation *container = getContainer().getDefiningOp();
  if (!isa_and_present<ListOp, SetOp, DictOp, DequeOp, MakeCellOp>(container) ||
      container->getNumOperands() != 0)
    return emitOpError("C1: fills what was not made empty in the segment");
  if (isa<DictOp>(container) && getItems().size() % 2 != 0)
    return emitOpError("C2: has ") << getItems().size() << " items for a dict";
  if (isa<MakeCellOp>(container) && getItems().size() != 1)
    return emitOpError("C2: has ") << getItems().size() << " items for a cell";
  return success();
}

LogicalResult InitAttrOp::verify() {
  if (!isFresh(getObject()))
    return emitOpError("C1: the object was not made in the segment");
  return success();
}

LogicalResult InitSlotOp::verify() {
  if (!isFresh(getObject()))
    return emitOpError("C1: the object was not made in the segment");
  return success();
}
