//===- Utils.cpp - building blocks of the aten lowerings
//----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor half of Utils.h: generics, reductions, fills. The scalar half is
// in Scalars.cpp.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

using utils::IteratorType;

void lowering::eraseDeadOps(Block &block) {
  for (Operation *op = block.getTerminator()->getPrevNode(); op;) {
    Operation *previous = op->getPrevNode();
    if (isOpTriviallyDead(op))
      op->erase();
    op = previous;
  }
}

SmallVector<OpFoldResult> lowering::sizesOf(Lowering &b, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    if (ShapedType::isDynamic(size))
      sizes.push_back(tensor::DimOp::create(b, tensor, i).getResult());
    else
      sizes.push_back(b.getIndexAttr(size));
  }
  return sizes;
}

Value lowering::emptyTensor(Lowering &b, ArrayRef<OpFoldResult> sizes,
                            Type dtype) {
  return tensor::EmptyOp::create(b, sizes, storageType(dtype));
}

Value lowering::filledTensor(Lowering &b, ArrayRef<OpFoldResult> sizes,
                             Type dtype, Value scalar) {
  Value empty = emptyTensor(b, sizes, dtype);
  return linalg::FillOp::create(b, storeScalar(b, scalar, dtype), empty)
      .getResult(0);
}

SmallVector<int64_t> lowering::normalizeDims(ArrayRef<int64_t> dims,
                                             int64_t rank, bool emptyIsAll) {
  if (dims.empty() && emptyIsAll)
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  SmallVector<int64_t> result;
  for (int64_t dim : dims)
    result.push_back(normalizeDim(dim, rank));
  if (rank == 0)
    return {};
  llvm::sort(result);
  result.erase(llvm::unique(result), result.end());
  return result;
}

AffineMap lowering::droppedDimsMap(MLIRContext *context, int64_t rank,
                                   ArrayRef<int64_t> dims) {
  SmallVector<AffineExpr> exprs;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(dims, i))
      exprs.push_back(getAffineDimExpr(i, context));
  return AffineMap::get(rank, 0, exprs, context);
}

AffineMap lowering::keptDimsMap(MLIRContext *context, int64_t rank,
                                ArrayRef<int64_t> dims) {
  SmallVector<AffineExpr> exprs;
  for (int64_t dim : dims)
    exprs.push_back(getAffineDimExpr(dim, context));
  return AffineMap::get(rank, 0, exprs, context);
}

AffineMap lowering::broadcastMap(MLIRContext *context, ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> resultShape) {
  int64_t rank = resultShape.size(), lead = rank - shape.size();
  SmallVector<AffineExpr> exprs;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == 1 && resultShape[lead + i] != 1)
      exprs.push_back(getAffineConstantExpr(0, context));
    else
      exprs.push_back(getAffineDimExpr(lead + i, context));
  }
  return AffineMap::get(rank, 0, exprs, context);
}

/// How the dims of a tensor with dims of size 1 at `dims` group into those of
/// the tensor without: new dims go to the group before them, the leading ones
/// to the first. No groups for a result of rank 0.
static SmallVector<ReassociationIndices> groupsWithout(int64_t rank,
                                                       ArrayRef<int64_t> dims) {
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices leading;
  for (int64_t i = 0; i < rank; ++i) {
    if (!llvm::is_contained(dims, i)) {
      groups.emplace_back(leading);
      leading.clear();
    }
    if (groups.empty())
      leading.push_back(i);
    else
      groups.back().push_back(i);
  }
  return groups;
}

Value lowering::expandDims(Lowering &b, Value reduced, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return reduced;
  auto type = cast<RankedTensorType>(reduced.getType());
  int64_t rank = type.getRank() + dims.size(), next = 0;
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> sizes, known = sizesOf(b, reduced);
  for (int64_t i = 0; i < rank; ++i) {
    bool isNew = llvm::is_contained(dims, i);
    shape.push_back(isNew ? 1 : type.getDimSize(next));
    sizes.push_back(isNew ? OpFoldResult(b.getIndexAttr(1)) : known[next]);
    next += !isNew;
  }
  auto expanded = RankedTensorType::get(shape, type.getElementType());
  return tensor::ExpandShapeOp::create(b, expanded, reduced,
                                       groupsWithout(rank, dims), sizes);
}

Value lowering::dropDims(Lowering &b, Value tensor, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dims, int64_t(i)))
      shape.push_back(size);
  return tensor::CollapseShapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), tensor,
      groupsWithout(type.getRank(), dims));
}

Value lowering::sliceOf(Lowering &b, Value tensor,
                        ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes,
                        ArrayRef<OpFoldResult> strides) {
  bool isWhole = llvm::all_of(offsets, isZeroInteger) &&
                 llvm::all_of(strides, isOneInteger) &&
                 isEqualConstantIntOrValueArray(sizes, sizesOf(b, tensor));
  if (isWhole)
    return tensor;
  return tensor::ExtractSliceOp::create(b, tensor, offsets, sizes, strides);
}

TypedAttr lowering::knownScalar(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return {};
  if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
    return dense.isSplat() ? cast<TypedAttr>(dense.getSplatValue<Attribute>())
                           : TypedAttr();
  if (isa<FloatAttr, IntegerAttr>(constant.getValue()))
    return constant.getValue();
  return {};
}

std::optional<double> lowering::knownNumber(Operand operand) {
  if (!operand)
    return std::nullopt;
  TypedAttr attr = knownScalar(operand.value);
  if (auto value = dyn_cast_or_null<FloatAttr>(attr))
    return value.getValueAsDouble();
  if (auto value = dyn_cast_or_null<IntegerAttr>(attr)) {
    APInt bits = value.getValue();
    bool isSigned = bits.getBitWidth() > 1 && !isUnsigned(operand.dtype);
    return isSigned ? double(bits.getSExtValue()) : double(bits.getZExtValue());
  }
  return std::nullopt;
}

SmallVector<Value>
lowering::generic(Lowering &b, ArrayRef<Input> inputs, ArrayRef<Value> outputs,
                  ArrayRef<Type> dtypes, ArrayRef<AffineMap> outputMaps,
                  ArrayRef<IteratorType> iterators, Body body) {
  // A reduction keeps its constant inputs: they may be what gives the reduced
  // dims their size.
  bool allParallel = llvm::all_of(
      iterators, [](IteratorType it) { return it == IteratorType::parallel; });
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
  SmallVector<Type> argTypes;
  SmallVector<TypedAttr> constants;
  for (const Input &input : inputs) {
    TypedAttr known;
    if (allParallel || input.operand.isNumber())
      known = knownScalar(input.operand.value);
    constants.push_back(known);
    if (known || input.operand.isNumber())
      continue;
    values.push_back(input.operand.value);
    maps.push_back(input.map);
    argTypes.push_back(input.operand.type().getElementType());
  }
  SmallVector<Type> resultTypes;
  for (auto [output, map] : llvm::zip_equal(outputs, outputMaps)) {
    maps.push_back(map);
    resultTypes.push_back(output.getType());
    argTypes.push_back(getElementTypeOrSelf(output.getType()));
  }

  auto op = linalg::GenericOp::create(b, resultTypes, values, outputs, maps,
                                      iterators);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locs(argTypes.size(), b.getLoc());
  Block *block = b.createBlock(&op.getRegion(), {}, argTypes, locs);
  SmallVector<Value> inScalars, outScalars, stored;
  unsigned nextArg = 0;
  for (auto [input, known] : llvm::zip_equal(inputs, constants)) {
    bool isTensor = !input.operand.isNumber();
    Value scalar;
    if (known)
      scalar = arith::ConstantOp::create(b, known);
    else if (isTensor)
      scalar = block->getArgument(nextArg++);
    else
      scalar = input.operand.value;
    inScalars.push_back(isTensor ? loadScalar(b, scalar, input.operand.dtype)
                                 : scalar);
  }
  for (Type dtype : dtypes)
    outScalars.push_back(loadScalar(b, block->getArgument(nextArg++), dtype));
  for (auto [scalar, dtype] :
       llvm::zip_equal(body(inScalars, outScalars), dtypes))
    stored.push_back(storeScalar(b, scalar, dtype));
  linalg::YieldOp::create(b, stored);
  // Loads that the body did not use.
  eraseDeadOps(*block);
  return SmallVector<Value>(op.getResults());
}

SmallVector<Value>
lowering::parallel(Lowering &b, ArrayRef<Input> inputs,
                   ArrayRef<OpFoldResult> sizes, ArrayRef<Type> dtypes,
                   function_ref<SmallVector<Value>(ArrayRef<Value>)> body) {
  SmallVector<Value> outputs;
  for (Type dtype : dtypes)
    outputs.push_back(emptyTensor(b, sizes, dtype));
  SmallVector<AffineMap> maps(dtypes.size(),
                              b.getMultiDimIdentityMap(sizes.size()));
  SmallVector<IteratorType> iterators(sizes.size(), IteratorType::parallel);
  return generic(
      b, inputs, outputs, dtypes, maps, iterators,
      [&](ArrayRef<Value> ins, ArrayRef<Value>) { return body(ins); });
}

/// Sizes of a broadcast result: a dynamic size is that of the first operand
/// whose dim is not 1.
static SmallVector<OpFoldResult>
resultSizes(Lowering &b, ArrayRef<Operand> operands, ArrayRef<int64_t> shape) {
  SmallVector<OpFoldResult> sizes;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(b.getIndexAttr(size));
      continue;
    }
    Value dim;
    for (const Operand &operand : operands) {
      if (operand.isNumber())
        continue;
      int64_t own = int64_t(i) - (int64_t(shape.size()) - operand.rank());
      if (own < 0 || operand.shape()[own] == 1)
        continue;
      dim = tensor::DimOp::create(b, operand.value, own);
      break;
    }
    sizes.push_back(dim);
  }
  return sizes;
}

Value lowering::elementwise(Lowering &b, ArrayRef<Operand> operands,
                            RankedTensorType resultType, Type compute,
                            function_ref<Value(ArrayRef<Value>)> body,
                            Type bodyDtype) {
  if (!bodyDtype)
    bodyDtype = compute;
  Type dtype = resultType.getElementType();
  SmallVector<Input> inputs;
  for (const Operand &operand : operands)
    inputs.push_back(
        {operand, operand.isNumber()
                      ? AffineMap()
                      : broadcastMap(b.getContext(), operand.shape(),
                                     resultType.getShape())});
  return parallel(
             b, inputs, resultSizes(b, operands, resultType.getShape()), dtype,
             [&](ArrayRef<Value> ins) -> SmallVector<Value> {
               SmallVector<Value> scalars;
               for (auto [scalar, operand] : llvm::zip_equal(ins, operands))
                 scalars.push_back(
                     compute ? convertScalar(b, scalar, operand.dtype, compute)
                             : scalar);
               return {convertScalar(b, body(scalars), bodyDtype, dtype)};
             })
      .front();
}

Value lowering::convertTensor(Lowering &b, Operand tensor, Type dtype) {
  if (tensor.dtype == dtype)
    return tensor.value;
  return elementwise(
      b, tensor, RankedTensorType::get(tensor.shape(), dtype), {},
      [](ArrayRef<Value> in) { return in[0]; }, tensor.dtype);
}

SmallVector<Value> lowering::reduce(Lowering &b, ArrayRef<Input> inputs,
                                    ArrayRef<OpFoldResult> sizes,
                                    ArrayRef<int64_t> dims,
                                    ArrayRef<Value> inits,
                                    ArrayRef<Type> dtypes, Body body) {
  int64_t rank = sizes.size();
  SmallVector<OpFoldResult> kept;
  SmallVector<IteratorType> iterators(rank, IteratorType::parallel);
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (llvm::is_contained(dims, int64_t(i)))
      iterators[i] = IteratorType::reduction;
    else
      kept.push_back(size);
  }
  SmallVector<Value> outputs;
  for (auto [init, dtype] : llvm::zip_equal(inits, dtypes))
    outputs.push_back(filledTensor(b, kept, dtype, init));
  SmallVector<AffineMap> maps(inits.size(),
                              droppedDimsMap(b.getContext(), rank, dims));
  return generic(b, inputs, outputs, dtypes, maps, iterators, body);
}

SmallVector<int64_t> lowering::firstStepOf(Lowering &b, Operand &operand,
                                           ArrayRef<int64_t> dims) {
  // Below this one step is as good; a step should give a row something to do.
  constexpr int64_t kMinElements = 1 << 15, kMinRow = 256, kMaxRow = 4096;
  RankedTensorType type = operand.type();
  int64_t rank = type.getRank();
  if (!type.hasStaticShape() || int64_t(dims.size()) != rank ||
      type.getNumElements() < kMinElements)
    return {};
  if (rank == 1) {
    int64_t size = type.getDimSize(0), row = kMaxRow;
    while (row >= kMinRow && size % row != 0)
      --row;
    if (row < kMinRow)
      return {};
    SmallVector<ReassociationIndices> groups = {{0, 1}};
    operand.value = tensor::ExpandShapeOp::create(
        b, type.clone({size / row, row}), operand.value, groups);
    return {1};
  }
  SmallVector<int64_t> first;
  int64_t row = 1;
  for (int64_t dim = rank - 1; dim > 0 && row < kMinRow; --dim) {
    first.insert(first.begin(), dim);
    row *= type.getDimSize(dim);
  }
  return row < kMinRow ? SmallVector<int64_t>() : first;
}

Value lowering::sumOver(Lowering &b, Operand operand, ArrayRef<int64_t> dims,
                        Type acc, function_ref<Value(Value)> body) {
  SmallVector<int64_t> first = firstStepOf(b, operand, dims);
  if (!first.empty()) {
    Operand partial(sumOver(b, operand, first, acc, body), acc);
    return sumOver(b, partial, normalizeDims({}, partial.rank()), acc);
  }
  return reduce(b, Input{operand, b.getMultiDimIdentityMap(operand.rank())},
                sizesOf(b, operand.value), dims, numberConstant(b, acc, 0), acc,
                [&](ArrayRef<Value> in,
                    ArrayRef<Value> out) -> SmallVector<Value> {
                  Value x = convertScalar(b, in[0], operand.dtype, acc);
                  return {addScalar(b, acc, out[0], body ? body(x) : x)};
                })
      .front();
}
