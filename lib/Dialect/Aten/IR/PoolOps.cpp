//===- PoolOps.cpp - pooling and resizing of planes ----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerPoolOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/PoolOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/PoolOps.cpp.inc"

/// The number of windows along one dimension, with torch's rule that a window
/// of ceil mode starts inside the input or its left padding.
static FailureOr<int64_t> windowCount(Operation *op, int64_t in, int64_t window,
                                      int64_t stride, int64_t padding,
                                      int64_t dilation, bool ceilMode) {
  if (window < 1 || stride < 1 || dilation < 1)
    return broken(op, 8) << "window, stride and dilation must be positive";
  if (padding < 0 || padding > window / 2)
    return broken(op, 8) << "padding " << padding << " is not in [0, "
                         << window / 2 << "], half the window";
  if (ShapedType::isDynamic(in))
    return kDynamic;
  int64_t room = in + 2 * padding - dilation * (window - 1) - 1;
  if (room + (ceilMode ? stride - 1 : 0) < 0)
    return broken(op, 8) << "window of " << dilation * (window - 1) + 1
                         << " does not fit into padded size "
                         << in + 2 * padding;
  int64_t count = (room + (ceilMode ? stride - 1 : 0)) / stride + 1;
  if (ceilMode && (count - 1) * stride >= in + padding)
    --count;
  return count;
}

/// The result's shape of pooling over the last `spatial` dimensions; one or no
/// leading batch dimension beside the channels.
static FailureOr<Shape> poolShape(Operation *op, Value self, size_t spatial,
                                  ArrayRef<int64_t> kernel,
                                  ArrayRef<int64_t> strides,
                                  ArrayRef<int64_t> paddings,
                                  ArrayRef<int64_t> dilations, bool ceilMode) {
  Shape shape = sizes(self);
  if (shape.size() != spatial + 1 && shape.size() != spatial + 2)
    return broken(op, 5) << "self has rank " << shape.size() << ", expected "
                         << spatial + 1 << " or " << spatial + 2;
  // One diagnostic: an empty stride takes its length from the window.
  FailureOr<SmallVector<int64_t>> window =
      expandList(op, "kernel_size", kernel, spatial);
  if (failed(window))
    return failure();
  FailureOr<SmallVector<int64_t>> stride =
      strides.empty() ? window : expandList(op, "stride", strides, spatial);
  if (failed(stride))
    return failure();
  FailureOr<SmallVector<int64_t>> padding =
      expandList(op, "padding", paddings, spatial);
  if (failed(padding))
    return failure();
  FailureOr<SmallVector<int64_t>> dilation =
      expandList(op, "dilation", dilations, spatial);
  if (failed(dilation))
    return failure();
  for (size_t i = 0; i < spatial; ++i) {
    int64_t &size = shape[shape.size() - spatial + i];
    FailureOr<int64_t> count =
        windowCount(op, size, (*window)[i], (*stride)[i], (*padding)[i],
                    (*dilation)[i], ceilMode);
    if (failed(count))
      return failure();
    size = *count;
  }
  return shape;
}

/// The shape of a gradient for self: self's own, if grad_output has that of the
/// forward's result.
static LogicalResult inferPoolBackward(Operation *op, FailureOr<Shape> forward,
                                       Value gradOutput, Value self,
                                       Shapes &shapes) {
  if (failed(forward) || failed(unifyShapes(op, *forward, shapeOf(gradOutput),
                                            "shape of grad_output")))
    return failure();
  shapes.push_back(sizes(self));
  return success();
}

LogicalResult MaxPool2dWithIndicesOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape =
      poolShape(*this, getSelf(), 2, getKernelSize(), getStride(), getPadding(),
                getDilation(), getCeilMode());
  if (failed(shape))
    return failure();
  shapes.append(2, *shape);
  return success();
}

LogicalResult MaxPool2dWithIndicesBackwardOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape =
      poolShape(*this, getSelf(), 2, getKernelSize(), getStride(), getPadding(),
                getDilation(), getCeilMode());
  if (succeeded(shape) &&
      failed(unifyShapes(*this, *shape, shapeOf(getIndices()),
                         "shape of indices")))
    return failure();
  return inferPoolBackward(*this, shape, getGradOutput(), getSelf(), shapes);
}

LogicalResult AvgPool1dOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape =
      poolShape(*this, getSelf(), 1, getKernelSize(), getStride(), getPadding(),
                {1}, getCeilMode());
  if (failed(shape))
    return failure();
  shapes.push_back(*shape);
  return success();
}

/// C8.
template <typename PoolOp> static FailureOr<Shape> avgPoolShape(PoolOp op) {
  if (op.getDivisorOverride() == 0)
    return broken(op, 8) << "divisor_override must not be 0";
  return poolShape(op, op.getSelf(), 2, op.getKernelSize(), op.getStride(),
                   op.getPadding(), {1}, op.getCeilMode());
}

LogicalResult AvgPool2dOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> shape = avgPoolShape(*this);
  if (failed(shape))
    return failure();
  shapes.push_back(*shape);
  return success();
}

LogicalResult AvgPool2dBackwardOp::inferShapes(Shapes &shapes) {
  return inferPoolBackward(*this, avgPoolShape(*this), getGradOutput(),
                           getSelf(), shapes);
}

LogicalResult AdaptiveAvgPool2dOp::inferShapes(Shapes &shapes) {
  Shape shape = sizes(getSelf());
  if (shape.size() != 3 && shape.size() != 4)
    return broken(*this, 5)
           << "self has rank " << shape.size() << ", expected 3 or 4";
  FailureOr<SmallVector<int64_t>> size =
      expandList(*this, "output_size", getOutputSize(), 2);
  if (failed(size))
    return failure();
  llvm::copy(*size, shape.end() - 2);
  shapes.push_back(std::move(shape));
  return success();
}

LogicalResult AdaptiveAvgPool2dBackwardOp::inferShapes(Shapes &shapes) {
  Shape grad = sizes(getGradOutput());
  if (grad.size() != 3 && grad.size() != 4)
    return broken(*this, 5)
           << "grad_output has rank " << grad.size() << ", expected 3 or 4";
  if (failed(requireRank(*this, "self", getSelf(), grad.size())))
    return failure();
  shapes.push_back(sizes(getSelf()));
  for (size_t i = 0; i + 2 < grad.size(); ++i)
    if (failed(unify(*this, shapes.back()[i], grad[i], "leading sizes")))
      return failure();
  return success();
}

/// [n, c, h, w] resized to [n, c, size...].
static LogicalResult inferResize(Operation *op, Value self,
                                 ArrayRef<int64_t> outputSize, Shapes &shapes) {
  if (failed(requireRank(op, "self", self, 4)))
    return failure();
  FailureOr<SmallVector<int64_t>> size =
      expandList(op, "output_size", outputSize, 2);
  if (failed(size))
    return failure();
  shapes.push_back(sizes(self));
  llvm::copy(*size, shapes.back().end() - 2);
  return success();
}

LogicalResult UpsampleNearest2dOp::inferShapes(Shapes &shapes) {
  return inferResize(*this, getSelf(), getOutputSize(), shapes);
}

LogicalResult UpsampleBilinear2dOp::inferShapes(Shapes &shapes) {
  return inferResize(*this, getSelf(), getOutputSize(), shapes);
}

/// The gradient has input_size; grad_output has output_size behind its first
/// two dimensions.
static LogicalResult inferResizeBackward(Operation *op, Value gradOutput,
                                         ArrayRef<int64_t> outputSize,
                                         ArrayRef<int64_t> inputSize,
                                         Shapes &shapes) {
  if (failed(requireRank(op, "grad_output", gradOutput, 4)))
    return failure();
  FailureOr<SmallVector<int64_t>> size =
      expandList(op, "output_size", outputSize, 2);
  if (failed(size))
    return failure();
  if (inputSize.size() != 4)
    return broken(op, 7) << "input_size has " << inputSize.size()
                         << " elements, expected 4";
  Shape expected{inputSize[0], inputSize[1], (*size)[0], (*size)[1]};
  if (failed(unifyShapes(op, expected, shapeOf(gradOutput),
                         "shape of grad_output")))
    return failure();
  shapes.emplace_back(inputSize);
  return success();
}

LogicalResult UpsampleNearest2dBackwardOp::inferShapes(Shapes &shapes) {
  return inferResizeBackward(*this, getGradOutput(), getOutputSize(),
                             getInputSize(), shapes);
}

LogicalResult UpsampleBilinear2dBackwardOp::inferShapes(Shapes &shapes) {
  return inferResizeBackward(*this, getGradOutput(), getOutputSize(),
                             getInputSize(), shapes);
}
