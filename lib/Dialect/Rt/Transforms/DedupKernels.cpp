//===- DedupKernels.cpp - Keep one of equal kernels -----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model repeats its layers; a kernel is compiled once.  Two kernels are equal
// when they print alike without names and locations.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/IR/Rt.h"
#include "dynamo/Dialect/Rt/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#define DEBUG_TYPE "rt-dedup-kernels"

namespace dynamo::rt {
#define GEN_PASS_DEF_DEDUPKERNELSPASS
#include "dynamo/Dialect/Rt/Transforms/Passes.h.inc"
} // namespace dynamo::rt

using namespace mlir;
using namespace dynamo::rt;

/// The kernel's text under a fixed name.
static std::string textOf(ModuleOp kernel) {
  SmallVector<std::pair<Operation *, StringAttr>> names;
  auto rename = [&](Operation *op) {
    names.emplace_back(op, SymbolTable::getSymbolName(op));
    SymbolTable::setSymbolName(op, "k");
  };
  rename(kernel);
  for (auto func : kernel.getOps<func::FuncOp>())
    rename(func);
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->print(os, OpPrintingFlags().useLocalScope());
  for (auto [op, name] : names)
    SymbolTable::setSymbolName(op, name);
  return text;
}

namespace {
struct DedupKernels : dynamo::rt::impl::DedupKernelsPassBase<DedupKernels> {
  using DedupKernelsPassBase::DedupKernelsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<ModuleOp> first;
    llvm::DenseMap<StringAttr, SymbolRefAttr> replacement;
    for (auto kernel : llvm::make_early_inc_range(module.getOps<ModuleOp>())) {
      if (!kernel->hasAttr(kKernelAttr))
        continue;
      auto [it, isNew] = first.try_emplace(textOf(kernel), kernel);
      if (isNew)
        continue;
      StringAttr name = it->second.getSymNameAttr();
      replacement[kernel.getSymNameAttr()] =
          SymbolRefAttr::get(name, {FlatSymbolRefAttr::get(name)});
      kernel.erase();
      ++numRemoved;
    }
    for (auto func : module.getOps<func::FuncOp>())
      func.walk([&](LaunchOp launch) {
        auto it = replacement.find(launch.getKernel().getRootReference());
        if (it != replacement.end())
          launch.setKernelAttr(it->second);
      });
  }
};
} // namespace
