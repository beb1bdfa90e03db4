//===- AttentionOp.cpp - rt.attention
//------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verifier of rt.attention.  The numbers are those of the op's description.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Rt/IR/Rt.h"

using namespace mlir;
using namespace dynamo::rt;

/// Whether two sizes may be equal (a dynamic one may be anything).
static bool compatible(int64_t a, int64_t b) {
  return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b);
}

LogicalResult AttentionOp::verify() {
  auto q = cast<RankedTensorType>(getQuery().getType());
  auto k = cast<RankedTensorType>(getKey().getType());
  auto v = cast<RankedTensorType>(getValue().getType());
  auto out = cast<RankedTensorType>(getOut().getType());
  auto lse = cast<RankedTensorType>(getLogsumexp().getType());
  RankedTensorType mask;
  if (Value m = getMask())
    mask = cast<RankedTensorType>(m.getType());

  // C1.
  if (q.getRank() != 4 || k.getRank() != 4 || v.getRank() != 4 ||
      (mask && mask.getRank() != 4))
    return emitOpError("expects query, key, value and mask of rank 4");
  // C2.
  Type element = q.getElementType();
  if (!isa<FloatType>(element))
    return emitOpError("expects floating-point elements, found ") << element;
  if (k.getElementType() != element || v.getElementType() != element ||
      out.getElementType() != element ||
      (mask && mask.getElementType() != element))
    return emitOpError(
        "expects query, key, value, mask and out of one element type");
  // C3.
  int64_t heads = q.getDimSize(1), groups = k.getDimSize(1);
  if (!compatible(q.getDimSize(0), k.getDimSize(0)) ||
      !compatible(k.getDimSize(0), v.getDimSize(0)) ||
      !compatible(groups, v.getDimSize(1)) ||
      !compatible(k.getDimSize(2), v.getDimSize(2)) ||
      !compatible(q.getDimSize(3), k.getDimSize(3)))
    return emitOpError("sizes of query ")
           << q << ", key " << k << " and value " << v << " do not agree";
  if (!ShapedType::isDynamic(heads) && !ShapedType::isDynamic(groups) &&
      groups != 0 && heads % groups != 0)
    return emitOpError("has ") << heads << " query heads, not a multiple of "
                               << groups << " key heads";
  // C4.
  int64_t scores[] = {q.getDimSize(0), heads, q.getDimSize(2), k.getDimSize(2)};
  if (mask)
    for (auto [have, want] : llvm::zip_equal(mask.getShape(), scores))
      if (have != 1 && !compatible(have, want))
        return emitOpError("mask ")
               << mask << " does not broadcast to the scores";
  // C5.
  int64_t wantOut[] = {q.getDimSize(0), heads, q.getDimSize(2),
                       v.getDimSize(3)};
  if (out.getRank() != 4 ||
      !llvm::all_of(llvm::zip_equal(out.getShape(), wantOut), [](auto p) {
        return compatible(std::get<0>(p), std::get<1>(p));
      }))
    return emitOpError("out ")
           << out << " is not [batch, heads, queries, features]";
  Type lseElement = element.isF64() ? element : Float32Type::get(getContext());
  if (lse.getElementType() != lseElement || lse.getRank() != 3 ||
      !llvm::all_of(
          llvm::zip_equal(lse.getShape(), ArrayRef(wantOut).take_front(3)),
          [](auto p) { return compatible(std::get<0>(p), std::get<1>(p)); }))
    return emitOpError("logsumexp ")
           << lse << " is not [batch, heads, queries] of " << lseElement;
  return success();
}
