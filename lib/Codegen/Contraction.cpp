//===- Contraction.cpp - A matmul kernel, read as roles of dims -----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dynamo::codegen;

std::optional<unsigned> ContractionOperand::innermostLoop() const {
  auto shape = cast<RankedTensorType>(tensor.getType()).getShape();
  for (unsigned i = shape.size(); i-- > 0;)
    if (shape[i] != 1)
      if (auto dim = dyn_cast<AffineDimExpr>(map.getResult(i)))
        return dim.getPosition();
  return std::nullopt;
}

/// Follows `value` through casts to a block argument of `body`; collects the
/// casts in program order. None if it is anything else.
static std::optional<unsigned> followCasts(Value value, Block *body,
                                           SmallVector<Operation *> &casts) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isa<CastOpInterface>(def) || def->getNumOperands() != 1)
      return std::nullopt;
    casts.push_back(def);
    value = def->getOperand(0);
  }
  auto arg = cast<BlockArgument>(value);
  if (arg.getOwner() != body)
    return std::nullopt;
  std::reverse(casts.begin(), casts.end());
  return arg.getArgNumber();
}

/// Reads the body `yield c + cast(a) * cast(b)`.
static LogicalResult matchBody(Contraction &c, std::string &why) {
  Block *body = c.op.getBody();
  auto fail = [&] {
    why = "the contraction's body is not a sum of products";
    return failure();
  };
  Value yielded = body->getTerminator()->getOperand(0);
  Operation *add = yielded.getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return fail();
  Value acc = body->getArgument(2);
  Value product = add->getOperand(0) == acc   ? add->getOperand(1)
                  : add->getOperand(1) == acc ? add->getOperand(0)
                                              : Value();
  Operation *mul = product ? product.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(mul))
    return fail();
  SmallVector<Operation *> castsL, castsR;
  auto lhs = followCasts(mul->getOperand(0), body, castsL);
  auto rhs = followCasts(mul->getOperand(1), body, castsR);
  if (!lhs || !rhs || *lhs > 1 || *rhs > 1 || *lhs == *rhs)
    return fail();
  auto maps = c.op.getIndexingMapsArray();
  c.a = {c.op.getInputs()[*lhs], maps[*lhs], castsL};
  c.b = {c.op.getInputs()[*rhs], maps[*rhs], castsR};
  c.resultMap = maps[2];
  return success();
}

/// Gives every loop its part.
static LogicalResult assignRoles(Contraction &c, std::string &why) {
  SmallVector<unsigned> unitK, unitFree;
  SmallVector<unsigned> mLoops, nLoops, kLoops;
  for (unsigned d = 0, e = c.extents.size(); d < e; ++d) {
    bool inA = c.a.reads(d), inB = c.b.reads(d);
    bool inC = c.resultMap.isFunctionOfDim(d);
    if (c.extents[d] == 1) {
      c.outer.push_back(d);
      (inC ? unitFree : unitK).push_back(d);
    } else if (inA && inB && inC) {
      c.outer.push_back(d);
    } else if (inA && inC) {
      mLoops.push_back(d);
    } else if (inB && inC) {
      nLoops.push_back(d);
    } else if (inA && inB) {
      kLoops.push_back(d);
    } else {
      why = "a loop of the contraction is read by one operand only";
      return failure();
    }
  }
  for (unsigned d : unitK)
    if (kLoops.empty() && c.a.reads(d) && c.b.reads(d)) {
      kLoops.push_back(d);
      llvm::erase(c.outer, d);
    }
  if (kLoops.empty()) {
    why = "the contraction sums over no dim of both operands";
    return failure();
  }

  // n is the innermost dim of the result, so that results leave in vectors.
  std::optional<unsigned> n;
  for (unsigned i = c.resultMap.getNumResults(); i-- > 0 && !n;) {
    auto dim = dyn_cast<AffineDimExpr>(c.resultMap.getResult(i));
    if (dim && c.extents[dim.getPosition()] != 1)
      n = dim.getPosition();
  }
  for (unsigned d : llvm::reverse(unitFree))
    if (!n && c.a.reads(d) != c.b.reads(d)) {
      n = d;
      llvm::erase(c.outer, d);
    }
  if (!n || llvm::is_contained(c.outer, *n)) {
    why = "the innermost dim of the result is a batch dim";
    return failure();
  }
  if (c.a.reads(*n)) {
    std::swap(c.a, c.b);
    std::swap(mLoops, nLoops);
  }
  c.n = *n;
  for (unsigned d : nLoops)
    if (d != c.n)
      c.outer.push_back(d);

  // m is the largest of its loops (the last of them if several): remainders
  // of the register tile weigh least there.
  for (unsigned d : mLoops)
    if (!c.m || c.extents[d] >= c.extents[*c.m])
      c.m = d;
  for (unsigned d : mLoops)
    if (d != *c.m)
      c.mOuter.push_back(d);

  // k is the loop that B walks in memory, else the largest.
  std::optional<unsigned> innermost = c.b.innermostLoop();
  c.k = kLoops.front();
  for (unsigned d : kLoops)
    if (innermost == d || (innermost != c.k && c.extents[d] > c.extents[c.k]))
      c.k = d;
  for (unsigned d : kLoops)
    if (d != c.k)
      c.kOuter.push_back(d);
  return success();
}

static LogicalResult readContraction(Contraction &c, std::string &why) {
  if (c.op.getNumDpsInputs() != 2 || c.op.getNumDpsInits() != 1)
    return why = "the contraction has not two inputs and one result", failure();
  for (Value v : c.op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    if (!type || !type.hasStaticShape())
      return why = "a dynamic shape in the contraction", failure();
    if (llvm::is_contained(type.getShape(), 0))
      return why = "an empty operand of the contraction", failure();
  }
  for (AffineMap map : c.op.getIndexingMapsArray())
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return why = "an operand map of the contraction is not a permutation",
             failure();
  if (failed(matchBody(c, why)))
    return failure();
  c.extents = c.op.getStaticLoopRanges();
  auto fill = c.op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  if (!fill || !(matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
                 matchPattern(fill.getInputs()[0], m_Zero())))
    return why = "the contraction does not start from a zero fill", failure();
  c.accType = cast<RankedTensorType>(c.op.getResultTypes()[0]).getElementType();
  bool floatOk = c.accType.isF32() || c.accType.isF64();
  bool intOk =
      c.accType.isSignlessInteger() && c.accType.getIntOrFloatBitWidth() >= 8;
  if (!floatOk && !intOk)
    return why = "the contraction sums in a type other than f32, f64 or an "
                 "integer",
           failure();
  return assignRoles(c, why);
}

/// Adds `op`, an elementwise operation that reads a value of the chain.
static LogicalResult readEpilogue(Contraction &c, linalg::GenericOp op,
                                  std::string &why) {
  auto fail = [&](const char *reason) {
    why = reason;
    return failure();
  };
  if (op.getNumReductionLoops() != 0 || !op.hasPureTensorSemantics())
    return fail("a consumer of the contraction is not elementwise");
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return fail("an operand map of a consumer is not a permutation");
  unsigned rank = op.getNumLoops();
  std::optional<SmallVector<unsigned>> loops;
  for (OpOperand &operand : op->getOpOperands()) {
    auto it = c.valueLoops.find(operand.get());
    if (it == c.valueLoops.end())
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (map.getNumResults() != rank || !map.isPermutation())
      return fail("a consumer broadcasts the contraction's result");
    SmallVector<unsigned> these(rank);
    for (unsigned i = 0; i < rank; ++i)
      these[map.getDimPosition(i)] = it->second[i];
    if (loops && *loops != these)
      return fail("a consumer reads the contraction's result in two orders");
    loops = std::move(these);
  }
  if (!loops)
    return fail("an operation beside the contraction does not read its result");
  for (unsigned i = 0, e = op.getNumResults(); i < e; ++i) {
    AffineMap map = op.getIndexingMapMatchingResult(op->getResult(i));
    if (!map.isPermutation())
      return fail("a consumer's result does not span all its loops");
    SmallVector<unsigned> dims;
    for (unsigned j = 0; j < rank; ++j)
      dims.push_back((*loops)[map.getDimPosition(j)]);
    c.valueLoops[op->getResult(i)] = std::move(dims);
  }
  c.epilogue.push_back({op, std::move(*loops)});
  return success();
}

FailureOr<Contraction> dynamo::codegen::analyzeContraction(func::FuncOp func,
                                                           std::string &why) {
  if (!func.getBody().hasOneBlock())
    return why = "the kernel has control flow", failure();
  Contraction c;
  for (Operation &op : func.getBody().front()) {
    if (isa<linalg::FillOp, func::ReturnOp>(op))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      // Constants, scalars and slices of arguments come before the loops.
      auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      bool strided = slice && !slice.hasUnitStride();
      if (isPure(&op) && !isa<linalg::LinalgOp>(op) && !strided &&
          llvm::none_of(op.getOperands(),
                        [&](Value v) { return c.valueLoops.contains(v); }))
        continue;
      why = ("'" + op.getName().getStringRef() + "' in a matmul kernel").str();
      return failure();
    }
    if (generic.getNumReductionLoops() == 0) {
      if (failed(readEpilogue(c, generic, why)))
        return failure();
      continue;
    }
    if (c.op)
      return why = "two contractions in one kernel", failure();
    c.op = generic;
    if (failed(readContraction(c, why)))
      return failure();
    // A unit result dim (map constant 0 is not allowed for results by
    // linalg) still has a loop, so every dim of the result has one.
    if (!c.resultMap.isProjectedPermutation())
      return why = "the contraction's result is broadcast", failure();
    SmallVector<unsigned> dims;
    for (unsigned i = 0; i < c.resultMap.getNumResults(); ++i)
      dims.push_back(c.resultMap.getDimPosition(i));
    c.valueLoops[generic->getResult(0)] = std::move(dims);
  }
  if (!c.op)
    return why = "no contraction in a matmul kernel", failure();
  auto ret = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  for (Value v : ret.getOperands()) {
    if (!c.valueLoops.contains(v))
      return why = "the kernel returns a value that it does not compute",
             failure();
    c.results.push_back(v);
  }
  return c;
}
