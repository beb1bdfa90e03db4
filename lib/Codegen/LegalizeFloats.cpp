//===- LegalizeFloats.cpp - Compute on half types in f32 ------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No CPU we target computes on bf16 or f16; LLVM would call library functions
// (__truncsfbf2 ...) that a JIT process need not have.  Conversions between f64
// and half types go through f32, as in PyTorch.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "dynamo/Codegen/Passes.h"
#include "dynamo/Target/MachineModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "codegen-legalize-floats"

namespace dynamo::codegen {
#define GEN_PASS_DEF_LEGALIZEFLOATSPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;

static bool isHalf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isBF16() || element.isF16();
}

/// `type` with its element type replaced.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

namespace {
/// Arithmetic with a half operand or result is done in f32.
struct ComputeInF32 : RewritePattern {
  explicit ComputeInF32(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    // These move bits, or are what the others are made of.
    if (isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op))
      return failure();
    bool computes =
        isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
            op->getDialect()) ||
        isa<vector::ReductionOp, vector::MultiDimReductionOp,
            vector::ContractionOp, vector::FMAOp, vector::OuterProductOp>(op);
    if (!computes)
      return failure();
    Type f32 = rewriter.getF32Type();
    if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
      // Half to or from f64, and between the half types: through f32.
      Type from = getElementTypeOrSelf(op->getOperand(0).getType()),
           to = getElementTypeOrSelf(op->getResult(0).getType());
      if (from.isF32() || to.isF32() || (!isHalf(from) && !isHalf(to)))
        return failure();
      Value value = op->getOperand(0);
      value = convert(rewriter, op->getLoc(), value, f32);
      rewriter.replaceOp(op, convert(rewriter, op->getLoc(), value, to));
      return success();
    }
    if (llvm::none_of(op->getOperandTypes(), isHalf) &&
        llvm::none_of(op->getResultTypes(), isHalf))
      return failure();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isHalf(operand.getType())
                             ? convert(rewriter, op->getLoc(), operand, f32)
                             : operand);
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(isHalf(type) ? withElement(type, f32) : type);
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getAttrs());
    Operation *wide = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [old, result] :
         llvm::zip_equal(op->getResults(), wide->getResults())) {
      Value value = result;
      if (isHalf(old.getType()))
        value = convert(rewriter, op->getLoc(), value,
                        getElementTypeOrSelf(old.getType()));
      results.push_back(value);
    }
    rewriter.replaceOp(op, results);
    return success();
  }

  static Value convert(PatternRewriter &rewriter, Location loc, Value value,
                       Type element) {
    Type type = withElement(value.getType(), element);
    unsigned from =
                 getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(),
             to = element.getIntOrFloatBitWidth();
    if (from < to)
      return arith::ExtFOp::create(rewriter, loc, type, value);
    return arith::TruncFOp::create(rewriter, loc, type, value);
  }
};

/// Integer arithmetic on the bits of floats.
struct Bits {
  PatternRewriter &rewriter;
  Location loc;
  Type like; ///< scalar or vector whose shape all values have

  Type type(Type element) const { return withElement(like, element); }
  Value constant(unsigned width, int64_t value) const {
    Type t = type(rewriter.getIntegerType(width));
    TypedAttr attr = rewriter.getIntegerAttr(getElementTypeOrSelf(t), value);
    if (auto shaped = dyn_cast<ShapedType>(t))
      attr = DenseElementsAttr::get(shaped, attr);
    return arith::ConstantOp::create(rewriter, loc, attr);
  }
  Value i32(int64_t value) const { return constant(32, value); }
  template <typename Op> Value op(Value a, Value b) const {
    return Op::create(rewriter, loc, a, b);
  }
  Value cmp(arith::CmpIPredicate predicate, Value a, Value b) const {
    return arith::CmpIOp::create(rewriter, loc, predicate, a, b);
  }
  Value select(Value c, Value a, Value b) const {
    return arith::SelectOp::create(rewriter, loc, c, a, b);
  }
  Value bitcast(Value v, Type element) const {
    return arith::BitcastOp::create(rewriter, loc, type(element), v);
  }
  Value truncate(Value v, unsigned width) const {
    return arith::TruncIOp::create(rewriter, loc,
                                   type(rewriter.getIntegerType(width)), v);
  }
  Value extend(Value v, unsigned width) const {
    return arith::ExtUIOp::create(rewriter, loc,
                                  type(rewriter.getIntegerType(width)), v);
  }
};

/// f32 to bf16: round to nearest even; NaN stays one.
struct TruncateToBF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16() ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return failure();
    Bits b{rewriter, op.getLoc(), op.getType()};
    Value x = b.bitcast(op.getIn(), rewriter.getI32Type());
    Value lsb =
        b.op<arith::AndIOp>(b.op<arith::ShRUIOp>(x, b.i32(16)), b.i32(1));
    Value rounded =
        b.op<arith::AddIOp>(x, b.op<arith::AddIOp>(lsb, b.i32(0x7FFF)));
    Value isNaN =
        b.cmp(arith::CmpIPredicate::ugt,
              b.op<arith::AndIOp>(x, b.i32(0x7FFFFFFF)), b.i32(0x7F800000));
    Value quiet = b.op<arith::OrIOp>(x, b.i32(0x00400000));
    Value bits =
        b.op<arith::ShRUIOp>(b.select(isNaN, quiet, rounded), b.i32(16));
    rewriter.replaceOp(op,
                       b.bitcast(b.truncate(bits, 16), rewriter.getBF16Type()));
    return success();
  }
};

struct ExtendBF16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isBF16() ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Bits b{rewriter, op.getLoc(), op.getType()};
    Value x = b.extend(b.bitcast(op.getIn(), rewriter.getIntegerType(16)), 32);
    rewriter.replaceOp(op, b.bitcast(b.op<arith::ShLIOp>(x, b.i32(16)),
                                     rewriter.getF32Type()));
    return success();
  }
};

/// f32 to f16 without an instruction for it. Normal results are rounded as
/// integers; subnormal ones by a float addition that aligns them.
struct TruncateToF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF16() ||
        !getElementTypeOrSelf(op.getIn().getType()).isF32())
      return failure();
    Bits b{rewriter, op.getLoc(), op.getType()};
    Type i32 = rewriter.getI32Type(), f32 = rewriter.getF32Type();
    Value x = b.bitcast(op.getIn(), i32);
    Value sign =
        b.op<arith::AndIOp>(b.op<arith::ShRUIOp>(x, b.i32(16)), b.i32(0x8000));
    Value mag = b.op<arith::AndIOp>(x, b.i32(0x7FFFFFFF));
    // Normal: re-bias the exponent, add half a unit (less one if even).
    Value lsb =
        b.op<arith::AndIOp>(b.op<arith::ShRUIOp>(mag, b.i32(13)), b.i32(1));
    Value normal = b.op<arith::AddIOp>(mag, b.i32(-(112 << 23) + 0xFFF));
    normal = b.op<arith::ShRUIOp>(b.op<arith::AddIOp>(normal, lsb), b.i32(13));
    // Subnormal: 0.5 has its last bit at 2^-24, the unit of such results.
    int64_t magic = 0x3F000000;
    Value sum =
        b.op<arith::AddFOp>(b.bitcast(mag, f32), b.bitcast(b.i32(magic), f32));
    Value subnormal = b.op<arith::SubIOp>(b.bitcast(sum, i32), b.i32(magic));
    Value special =
        b.select(b.cmp(arith::CmpIPredicate::ugt, mag, b.i32(0x7F800000)),
                 b.op<arith::OrIOp>(
                     b.op<arith::AndIOp>(b.op<arith::ShRUIOp>(mag, b.i32(13)),
                                         b.i32(0x3FF)),
                     b.i32(0x7E00)),
                 b.i32(0x7C00));
    Value bits =
        b.select(b.cmp(arith::CmpIPredicate::ult, mag, b.i32(113 << 23)),
                 subnormal, normal);
    // 65520 and above round to infinity.
    bits = b.select(b.cmp(arith::CmpIPredicate::uge, mag, b.i32(0x477FF000)),
                    special, bits);
    bits = b.op<arith::OrIOp>(bits, sign);
    rewriter.replaceOp(op,
                       b.bitcast(b.truncate(bits, 16), rewriter.getF16Type()));
    return success();
  }
};

struct ExtendF16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isF16() ||
        !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    Bits b{rewriter, op.getLoc(), op.getType()};
    Type i32 = rewriter.getI32Type(), f32 = rewriter.getF32Type();
    Value x = b.extend(b.bitcast(op.getIn(), rewriter.getIntegerType(16)), 32);
    Value sign =
        b.op<arith::ShLIOp>(b.op<arith::AndIOp>(x, b.i32(0x8000)), b.i32(16));
    Value shifted =
        b.op<arith::ShLIOp>(b.op<arith::AndIOp>(x, b.i32(0x7FFF)), b.i32(13));
    Value exponent = b.op<arith::AndIOp>(shifted, b.i32(0x7C00 << 13));
    Value normal = b.op<arith::AddIOp>(shifted, b.i32(112 << 23));
    Value special = b.op<arith::AddIOp>(shifted, b.i32(224 << 23));
    // Subnormal: as a normal one of exponent 1, less that number.
    Value aligned =
        b.bitcast(b.op<arith::AddIOp>(shifted, b.i32(113 << 23)), f32);
    Value subnormal = b.bitcast(
        b.op<arith::SubFOp>(aligned, b.bitcast(b.i32(113 << 23), f32)), i32);
    Value bits = b.select(b.cmp(arith::CmpIPredicate::eq, exponent, b.i32(0)),
                          subnormal, normal);
    bits =
        b.select(b.cmp(arith::CmpIPredicate::eq, exponent, b.i32(0x7C00 << 13)),
                 special, bits);
    rewriter.replaceOp(op, b.bitcast(b.op<arith::OrIOp>(bits, sign), f32));
    return success();
  }
};

struct LegalizeFloats
    : dynamo::codegen::impl::LegalizeFloatsPassBase<LegalizeFloats> {
  using LegalizeFloatsPassBase::LegalizeFloatsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto machine = dynamo::target::getMachineModel(target);
    if (!machine) {
      module.emitError(dynamo::target::describeUnknownTarget(target));
      return signalPassFailure();
    }
    bool needed = false;
    module.walk([&](Operation *op) {
      needed |= llvm::any_of(op->getResultTypes(), isHalf) ||
                llvm::any_of(op->getOperandTypes(), isHalf);
    });
    if (!needed)
      return;
    RewritePatternSet set(&getContext());
    set.add<ComputeInF32, TruncateToBF16, ExtendBF16>(&getContext());
    if (!machine->hasF16C)
      set.add<TruncateToF16, ExtendF16>(&getContext());
    if (failed(applyPatternsGreedily(module, std::move(set))))
      signalPassFailure();
  }
};
} // namespace
