//===- Scan.cpp - running sums and products
//------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scan is three loops, before, after and along its dim, with the running
// value as a scalar that the innermost carries. Sorts and top-k stay in aten
// (extern calls): eager's are tuned and rarely hot.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Structure.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

namespace {

/// result[.., i, ..] = combine over j <= i of x[.., j, ..], in `dtype` (the
/// result's), half types accumulated in f32.
LogicalResult scan(Operation *op, Lowering &b, Operand x, int64_t dim,
                   double start,
                   Value (*combine)(Lowering &, Type, Value, Value)) {
  Type dtype = dtypeOf(op->getResult(0));
  if (!isStatic(x.value))
    return b.fail(op, "a scan of dynamic sizes");
  if (x.rank() == 0 || numElements(x.shape()) == 0)
    return b.replace(op, convertTensor(b, x, dtype));
  dim = normalizeDim(dim, x.rank());
  Type acc = accumulatorType(dtype);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };

  int64_t length = x.shape()[dim];
  int64_t before = numElements(x.shape().take_front(dim));
  int64_t after = numElements(x.shape().drop_front(dim + 1));
  Value source = reshape(b, x.value, {before, length, after});
  Value result =
      tensor::EmptyOp::create(b, {before, length, after}, storageType(dtype));
  Value init = numberConstant(b, acc, start);

  OpBuilder::InsertionGuard guard(b);
  auto rows = scf::ForOp::create(b, index(0), index(before), index(1), result);
  b.setInsertionPointToStart(rows.getBody());
  auto columns = scf::ForOp::create(b, index(0), index(after), index(1),
                                    rows.getRegionIterArg(0));
  scf::YieldOp::create(b, columns.getResult(0));
  b.setInsertionPointToStart(columns.getBody());
  auto steps =
      scf::ForOp::create(b, index(0), index(length), index(1),
                         ValueRange{columns.getRegionIterArg(0), init});
  scf::YieldOp::create(b, steps.getResult(0));
  b.setInsertionPointToStart(steps.getBody());
  SmallVector<Value> at = {rows.getInductionVar(), steps.getInductionVar(),
                           columns.getInductionVar()};
  Value element =
      loadScalar(b, tensor::ExtractOp::create(b, source, at), x.dtype);
  Value sum = combine(b, acc, steps.getRegionIterArg(1),
                      convertScalar(b, element, x.dtype, acc));
  Value stored = storeScalar(b, convertScalar(b, sum, acc, dtype), dtype);
  Value written =
      tensor::InsertOp::create(b, stored, steps.getRegionIterArg(0), at);
  scf::YieldOp::create(b, ValueRange{written, sum});
  b.setInsertionPointAfter(rows);
  return b.replace(op, reshape(b, rows.getResult(0), x.shape()));
}

LogicalResult lowerCumsum(aten::CumsumOp op, Lowering &b) {
  return scan(op, b, b.operand(op.getSelf()), op.getDim(), 0, addScalar);
}

LogicalResult lowerCumprod(aten::CumprodOp op, Lowering &b) {
  return scan(op, b, b.operand(op.getSelf()), op.getDim(), 1, mulScalar);
}

} // namespace

void lowering::populateScanLowerings(LoweringTable &table) {
  table.add<aten::CumsumOp>(lowerCumsum);
  table.add<aten::CumprodOp>(lowerCumprod);
}
