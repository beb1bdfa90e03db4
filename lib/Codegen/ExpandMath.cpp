//===- ExpandMath.cpp - Math functions as polynomials ---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A vector function without an expansion becomes a call of libm per lane, ten
// times slower.  Upstream's polynomials flush subnormals, err on subnormal
// logarithms and are garbage for large angles, so these are our own: within 2
// ulp (tan: 4) over all floats, right for NaN, infinities, subnormals and both
// zeros.  The coefficients are minimax fits of the reduced functions.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "MathBuilder.h"
#include "dynamo/Codegen/Passes.h"
#include "dynamo/Target/MachineModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>

#define DEBUG_TYPE "codegen-expand-math"

namespace dynamo::codegen {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "dynamo/Codegen/Passes.h.inc"
} // namespace dynamo::codegen

using namespace mlir;
using namespace dynamo::codegen;

static constexpr float kInf = std::numeric_limits<float>::infinity();
static constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
static constexpr float kLog2e = 1.442695040888963f;
/// log(2) as a short float, whose products with small integers are exact, and
/// the rest.
static constexpr float kLn2Hi = 0x1.62e4p-1f, kLn2Lo = 0x1.7f7d1cp-20f;
/// Adding it leaves the nearest integer in the low bits.
static constexpr float kRound = 0x1.8p23f;

namespace {
/// x = n * log(2) + r, |r| <= log(2) / 2.
struct ExpReduction {
  Value n; ///< i32
  Value r;
};
} // namespace

static ExpReduction reduceExp(MathBuilder &m, Value x) {
  Value t = m.fma(x, m.f(kLog2e), m.f(kRound));
  Value n = m.sub(t, m.f(kRound));
  Value r = m.fma(n, m.f(-kLn2Hi), x);
  r = m.fma(n, m.f(-kLn2Lo), r);
  return {m.subi(m.toBits(t), m.i(0x4B400000)), r};
}

/// exp(r) on the reduced range.
static Value expPoly(MathBuilder &m, Value r) {
  Value q = m.poly(r, {0.5f, 0.1666666567325592f, 0.04166628047823906f,
                       0.00833350419998169f, 0.0013945752289146185f,
                       0.0001978926593437791f});
  return m.add(m.fma(q, m.mul(r, r), r), m.f(1.0f));
}

static Value expandExp(MathBuilder &m, Value x) {
  // Beyond these the result is 0 or infinity all the same.
  x = m.clampBelow(m.clampAbove(x, 89.0f), -104.0f);
  auto [n, r] = reduceExp(m, x);
  return m.scale(expPoly(m, r), n);
}

static Value expandExp2(MathBuilder &m, Value x) {
  x = m.clampBelow(m.clampAbove(x, 129.0f), -151.0f);
  Value t = m.add(x, m.f(kRound));
  Value r = m.sub(x, m.sub(t, m.f(kRound)));
  Value n = m.subi(m.toBits(t), m.i(0x4B400000));
  return m.scale(expPoly(m, m.mul(r, m.f(0.6931471805599453f))), n);
}

static Value expandExpM1(MathBuilder &m, Value x) {
  Value y = m.clampBelow(m.clampAbove(x, 88.73f), -18.0f);
  auto [n, r] = reduceExp(m, y);
  Value q = m.poly(r, {0.5f, 0.1666666567325592f, 0.04166634753346443f,
                       0.008333391509950161f, 0.0013941653305664659f,
                       0.0001984595728572458f});
  q = m.fma(q, m.mul(r, r), r);
  // 2^n (q + (1 - 2^-n)): the parenthesis is exact where it matters.
  Value inverse = m.fromBits(m.shl(m.maxi(m.subi(m.i(127), n), m.i(0)), 23));
  Value result = m.scale(m.add(q, m.sub(m.f(1.0f), inverse)), n);
  return m.select(m.eq(x, m.f(0.0f)), x, result);
}

namespace {
/// x = 2^e * (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); logOf1pF = log(1 + f)
/// without its first two terms f - f^2/2.
struct LogReduction {
  Value e; ///< f32
  Value f, rest;
};
} // namespace

static LogReduction reduceLog(MathBuilder &m, Value x) {
  Value tiny = m.lt(x, m.f(0x1p-126f));
  x = m.select(tiny, m.mul(x, m.f(0x1p23f)), x);
  Value bits = m.toBits(x);
  Value e = m.sra(m.subi(bits, m.i(0x3F3504F3)), 23);
  Value f = m.sub(m.fromBits(m.subi(bits, m.shl(e, 23))), m.f(1.0f));
  e = m.subi(e, m.select(tiny, m.i(23), m.i(0)));
  Value p = m.poly(
      f, {0.3333331346511841f, -0.25000008940696716f, 0.20002149045467377f,
          -0.16668017208576202f, 0.1421889364719391f, -0.12404683232307434f,
          0.11892501264810562f, -0.11683651059865952f, 0.06746521592140198f});
  return {m.toFloat(e), f, m.mul(m.mul(p, f), m.mul(f, f))};
}

/// The values of a logarithm where the formula has none.
static Value fixLog(MathBuilder &m, Value x, Value result) {
  result = m.select(m.gt(x, m.f(0.0f)), result,
                    m.select(m.eq(x, m.f(0.0f)), m.f(-kInf), m.f(kNaN)));
  return m.select(m.eq(x, m.f(kInf)), x, result);
}

static Value logUnchecked(MathBuilder &m, Value x) {
  auto [e, f, rest] = reduceLog(m, x);
  Value low = m.fma(e, m.f(kLn2Lo), rest);
  low = m.fma(m.mul(f, f), m.f(-0.5f), low);
  return m.fma(e, m.f(kLn2Hi), m.add(f, low));
}

static Value expandLog(MathBuilder &m, Value x) {
  return fixLog(m, x, logUnchecked(m, x));
}

static Value expandLog2(MathBuilder &m, Value x) {
  auto [e, f, rest] = reduceLog(m, x);
  // log2(e) in two parts, since its error would show next to e = 0.
  Value low = m.fma(m.mul(f, f), m.f(-0.5f), rest);
  Value sum = m.fma(low, m.f(kLog2e), m.mul(f, m.f(0x1.4ae0cp-26f)));
  sum = m.fma(f, m.f(kLog2e), sum);
  return fixLog(m, x, m.add(e, sum));
}

static Value expandLog1p(MathBuilder &m, Value x) {
  Value u = m.add(x, m.f(1.0f));
  // What the addition lost, to first order.
  Value lost = m.div(m.sub(x, m.sub(u, m.f(1.0f))), u);
  Value result = fixLog(m, u, m.add(logUnchecked(m, u), lost));
  return m.select(m.eq(x, m.f(0.0f)), x, result);
}

static Value expandTanh(MathBuilder &m, Value x) {
  Value a = m.abs(x);
  Value z = m.mul(x, x);
  Value small = m.poly(z, {-0.3333333134651184f, 0.1333319991827011f,
                           -0.05394599586725235f, 0.02169634960591793f,
                           -0.008166300132870674f, 0.0021325224079191685f});
  small = m.fma(m.mul(small, z), x, x);
  // 1 - 2 / (exp(2a) + 1).
  Value y = m.clampAbove(m.add(a, a), 20.0f);
  auto [n, r] = reduceExp(m, y);
  Value e = m.mul(expPoly(m, r), m.pow2(n));
  Value large = m.sub(m.f(1.0f), m.div(m.f(2.0f), m.add(e, m.f(1.0f))));
  return m.copysign(m.select(m.lt(a, m.f(0.625f)), small, large), x);
}

static Value expandErf(MathBuilder &m, Value x) {
  Value a = m.abs(x);
  Value z = m.mul(x, x);
  Value small = m.poly(z, {0.12837916612625122f, -0.37612631916999817f,
                           0.11283684521913528f, -0.026858804747462273f,
                           0.00519957160577178f, -0.0008126276661641896f,
                           8.301254274556413e-05f});
  small = m.fma(small, x, x);
  // 1 - exp(-(a + p(a))).
  Value t = m.clampAbove(a, 4.0f);
  Value p = m.poly(t, {-0.00017673963156994432f, 0.12952479720115662f,
                       0.6333270072937012f, 0.10830198228359222f,
                       -0.025133568793535233f, 0.004176427610218525f,
                       -0.0004355687997303903f, 2.1190657207625918e-05f});
  auto [n, r] = reduceExp(m, m.neg(m.add(p, t)));
  Value e = m.mul(expPoly(m, r), m.pow2(n));
  Value large = m.copysign(m.sub(m.f(1.0f), e), x);
  return m.select(m.lt(a, m.f(0.927734375f)), small, large);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

/// Up to here pi/2 in three parts leaves enough bits.
static constexpr float kMaxAngle = 32768.0f;

namespace {
/// Sine and cosine of the angle reduced to |r| <= pi/4, and its quadrant.
struct SinCos {
  Value sin, cos, quadrant;
};
} // namespace

static SinCos reduceAngle(MathBuilder &m, Value x) {
  Value t = m.fma(x, m.f(0.6366197723675814f), m.f(kRound));
  Value n = m.sub(t, m.f(kRound));
  // With a fused product the parts may be whole floats, else n times a part
  // must be exact.
  Value r = x;
  if (m.isFused())
    for (float part : {0x1.921fb6p0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f})
      r = m.fma(n, m.f(-part), r);
  else
    for (float part : {0x1.92p0f, 0x1.fbp-12f, 0x1.51p-22f, 0x1.0b4612p-34f})
      r = m.fma(n, m.f(-part), r);
  Value z = m.mul(r, r);
  Value s = m.poly(z, {-0.1666666716337204f, 0.008333329111337662f,
                       -0.00019839272135868669f, 2.7177450192539254e-06f});
  s = m.fma(m.mul(s, z), r, r);
  Value c = m.poly(z, {0.0416666679084301f, -0.0013888883404433727f,
                       2.4799417587928474e-05f, -2.720219924867706e-07f});
  c = m.fma(m.mul(c, z), z, m.fma(z, m.f(-0.5f), m.f(1.0f)));
  return {s, c, m.toBits(t)};
}

/// sin(r + (q + shift) pi/2).
static Value ofQuadrant(MathBuilder &m, const SinCos &sc, int shift) {
  Value q = shift ? m.addi(sc.quadrant, m.i(shift)) : sc.quadrant;
  Value odd = m.eqi(m.andi(q, m.i(1)), m.i(1));
  Value value = m.select(odd, sc.cos, sc.sin);
  Value sign = m.shl(m.andi(q, m.i(2)), 30);
  return m.fromBits(m.xori(m.toBits(value), sign));
}

static Value sinReduced(MathBuilder &m, Value x) {
  Value result = ofQuadrant(m, reduceAngle(m, x), 0);
  return m.select(m.eq(x, m.f(0.0f)), x, result);
}

static Value cosReduced(MathBuilder &m, Value x) {
  return ofQuadrant(m, reduceAngle(m, x), 1);
}

static Value tanReduced(MathBuilder &m, Value x) {
  SinCos sc = reduceAngle(m, x);
  Value odd = m.eqi(m.andi(sc.quadrant, m.i(1)), m.i(1));
  Value result = m.div(m.select(odd, m.neg(sc.cos), sc.sin),
                       m.select(odd, sc.sin, sc.cos));
  return m.select(m.eq(x, m.f(0.0f)), x, result);
}

/// `fast` where all lanes are small, else the scalar function lane by lane: an
/// angle over a few thousand turns is rare, but must not be garbage.
template <typename Op>
static Value expandAngle(MathBuilder &m, Value x,
                         Value (*fast)(MathBuilder &, Value)) {
  OpBuilder &b = m.b;
  Location loc = m.loc;
  Value a = m.abs(x);
  Value huge = m.gt(a, m.f(kMaxAngle));
  huge = arith::AndIOp::create(b, loc, huge, m.lt(a, m.f(kInf)));
  auto vectorType = dyn_cast<VectorType>(x.getType());
  Value any = huge;
  if (vectorType)
    any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, huge);
  auto ifOp = scf::IfOp::create(b, loc, TypeRange{x.getType()}, any,
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(b, loc, fast(m, x));
  b.setInsertionPointToStart(ifOp.thenBlock());
  auto slow = [&](Value scalar) -> Value {
    auto op = Op::create(b, loc, scalar);
    op->setAttr("codegen.libm", b.getUnitAttr());
    return op;
  };
  Value result;
  if (!vectorType) {
    result = slow(x);
  } else {
    auto constant = [&](int64_t v) -> Value {
      return arith::ConstantIndexOp::create(b, loc, v);
    };
    auto loop = scf::ForOp::create(b, loc, constant(0),
                                   constant(vectorType.getNumElements()),
                                   constant(1), ValueRange{x});
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(loop.getBody());
    OpFoldResult lane = loop.getInductionVar();
    Value acc = loop.getRegionIterArg(0);
    Value element = vector::ExtractOp::create(b, loc, acc, lane);
    acc = vector::InsertOp::create(b, loc, slow(element), acc, lane);
    scf::YieldOp::create(b, loc, acc);
    result = loop.getResult(0);
  }
  b.setInsertionPointToEnd(ifOp.thenBlock());
  scf::YieldOp::create(b, loc, result);
  return ifOp.getResult(0);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// The exponents that programs write; null for others.
static Value expandPow(MathBuilder &m, Value x, Value exponent) {
  DenseFPElementsAttr splat;
  FloatAttr scalar;
  APFloat value(0.0f);
  if (matchPattern(exponent, m_Constant(&splat)) && splat.isSplat())
    value = splat.getSplatValue<APFloat>();
  else if (matchPattern(exponent, m_Constant(&scalar)))
    value = scalar.getValue();
  else if (auto broadcast = exponent.getDefiningOp<vector::BroadcastOp>();
           broadcast &&
           matchPattern(broadcast.getSource(), m_Constant(&scalar)))
    value = scalar.getValue();
  else
    return nullptr;
  double e = value.convertToDouble();
  if (e == 1.0)
    return x;
  if (e == 2.0)
    return m.mul(x, x);
  if (e == 3.0)
    return m.mul(m.mul(x, x), x);
  if (e == 4.0)
    return m.mul(m.mul(x, x), m.mul(x, x));
  if (e == -1.0)
    return m.div(m.f(1.0f), x);
  if (e == -2.0)
    return m.div(m.f(1.0f), m.mul(x, x));
  if (e == 0.5 || e == -0.5) {
    // pow takes -0 for 0 and minus infinity for infinity, sqrt does not.
    Value root = m.sqrt(m.add(x, m.f(0.0f)));
    root = m.select(m.eq(x, m.f(-kInf)), m.f(kInf), root);
    return e > 0 ? root : m.div(m.f(1.0f), root);
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The expansion of `op`, or null: then it is an instruction or a call of libm.
static Value expand(MathBuilder &m, Operation *op) {
  Value x = op->getOperand(0);
  if (isa<math::ExpOp>(op))
    return expandExp(m, x);
  if (isa<math::Exp2Op>(op))
    return expandExp2(m, x);
  if (isa<math::ExpM1Op>(op))
    return expandExpM1(m, x);
  if (isa<math::LogOp>(op))
    return expandLog(m, x);
  if (isa<math::Log2Op>(op))
    return expandLog2(m, x);
  if (isa<math::Log1pOp>(op))
    return expandLog1p(m, x);
  if (isa<math::TanhOp>(op))
    return expandTanh(m, x);
  if (isa<math::ErfOp>(op))
    return expandErf(m, x);
  if (isa<math::SinOp>(op))
    return expandAngle<math::SinOp>(m, x, sinReduced);
  if (isa<math::CosOp>(op))
    return expandAngle<math::CosOp>(m, x, cosReduced);
  if (isa<math::TanOp>(op))
    return expandAngle<math::TanOp>(m, x, tanReduced);
  if (isa<math::RsqrtOp>(op))
    return m.div(m.f(1.0f), m.sqrt(x));
  if (isa<math::PowFOp>(op))
    return expandPow(m, x, op->getOperand(1));
  return nullptr;
}

namespace {
struct ExpandMath : dynamo::codegen::impl::ExpandMathPassBase<ExpandMath> {
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto machine = dynamo::target::getMachineModel(target);
    if (!machine) {
      module.emitError(dynamo::target::describeUnknownTarget(target));
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
          !op->hasAttr("codegen.libm") && op->getNumResults() == 1 &&
          getElementTypeOrSelf(op->getResult(0).getType()).isF32() &&
          getElementTypeOrSelf(op->getOperand(0).getType()).isF32())
        ops.push_back(op);
    });
    OpBuilder builder(&getContext());
    for (Operation *op : ops) {
      builder.setInsertionPoint(op);
      // Without fused instructions the fma itself would be a library call.
      MathBuilder m(builder, op->getLoc(), op->getResult(0).getType(),
                    machine->hasFMA);
      Value result = expand(m, op);
      if (!result)
        continue;
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }
};
} // namespace
