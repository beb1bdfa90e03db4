//===- Pooling.cpp - pooling and resizing of planes
//----------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Windows are reduced channels last (the channels are the vector), between
// transposes as in Convolution.cpp.  A small window is an elementwise operation
// of as many strided slices, which kernels read in place; a larger one is a
// named pooling.  Sizes of results come from the op's type;
// where ceil_mode makes a window reach beyond the padding, more is padded.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Structure.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

using utils::IteratorType;

namespace {

SmallVector<OpFoldResult> attrs(Lowering &b, ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> result;
  for (int64_t size : sizes)
    result.push_back(b.getIndexAttr(size));
  return result;
}

Value index(Lowering &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

/// `int[2]` (or `int[1]`) arguments may hold one value for all dims.
SmallVector<int64_t> perDim(ArrayRef<int64_t> values, size_t dims,
                            ArrayRef<int64_t> fallback) {
  if (values.empty())
    return SmallVector<int64_t>(fallback);
  if (values.size() == 1)
    return SmallVector<int64_t>(dims, values[0]);
  return SmallVector<int64_t>(values);
}

/// A pooling of [n, h, w, c]: loops (n, oh, ow, c, kh, kw).
struct Pool {
  SmallVector<int64_t> window, stride, padding, dilation, in, out;

  /// How far the windows reach beyond dim i and its padding in front.
  int64_t high(int64_t i) const {
    int64_t reach =
        (out[i] - 1) * stride[i] + (window[i] - 1) * dilation[i] + 1;
    return std::max<int64_t>(reach - in[i] - padding[i], 0);
  }
  Value padded(Lowering &b, Value x, Value scalar) const {
    return pad(b, x, {0, padding[0], padding[1], 0}, {0, high(0), high(1), 0},
               scalar);
  }
  AffineMap inputMap(Lowering &b) const {
    auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };
    return AffineMap::get(6, 0,
                          {dim(0), dim(1) * stride[0] + dim(4) * dilation[0],
                           dim(2) * stride[1] + dim(5) * dilation[1], dim(3)},
                          b.getContext());
  }
};

/// The most elements of a window that are read as slices: an elementwise kernel
/// takes at most 16 inputs, some of which fused neighbours bring.
constexpr int64_t kMaxSlices = 9;

/// Folds each window of the padded [n, h, w, c] with `combine`, in row-major
/// order, and gives `finish` of the result; scalars are of `acc`, the result of
/// `dtype`.
Value foldSlices(Lowering &b, const Pool &pool, Operand padded, Type acc,
                 Type dtype, Value (*combine)(Lowering &, Type, Value, Value),
                 llvm::function_ref<Value(Value)> finish) {
  SmallVector<int64_t> shape = {padded.shape()[0], pool.out[0], pool.out[1],
                                padded.shape()[3]};
  SmallVector<Input> inputs;
  for (int64_t h = 0; h < pool.window[0]; ++h)
    for (int64_t w = 0; w < pool.window[1]; ++w) {
      Value slice = tensor::ExtractSliceOp::create(
          b, padded.value,
          attrs(b, {0, h * pool.dilation[0], w * pool.dilation[1], 0}),
          attrs(b, shape), attrs(b, {1, pool.stride[0], pool.stride[1], 1}));
      inputs.push_back(
          {Operand(slice, padded.dtype), b.getMultiDimIdentityMap(4)});
    }
  return parallel(b, inputs, attrs(b, shape), dtype,
                  [&](ArrayRef<Value> in) -> SmallVector<Value> {
                    Value result = convertScalar(b, in[0], padded.dtype, acc);
                    for (Value next : in.drop_front())
                      result =
                          combine(b, acc, result,
                                  convertScalar(b, next, padded.dtype, acc));
                    return {finish(result)};
                  })
      .front();
}

/// [n, c, h, w] or [c, h, w] (or [n, c, l] with one dim) as [n, h, w, c], and
/// back.
struct Planes {
  Planes(Lowering &b, Value x, int64_t spatial)
      : b(b), batched(rankOf(x) == spatial + 2), flat(spatial == 1) {
    if (!batched)
      x = expandDims(b, x, 0);
    if (flat)
      x = expandDims(b, x, 2);
    value = transpose(b, x, {0, 2, 3, 1});
  }
  Value restore(Value x) const {
    x = transpose(b, x, {0, 3, 1, 2});
    if (flat)
      x = dropDims(b, x, 2);
    return batched ? x : dropDims(b, x, 0);
  }
  Lowering &b;
  bool batched, flat;
  Value value;
};

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

LogicalResult lowerMaxPool2d(aten::MaxPool2dWithIndicesOp op, Lowering &b) {
  Operand x = b.operand(op.getSelf());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (!isStatic(x.value) || !type.hasStaticShape() || isBool(x.dtype))
    return b.fail(op, "pooling of dynamic sizes or of bool");
  Planes planes(b, x.value, 2);
  Pool pool;
  pool.window = perDim(op.getKernelSize(), 2, {});
  pool.stride = perDim(op.getStride(), 2, pool.window);
  pool.padding = perDim(op.getPadding(), 2, {0, 0});
  pool.dilation = perDim(op.getDilation(), 2, {1, 1});
  pool.in.assign(shapeOf(planes.value).slice(1, 2).begin(),
                 shapeOf(planes.value).slice(1, 2).end());
  pool.out.assign(type.getShape().take_back(2).begin(),
                  type.getShape().take_back(2).end());

  Value lowest = lowestConstant(b, x.dtype);
  Value input = pool.padded(b, planes.value, storeScalar(b, lowest, x.dtype));
  SmallVector<int64_t> shape = {shapeOf(input)[0], pool.out[0], pool.out[1],
                                shapeOf(input)[3]};
  Value window = emptyTensor(b, attrs(b, pool.window), x.dtype);
  Value init = filledTensor(b, attrs(b, shape), x.dtype, lowest);
  bool wantsIndices = !op.getIndices().use_empty();
  if (!wantsIndices && numElements(pool.window) <= kMaxSlices) {
    Value result =
        foldSlices(b, pool, Operand(input, x.dtype), x.dtype, x.dtype,
                   maxScalar, [](Value largest) { return largest; });
    return b.replace(op, {planes.restore(result), Value()});
  }
  if (!wantsIndices && isFloat(x.dtype)) {
    // Not initialised by a first element: the maximum with -inf is the same,
    // nan included.
    Value result =
        linalg::PoolingNhwcMaxOp::create(
            b, init.getType(), ValueRange{input, window}, init,
            b.getI64VectorAttr(pool.stride), b.getI64VectorAttr(pool.dilation))
            .getResult(0);
    return b.replace(op, {planes.restore(result), Value()});
  }

  // The first largest element in row-major order, or the last nan, as in ATen;
  // the index counts in the unpadded plane.
  Type i64 = b.getI64Type();
  Value none = intConstant(b, i64, -1);
  Value indices = filledTensor(b, attrs(b, shape), i64, none);
  auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };
  AffineMap windowMap = AffineMap::get(6, 0, {dim(4), dim(5)}, b.getContext());
  AffineMap outMap = b.getMultiDimIdentityMap(6).getMajorSubMap(4);
  SmallVector<IteratorType> iterators(4, IteratorType::parallel);
  iterators.append(2, IteratorType::reduction);
  auto results = generic(
      b,
      {{Operand(input, x.dtype), pool.inputMap(b)},
       {Operand(window, x.dtype), windowMap}},
      {init, indices}, {x.dtype, i64}, {outMap, outMap}, iterators,
      [&](ArrayRef<Value> in, ArrayRef<Value> best) -> SmallVector<Value> {
        SmallVector<Value> at;
        Value inside;
        for (int64_t i = 0; i < 2; ++i) {
          Value start = arith::MulIOp::create(
              b, linalg::IndexOp::create(b, 1 + i), index(b, pool.stride[i]));
          Value step = arith::MulIOp::create(
              b, linalg::IndexOp::create(b, 4 + i), index(b, pool.dilation[i]));
          Value from = arith::AddIOp::create(
              b, arith::SubIOp::create(b, start, index(b, pool.padding[i])),
              step);
          at.push_back(from);
          // One unsigned comparison: negative positions are very large.
          Value ok = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, from,
                                           index(b, pool.in[i]));
          inside = inside ? Value(arith::AndIOp::create(b, inside, ok)) : ok;
        }
        Value flat = arith::AddIOp::create(
            b, arith::MulIOp::create(b, at[0], index(b, pool.in[1])), at[1]);
        Value larger = compareScalar(b, Compare::Gt, x.dtype, in[0], best[0]);
        Value isFirst =
            compareScalar(b, Compare::Lt, i64, best[1], intConstant(b, i64, 0));
        Value take =
            arith::OrIOp::create(b, larger, isNanScalar(b, x.dtype, in[0]));
        take = arith::OrIOp::create(b, take, isFirst);
        take = arith::AndIOp::create(b, take, inside);
        Value place = arith::IndexCastOp::create(b, i64, flat);
        return {select(b, take, in[0], best[0]),
                select(b, take, place, best[1])};
      });
  return b.replace(op, {planes.restore(results[0]),
                        wantsIndices ? planes.restore(results[1]) : Value()});
}

//===----------------------------------------------------------------------===//
// Mean
//===----------------------------------------------------------------------===//

/// The sum of each window of [n, h, w, c], in the accumulator dtype.
Value windowSum(Lowering &b, const Pool &pool, Value x, Type dtype) {
  Type acc = accumulatorType(dtype);
  Value zero = storeScalar(b, numberConstant(b, dtype, 0), dtype);
  Value input = pool.padded(b, x, zero);
  Value window = emptyTensor(b, attrs(b, pool.window), acc);
  Value init = filledTensor(b,
                            attrs(b, {shapeOf(input)[0], pool.out[0],
                                      pool.out[1], shapeOf(input)[3]}),
                            acc, numberConstant(b, acc, 0));
  return linalg::PoolingNhwcSumOp::create(
             b, init.getType(), ValueRange{input, window}, init,
             b.getI64VectorAttr(pool.stride), b.getI64VectorAttr(pool.dilation))
      .getResult(0);
}

/// avg_pool1d and avg_pool2d.
LogicalResult averagePool(Operation *op, Lowering &b, Operand x, Pool pool,
                          int64_t spatial, bool countPadding,
                          std::optional<int64_t> divisor) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!isStatic(x.value) || !type.hasStaticShape() || !isFloat(x.dtype))
    return b.fail(op, "mean pooling of dynamic sizes or of integers");
  Planes planes(b, x.value, spatial);
  pool.dilation = {1, 1};
  pool.in.assign(shapeOf(planes.value).slice(1, 2).begin(),
                 shapeOf(planes.value).slice(1, 2).end());
  pool.out.assign(type.getShape().take_back(spatial).begin(),
                  type.getShape().take_back(spatial).end());
  if (spatial == 1)
    pool.out.insert(pool.out.begin(), 1);

  Type acc = accumulatorType(x.dtype);
  // Whether every window counts the same number of elements.
  bool uniform = divisor.has_value();
  if (!uniform) {
    uniform = true;
    for (int64_t i = 0; i < 2; ++i)
      uniform &= countPadding ? pool.high(i) <= pool.padding[i]
                              : pool.padding[i] == 0 && pool.high(i) == 0;
    divisor = pool.window[0] * pool.window[1];
  }
  auto divide = [&](Value sum) -> Value {
    Value count;
    if (uniform) {
      count = floatConstant(b, acc, double(*divisor));
    } else {
      Value elements;
      for (int64_t i = 0; i < 2; ++i) {
        Value start = arith::SubIOp::create(
            b,
            arith::MulIOp::create(b, linalg::IndexOp::create(b, 1 + i),
                                  index(b, pool.stride[i])),
            index(b, pool.padding[i]));
        Value end = arith::AddIOp::create(b, start, index(b, pool.window[i]));
        end = arith::MinSIOp::create(
            b, end,
            index(b, pool.in[i] + (countPadding ? pool.padding[i] : 0)));
        if (!countPadding)
          start = arith::MaxSIOp::create(b, start, index(b, 0));
        Value length = arith::SubIOp::create(b, end, start);
        elements = elements ? Value(arith::MulIOp::create(b, elements, length))
                            : length;
      }
      count = arith::SIToFPOp::create(
          b, acc, arith::IndexCastOp::create(b, b.getI64Type(), elements));
    }
    return convertScalar(b, arith::DivFOp::create(b, sum, count), acc, x.dtype);
  };
  if (numElements(pool.window) <= kMaxSlices) {
    Value zero = storeScalar(b, numberConstant(b, x.dtype, 0), x.dtype);
    Operand padded(pool.padded(b, planes.value, zero), x.dtype);
    Value mean = foldSlices(b, pool, padded, acc, x.dtype, addScalar, divide);
    return b.replace(op, planes.restore(mean));
  }
  Value sum = windowSum(b, pool, planes.value, x.dtype);
  Value mean =
      parallel(b, Input{Operand(sum, acc), b.getMultiDimIdentityMap(4)},
               sizesOf(b, sum), x.dtype,
               [&](ArrayRef<Value> in) -> SmallVector<Value> {
                 return {divide(in[0])};
               })
          .front();
  return b.replace(op, planes.restore(mean));
}

LogicalResult lowerAvgPool2d(aten::AvgPool2dOp op, Lowering &b) {
  Pool pool;
  pool.window = perDim(op.getKernelSize(), 2, {});
  pool.stride = perDim(op.getStride(), 2, pool.window);
  pool.padding = perDim(op.getPadding(), 2, {0, 0});
  return averagePool(op, b, b.operand(op.getSelf()), pool, 2,
                     op.getCountIncludePad(), op.getDivisorOverride());
}

LogicalResult lowerAvgPool1d(aten::AvgPool1dOp op, Lowering &b) {
  Pool pool;
  SmallVector<int64_t> window = perDim(op.getKernelSize(), 1, {});
  pool.window = {1, window[0]};
  pool.stride = {1, perDim(op.getStride(), 1, window)[0]};
  pool.padding = {0, perDim(op.getPadding(), 1, {0})[0]};
  return averagePool(op, b, b.operand(op.getSelf()), pool, 1,
                     op.getCountIncludePad(), std::nullopt);
}

LogicalResult lowerAdaptiveAvgPool2d(aten::AdaptiveAvgPool2dOp op,
                                     Lowering &b) {
  Operand x = b.operand(op.getSelf());
  auto type = cast<RankedTensorType>(op.getType());
  if (!isStatic(x.value) || !type.hasStaticShape() || !isFloat(x.dtype))
    return b.fail(op, "mean pooling of dynamic sizes or of integers");
  int64_t rank = x.rank();
  ArrayRef<int64_t> in = x.shape().take_back(2),
                    out = type.getShape().take_back(2);
  Type acc = accumulatorType(x.dtype);
  // The mean of all pixels reads the plane in whatever order it is in.
  if (out[0] == 1 && out[1] == 1) {
    Value sum = sumOver(b, x, {rank - 2, rank - 1}, acc);
    Value mean = elementwise(
        b, Operand(sum, acc), RankedTensorType::get(shapeOf(sum), x.dtype), acc,
        [&](ArrayRef<Value> s) -> Value {
          Value count = floatConstant(b, acc, double(in[0] * in[1]));
          return arith::DivFOp::create(b, s[0], count);
        });
    return b.replace(op, expandDims(b, mean, {rank - 2, rank - 1}));
  }
  if (in[0] % out[0] == 0 && in[1] % out[1] == 0) {
    Pool pool;
    pool.window = {in[0] / out[0], in[1] / out[1]};
    pool.stride = pool.window;
    pool.padding = {0, 0};
    return averagePool(op, b, x, pool, 2, true, std::nullopt);
  }
  // Windows of different sizes: loops over the largest, what is outside counts
  // 0.
  Planes planes(b, x.value, 2);
  Value plane = planes.value;
  SmallVector<int64_t> window;
  for (int64_t i = 0; i < 2; ++i) {
    int64_t largest = 0;
    for (int64_t o = 0; o < out[i]; ++o)
      largest = std::max(largest, ((o + 1) * in[i] + out[i] - 1) / out[i] -
                                      o * in[i] / out[i]);
    window.push_back(largest);
  }
  SmallVector<int64_t> shape = {shapeOf(plane)[0], out[0], out[1],
                                shapeOf(plane)[3]};
  auto bounds = [&](int64_t i) {
    Value o = linalg::IndexOp::create(b, 1 + i);
    Value first = arith::DivUIOp::create(
        b, arith::MulIOp::create(b, o, index(b, in[i])), index(b, out[i]));
    Value next = arith::MulIOp::create(
        b, arith::AddIOp::create(b, o, index(b, 1)), index(b, in[i]));
    Value end = arith::DivUIOp::create(
        b, arith::AddIOp::create(b, next, index(b, out[i] - 1)),
        index(b, out[i]));
    return std::make_pair(first, end);
  };
  SmallVector<OpFoldResult> loops = attrs(b, shape);
  loops.append(attrs(b, window));
  Operand extent(emptyTensor(b, attrs(b, window), acc), acc);
  Value sum =
      reduce(b, Input{extent, keptDimsMap(b.getContext(), 6, {4, 5})}, loops,
             {4, 5}, floatConstant(b, acc, 0), acc,
             [&](ArrayRef<Value>, ArrayRef<Value> total) -> SmallVector<Value> {
               SmallVector<Value> at = {linalg::IndexOp::create(b, 0), Value(),
                                        Value(), linalg::IndexOp::create(b, 3)};
               Value inside;
               for (int64_t i = 0; i < 2; ++i) {
                 auto [first, end] = bounds(i);
                 Value from = arith::AddIOp::create(
                     b, first, linalg::IndexOp::create(b, 4 + i));
                 Value ok = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                                  from, end);
                 inside =
                     inside ? Value(arith::AndIOp::create(b, inside, ok)) : ok;
                 at[1 + i] =
                     arith::MinUIOp::create(b, from, index(b, in[i] - 1));
               }
               Value element = convertScalar(
                   b, tensor::ExtractOp::create(b, plane, at), x.dtype, acc);
               return {addScalar(
                   b, acc, total[0],
                   select(b, inside, element, floatConstant(b, acc, 0)))};
             })
          .front();
  Value mean =
      parallel(
          b, Input{Operand(sum, acc), b.getMultiDimIdentityMap(4)},
          attrs(b, shape), x.dtype,
          [&](ArrayRef<Value> total) -> SmallVector<Value> {
            auto [top, bottom] = bounds(0);
            auto [left, right] = bounds(1);
            Value count =
                arith::MulIOp::create(b, arith::SubIOp::create(b, bottom, top),
                                      arith::SubIOp::create(b, right, left));
            Value divisor = arith::SIToFPOp::create(
                b, acc, arith::IndexCastOp::create(b, b.getI64Type(), count));
            return {convertScalar(
                b, arith::DivFOp::create(b, total[0], divisor), acc, x.dtype)};
          })
          .front();
  return b.replace(op, planes.restore(mean));
}

//===----------------------------------------------------------------------===//
// Resizing
//===----------------------------------------------------------------------===//

/// Input positions per output position, in the arithmetic of ATen (f32; f64 for
/// f64 planes).
double resizeScale(int64_t in, int64_t out,
                   std::optional<llvm::APFloat> given) {
  if (given && given->convertToDouble() > 0)
    return 1.0 / given->convertToDouble();
  return double(in) / double(out);
}

LogicalResult lowerUpsampleNearest2d(aten::UpsampleNearest2dOp op,
                                     Lowering &b) {
  Operand x = b.operand(op.getSelf());
  auto type = cast<RankedTensorType>(op.getType());
  if (!isStatic(x.value) || !type.hasStaticShape() || x.rank() != 4)
    return b.fail(op, "resizing of dynamic sizes");
  ArrayRef<int64_t> in = x.shape().take_back(2),
                    out = type.getShape().take_back(2);
  double scales[] = {resizeScale(in[0], out[0], op.getScalesH()),
                     resizeScale(in[1], out[1], op.getScalesW())};
  Planes planes(b, x.value, 2);
  Value plane = planes.value;
  ArrayRef<int64_t> shape = shapeOf(plane);
  int64_t n = shape[0], c = shape[3];
  // Whole factors repeat pixels: a broadcast that readers absorb.
  if (out[0] % in[0] == 0 && out[1] % in[1] == 0 &&
      scales[0] * out[0] == in[0] && scales[1] * out[1] == in[1]) {
    int64_t fh = out[0] / in[0], fw = out[1] / in[1];
    auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };
    Value wide = copyThrough(
        b, plane,
        AffineMap::get(6, 0, {dim(0), dim(1), dim(3), dim(5)}, b.getContext()),
        {n, in[0], fh, in[1], fw, c});
    return b.replace(op,
                     planes.restore(reshape(b, wide, {n, out[0], out[1], c})));
  }
  Type f32 = b.getF32Type();
  Type stored = getElementTypeOrSelf(plane.getType());
  Value result =
      generate(b, {n, out[0], out[1], c}, stored, [&](ArrayRef<Value> indices) {
        SmallVector<Value> at(indices);
        for (int64_t i = 0; i < 2; ++i) {
          Value o =
              arith::IndexCastOp::create(b, b.getI64Type(), indices[1 + i]);
          Value position =
              arith::MulFOp::create(b, arith::SIToFPOp::create(b, f32, o),
                                    floatConstant(b, f32, float(scales[i])));
          Value from = arith::FPToSIOp::create(b, b.getI64Type(), position);
          from = arith::IndexCastOp::create(b, b.getIndexType(), from);
          at[1 + i] = arith::MinSIOp::create(b, from, index(b, in[i] - 1));
        }
        return tensor::ExtractOp::create(b, plane, at).getResult();
      });
  return b.replace(op, planes.restore(result));
}

LogicalResult lowerUpsampleBilinear2d(aten::UpsampleBilinear2dOp op,
                                      Lowering &b) {
  Operand x = b.operand(op.getSelf());
  auto type = cast<RankedTensorType>(op.getType());
  if (!isStatic(x.value) || !type.hasStaticShape() || x.rank() != 4 ||
      !isFloat(x.dtype))
    return b.fail(op, "linear resizing of dynamic sizes or of integers");
  ArrayRef<int64_t> in = x.shape().take_back(2),
                    out = type.getShape().take_back(2);
  bool corners = op.getAlignCorners();
  double scales[2];
  for (int64_t i = 0; i < 2; ++i)
    scales[i] =
        corners ? (out[i] > 1 ? double(in[i] - 1) / double(out[i] - 1) : 0.0)
                : resizeScale(in[i], out[i],
                              i == 0 ? op.getScalesH() : op.getScalesW());
  Planes planes(b, x.value, 2);
  Value plane = planes.value;
  Type acc = accumulatorType(x.dtype);
  ArrayRef<int64_t> shape = shapeOf(plane);
  Value result = generate(
      b, {shape[0], out[0], out[1], shape[3]}, x.dtype,
      [&](ArrayRef<Value> indices) -> Value {
        Value low[2], high[2], weight[2];
        for (int64_t i = 0; i < 2; ++i) {
          Value o =
              arith::IndexCastOp::create(b, b.getI64Type(), indices[1 + i]);
          Value position = arith::SIToFPOp::create(b, acc, o);
          Value scale =
              floatConstant(b, acc, acc.isF64() ? scales[i] : float(scales[i]));
          Value half = floatConstant(b, acc, 0.5),
                zero = floatConstant(b, acc, 0);
          if (corners) {
            position = arith::MulFOp::create(b, position, scale);
          } else {
            position = arith::MulFOp::create(
                b, arith::AddFOp::create(b, position, half), scale);
            position = arith::SubFOp::create(b, position, half);
            position = arith::MaximumFOp::create(b, position, zero);
          }
          Value from = arith::FPToSIOp::create(b, b.getI64Type(), position);
          Value last = intConstant(b, b.getI64Type(), in[i] - 1);
          from = arith::MinSIOp::create(b, from, last);
          weight[i] = arith::SubFOp::create(
              b, position, arith::SIToFPOp::create(b, acc, from));
          weight[i] =
              arith::MinimumFOp::create(b, weight[i], floatConstant(b, acc, 1));
          Value next = arith::MinSIOp::create(
              b,
              arith::AddIOp::create(b, from, intConstant(b, b.getI64Type(), 1)),
              last);
          low[i] = arith::IndexCastOp::create(b, b.getIndexType(), from);
          high[i] = arith::IndexCastOp::create(b, b.getIndexType(), next);
        }
        auto read = [&](Value h, Value w) {
          Value element = tensor::ExtractOp::create(
              b, plane, ValueRange{indices[0], h, w, indices[3]});
          return convertScalar(b, element, x.dtype, acc);
        };
        auto mix = [&](Value p, Value q, Value w) -> Value {
          Value one = floatConstant(b, acc, 1);
          Value rest = arith::SubFOp::create(b, one, w);
          return arith::AddFOp::create(b, arith::MulFOp::create(b, rest, p),
                                       arith::MulFOp::create(b, w, q));
        };
        Value top = mix(read(low[0], low[1]), read(low[0], high[1]), weight[1]);
        Value bottom =
            mix(read(high[0], low[1]), read(high[0], high[1]), weight[1]);
        return convertScalar(b, mix(top, bottom, weight[0]), acc, x.dtype);
      });
  return b.replace(op, planes.restore(result));
}

} // namespace

void lowering::populatePoolingLowerings(LoweringTable &table) {
  table.add<aten::MaxPool2dWithIndicesOp>(lowerMaxPool2d);
  table.add<aten::AvgPool1dOp>(lowerAvgPool1d);
  table.add<aten::AvgPool2dOp>(lowerAvgPool2d);
  table.add<aten::AdaptiveAvgPool2dOp>(lowerAdaptiveAvgPool2d);
  table.add<aten::UpsampleNearest2dOp>(lowerUpsampleNearest2d);
  table.add<aten::UpsampleBilinear2dOp>(lowerUpsampleBilinear2d);
}
