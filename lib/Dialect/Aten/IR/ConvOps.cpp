//===- ConvOps.cpp - convolutions ----------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerConvOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/ConvOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/ConvOps.cpp.inc"

namespace {
/// The lists of a convolution, one element per spatial dimension.
struct ConvLists {
  SmallVector<int64_t> stride, padding, dilation, outputPadding;
};
} // namespace

/// C7, C8.
template <typename ConvOp>
static FailureOr<ConvLists> convLists(ConvOp op, size_t spatial) {
  ConvLists lists;
  auto expand = [&](StringRef name, ArrayRef<int64_t> list,
                    SmallVector<int64_t> &into) {
    FailureOr<SmallVector<int64_t>> expanded =
        expandList(op, name, list, spatial);
    if (succeeded(expanded))
      into = *expanded;
    return LogicalResult(expanded);
  };
  if (failed(expand("stride", op.getStride(), lists.stride)) ||
      failed(expand("padding", op.getPadding(), lists.padding)) ||
      failed(expand("dilation", op.getDilation(), lists.dilation)) ||
      failed(
          expand("output_padding", op.getOutputPadding(), lists.outputPadding)))
    return failure();
  for (size_t i = 0; i < spatial; ++i) {
    if (lists.stride[i] < 1 || lists.dilation[i] < 1)
      return broken(op, 8) << "stride and dilation must be positive";
    if (lists.padding[i] < 0 || lists.outputPadding[i] < 0)
      return broken(op, 8) << "padding must not be negative";
  }
  if (op.getGroups() < 1)
    return broken(op, 8) << "groups must be positive";
  return lists;
}

/// The result's shape of a convolution of these two shapes.
template <typename ConvOp>
static FailureOr<Shape> convShape(ConvOp op, Value inputValue,
                                  Value weightValue) {
  ArrayRef<int64_t> input = shapeOf(inputValue), weight = shapeOf(weightValue);
  if (weight.size() < 3)
    return broken(op, 5) << "weight has rank " << weight.size()
                         << ", expected at least 3";
  if (failed(requireRank(op, "input", inputValue, weight.size())))
    return failure();
  FailureOr<ConvLists> lists = convLists(op, weight.size() - 2);
  if (failed(lists))
    return failure();
  int64_t groups = op.getGroups();
  auto times = [](int64_t a, int64_t b) {
    return ShapedType::isDynamic(a) ? kDynamic : a * b;
  };
  int64_t channels = op.getTransposed() ? weight[0] : times(weight[1], groups);
  if (failed(unify(op, channels, input[1], "channels of weight and input")))
    return failure();
  int64_t outChannels =
      op.getTransposed() ? times(weight[1], groups) : weight[0];
  if (!ShapedType::isDynamic(weight[0]) && weight[0] % groups)
    return broken(op, 8) << "groups " << groups << " does not divide "
                         << weight[0];
  Shape shape{input[0], outChannels};
  for (size_t i = 0; i < weight.size() - 2; ++i) {
    int64_t in = input[i + 2], window = weight[i + 2];
    if (ShapedType::isDynamic(in) || ShapedType::isDynamic(window)) {
      shape.push_back(kDynamic);
      continue;
    }
    int64_t extent = lists->dilation[i] * (window - 1) + 1,
            pad = 2 * lists->padding[i];
    if (op.getTransposed()) {
      int64_t size =
          (in - 1) * lists->stride[i] - pad + extent + lists->outputPadding[i];
      if (size < 0)
        return broken(op, 8)
               << "spatial dimension " << i << " would have size " << size;
      shape.push_back(size);
      continue;
    }
    if (in + pad < extent)
      return broken(op, 8) << "window of " << extent
                           << " does not fit into padded size " << in + pad;
    shape.push_back((in + pad - extent) / lists->stride[i] + 1);
  }
  return shape;
}

LogicalResult ConvolutionOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape = convShape(*this, getInput(), getWeight());
  if (failed(shape))
    return failure();
  if (Value bias = getBias()) {
    int64_t channels = (*shape)[1];
    if (failed(requireRank(*this, "bias", bias, 1)) ||
        failed(unify(*this, channels, shapeOf(bias)[0],
                     "channels of weight and bias")))
      return failure();
  }
  shapes.push_back(*shape);
  return success();
}

LogicalResult ConvolutionBackwardOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape = convShape(*this, getInput(), getWeight());
  if (failed(shape) ||
      failed(unifyShapes(*this, *shape, shapeOf(getGradOutput()),
                         "shape of grad_output")) ||
      failed(requireResults(*this, getOutputMask(),
                            {getGradInput(), getGradWeight(), getGradBias()})))
    return failure();
  if (getGradInput())
    shapes.push_back(sizes(getInput()));
  if (getGradWeight())
    shapes.push_back(sizes(getWeight()));
  if (getGradBias())
    shapes.push_back(Shape{(*shape)[1]});
  return success();
}
