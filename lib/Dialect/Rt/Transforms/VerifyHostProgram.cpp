//===- VerifyHostProgram.cpp - Checks of the host program -----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The host's part of the contract of phase P4, for `verify-kernels`.  A mistake
// in the memory plan is a silent wrong answer at run time, so it is checked
// here in all tests.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/Transforms/Verify.h"

#include "dynamo/Dialect/Rt/IR/Rt.h"

using namespace mlir;
using namespace dynamo::rt;

namespace {
/// Bytes of an argument, an extern result or the arena.
struct Place {
  Value base; ///< null: the arena
  int64_t begin = 0, end = 0;

  bool overlaps(const Place &other) const {
    return base == other.base && begin < other.end && other.begin < end;
  }
};
} // namespace

static Place placeOf(Value value) {
  auto type = cast<MemRefType>(value.getType());
  int64_t bytes = type.getNumElements() *
                  llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  while (auto view = value.getDefiningOp<ReinterpretOp>())
    value = view.getSource();
  if (auto slot = value.getDefiningOp<SlotOp>()) {
    int64_t offset = slot.getOffset();
    return {Value(), offset, offset + bytes};
  }
  return {value, 0, bytes};
}

static LogicalResult verifyLaunch(LaunchOp launch, ModuleOp module) {
  if (launch.getNumResults() != 0)
    return launch.emitOpError("is on values, memory is accepted");
  for (auto [i, output] : llvm::enumerate(launch.getOutputs())) {
    Place place = placeOf(output);
    auto clashes = [&](Value other) { return place.overlaps(placeOf(other)); };
    if (llvm::any_of(launch.getInputs(), clashes) ||
        llvm::any_of(launch.getOutputs().drop_front(i + 1), clashes))
      return launch.emitOpError("writes output ")
             << i << " over another operand";
  }
  auto kernel = dyn_cast_or_null<func::FuncOp>(
      SymbolTable::lookupSymbolIn(module, launch.getKernel()));
  if (!kernel || kernel.getArgumentTypes().empty() ||
      !kernel.getArgumentTypes().back().isIndex())
    return success(); // not lowered yet, or lowered further
  SmallVector<Type> types(launch.getInputs().getTypes());
  llvm::append_range(types, launch.getOutputs().getTypes());
  if (ArrayRef<Type>(types) != kernel.getArgumentTypes().drop_back(2)) {
    InFlightDiagnostic error =
        launch.emitOpError("does not agree with the types of its kernel");
    error.attachNote(kernel.getLoc())
        << "the kernel has type " << kernel.getFunctionType();
    return error;
  }
  return success();
}

LogicalResult dynamo::rt::verifyHostProgram(func::FuncOp func,
                                            ModuleOp module) {
  auto arena = func->getAttrOfType<IntegerAttr>(kArenaBytesAttr);
  auto numInputs = func->getAttrOfType<IntegerAttr>(kNumInputsAttr);
  if (!arena || !numInputs || numInputs.getInt() < 0 ||
      numInputs.getInt() > func.getNumArguments() ||
      func.getNumResults() != 0 || !func.getBody().hasOneBlock())
    return func.emitError("expected a memory-planned host function: one block, "
                          "no result, rt.num_inputs and rt.arena_bytes");
  for (Operation &op : func.getBody().front()) {
    if (auto slot = dyn_cast<SlotOp>(op)) {
      if (placeOf(slot).end > arena.getInt())
        return slot.emitOpError("ends behind the arena of ")
               << arena.getInt() << " bytes";
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      if (failed(verifyLaunch(launch, module)))
        return failure();
    } else if (!isa<ReinterpretOp, CopyOp, CallExternOp, RefuseIfOp,
                    func::ReturnOp>(op)) {
      return op.emitOpError("is not an operation of the host in phase P4");
    }
  }
  return success();
}
