//===- TileRows.cpp - Row kernels as vector code on memory ----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The strategy of elementwise operations and reductions.  It goes from linalg
// on tensors to vector code on memory in one step: fusion, the vector dim and
// what lives in registers are one decision, made in RowsSchedule on an
// abstract view of the kernel (RowsGraph).  Upstream's tile-and-fuse on tensors
// does part of this, slower, and stops at permuted or mixed accesses.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "RowsEmitter.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#define DEBUG_TYPE "codegen-tile-rows"

namespace dynamo::codegen {
#define GEN_PASS_DEF_TILEROWSPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

/// Arguments become memrefs, results trailing ones. The old arguments stay,
/// for the operations that are about to go.
static SmallVector<Value> addBuffers(OpBuilder &builder, func::FuncOp func) {
  Block &entry = func.getBody().front();
  SmallVector<Value> flat;
  SmallVector<Type> types;
  for (Type type : llvm::concat<const Type>(func.getArgumentTypes(),
                                            func.getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    auto memref = MemRefType::get(tensor.getShape(), tensor.getElementType());
    types.push_back(memref);
    Value buffer = entry.addArgument(memref, func.getLoc());
    if (tensor.getRank() == 0) {
      buffer = memref::ExpandShapeOp::create(builder, func.getLoc(),
                                             ArrayRef<int64_t>{1}, buffer,
                                             ArrayRef<ReassociationIndices>{});
    } else if (tensor.getRank() > 1) {
      ReassociationIndices all =
          llvm::to_vector(llvm::seq<int64_t>(0, tensor.getRank()));
      buffer = memref::CollapseShapeOp::create(
          builder, func.getLoc(), buffer, ArrayRef<ReassociationIndices>{all});
    }
    flat.push_back(buffer);
  }
  func.setArgAttrsAttr(nullptr);
  func.setResAttrsAttr(nullptr);
  func.setFunctionType(FunctionType::get(func.getContext(), types, {}));
  return flat;
}

/// Drops the operations on tensors and the arguments they used.
static void eraseTensors(func::FuncOp func, unsigned numTensors) {
  Block &entry = func.getBody().front();
  entry.getTerminator()->setOperands({});
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry))) {
    auto isTensor = llvm::IsaPred<TensorType>;
    if (llvm::any_of(op.getOperandTypes(), isTensor) ||
        llvm::any_of(op.getResultTypes(), isTensor))
      op.erase();
  }
  entry.eraseArguments(0, numTensors);
}

namespace {
struct TileRows : dynamo::codegen::impl::TileRowsPassBase<TileRows> {
  using TileRowsPassBase::TileRowsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp func = getKernelFunction(module);
    StringRef strategy = getStrategy(module);
    if (!func || (strategy != "rows" && strategy != "loops") ||
        func.getNumResults() == 0)
      return;
    // Nothing to tile; the loops of an empty kernel fold away.
    for (Type type : llvm::concat<const Type>(func.getArgumentTypes(),
                                              func.getResultTypes()))
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        if (tensor.hasStaticShape() && tensor.getNumElements() == 0)
          return;
    auto machine = dynamo::target::getMachineModel(target);
    if (!machine) {
      module.emitError(dynamo::target::describeUnknownTarget(target));
      return signalPassFailure();
    }
    std::string reason;
    if (failed(tile(func, *machine, reason)) && strategy == "rows") {
      func.emitError("not a rows kernel: ") << reason;
      signalPassFailure();
    }
  }

  LogicalResult tile(func::FuncOp func,
                     const dynamo::target::MachineModel &machine,
                     std::string &reason) {
    FailureOr<rows::Graph> graph = rows::buildGraph(func, reason);
    if (failed(graph))
      return failure();
    SmallVector<rows::Schedule, 0> schedules;
    int64_t scratchBytes = 0;
    for (unsigned c = 0; c < graph->numComponents; ++c) {
      // A component may have lost all its nodes: nobody used them.
      if (llvm::none_of(graph->nodes, [&](const rows::Node &node) {
            return node.component == c;
          }))
        continue;
      FailureOr<rows::Schedule> schedule =
          rows::makeSchedule(*graph, c, machine, scratchBytes, reason);
      if (failed(schedule))
        return failure();
      schedules.push_back(std::move(*schedule));
    }
    Block &entry = func.getBody().front();
    unsigned numTensors = entry.getNumArguments();
    OpBuilder builder(entry.getTerminator());
    SmallVector<Value> memories = addBuffers(builder, func);
    for (const rows::Schedule &schedule : schedules)
      rows::emitComponent(builder, func.getLoc(), *graph, schedule, memories,
                          numTensors);
    eraseTensors(func, numTensors);
    // Components share no value, and each place of an output is written once.
    func->setAttr(kIndependentAttr, builder.getUnitAttr());
    return success();
  }
};
} // namespace
