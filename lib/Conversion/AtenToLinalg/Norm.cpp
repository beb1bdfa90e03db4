//===- Norm.cpp - lower normalisations and their backward
//---------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layer, RMS, group and batch norm are one thing: statistics over some dims of
// a space, weights over some others. Each is a chain of generics over that
// space (sum, centred sum of squares, normalise) which read statistics and
// weights by their maps; nothing is broadcast in memory.
//
//   space                     statistics over     weights over
//   layer, RMS  [.., k dims]  the last k          the last k
//   group       [N, G, D, S]  D, S                G, D     (channels C = G * D)
//   batch       [N, C, ..]    all but C           C
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/AtenToLinalg/Expr.h"
#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace dynamo;
using namespace dynamo::lowering;

namespace {
/// One normalisation of `x`. Statistics are rank-reduced; `mean` is null for
/// RMS norm, weights are null where there are none.
struct Norm {
  Norm(Lowering &b, Operand x, SmallVector<int64_t> statDims,
       SmallVector<int64_t> weightDims)
      : b(b), x(x), statDims(std::move(statDims)),
        weightDims(std::move(weightDims)), acc(computeType(x.dtype)),
        sizes(sizesOf(b, x.value)) {}

  Input whole(Operand operand) const {
    return {operand, b.getMultiDimIdentityMap(x.rank())};
  }
  Input stat(Operand operand) const {
    return {operand, droppedDimsMap(b.getContext(), x.rank(), statDims)};
  }
  Input weights(Operand operand) const {
    return {operand, keptDimsMap(b.getContext(), x.rank(), weightDims)};
  }
  /// The dims over which the weights' gradients are summed.
  SmallVector<int64_t> outerDims() const {
    SmallVector<int64_t> dims;
    for (int64_t i = 0; i < x.rank(); ++i)
      if (!llvm::is_contained(weightDims, i))
        dims.push_back(i);
    return dims;
  }

  /// A generic over the whole space, computed in `acc`.
  Value map(ArrayRef<Input> inputs, Type dtype,
            function_ref<Expr(ArrayRef<Expr>)> body) const {
    return parallel(b, inputs, sizes, dtype,
                    [&](ArrayRef<Value> in) -> SmallVector<Value> {
                      return {body(converted(inputs, in)).to(dtype)};
                    })
        .front();
  }
  /// The sum over `dims`, in `acc`, of a formula.
  Operand sum(ArrayRef<Input> inputs, ArrayRef<int64_t> dims,
              function_ref<Expr(ArrayRef<Expr>)> body) const {
    return Operand(
        reduce(
            b, inputs, sizes, dims, numberConstant(b, acc, 0), acc,
            [&](ArrayRef<Value> in, ArrayRef<Value> out) -> SmallVector<Value> {
              return {Expr(b, acc, out[0]) + body(converted(inputs, in))};
            })
            .front());
  }
  /// A formula over tensors of one shape (statistics or weights), in `acc`.
  Operand each(ArrayRef<Operand> operands,
               function_ref<Expr(ArrayRef<Expr>)> body) const {
    auto type = RankedTensorType::get(operands[0].shape(), acc);
    return Operand(
        elementwise(b, operands, type, acc, [&](ArrayRef<Value> in) -> Value {
          SmallVector<Expr> scalars;
          for (Value scalar : in)
            scalars.push_back({b, acc, scalar});
          return body(scalars);
        }));
  }
  SmallVector<Expr> converted(ArrayRef<Input> inputs,
                              ArrayRef<Value> scalars) const {
    SmallVector<Expr> result;
    for (auto [input, scalar] : llvm::zip_equal(inputs, scalars))
      result.push_back(Expr(b, input.operand.dtype, scalar).to(acc));
    return result;
  }

  Operand count() const { return countOf(b, x, statDims, acc); }

  /// mean, and rstd = 1 / sqrt(sum of centred squares / n + eps).
  void computeStatistics(double eps) {
    mean = Operand(meanOver(b, x, statDims, acc));
    squares = Operand(centredSquaresOver(b, x, mean.value, statDims, acc));
    rstd = each({squares, count()}, [&](ArrayRef<Expr> in) {
      return 1.0 / sqrt(in[0] / in[1] + eps);
    });
  }
  /// RMS norm: rstd = 1 / sqrt(mean of squares + eps).
  void computeRms(double eps) {
    squares = sum(whole(x), statDims,
                  [](ArrayRef<Expr> in) { return in[0] * in[0]; });
    rstd = each({squares, count()}, [&](ArrayRef<Expr> in) {
      return 1.0 / sqrt(in[0] / in[1] + eps);
    });
  }

  /// (x - mean) * rstd * weight + bias
  Value normalise(Type dtype) const {
    SmallVector<Input> inputs = {whole(x), stat(rstd)};
    if (mean)
      inputs.push_back(stat(mean));
    if (weight)
      inputs.push_back(weights(weight));
    if (bias)
      inputs.push_back(weights(bias));
    return map(inputs, dtype, [&](ArrayRef<Expr> in) {
      unsigned next = 2;
      Expr y = mean ? in[0] - in[next++] : in[0];
      y = y * in[1];
      if (weight)
        y = y * in[next++];
      return bias ? y + in[next] : y;
    });
  }

  /// x * scale + shift with scale = rstd * weight, shift = bias - mean * scale:
  /// for statistics over the dims that are not the weights'.
  Value scaleAndShift(Type dtype) const {
    Operand scale = rstd, shift;
    if (weight)
      scale =
          each({rstd, weight}, [](ArrayRef<Expr> in) { return in[0] * in[1]; });
    if (bias)
      shift = each({mean, scale, bias},
                   [](ArrayRef<Expr> in) { return in[2] - in[0] * in[1]; });
    else
      shift = each({mean, scale},
                   [](ArrayRef<Expr> in) { return -(in[0] * in[1]); });
    return map({whole(x), weights(scale), weights(shift)}, dtype,
               [](ArrayRef<Expr> in) { return in[0] * in[1] + in[2]; });
  }

  /// With g = grad * weight and y = (x - mean) * rstd:
  /// rstd * (g - mean(g) - y * mean(g * y)), without mean(g) for RMS norm.
  Value gradInput(Operand grad, Type dtype) const {
    SmallVector<Input> inputs = {whole(grad), whole(x), stat(rstd)};
    if (mean)
      inputs.push_back(stat(mean));
    if (weight)
      inputs.push_back(weights(weight));
    auto g = [&](ArrayRef<Expr> in) {
      return weight ? in[0] * in[mean ? 4 : 3] : in[0];
    };
    auto y = [&](ArrayRef<Expr> in) {
      return (mean ? in[1] - in[3] : in[1]) * in[2];
    };
    auto meanOf = [&](Operand total) {
      return each({total, count()},
                  [](ArrayRef<Expr> in) { return in[0] / in[1]; });
    };
    Operand meanGy = meanOf(sum(
        inputs, statDims, [&](ArrayRef<Expr> in) { return g(in) * y(in); }));
    Operand meanG;
    if (mean)
      meanG = meanOf(sum(inputs, statDims, g));
    SmallVector<Input> all = inputs;
    all.push_back(stat(meanGy));
    if (mean)
      all.push_back(stat(meanG));
    unsigned first = inputs.size();
    return map(all, dtype, [&](ArrayRef<Expr> in) {
      Expr rest = g(in);
      if (mean)
        rest = rest - in[first + 1];
      return (rest - y(in) * in[first]) * in[2];
    });
  }

  /// sum of grad * (x - mean) * rstd
  Operand gradWeight(Operand grad) const {
    SmallVector<Input> inputs = {whole(grad), whole(x), stat(rstd)};
    if (mean)
      inputs.push_back(stat(mean));
    return sum(inputs, outerDims(), [&](ArrayRef<Expr> in) {
      return in[0] * ((mean ? in[1] - in[3] : in[1]) * in[2]);
    });
  }

  Operand gradBias(Operand grad) const {
    return sum(whole(grad), outerDims(),
               [](ArrayRef<Expr> in) { return in[0]; });
  }

  Lowering &b;
  Operand x;
  SmallVector<int64_t> statDims, weightDims;
  Type acc;
  SmallVector<OpFoldResult> sizes;
  Operand mean, rstd, squares, weight, bias;
};
} // namespace

static SmallVector<int64_t> lastDims(int64_t rank, int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(rank - count, rank));
}

/// A saved statistic (keeps its dims as 1) without these dims.
static Operand savedStatistic(Lowering &b, Value original,
                              ArrayRef<int64_t> dims) {
  Operand saved = b.operand(original);
  saved.value = dropDims(b, saved.value, dims);
  return saved;
}

//===----------------------------------------------------------------------===//
// Layer norm and RMS norm
//===----------------------------------------------------------------------===//

template <typename OpT> static Norm layerNormOf(OpT op, Lowering &b) {
  Operand x = b.operand(op.getInput());
  SmallVector<int64_t> dims =
      lastDims(x.rank(), op.getNormalizedShape().size());
  Norm norm(b, x, dims, dims);
  norm.weight = b.operand(op.getWeight());
  return norm;
}

/// A statistic as the op returns it: the reduced dims are 1.
static Value keptStatistic(Lowering &b, Operand statistic, Value original,
                           ArrayRef<int64_t> dims) {
  return expandDims(b, convertTensor(b, statistic, dtypeOf(original)), dims);
}

static LogicalResult lowerLayerNorm(aten::NativeLayerNormOp op, Lowering &b) {
  Norm norm = layerNormOf(op, b);
  norm.bias = b.operand(op.getBias());
  norm.computeStatistics(op.getEps().convertToDouble());
  return b.replace(op,
                   {norm.normalise(dtypeOf(op.getResult())),
                    keptStatistic(b, norm.mean, op.getMean(), norm.statDims),
                    keptStatistic(b, norm.rstd, op.getRstd(), norm.statDims)});
}

static LogicalResult lowerRmsNorm(aten::FusedRmsNormOp op, Lowering &b) {
  Norm norm = layerNormOf(op, b);
  double eps = 0;
  if (op.getEps()) {
    eps = op.getEps()->convertToDouble();
  } else {
    // The distance of 1 to the next number of the compute type.
    eps = norm.acc.isF64() ? std::numeric_limits<double>::epsilon()
                           : double(std::numeric_limits<float>::epsilon());
  }
  norm.computeRms(eps);
  return b.replace(op,
                   {norm.normalise(dtypeOf(op.getResult())),
                    keptStatistic(b, norm.rstd, op.getRstd(), norm.statDims)});
}

/// The gradients that are results, in order; `fold` gives a weight's gradient
/// its shape.
template <typename OpT>
static LogicalResult
replaceGradients(OpT op, Lowering &b, const Norm &norm, Operand grad,
                 function_ref<Value(Value, Type)> foldInput,
                 function_ref<Value(Value, Type)> foldWeight) {
  SmallVector<Value> results;
  if (Value original = op.getGradInput())
    results.push_back(foldInput(norm.gradInput(grad, dtypeOf(original)),
                                convertType(original.getType())));
  if (Value original = op.getGradWeight())
    results.push_back(
        foldWeight(convertTensor(b, norm.gradWeight(grad), dtypeOf(original)),
                   convertType(original.getType())));
  if constexpr (!std::is_same_v<OpT, aten::FusedRmsNormBackwardOp>) {
    if (Value original = op.getGradBias())
      results.push_back(
          foldWeight(convertTensor(b, norm.gradBias(grad), dtypeOf(original)),
                     convertType(original.getType())));
  }
  return b.replace(op, results);
}

template <typename OpT>
static LogicalResult lowerLayerNormBackward(OpT op, Lowering &b) {
  Norm norm = layerNormOf(op, b);
  norm.rstd = savedStatistic(b, op.getRstd(), norm.statDims);
  if constexpr (std::is_same_v<OpT, aten::NativeLayerNormBackwardOp>)
    norm.mean = savedStatistic(b, op.getMean(), norm.statDims);
  auto same = [](Value value, Type) { return value; };
  return replaceGradients(op, b, norm, b.operand(op.getGradOut()), same, same);
}

//===----------------------------------------------------------------------===//
// Group norm
//===----------------------------------------------------------------------===//

namespace {
/// Views of a group norm's tensors: input [N, C, ..] as [N, G, D, S] (or
/// [N, G, D] without spatial dims), weights [C] as [G, D].
struct Groups {
  Groups(Lowering &b, RankedTensorType input, int64_t groups)
      : b(b), original(input), groups(groups),
        depth(input.getDimSize(1) / std::max<int64_t>(groups, 1)) {}

  Value split(Value tensor) const {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (type.getRank() > 3) {
      ReassociationIndices spatial;
      for (int64_t i = 2; i < type.getRank(); ++i)
        spatial.push_back(i);
      SmallVector<ReassociationIndices> collapsed = {{0}, {1}, spatial};
      tensor = tensor::CollapseShapeOp::create(b, tensor, collapsed);
      type = cast<RankedTensorType>(tensor.getType());
    }
    SmallVector<int64_t> shape = {type.getDimSize(0), groups, depth};
    SmallVector<ReassociationIndices> reassociation = {{0}, {1, 2}};
    if (type.getRank() == 3) {
      shape.push_back(type.getDimSize(2));
      reassociation.push_back({3});
    }
    return tensor::ExpandShapeOp::create(b, type.clone(shape), tensor,
                                         reassociation);
  }

  Value join(Value tensor, RankedTensorType type) const {
    auto from = cast<RankedTensorType>(tensor.getType());
    SmallVector<ReassociationIndices> reassociation = {{0}, {1, 2}};
    if (from.getRank() == 4)
      reassociation.push_back({3});
    tensor = tensor::CollapseShapeOp::create(b, tensor, reassociation);
    if (type.getRank() <= 3)
      return tensor;
    ReassociationIndices spatial;
    for (int64_t i = 2; i < type.getRank(); ++i)
      spatial.push_back(i);
    SmallVector<ReassociationIndices> expanded = {{0}, {1}, spatial};
    return tensor::ExpandShapeOp::create(b, type, tensor, expanded);
  }

  Operand splitWeight(Operand weight) const {
    if (!weight)
      return weight;
    SmallVector<ReassociationIndices> reassociation = {{0, 1}};
    weight.value = tensor::ExpandShapeOp::create(
        b, weight.type().clone({groups, depth}), weight.value, reassociation);
    return weight;
  }

  Value joinWeight(Value weight) const {
    SmallVector<ReassociationIndices> reassociation = {{0, 1}};
    return tensor::CollapseShapeOp::create(b, weight, reassociation);
  }

  Norm norm(Value input) const {
    Operand x = b.operand(input);
    x.value = split(x.value);
    SmallVector<int64_t> statDims = lastDims(x.rank(), x.rank() - 2);
    return Norm(b, x, statDims, {1, 2});
  }

  Lowering &b;
  RankedTensorType original;
  int64_t groups, depth;
};
} // namespace

template <typename OpT> static FailureOr<Groups> groupsOf(OpT op, Lowering &b) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  if (!type.hasStaticShape() || type.getNumElements() == 0 ||
      type.getRank() < 2)
    return b.fail(op, "group norm of dynamic or empty shape");
  return Groups(b, type, int64_t(op.getGroup()));
}

static LogicalResult lowerGroupNorm(aten::NativeGroupNormOp op, Lowering &b) {
  FailureOr<Groups> groups = groupsOf(op, b);
  if (failed(groups))
    return failure();
  Norm norm = groups->norm(op.getInput());
  norm.weight = groups->splitWeight(b.operand(op.getWeight()));
  norm.bias = groups->splitWeight(b.operand(op.getBias()));
  norm.computeStatistics(op.getEps().convertToDouble());
  Value result = groups->join(norm.normalise(dtypeOf(op.getResult())),
                              cast<RankedTensorType>(op.getResult().getType()));
  return b.replace(op,
                   {result, convertTensor(b, norm.mean, dtypeOf(op.getMean())),
                    convertTensor(b, norm.rstd, dtypeOf(op.getRstd()))});
}

static LogicalResult lowerGroupNormBackward(aten::NativeGroupNormBackwardOp op,
                                            Lowering &b) {
  FailureOr<Groups> groups = groupsOf(op, b);
  if (failed(groups))
    return failure();
  Norm norm = groups->norm(op.getInput());
  norm.weight = groups->splitWeight(b.operand(op.getWeight()));
  norm.mean = b.operand(op.getMean());
  norm.rstd = b.operand(op.getRstd());
  Operand grad = b.operand(op.getGradOut());
  grad.value = groups->split(grad.value);
  return replaceGradients(
      op, b, norm, grad,
      [&](Value value, Type type) {
        return groups->join(value, cast<RankedTensorType>(type));
      },
      [&](Value value, Type) { return groups->joinWeight(value); });
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

template <typename OpT> static Norm batchNormOf(OpT op, Lowering &b) {
  Operand x = b.operand(op.getInput());
  SmallVector<int64_t> statDims;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != 1)
      statDims.push_back(i);
  Norm norm(b, x, statDims, {1});
  norm.weight = b.operand(op.getWeight());
  return norm;
}

/// 1 / sqrt(running_var + eps)
static Operand runningRstd(Norm &norm, Operand runningVar, double eps) {
  return norm.each(runningVar,
                   [&](ArrayRef<Expr> in) { return 1.0 / sqrt(in[0] + eps); });
}

static LogicalResult
lowerBatchNormNoTraining(aten::NativeBatchNormLegitNoTrainingOp op,
                         Lowering &b) {
  Norm norm = batchNormOf(op, b);
  norm.bias = b.operand(op.getBias());
  norm.mean = b.operand(op.getRunningMean());
  norm.rstd = runningRstd(norm, b.operand(op.getRunningVar()),
                          op.getEps().convertToDouble());
  SmallVector<Value> results = {norm.scaleAndShift(dtypeOf(op.getResult()))};
  // Eager saves no statistics here: the results have no elements.
  for (Value saved : {op.getSaveMean(), op.getSaveRstd()}) {
    auto type = cast<RankedTensorType>(saved.getType());
    if (!type.hasStaticShape() || type.getNumElements() != 0)
      return b.fail(op, "saved statistics that are not empty");
    results.push_back(
        emptyTensor(b, getAsIndexOpFoldResult(b.getContext(), type.getShape()),
                    type.getElementType()));
  }
  return b.replace(op, results);
}

/// The result and the saved statistics of a batch norm in training.
template <typename OpT>
static FailureOr<SmallVector<Value>> trainBatchNorm(OpT op, Lowering &b,
                                                    Norm &norm) {
  if (!op.getTraining())
    return b.fail(op, "batch norm that is not training");
  norm.bias = b.operand(op.getBias());
  norm.computeStatistics(op.getEps().convertToDouble());
  return SmallVector<Value>{
      norm.scaleAndShift(dtypeOf(op.getResult())),
      convertTensor(b, norm.mean, dtypeOf(op.getSaveMean())),
      convertTensor(b, norm.rstd, dtypeOf(op.getSaveRstd()))};
}

static LogicalResult
lowerBatchNormNoStats(aten::NativeBatchNormLegitNoStatsOp op, Lowering &b) {
  Norm norm = batchNormOf(op, b);
  FailureOr<SmallVector<Value>> results = trainBatchNorm(op, b, norm);
  if (failed(results))
    return failure();
  return b.replace(op, *results);
}

static LogicalResult
lowerBatchNormFunctional(aten::NativeBatchNormLegitFunctionalOp op,
                         Lowering &b) {
  Norm norm = batchNormOf(op, b);
  FailureOr<SmallVector<Value>> results = trainBatchNorm(op, b, norm);
  if (failed(results))
    return failure();
  double momentum = op.getMomentum().convertToDouble();
  auto blend = [&](Expr running, Expr now) {
    return momentum * now + (1.0 - momentum) * running;
  };
  Operand mean =
      norm.each({norm.mean, b.operand(op.getRunningMean())},
                [&](ArrayRef<Expr> in) { return blend(in[1], in[0]); });
  // The running variance is the unbiased one.
  Operand var = norm.each(
      {norm.squares, b.operand(op.getRunningVar()), norm.count()},
      [&](ArrayRef<Expr> in) { return blend(in[1], in[0] / (in[2] - 1.0)); });
  results->push_back(convertTensor(b, mean, dtypeOf(op.getNewRunningMean())));
  results->push_back(convertTensor(b, var, dtypeOf(op.getNewRunningVar())));
  return b.replace(op, *results);
}

static LogicalResult lowerBatchNormBackward(aten::NativeBatchNormBackwardOp op,
                                            Lowering &b) {
  Norm norm = batchNormOf(op, b);
  Operand grad = b.operand(op.getGradOut());
  auto same = [](Value value, Type) { return value; };
  if (op.getTrain()) {
    if (!op.getSaveMean() || !op.getSaveInvstd())
      return b.fail(op, "training without saved statistics");
    norm.mean = b.operand(op.getSaveMean());
    norm.rstd = b.operand(op.getSaveInvstd());
    return replaceGradients(op, b, norm, grad, same, same);
  }
  if (!op.getRunningMean() || !op.getRunningVar())
    return b.fail(op, "inference without running statistics");
  norm.mean = b.operand(op.getRunningMean());
  norm.rstd = runningRstd(norm, b.operand(op.getRunningVar()),
                          op.getEps().convertToDouble());
  // The statistics are constants: grad * rstd * weight.
  SmallVector<Value> results;
  if (Value original = op.getGradInput()) {
    SmallVector<Input> inputs = {norm.whole(grad), norm.weights(norm.rstd)};
    if (norm.weight)
      inputs.push_back(norm.weights(norm.weight));
    results.push_back(
        norm.map(inputs, dtypeOf(original), [&](ArrayRef<Expr> in) {
          Expr scaled = in[0] * in[1];
          return norm.weight ? scaled * in[2] : scaled;
        }));
  }
  if (Value original = op.getGradWeight())
    results.push_back(
        convertTensor(b, norm.gradWeight(grad), dtypeOf(original)));
  if (Value original = op.getGradBias())
    results.push_back(convertTensor(b, norm.gradBias(grad), dtypeOf(original)));
  return b.replace(op, results);
}

void lowering::populateNormLowerings(LoweringTable &table) {
  using namespace dynamo::aten;
  table.add<NativeLayerNormOp>(lowerLayerNorm);
  table.add<NativeLayerNormBackwardOp>(
      lowerLayerNormBackward<NativeLayerNormBackwardOp>);
  table.add<FusedRmsNormOp>(lowerRmsNorm);
  table.add<FusedRmsNormBackwardOp>(
      lowerLayerNormBackward<FusedRmsNormBackwardOp>);
  table.add<NativeGroupNormOp>(lowerGroupNorm);
  table.add<NativeGroupNormBackwardOp>(lowerGroupNormBackward);
  table.add<NativeBatchNormLegitNoTrainingOp>(lowerBatchNormNoTraining);
  table.add<NativeBatchNormLegitNoStatsOp>(lowerBatchNormNoStats);
  table.add<NativeBatchNormLegitFunctionalOp>(lowerBatchNormFunctional);
  table.add<NativeBatchNormBackwardOp>(lowerBatchNormBackward);
}
