//===- LowerToLLVM.cpp - Lower a kernel to the LLVM dialect ---------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Last pass of the kernel pipeline: all dialects to LLVM in one conversion,
// then the entry of the kernel ABI.  The code itself is in a private function
// whose pointer arguments are `noalias`, which pointers loaded from an array
// cannot be.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "dynamo/Codegen/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "codegen-lower-to-llvm"

namespace dynamo::codegen {
#define GEN_PASS_DEF_LOWERTOLLVMPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

/// Functions that LLVM turns into instructions; all others go to libm.
static bool isInstruction(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp,
             math::TruncOp, math::RoundEvenOp, math::CopySignOp, math::SqrtOp,
             math::RsqrtOp, math::FmaOp, math::CtPopOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::IsNaNOp, math::IsInfOp, math::IsFiniteOp, math::IsNormalOp>(
      op);
}

/// Whether `func` takes buffers and its range, as the entry passes them.
static bool hasKernelSignature(func::FuncOp func) {
  ArrayRef<Type> types = func.getArgumentTypes();
  return func.getNumResults() == 0 && types.size() >= 2 &&
         llvm::all_of(types.drop_back(2), llvm::IsaPred<MemRefType>) &&
         llvm::all_of(types.take_back(2), llvm::IsaPred<IndexType>);
}

/// `llvm.func @k(%args: !llvm.ptr, %begin: i64, %end: i64)` around `code`.
static void addEntry(LLVM::LLVMFuncOp code) {
  MLIRContext *context = code.getContext();
  Location loc = code.getLoc();
  OpBuilder builder(code);
  std::string name = code.getName().str();
  code.setName(name + "_code");
  code.setLinkage(LLVM::Linkage::Internal);
  auto pointer = LLVM::LLVMPointerType::get(context);
  for (auto [i, type] : llvm::enumerate(code.getArgumentTypes()))
    if (isa<LLVM::LLVMPointerType>(type))
      code.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                      builder.getUnitAttr());

  Type i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          {pointer, i64, i64});
  auto entry = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  for (StringRef attr : {kRangeAttr, kWorkAttr})
    if (Attribute value = code->removeAttr(attr))
      entry->setAttr(attr, value);
  builder.setInsertionPointToStart(entry.addEntryBlock(builder));
  SmallVector<Value> operands;
  for (unsigned i = 0, e = code.getNumArguments() - 2; i < e; ++i) {
    Value place =
        LLVM::GEPOp::create(builder, loc, pointer, pointer,
                            entry.getArgument(0), ArrayRef<LLVM::GEPArg>{i});
    operands.push_back(LLVM::LoadOp::create(builder, loc, pointer, place));
  }
  operands.push_back(entry.getArgument(1));
  operands.push_back(entry.getArgument(2));
  LLVM::CallOp::create(builder, loc, code, operands);
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
}

namespace {
struct LowerToLLVM : dynamo::codegen::impl::LowerToLLVMPassBase<LowerToLLVM> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    func::FuncOp func = requireKernelFunction(module);
    if (!func)
      return signalPassFailure();
    if (!hasKernelSignature(func)) {
      func.emitError("expected memrefs, then the range as two index arguments, "
                     "and no result, found ")
          << func.getFunctionType();
      return signalPassFailure();
    }
    std::string name = func.getName().str();
    dropEmptyShapes(func);
    if (failed(lowerToLoopsAndCalls(module)) || failed(lowerToLLVM(module)))
      return signalPassFailure();
    auto code = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!code) {
      module.emitError("the kernel function was not converted");
      return signalPassFailure();
    }
    addEntry(code);
  }

  /// A shape of no elements may have strides of 0, which have no type in the
  /// bare pointer convention. Such arguments are not accessed.
  void dropEmptyShapes(func::FuncOp func) {
    for (BlockArgument arg : func.getArguments()) {
      auto type = dyn_cast<MemRefType>(arg.getType());
      if (type && arg.use_empty() && type.getNumElements() == 0)
        arg.setType(MemRefType::get({0}, type.getElementType()));
    }
    func.setFunctionType(FunctionType::get(
        &getContext(), func.getBody().getArgumentTypes(), {}));
  }

  /// What must be gone before types are converted: strided views, affine
  /// arithmetic, structured control flow and functions of libm.
  LogicalResult lowerToLoopsAndCalls(ModuleOp module) {
    MLIRContext *context = &getContext();
    {
      RewritePatternSet set(context);
      memref::populateExpandStridedMetadataPatterns(set);
      memref::populateExpandOpsPatterns(set);
      arith::populateCeilFloorDivExpandOpsPatterns(set);
      affine::populateAffineExpandIndexOpsPatterns(set);
      vector::populateVectorStepLoweringPatterns(set);
      vector::populateVectorInsertExtractStridedSliceTransforms(set);
      math::populateExpansionPatterns(set, {"fpowi", "round", "clampf"});
      if (failed(applyPatternsGreedily(module, std::move(set))))
        return failure();
    }
    RewritePatternSet set(context);
    populateAffineToStdConversionPatterns(set);
    populateSCFToControlFlowConversionPatterns(set);
    populateMathToLibmConversionPatterns(set);
    ConversionTarget target(*context);
    target.addLegalDialect<arith::ArithDialect, cf::ControlFlowDialect,
                           func::FuncDialect, memref::MemRefDialect,
                           vector::VectorDialect>();
    target.addIllegalDialect<affine::AffineDialect>();
    target.addIllegalOp<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ParallelOp,
                        scf::ForallOp, scf::IndexSwitchOp,
                        scf::ExecuteRegionOp>();
    target.addDynamicallyLegalDialect<math::MathDialect>(isInstruction);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    return applyPartialConversion(module, target, std::move(set));
  }

  LogicalResult lowerToLLVM(ModuleOp module) {
    MLIRContext *context = &getContext();
    LowerToLLVMOptions options(context);
    options.useBarePtrCallConv = true;
    options.allocLowering = LowerToLLVMOptions::AllocLowering::None;
    LLVMTypeConverter converter(context, options);
    RewritePatternSet set(context);
    arith::populateArithExpandOpsPatterns(set);
    arith::populateArithToLLVMConversionPatterns(converter, set);
    cf::populateControlFlowToLLVMConversionPatterns(converter, set);
    index::populateIndexToLLVMConversionPatterns(converter, set);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, set);
    populateFuncToLLVMConversionPatterns(converter, set);
    populateMathToLLVMConversionPatterns(converter, set);
    populateVectorToLLVMConversionPatterns(converter, set);
    ub::populateUBToLLVMConversionPatterns(converter, set);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    return applyFullConversion(module, target, std::move(set));
  }
};
} // namespace
