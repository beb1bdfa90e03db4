//===- ExternOp.cpp - any operator of the dispatcher ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerExternOp() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/ExternOp.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/ExternOp.cpp.inc"

LogicalResult ExternOp::verify() {
  auto [space, name] = getName().split("::");
  if (space.empty() || name.empty())
    return broken(*this, 1)
           << "'" << getName() << "' is not namespace::name.overload";

  llvm::BitVector used(getInputs().size());
  std::optional<int64_t> outside;
  AttrTypeWalker walker;
  walker.addWalk([&](OperandAttr place) {
    int64_t index = place.getIndex();
    if (index < 0 || index >= int64_t(used.size()))
      outside = index;
    else
      used.set(index);
  });
  walker.walk(getArgs());
  walker.walk(getKwargs());
  if (outside)
    return broken(*this, 2) << "#aten.operand<" << *outside
                            << "> is not one of " << used.size() << " operands";
  if (!used.all())
    return broken(*this, 3) << "operand " << used.find_first_unset()
                            << " is not in args or kwargs";
  return success();
}
