//===- Checks.cpp - what data must hold for a program to be right ---------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check is a reduction of its own to one byte. It reads the tensor from
// before views and broadcasts, so that one check serves every use of an index
// tensor. Putting the flag into the kernel of the access instead would save one
// pass over the indices, but tie the result of every gather to a second one,
// and the same indices would be checked at each use.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Checks.h"
#include "dynamo/Conversion/AtenToLinalg/Expr.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Rt/IR/Rt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

namespace {
using Maybe = std::optional<IntRange>;
/// How far back a range is followed.
constexpr int kMaxDepth = 12;
/// Constants of more elements are not looked through.
constexpr int64_t kMaxConstant = 1 << 16;
} // namespace

static Maybe rangeAt(Value value, int depth);

static IntRange rangeOfType(Type dtype) {
  if (isBool(dtype))
    return {0, 1};
  unsigned width = std::min(dtype.getIntOrFloatBitWidth(), 64u);
  if (isUnsigned(dtype))
    return {0, width >= 63 ? INT64_MAX : (int64_t(1) << width) - 1};
  return {llvm::minIntN(width), llvm::maxIntN(width)};
}

static Maybe join(Maybe x, Maybe y) {
  if (!x || !y)
    return std::nullopt;
  return IntRange{std::min(x->low, y->low), std::max(x->high, y->high)};
}

static Maybe sum(Maybe x, Maybe y) {
  IntRange r;
  if (!x || !y || llvm::AddOverflow(x->low, y->low, r.low) ||
      llvm::AddOverflow(x->high, y->high, r.high))
    return std::nullopt;
  return r;
}

static Maybe product(Maybe x, Maybe y) {
  if (!x || !y)
    return std::nullopt;
  IntRange r{INT64_MAX, INT64_MIN};
  for (int64_t a : {x->low, x->high})
    for (int64_t b : {y->low, y->high}) {
      int64_t p;
      if (llvm::MulOverflow(a, b, p))
        return std::nullopt;
      r = {std::min(r.low, p), std::max(r.high, p)};
    }
  return r;
}

static Maybe negated(Maybe x) { return product(x, IntRange{-1, -1}); }

static Maybe rangeOfConstant(Attribute attr) {
  if (auto integer = dyn_cast<IntegerAttr>(attr)) {
    APInt value = integer.getValue();
    int64_t number = integer.getType().isInteger(1) ? value.getZExtValue()
                                                    : value.getSExtValue();
    return IntRange{number, number};
  }
  auto dense = dyn_cast<DenseIntElementsAttr>(attr);
  if (!dense || dense.getNumElements() == 0 ||
      (!dense.isSplat() && dense.getNumElements() > kMaxConstant))
    return std::nullopt;
  Type dtype = dense.getElementType();
  bool zeroExtends = isBool(dtype) || isUnsigned(dtype);
  IntRange r{INT64_MAX, INT64_MIN};
  for (APInt value : dense.getValues<APInt>()) {
    int64_t number = zeroExtends ? value.getZExtValue() : value.getSExtValue();
    r = {std::min(r.low, number), std::max(r.high, number)};
    if (dense.isSplat())
      break;
  }
  return r;
}

static Maybe rangeOfArange(aten::ArangeOp op, int depth) {
  Maybe start = op.getStart() ? rangeAt(op.getStart(), depth) : IntRange{0, 0};
  Maybe step = op.getStep() ? rangeAt(op.getStep(), depth) : IntRange{1, 1};
  int64_t count = cast<RankedTensorType>(op.getType()).getDimSize(0);
  if (ShapedType::isDynamic(count) || count == 0)
    return std::nullopt;
  return join(start, sum(start, product(step, IntRange{count - 1, count - 1})));
}

static Maybe quotient(Maybe x, Maybe divisor) {
  if (!x || !divisor || divisor->low <= 0)
    return std::nullopt;
  // Growing in x; the divisor nearest to 0 takes it farthest from 0. Rounding
  // down keeps -1 from below 0.
  auto bound = [&](int64_t value) {
    int64_t by = divisor->low;
    return value < 0 ? -((-(value + 1)) / by) - 1 : value / by;
  };
  return IntRange{std::min(bound(x->low), int64_t(0)),
                  std::max(bound(x->high), int64_t(0))};
}

/// Indices into `dim` of `operand`, all dims if there is none.
static Maybe rangeOfPositions(Value operand, std::optional<int64_t> dim) {
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  int64_t size = type.getNumElements();
  if (dim && type.getRank() > 0)
    size = type.getDimSize(normalizeDim(*dim, type.getRank()));
  if (size == 0)
    return std::nullopt;
  return IntRange{0, size - 1};
}

/// The value whose elements are those of `value` in another order or more
/// often; `value` itself if there is none.
static Value withoutRearrangement(Value value) {
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (!op ||
        !isa<aten::AliasOp, aten::ViewOp, aten::ExpandOp, aten::PermuteOp,
             aten::TransposeOp, aten::TOp, aten::UnsqueezeOp, aten::SqueezeOp,
             aten::FlipOp, aten::RollOp>(op))
      return value;
    auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
    auto result = dyn_cast<RankedTensorType>(value.getType());
    // A broadcast to nothing shows no element.
    if (!type || !result || !result.hasStaticShape() ||
        result.getNumElements() == 0)
      return value;
    value = op->getOperand(0);
  }
}

/// Bounds before they are wrapped into the type of the result.
static Maybe computedRange(OpResult value, int depth) {
  auto at = [&](Value operand) { return rangeAt(operand, depth); };
  return llvm::TypeSwitch<Operation *, Maybe>(value.getOwner())
      .Case<aten::ArangeOp>([&](auto op) { return rangeOfArange(op, depth); })
      .Case<aten::FullOp>([&](auto op) { return at(op.getFillValue()); })
      .Case<aten::FullLikeOp>([&](auto op) { return at(op.getFillValue()); })
      .Case<aten::ScalarTensorOp>([&](auto op) { return at(op.getS()); })
      .Case<aten::ZerosOp, aten::ZerosLikeOp>(
          [](auto) { return IntRange{0, 0}; })
      .Case<aten::OnesOp, aten::OnesLikeOp>([](auto) { return IntRange{1, 1}; })
      // Some of the elements of the operand.
      .Case<aten::SliceOp, aten::SelectOp, aten::SplitOp,
            aten::SplitWithSizesOp, aten::UnbindOp, aten::RepeatOp,
            aten::IndexOp, aten::IndexSelectOp, aten::GatherOp, aten::UnfoldOp,
            aten::DiagonalOp, aten::ToCopyOp, aten::AmaxOp, aten::AminOp,
            aten::MaxOp, aten::MinOp>(
          [&](auto op) { return at(op->getOperand(0)); })
      .Case<aten::MaxDimOp>([&](auto op) {
        return value.getResultNumber() == 0
                   ? at(op.getSelf())
                   : rangeOfPositions(op.getSelf(), op.getDim());
      })
      .Case<aten::MinDimOp>([&](auto op) {
        return value.getResultNumber() == 0
                   ? at(op.getSelf())
                   : rangeOfPositions(op.getSelf(), op.getDim());
      })
      .Case<aten::ArgmaxOp, aten::ArgminOp>(
          [&](auto op) { return rangeOfPositions(op.getSelf(), op.getDim()); })
      .Case<aten::SortOp, aten::TopkOp>([&](auto op) {
        return value.getResultNumber() == 0
                   ? at(op.getSelf())
                   : rangeOfPositions(op.getSelf(), op.getDim());
      })
      .Case<aten::CatOp, aten::StackOp>([&](Operation *op) {
        Maybe all;
        for (auto [i, operand] : llvm::enumerate(op->getOperands()))
          all = i == 0 ? at(operand) : join(all, at(operand));
        return all;
      })
      .Case<aten::WhereOp>(
          [&](auto op) { return join(at(op.getSelf()), at(op.getOther())); })
      .Case<aten::AddOp>([&](auto op) {
        return sum(at(op.getSelf()),
                   product(at(op.getOther()), at(op.getAlpha())));
      })
      .Case<aten::SubOp>([&](auto op) {
        return sum(at(op.getSelf()),
                   negated(product(at(op.getOther()), at(op.getAlpha()))));
      })
      .Case<aten::MulOp>(
          [&](auto op) { return product(at(op.getSelf()), at(op.getOther())); })
      .Case<aten::NegOp>([&](auto op) { return negated(at(op.getSelf())); })
      .Case<aten::MaximumOp>([&](auto op) -> Maybe {
        Maybe x = at(op.getSelf()), y = at(op.getOther());
        if (!x || !y)
          return std::nullopt;
        return IntRange{std::max(x->low, y->low), std::max(x->high, y->high)};
      })
      .Case<aten::MinimumOp>([&](auto op) -> Maybe {
        Maybe x = at(op.getSelf()), y = at(op.getOther());
        if (!x || !y)
          return std::nullopt;
        return IntRange{std::min(x->low, y->low), std::min(x->high, y->high)};
      })
      .Case<aten::ClampOp, aten::ClampMinOp, aten::ClampMaxOp>(
          [&](Operation *op) -> Maybe {
            Maybe x = at(op->getOperand(0)), low, high;
            if (auto clamp = dyn_cast<aten::ClampOp>(op)) {
              low = clamp.getMin() ? at(clamp.getMin()) : Maybe();
              high = clamp.getMax() ? at(clamp.getMax()) : Maybe();
              if ((clamp.getMin() && !low) || (clamp.getMax() && !high))
                return std::nullopt;
            } else {
              (isa<aten::ClampMinOp>(op) ? low : high) = at(op->getOperand(1));
              if (!low && !high)
                return std::nullopt;
            }
            if (!x)
              return std::nullopt;
            // First up to the minimum, then down to the maximum.
            if (low)
              x = {std::max(x->low, low->low), std::max(x->high, low->high)};
            if (high)
              x = {std::min(x->low, high->low), std::min(x->high, high->high)};
            return x;
          })
      .Case<aten::FloorDivideOp, aten::DivOp>([&](auto op) {
        return quotient(at(op.getSelf()), at(op.getOther()));
      })
      .Case<aten::RemainderOp>([&](auto op) -> Maybe {
        Maybe divisor = at(op.getOther());
        if (!divisor || divisor->low <= 0)
          return std::nullopt;
        return IntRange{0, divisor->high - 1};
      })
      .Default([](Operation *) { return Maybe(); });
}

/// Bounds of integers and bools; none of floats.
static Maybe rangeAt(Value value, int depth) {
  Type dtype = value ? dtypeOf(value) : Type();
  if (!dtype || !isa<IntegerType>(dtype))
    return std::nullopt;
  IntRange whole = rangeOfType(dtype);
  if (depth == 0)
    return whole;
  value = withoutRearrangement(value);
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return whole;
  Attribute constant;
  Maybe computed = matchPattern(value, m_Constant(&constant))
                       ? rangeOfConstant(constant)
                       : computedRange(result, depth - 1);
  return computed && computed->within(whole) ? *computed : whole;
}

IntRange lowering::rangeOf(Value original) {
  return rangeAt(original, kMaxDepth).value_or(IntRange{INT64_MIN, INT64_MAX});
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// A byte that is 1 if `isBad` is true of some element of `x`.
static Value anyOf(Lowering &b, Operand x, function_ref<Expr(Expr)> isBad) {
  Type i8 = b.getI8Type();
  auto flag = [&](Value scalar) {
    return isBad(Expr(b, x.dtype, scalar)).to(i8);
  };
  if (x.rank() == 0)
    return elementwise(
        b, x, RankedTensorType::get({}, i8), {},
        [&](ArrayRef<Value> in) -> Value { return flag(in[0]); }, i8);
  SmallVector<int64_t> all = normalizeDims({}, x.rank());
  SmallVector<int64_t> first = firstStepOf(b, x, all);
  auto reduceOr = [&](Operand operand, ArrayRef<int64_t> dims,
                      function_ref<Expr(Value)> flagOf) {
    return reduce(b, Input{operand, b.getMultiDimIdentityMap(operand.rank())},
                  sizesOf(b, operand.value), dims, numberConstant(b, i8, 0), i8,
                  [&](ArrayRef<Value> in,
                      ArrayRef<Value> out) -> SmallVector<Value> {
                    return {Expr(b, i8, out[0]) | flagOf(in[0])};
                  })
        .front();
  };
  if (first.empty())
    return reduceOr(x, all, flag);
  Operand partial(reduceOr(x, first, flag));
  return reduceOr(partial, normalizeDims({}, partial.rank()),
                  [&](Value scalar) { return Expr(b, i8, scalar); });
}

/// Whether `check` is new.
static bool isNewCheck(Lowering &b, Lowering::Check check) {
  if (llvm::is_contained(b.checks, check))
    return false;
  b.checks.push_back(check);
  return true;
}

void lowering::checkRange(Lowering &b, Value original, IntRange accepted,
                          std::optional<int64_t> exception) {
  IntRange known = rangeOf(original);
  if (known.within(accepted))
    return;
  original = withoutRearrangement(original);
  if (!isNewCheck(b,
                  {original, Type(), accepted.low, accepted.high, exception}))
    return;
  Operand x = b.operand(original);
  Value bad = anyOf(b, x, [&](Expr e) {
    auto constant = [&](int64_t value) {
      return Expr(b, x.dtype, intConstant(b, x.dtype, value));
    };
    Expr isBad(b, b.getI1Type(), intConstant(b, b.getI1Type(), 0));
    if (known.low < accepted.low)
      isBad = isBad | (e < constant(accepted.low));
    if (known.high > accepted.high)
      isBad = isBad | (e > constant(accepted.high));
    if (exception && known.contains(*exception))
      isBad = isBad & (e != constant(*exception));
    return isBad;
  });
  rt::RefuseIfOp::create(b, bad, "an index is out of range");
}

void lowering::checkIndices(Lowering &b, Value original, int64_t size,
                            bool wraps) {
  checkRange(b, original, {wraps ? -size : 0, size - 1});
}

void lowering::checkNoZero(Lowering &b, Value original, Type dtype) {
  IntRange known = rangeOf(original);
  if (known.within(rangeOfType(dtype)) && !known.contains(0))
    return;
  original = withoutRearrangement(original);
  if (!isNewCheck(b, {original, dtype, 0, 0, std::nullopt}))
    return;
  Value bad =
      anyOf(b, b.operand(original), [&](Expr e) { return e.to(dtype) == 0.0; });
  rt::RefuseIfOp::create(b, bad, "an integer is divided by zero");
}
