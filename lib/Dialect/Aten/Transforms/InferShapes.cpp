//===- InferShapes.cpp - Refine unknown sizes of aten results
//-----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One walk in program order: operands come before their users, so that what is
// learned about one result is there when its readers are looked at.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Aten/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#define DEBUG_TYPE "aten-infer-shapes"

namespace dynamo::aten {
#define GEN_PASS_DEF_ATENINFERSHAPESPASS
#include "dynamo/Dialect/Aten/Transforms/Passes.h.inc"
} // namespace dynamo::aten

using namespace mlir;
using namespace dynamo;

/// `type` with the sizes that only `shape` knows.
static RankedTensorType refine(RankedTensorType type, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes(type.getShape());
  for (auto [size, known] : llvm::zip_equal(sizes, shape))
    if (ShapedType::isDynamic(size))
      size = known;
  return type.clone(sizes);
}

namespace {
struct AtenInferShapes : aten::impl::AtenInferShapesPassBase<AtenInferShapes> {
  void runOnOperation() override {
    WalkResult walked = getOperation().walk([&](aten::ShapeInference op) {
      SmallVector<aten::Shape> shapes;
      if (failed(op.inferShapes(shapes)))
        return WalkResult::interrupt();
      for (auto [result, shape] : llvm::zip_equal(op->getResults(), shapes))
        setType(result,
                refine(cast<RankedTensorType>(result.getType()), shape));
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    updateSignature();
  }

private:
  /// Gives a result its refined type; a foreign user keeps the old one.
  void setType(OpResult result, RankedTensorType type) {
    auto old = cast<RankedTensorType>(result.getType());
    if (old == type)
      return;
    result.setType(type);
    Value cast;
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      if (isa<func::ReturnOp>(use.getOwner()) ||
          isa<aten::AtenDialect>(use.getOwner()->getDialect()))
        continue;
      if (!cast) {
        OpBuilder builder(result.getContext());
        builder.setInsertionPointAfterValue(result);
        cast = tensor::CastOp::create(builder, result.getLoc(), old, result);
      }
      if (use.getOwner() != cast.getDefiningOp())
        use.set(cast);
    }
  }

  void updateSignature() {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    // Several returns agree only in what all of them know: leave such a
    // function's type alone.
    auto returns = llvm::to_vector(function.getOps<func::ReturnOp>());
    if (returns.size() != 1 || !function.getBody().hasOneBlock())
      return castReturns();
    function.setType(FunctionType::get(&getContext(),
                                       function.getArgumentTypes(),
                                       returns.front().getOperandTypes()));
  }

  void castReturns() {
    func::FuncOp function = getOperation();
    function.walk([&](func::ReturnOp op) {
      OpBuilder builder(op);
      for (auto [operand, type] :
           llvm::zip(op->getOpOperands(), function.getResultTypes()))
        if (operand.get().getType() != type)
          operand.set(tensor::CastOp::create(builder, op.getLoc(), type,
                                             operand.get()));
    });
  }
};
} // namespace
