//===- Convolution.cpp - convolutions
//------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution is written in the layout that its kernel wants: channels last,
// between two transposes that `linalg-propagate-transposes` later cancels
// against those of the neighbours.  Which form it takes:
//
//   window 1x1, no padding        a contraction over flattened pixels
//   window = stride, no padding   a contraction over flattened patches
//   one channel per group         linalg.depthwise_conv_2d_nhwc_hwc(m)
//   one group, two dims           linalg.conv_2d_nhwc_hwcf
//   anything else                 a generic with a loop for the group
//
// One spatial dim is two with a first of size 1.  Sums are f32 for half types
// and are rounded once, after the bias.  A patch is copied once in front of its
// matrix product rather than read through a map: a matrix kernel packs its
// operand from rows, and the copy is 1/F of the work.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Structure.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

using utils::IteratorType;

namespace {

/// The parameters of one convolution; all sizes are static.
struct Conv {
  /// Input [n, s..., c] and weight [f, c / groups, k...].
  Operand input, weight, bias;
  SmallVector<int64_t> stride, padding, dilation;
  int64_t groups;
  /// Sizes of the result's spatial dims.
  SmallVector<int64_t> out;

  int64_t spatial() const { return out.size(); }
  int64_t batch() const { return input.shape()[0]; }
  int64_t channels() const { return input.shape().back(); }
  int64_t features() const { return weight.shape()[0]; }
  ArrayRef<int64_t> window() const { return weight.shape().drop_front(2); }
  Type acc() const { return accumulatorType(input.dtype); }

  bool isUnpadded() const {
    return llvm::all_of(padding, [](int64_t p) { return p == 0; });
  }
};

SmallVector<OpFoldResult> attrs(Lowering &b, ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> result;
  for (int64_t size : sizes)
    result.push_back(b.getIndexAttr(size));
  return result;
}

Value zeros(Lowering &b, ArrayRef<int64_t> shape, Type dtype) {
  return filledTensor(b, attrs(b, shape), dtype, numberConstant(b, dtype, 0));
}

SmallVector<int64_t> join(std::initializer_list<ArrayRef<int64_t>> parts) {
  SmallVector<int64_t> result;
  for (ArrayRef<int64_t> part : parts)
    result.append(part.begin(), part.end());
  return result;
}

/// The weight with the window first: [k..., rest...].
Value windowFirst(Lowering &b, Value weight, ArrayRef<int64_t> rest) {
  SmallVector<int64_t> perm;
  for (int64_t dim = 2; dim < rankOf(weight); ++dim)
    perm.push_back(dim);
  perm.append(rest.begin(), rest.end());
  return transpose(b, weight, perm);
}

/// The input with zeros around its spatial dims.
Value padded(Lowering &b, const Conv &conv) {
  SmallVector<int64_t> low = join({{0}, conv.padding, {0}});
  return pad(
      b, conv.input.value, low, low,
      storeScalar(b, numberConstant(b, conv.input.dtype, 0), conv.input.dtype));
}

/// A window of one element: every result pixel is a row of a matrix product.
Value pointwise(Lowering &b, const Conv &conv, Type dtype) {
  Value x = conv.input.value;
  for (int64_t i = 0; i < conv.spatial(); ++i)
    x = slice(b, x, i + 1, 0, conv.out[i], conv.stride[i]);
  int64_t pixels = conv.batch() * numElements(conv.out);
  x = reshape(b, x, {pixels, conv.channels()});
  Value w = reshape(b, conv.weight.value, {conv.features(), conv.channels()});
  Value acc = contract(b, {Operand(x, conv.input.dtype), {0, 2}},
                       {Operand(w, conv.weight.dtype), {1, 2}},
                       attrs(b, {pixels, conv.features()}));
  Value result = addBias(b, acc, conv.acc(), conv.bias, dtype);
  return reshape(b, result,
                 join({{conv.batch()}, conv.out, {conv.features()}}));
}

/// Windows side by side: each is a row of a matrix product.
Value patches(Lowering &b, const Conv &conv, Type dtype) {
  Value x = conv.input.value;
  SmallVector<int64_t> split = {conv.batch()}, perm = {0}, inner;
  for (int64_t i = 0; i < conv.spatial(); ++i) {
    x = slice(b, x, i + 1, 0, conv.out[i] * conv.window()[i]);
    perm.push_back(split.size());
    inner.push_back(split.size() + 1);
    split.append({conv.out[i], conv.window()[i]});
  }
  int64_t channelDim = split.size();
  split.push_back(conv.channels());
  x = reshape(b, x, split);
  // An image (few channels) comes as planes: keep the weight's own order and
  // copy the image.  Otherwise keep the channels together and reorder the
  // weight.
  Value w = conv.weight.value;
  if (conv.channels() < 16) {
    perm.push_back(channelDim);
    perm.append(inner.begin(), inner.end());
  } else {
    perm.append(inner.begin(), inner.end());
    perm.push_back(channelDim);
    SmallVector<int64_t> wPerm = {0};
    for (int64_t dim = 2; dim < rankOf(w); ++dim)
      wPerm.push_back(dim);
    wPerm.push_back(1);
    w = transpose(b, w, wPerm);
  }
  x = transpose(b, x, perm);
  int64_t rows = conv.batch() * numElements(conv.out);
  int64_t width = conv.channels() * numElements(conv.window());
  x = reshape(b, x, {rows, width});
  w = reshape(b, w, {conv.features(), width});
  Value acc = contract(b, {Operand(x, conv.input.dtype), {0, 2}},
                       {Operand(w, conv.weight.dtype), {1, 2}},
                       attrs(b, {rows, conv.features()}));
  Value result = addBias(b, acc, conv.acc(), conv.bias, dtype);
  return reshape(b, result,
                 join({{conv.batch()}, conv.out, {conv.features()}}));
}

Value conv2d(Lowering &b, const Conv &conv) {
  Value w = windowFirst(b, conv.weight.value, {1, 0});
  Value init =
      zeros(b, join({{conv.batch()}, conv.out, {conv.features()}}), conv.acc());
  return linalg::Conv2DNhwcHwcfOp::create(
             b, init.getType(), ValueRange{padded(b, conv), w}, init,
             b.getI64VectorAttr(conv.stride), b.getI64VectorAttr(conv.dilation))
      .getResult(0);
}

Value depthwise2d(Lowering &b, const Conv &conv) {
  int64_t channels = conv.channels(), multiplier = conv.features() / channels;
  Value w = windowFirst(b, conv.weight.value, {0, 1});
  auto strides = b.getI64VectorAttr(conv.stride),
       dilations = b.getI64VectorAttr(conv.dilation);
  SmallVector<int64_t> shape = join({{conv.batch()}, conv.out, {channels}});
  Value x = padded(b, conv);
  if (multiplier == 1) {
    w = dropDims(b, w, conv.spatial() + 1);
    Value init = zeros(b, shape, conv.acc());
    return linalg::DepthwiseConv2DNhwcHwcOp::create(
               b, init.getType(), ValueRange{x, w}, init, strides, dilations)
        .getResult(0);
  }
  w = reshape(b, w, join({conv.window(), {channels, multiplier}}));
  Value init = zeros(b, join({shape, {multiplier}}), conv.acc());
  Value result =
      linalg::DepthwiseConv2DNhwcHwcmOp::create(
          b, init.getType(), ValueRange{x, w}, init, strides, dilations)
          .getResult(0);
  return reshape(b, result,
                 join({{conv.batch()}, conv.out, {conv.features()}}));
}

/// Any number of dims and groups: loops (n, o..., g, f, k..., c).
Value grouped(Lowering &b, const Conv &conv) {
  int64_t d = conv.spatial(), groups = conv.groups;
  int64_t c = conv.channels() / groups, f = conv.features() / groups;
  Value x = padded(b, conv);
  x = reshape(b, x, join({shapeOf(x).drop_back(), {groups, c}}));
  Value w =
      reshape(b, conv.weight.value, join({{groups, f, c}, conv.window()}));
  SmallVector<int64_t> wPerm;
  for (int64_t i = 0; i < d; ++i)
    wPerm.push_back(3 + i);
  wPerm.append({0, 2, 1});
  w = transpose(b, w, wPerm);
  Value init =
      zeros(b, join({{conv.batch()}, conv.out, {groups, f}}), conv.acc());

  int64_t g = d + 1, feature = d + 2, window = d + 3, channel = 2 * d + 3,
          loops = 2 * d + 4;
  auto dim = [&](int64_t i) { return b.getAffineDimExpr(i); };
  SmallVector<AffineExpr> xExprs = {dim(0)}, wExprs, outExprs = {dim(0)};
  for (int64_t i = 0; i < d; ++i) {
    xExprs.push_back(dim(1 + i) * conv.stride[i] +
                     dim(window + i) * conv.dilation[i]);
    wExprs.push_back(dim(window + i));
    outExprs.push_back(dim(1 + i));
  }
  xExprs.append({dim(g), dim(channel)});
  wExprs.append({dim(g), dim(channel), dim(feature)});
  outExprs.append({dim(g), dim(feature)});
  SmallVector<IteratorType> iterators(loops, IteratorType::parallel);
  for (int64_t i = window; i < loops; ++i)
    iterators[i] = IteratorType::reduction;
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(loops, 0, exprs, b.getContext());
  };
  Type acc = conv.acc();
  Value result =
      generic(
          b,
          {{Operand(x, conv.input.dtype), map(xExprs)},
           {Operand(w, conv.weight.dtype), map(wExprs)}},
          init, acc, map(outExprs), iterators,
          [&](ArrayRef<Value> in, ArrayRef<Value> sum) -> SmallVector<Value> {
            Value product = mulScalar(
                b, acc, convertScalar(b, in[0], conv.input.dtype, acc),
                convertScalar(b, in[1], conv.weight.dtype, acc));
            return {addScalar(b, acc, sum[0], product)};
          })
          .front();
  return reshape(b, result,
                 join({{conv.batch()}, conv.out, {conv.features()}}));
}

/// [n, c, s...] to [n, s..., c], and back.
SmallVector<int64_t> channelsLast(int64_t rank) {
  SmallVector<int64_t> perm = {0};
  for (int64_t dim = 2; dim < rank; ++dim)
    perm.push_back(dim);
  perm.push_back(1);
  return perm;
}
SmallVector<int64_t> channelsFirst(int64_t rank) {
  SmallVector<int64_t> perm = {0, rank - 1};
  for (int64_t dim = 1; dim < rank - 1; ++dim)
    perm.push_back(dim);
  return perm;
}

LogicalResult lowerConvolution(aten::ConvolutionOp op, Lowering &b) {
  Operand input = b.operand(op.getInput()), weight = b.operand(op.getWeight());
  auto type = cast<RankedTensorType>(op.getType());
  if (op.getTransposed())
    return b.fail(op, "transposed convolutions");
  if (!isStatic(input.value) || !isStatic(weight.value) ||
      !type.hasStaticShape())
    return b.fail(op, "convolutions of dynamic sizes");
  int64_t rank = input.rank();
  if (rank < 3 || weight.rank() != rank || !isFloat(input.dtype))
    return b.fail(op, "convolutions of integers or without a batch dim");

  // One spatial dim becomes two.
  ArrayRef<int64_t> out = type.getShape().drop_front(2);
  bool widen = rank == 3;
  auto perDim = [&](ArrayRef<int64_t> values, int64_t first) {
    SmallVector<int64_t> result;
    if (widen)
      result.push_back(first);
    for (size_t i = 0; i < out.size(); ++i)
      result.push_back(values.size() == 1 ? values[0] : values[i]);
    return result;
  };
  if (widen) {
    input.value = expandDims(b, input.value, 2);
    weight.value = expandDims(b, weight.value, 2);
    ++rank;
  }
  Conv conv{Operand(transpose(b, input.value, channelsLast(rank)), input.dtype),
            weight,
            b.operand(op.getBias()),
            perDim(op.getStride(), 1),
            perDim(op.getPadding(), 0),
            perDim(op.getDilation(), 1),
            int64_t(op.getGroups()),
            widen ? join({{1}, out}) : SmallVector<int64_t>(out)};
  if (numElements(type.getShape()) == 0 || numElements(input.shape()) == 0)
    return b.fail(op, "convolutions without elements");

  Type dtype = type.getElementType();
  bool isPoint = llvm::all_of(conv.window(), [](int64_t k) { return k == 1; });
  bool isPatch = conv.isUnpadded() &&
                 ArrayRef<int64_t>(conv.stride) == conv.window() &&
                 llvm::all_of(conv.dilation, [](int64_t d) { return d == 1; });
  Value result;
  if (conv.groups == 1 && isPoint && conv.isUnpadded()) {
    result = pointwise(b, conv, dtype);
  } else if (conv.groups == 1 && isPatch) {
    result = patches(b, conv, dtype);
  } else {
    Value acc;
    if (conv.spatial() == 2 && conv.groups == 1)
      acc = conv2d(b, conv);
    else if (conv.spatial() == 2 && conv.groups == conv.channels())
      acc = depthwise2d(b, conv);
    else
      acc = grouped(b, conv);
    result = addBias(b, acc, conv.acc(), conv.bias, dtype);
  }
  result = transpose(b, result, channelsFirst(rank));
  if (widen)
    result = dropDims(b, result, 2);
  return b.replace(op, result);
}

} // namespace

void lowering::populateConvolutionLowerings(LoweringTable &table) {
  table.add<aten::ConvolutionOp>(lowerConvolution);
}
