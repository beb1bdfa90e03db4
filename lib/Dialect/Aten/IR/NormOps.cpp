//===- NormOps.cpp - normalisation, softmax, attention and losses --------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "ShapeHelpers.h"

using namespace mlir;
using namespace dynamo::aten;

void AtenDialect::registerNormOps() {
  addOperations<
#define GET_OP_LIST
#include "dynamo/Dialect/Aten/IR/NormOps.cpp.inc"
      >();
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Aten/IR/NormOps.cpp.inc"

/// Whether the last dimensions of input are normalized_shape (C6); returns how
/// many others there are.
static FailureOr<size_t> leadingDims(Operation *op, Value input,
                                     ArrayRef<int64_t> normalized) {
  ArrayRef<int64_t> shape = shapeOf(input);
  if (normalized.empty() || normalized.size() > shape.size())
    return broken(op, 7) << "normalized_shape has " << normalized.size()
                         << " elements, expected 1 to " << shape.size();
  size_t leading = shape.size() - normalized.size();
  Shape last(shape.drop_front(leading));
  if (failed(unifyShapes(op, last, normalized,
                         "last dimensions and normalized_shape")))
    return failure();
  return leading;
}

/// Input's shape with all but the leading dimensions 1.
static Shape statistics(Value input, size_t leading) {
  Shape shape = sizes(input);
  std::fill(shape.begin() + leading, shape.end(), 1);
  return shape;
}

/// C6: weight or bias, if there, has this shape.
static LogicalResult requireShape(Operation *op, StringRef name, Value value,
                                  ArrayRef<int64_t> expected) {
  if (!value)
    return success();
  Shape shape(expected);
  return unifyShapes(op, shape, shapeOf(value), "shape of " + name);
}

LogicalResult NativeLayerNormOp::inferShapes(Shapes &shapes) {
  FailureOr<size_t> leading =
      leadingDims(*this, getInput(), getNormalizedShape());
  if (failed(leading) ||
      failed(
          requireShape(*this, "weight", getWeight(), getNormalizedShape())) ||
      failed(requireShape(*this, "bias", getBias(), getNormalizedShape())))
    return failure();
  shapes.push_back(sizes(getInput()));
  shapes.append(2, statistics(getInput(), *leading));
  return success();
}

LogicalResult NativeLayerNormBackwardOp::inferShapes(Shapes &shapes) {
  FailureOr<size_t> leading =
      leadingDims(*this, getInput(), getNormalizedShape());
  if (failed(leading) ||
      failed(
          requireShape(*this, "weight", getWeight(), getNormalizedShape())) ||
      failed(
          requireShape(*this, "grad_out", getGradOut(), shapeOf(getInput()))) ||
      failed(requireShape(*this, "mean", getMean(),
                          statistics(getInput(), *leading))) ||
      failed(requireShape(*this, "rstd", getRstd(),
                          statistics(getInput(), *leading))) ||
      failed(requireResults(*this, getOutputMask(),
                            {getGradInput(), getGradWeight(), getGradBias()})))
    return failure();
  if (getGradInput())
    shapes.push_back(sizes(getInput()));
  if (getGradWeight())
    shapes.emplace_back(getNormalizedShape());
  if (getGradBias())
    shapes.emplace_back(getNormalizedShape());
  return success();
}

LogicalResult FusedRmsNormOp::inferShapes(Shapes &shapes) {
  FailureOr<size_t> leading =
      leadingDims(*this, getInput(), getNormalizedShape());
  if (failed(leading) ||
      failed(requireShape(*this, "weight", getWeight(), getNormalizedShape())))
    return failure();
  shapes.push_back(sizes(getInput()));
  shapes.push_back(statistics(getInput(), *leading));
  return success();
}

LogicalResult FusedRmsNormBackwardOp::inferShapes(Shapes &shapes) {
  FailureOr<size_t> leading =
      leadingDims(*this, getInput(), getNormalizedShape());
  if (failed(leading) ||
      failed(
          requireShape(*this, "weight", getWeight(), getNormalizedShape())) ||
      failed(
          requireShape(*this, "grad_out", getGradOut(), shapeOf(getInput()))) ||
      failed(requireShape(*this, "rstd", getRstd(),
                          statistics(getInput(), *leading))) ||
      failed(requireResults(*this, getOutputMask(),
                            {getGradInput(), getGradWeight()})))
    return failure();
  if (getGradInput())
    shapes.push_back(sizes(getInput()));
  if (getGradWeight())
    shapes.emplace_back(getNormalizedShape());
  return success();
}

/// C5, C6, C8: input is N x C x ... with HxW elements per channel.
template <typename GroupNormOp>
static LogicalResult checkGroups(GroupNormOp op) {
  Shape shape = sizes(op.getInput());
  if (shape.size() < 2)
    return broken(op, 5) << "input has rank " << shape.size()
                         << ", expected at least 2";
  int64_t plane = product(ArrayRef<int64_t>(shape).drop_front(2));
  if (failed(unify(op, shape[0], op.getN(), "batch size and N")) ||
      failed(unify(op, shape[1], op.getC(), "channels and C")) ||
      failed(unify(op, plane, op.getHxW(), "elements per channel and HxW")))
    return failure();
  int64_t groups = op.getGroup(), channels = op.getC();
  if (groups < 1 || channels % groups)
    return broken(op, 8) << "group " << groups << " does not divide C "
                         << channels;
  return requireShape(op, "weight", op.getWeight(), {channels});
}

LogicalResult NativeGroupNormOp::inferShapes(Shapes &shapes) {
  if (failed(checkGroups(*this)) ||
      failed(requireShape(*this, "bias", getBias(), {int64_t(getC())})))
    return failure();
  shapes.push_back(sizes(getInput()));
  shapes.append(2, Shape{int64_t(getN()), int64_t(getGroup())});
  return success();
}

LogicalResult NativeGroupNormBackwardOp::inferShapes(Shapes &shapes) {
  if (failed(checkGroups(*this)) ||
      failed(
          requireShape(*this, "grad_out", getGradOut(), shapeOf(getInput()))) ||
      failed(requireShape(*this, "mean", getMean(),
                          {int64_t(getN()), int64_t(getGroup())})) ||
      failed(requireShape(*this, "rstd", getRstd(),
                          {int64_t(getN()), int64_t(getGroup())})) ||
      failed(requireResults(*this, getOutputMask(),
                            {getGradInput(), getGradWeight(), getGradBias()})))
    return failure();
  if (getGradInput())
    shapes.push_back(sizes(getInput()));
  if (getGradWeight())
    shapes.push_back(Shape{int64_t(getC())});
  if (getGradBias())
    shapes.push_back(Shape{int64_t(getC())});
  return success();
}

/// C5, C6: the channels of input, which its vectors have as size.
static FailureOr<int64_t>
batchNormChannels(Operation *op, Value input,
                  ArrayRef<std::pair<StringRef, Value>> vectors) {
  ArrayRef<int64_t> shape = shapeOf(input);
  if (shape.size() < 2)
    return broken(op, 5) << "input has rank " << shape.size()
                         << ", expected at least 2";
  int64_t channels = shape[1];
  for (auto [name, vector] : vectors)
    if (vector && (failed(requireRank(op, name, vector, 1)) ||
                   failed(unify(op, channels, shapeOf(vector)[0],
                                "channels of input and size of " + name))))
      return failure();
  return channels;
}

// In eval mode eager returns saved statistics of size 0 on a CPU; their size is
// left open, since nothing reads them.
LogicalResult NativeBatchNormLegitNoTrainingOp::inferShapes(Shapes &shapes) {
  FailureOr<int64_t> channels =
      batchNormChannels(*this, getInput(),
                        {{"weight", getWeight()},
                         {"bias", getBias()},
                         {"running_mean", getRunningMean()},
                         {"running_var", getRunningVar()}});
  if (failed(channels))
    return failure();
  shapes.push_back(sizes(getInput()));
  shapes.append(2, Shape{kDynamic});
  return success();
}

LogicalResult NativeBatchNormLegitNoStatsOp::inferShapes(Shapes &shapes) {
  FailureOr<int64_t> channels = batchNormChannels(
      *this, getInput(), {{"weight", getWeight()}, {"bias", getBias()}});
  if (failed(channels))
    return failure();
  if (!getTraining())
    return broken(*this, 8)
           << "training is false, but there are no running statistics";
  shapes.push_back(sizes(getInput()));
  shapes.append(2, Shape{*channels});
  return success();
}

LogicalResult NativeBatchNormLegitFunctionalOp::inferShapes(Shapes &shapes) {
  FailureOr<int64_t> channels =
      batchNormChannels(*this, getInput(),
                        {{"weight", getWeight()},
                         {"bias", getBias()},
                         {"running_mean", getRunningMean()},
                         {"running_var", getRunningVar()}});
  if (failed(channels))
    return failure();
  shapes.push_back(sizes(getInput()));
  shapes.append(2, Shape{getTraining() ? *channels : kDynamic});
  shapes.append(2, Shape{*channels});
  return success();
}

LogicalResult NativeBatchNormBackwardOp::inferShapes(Shapes &shapes) {
  // save_mean and save_invstd count in training only, else they are empty.
  FailureOr<int64_t> channels = batchNormChannels(
      *this, getInput(),
      {{"weight", getWeight()},
       {"running_mean", getRunningMean()},
       {"running_var", getRunningVar()},
       {"save_mean", getTrain() ? getSaveMean() : Value()},
       {"save_invstd", getTrain() ? getSaveInvstd() : Value()}});
  if (failed(channels) ||
      failed(
          requireShape(*this, "grad_out", getGradOut(), shapeOf(getInput()))) ||
      failed(requireResults(*this, getOutputMask(),
                            {getGradInput(), getGradWeight(), getGradBias()})))
    return failure();
  if (getGradInput())
    shapes.push_back(sizes(getInput()));
  if (getGradWeight())
    shapes.push_back(Shape{*channels});
  if (getGradBias())
    shapes.push_back(Shape{*channels});
  return success();
}

#define SOFTMAX(OP)                                                            \
  LogicalResult OP::inferShapes(Shapes &shapes) {                              \
    shapes.push_back(sizes(getSelf()));                                        \
    return wrapDim(*this, getDim(), rankOf(getSelf()));                        \
  }
SOFTMAX(SoftmaxOp)
SOFTMAX(SafeSoftmaxOp)
SOFTMAX(LogSoftmaxOp)
#undef SOFTMAX

#define SOFTMAX_BACKWARD(OP)                                                   \
  LogicalResult OP::inferShapes(Shapes &shapes) {                              \
    shapes.push_back(sizes(getGradOutput()));                                  \
    if (failed(unifyShapes(*this, shapes.back(), shapeOf(getOutput()),         \
                           "shape of output")))                                \
      return failure();                                                        \
    return wrapDim(*this, getDim(), shapes.back().size());                     \
  }
SOFTMAX_BACKWARD(SoftmaxBackwardDataOp)
SOFTMAX_BACKWARD(LogSoftmaxBackwardDataOp)
#undef SOFTMAX_BACKWARD

/// C2, C5, C6: query [b, h, q, d], key and value [b, h, k, d], a mask that
/// broadcasts to [b, h, q, k].
template <typename AttentionOp>
static LogicalResult checkAttention(AttentionOp op) {
  if (failed(requireRank(op, "query", op.getQuery(), 4)) ||
      failed(requireRank(op, "key", op.getKey(), 4)) ||
      failed(requireRank(op, "value", op.getValue(), 4)))
    return failure();
  Shape query = sizes(op.getQuery()), key = sizes(op.getKey());
  if (failed(unifyShapes(op, key, shapeOf(op.getValue()),
                         "shapes of key and value")) ||
      failed(unify(op, query[0], key[0], "batch sizes of query and key")) ||
      failed(unify(op, query[1], key[1], "heads of query and key")) ||
      failed(unify(op, query[3], key[3], "head sizes of query and key")))
    return failure();
  if (Value mask = op.getAttnMask())
    return requireBroadcastTo(op, shapeOf(mask),
                              {query[0], query[1], query[2], key[2]});
  return success();
}

LogicalResult
ScaledDotProductFlashAttentionForCpuOp::inferShapes(Shapes &shapes) {
  if (failed(checkAttention(*this)))
    return failure();
  shapes.push_back(sizes(getQuery()));
  shapes.emplace_back(shapeOf(getQuery()).drop_back());
  return success();
}

LogicalResult
ScaledDotProductFlashAttentionForCpuBackwardOp::inferShapes(Shapes &shapes) {
  ArrayRef<int64_t> query = shapeOf(getQuery());
  if (failed(checkAttention(*this)) ||
      failed(requireShape(*this, "grad_out", getGradOut(), query)) ||
      failed(requireShape(*this, "out", getOut(), query)) ||
      failed(
          requireShape(*this, "logsumexp", getLogsumexp(), query.drop_back())))
    return failure();
  shapes.push_back(sizes(getQuery()));
  shapes.push_back(sizes(getKey()));
  shapes.push_back(sizes(getValue()));
  return success();
}

/// C8: torch's numbers for none, mean and sum.
static LogicalResult checkReduction(Operation *op, int64_t reduction) {
  if (reduction >= 0 && reduction <= 2)
    return success();
  return broken(op, 8) << "reduction " << reduction << " is not 0, 1 or 2";
}

LogicalResult MseLossOp::inferShapes(Shapes &shapes) {
  if (failed(checkReduction(*this, getReduction())) ||
      failed(inferBroadcast(*this, shapes)))
    return failure();
  if (getReduction() != 0)
    shapes.back().clear();
  return success();
}

/// C5, C6: self is [n, c] or [c], target [n] or a scalar, weight [c].
template <typename NllOp> static FailureOr<Shape> nllTargets(NllOp op) {
  Shape self = sizes(op.getSelf());
  if (self.empty() || self.size() > 2)
    return broken(op, 5) << "self has rank " << self.size()
                         << ", expected 1 or 2";
  int64_t classes = self.pop_back_val();
  if (failed(checkReduction(op, op.getReduction())) ||
      failed(unifyShapes(op, self, shapeOf(op.getTarget()),
                         "batches of self and target")) ||
      failed(requireShape(op, "weight", op.getWeight(), {classes})))
    return failure();
  return self;
}

LogicalResult NllLossForwardOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> targets = nllTargets(*this);
  if (failed(targets))
    return failure();
  shapes.push_back(getReduction() == 0 ? *targets : Shape());
  shapes.emplace_back();
  return success();
}

LogicalResult NllLossBackwardOp::inferShapes(Shapes &shapes) {
  FailureOr<Shape> targets = nllTargets(*this);
  if (failed(targets) ||
      failed(requireShape(*this, "grad_output", getGradOutput(),
                          getReduction() == 0 ? *targets : Shape())))
    return failure();
  shapes.push_back(sizes(getSelf()));
  return success();
}
