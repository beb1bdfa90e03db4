//===- Work.cpp - How much a kernel computes ------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/Transforms/Work.h"

#include "dynamo/Dialect/Rt/IR/Rt.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

/// Product of the static extents; unknown ones count as 1.
static int64_t product(ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    if (extent != ShapedType::kDynamic)
      result *= extent;
  return result;
}

int64_t dynamo::rt::estimateWork(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    int64_t perPoint = 0;
    // A polynomial is about ten operations, anything else one.
    for (Operation &inner : linalgOp.getBlock()->without_terminator())
      perPoint += isa<math::MathDialect>(inner.getDialect()) ? 10 : 1;
    return product(linalgOp.getStaticLoopRanges()) *
           std::max<int64_t>(perPoint, 1);
  }
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    // Two contractions, over the features of the queries and of the values.
    auto query = cast<ShapedType>(attention.getQuery().getType());
    auto out = cast<ShapedType>(attention.getOut().getType());
    auto key = cast<ShapedType>(attention.getKey().getType());
    return 2 * product({key.getDimSize(2)}) *
           (product(query.getShape()) + product(out.getShape()));
  }
  int64_t elements = 0;
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op))
    return 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      elements += product(tensor.getShape());
  return elements;
}

std::vector<dynamo::rt::WorkEntry> dynamo::rt::reportWork(ModuleOp module) {
  std::vector<WorkEntry> entries;
  llvm::StringMap<size_t> known;
  auto add = [&](StringRef name, StringRef strategy, int64_t work) {
    auto [it, isNew] = known.try_emplace(name, entries.size());
    if (isNew)
      entries.push_back({name.str(), strategy.str(), work, 0});
    ++entries[it->second].count;
  };
  auto elements = [](TypeRange types) {
    int64_t result = 0;
    for (Type type : types)
      if (auto shaped = dyn_cast<ShapedType>(type))
        result += product(shaped.getShape());
    return result;
  };
  for (auto func : module.getOps<func::FuncOp>())
    func.walk([&](Operation *op) {
      if (auto launch = dyn_cast<LaunchOp>(op)) {
        auto name = launch.getKernel().getRootReference();
        auto kernel = module.lookupSymbol<ModuleOp>(name);
        auto body = dyn_cast_or_null<func::FuncOp>(
            SymbolTable::lookupNearestSymbolFrom(module, launch.getKernel()));
        IntegerAttr work =
            body ? body->getAttrOfType<IntegerAttr>(kWorkAttr) : IntegerAttr();
        StringAttr strategy =
            kernel ? kernel->getAttrOfType<StringAttr>(kStrategyAttr)
                   : StringAttr();
        add(name, strategy ? strategy.getValue() : "",
            work ? work.getInt() : 0);
      } else if (auto call = dyn_cast<CallExternOp>(op)) {
        add(call.getName(), "extern", elements(call.getResultTypes()));
      } else if (op->getName().getStringRef() == "aten.extern") {
        auto name = op->getAttrOfType<StringAttr>("name");
        add(name ? name.getValue() : "", "extern",
            elements(op->getResultTypes()));
      }
    });
  return entries;
}
