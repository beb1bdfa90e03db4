//===- Lowering.h - how one aten op is lowered to linalg
//----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `convert-aten-to-linalg` visits the ops of a function once, in program order,
// and calls for each the lowering function found by its op class.  This is not
// MLIR's dialect conversion: P1 is straight-line code whose types change in one
// known way (bool and uint8 become bytes), so one ordered sweep with a value
// map does the same work at a tenth of the compile time, and a lowering that
// fails half way is undone by erasing what it inserted.
//
// A family of ops is one .cpp file with `LogicalResult lowerX(aten::XOp op,
// Lowering &b)` functions and one `populate<Family>Lowerings(LoweringTable &)`.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_CONVERSION_ATENTOLINALG_LOWERING_H
#define DYNAMO_CONVERSION_ATENTOLINALG_LOWERING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <optional>
#include <string>

namespace dynamo::lowering {

/// The element type in which P2 stores `dtype` (an element type of P1): i1 and
/// ui8 are i8, other unsigned integers are signless, all else is unchanged.
mlir::Type storageType(mlir::Type dtype);

/// `type` with its element type stored as in P2; anything but a ranked tensor
/// is unchanged.
mlir::Type convertType(mlir::Type type);

/// The element type of `type` if P2 stores its elements in another one, else
/// null.
mlir::Type changedDtype(mlir::Type type);

/// A value of P2 together with the dtype it has in P1: a tensor, or a builtin
/// number (i1, i64, f64) when `isNumber()`.
struct Operand {
  mlir::Value value;
  mlir::Type dtype;

  Operand() = default;
  Operand(mlir::Value value, mlir::Type dtype) : value(value), dtype(dtype) {}
  /// A P2 tensor whose dtype is its element type (never bool or uint8).
  explicit Operand(mlir::Value value);

  explicit operator bool() const { return static_cast<bool>(value); }
  bool isNumber() const {
    return !llvm::isa<mlir::RankedTensorType>(value.getType());
  }
  mlir::RankedTensorType type() const {
    return llvm::cast<mlir::RankedTensorType>(value.getType());
  }
  int64_t rank() const { return type().getRank(); }
  llvm::ArrayRef<int64_t> shape() const { return type().getShape(); }
};

/// The builder that a lowering function works with.  It inserts before the op
/// being lowered, at that op's location, and knows the P2 value of every P1
/// value.  `b.operand(op.getSelf())` is how a lowering reads its operands; P1
/// types (so dtypes) stay readable on `op` itself.
class Lowering : public mlir::ImplicitLocOpBuilder {
public:
  explicit Lowering(mlir::MLIRContext *context)
      : ImplicitLocOpBuilder(mlir::UnknownLoc::get(context), context) {}

  /// The P2 value that stands for `original`.
  mlir::Value get(mlir::Value original) const {
    return values.lookup_or(original, original);
  }
  /// The same with its dtype; a null `original` (an absent optional operand)
  /// gives a null Operand.
  Operand operand(mlir::Value original) const {
    if (!original)
      return {};
    return {get(original), mlir::getElementTypeOrSelf(original.getType())};
  }

  /// Makes `newValues` (P2 types of the op's results; null for a result without
  /// uses) stand for the results of `op`.
  mlir::LogicalResult replace(mlir::Operation *op, mlir::ValueRange newValues);

  /// Why `op` can't be lowered.  What the lowering has inserted so far is
  /// erased.
  mlir::LogicalResult fail(mlir::Operation *op, const llvm::Twine &reason);

  /// A condition on the data that is emitted already (see Checks.h).
  struct Check {
    mlir::Value value;
    mlir::Type dtype;
    int64_t low, high;
    std::optional<int64_t> exception;
    bool operator==(const Check &other) const {
      return value == other.value && dtype == other.dtype && low == other.low &&
             high == other.high && exception == other.exception;
    }
  };
  llvm::SmallVector<Check> checks;

private:
  friend class Driver;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  std::string failure;
};

/// Lowering functions by op class.
class LoweringTable {
public:
  using Fn = std::function<mlir::LogicalResult(mlir::Operation *, Lowering &)>;

  /// Adds the lowering of `OpT`, one function per op class.
  template <typename OpT, typename F> void add(F &&lower) {
    bool added = fns.try_emplace(mlir::TypeID::get<OpT>(),
                                 [lower = std::forward<F>(lower)](
                                     mlir::Operation *op, Lowering &b) {
                                   return lower(llvm::cast<OpT>(op), b);
                                 })
                     .second;
    assert(added && "an op has one lowering");
    (void)added;
  }

  const Fn *find(mlir::Operation *op) const {
    std::optional<mlir::RegisteredOperationName> name = op->getRegisteredInfo();
    if (!name)
      return nullptr;
    auto it = fns.find(name->getTypeID());
    return it == fns.end() ? nullptr : &it->second;
  }

private:
  llvm::DenseMap<mlir::TypeID, Fn> fns;
};

/// One per family file; AtenToLinalg.cpp calls them all.
void populateActivationLowerings(LoweringTable &table);
void populateAttentionLowerings(LoweringTable &table);
void populateConvolutionLowerings(LoweringTable &table);
void populateDivisionLowerings(LoweringTable &table);
void populateFactoryLowerings(LoweringTable &table);
void populateIndexingLowerings(LoweringTable &table);
void populateLinearLowerings(LoweringTable &table);
void populateLossLowerings(LoweringTable &table);
void populateNormLowerings(LoweringTable &table);
void populatePointwiseLowerings(LoweringTable &table);
void populatePoolingLowerings(LoweringTable &table);
void populateReductionLowerings(LoweringTable &table);
void populateScanLowerings(LoweringTable &table);
void populateShapeLowerings(LoweringTable &table);
void populateSoftmaxLowerings(LoweringTable &table);
void populateUnaryLowerings(LoweringTable &table);

} // namespace dynamo::lowering

#endif // DYNAMO_CONVERSION_ATENTOLINALG_LOWERING_H
