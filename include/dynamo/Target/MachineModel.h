//===- MachineModel.h - What code generation knows of a CPU ---- C++ -*----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The few facts of a CPU that steer tiling, vector widths and the choice of
// instructions.  Code generation reads them from here only; the execution
// engine hands `cpu` and `features` to LLVM, so both always agree on what an
// instruction set offers.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_TARGET_MACHINEMODEL_H
#define DYNAMO_TARGET_MACHINEMODEL_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dynamo::target {

struct MachineModel {
  /// "avx2", "avx512" or "generic".
  std::string name;
  /// Bits of one vector register, and how many there are.
  int64_t vectorBits = 128;
  int64_t vectorRegisters = 16;
  bool hasFMA = false;
  /// Conversions between f16 and f32 are instructions.
  bool hasF16C = false;
  /// Register tile of a matrix multiplication in f32: rows x columns.
  int64_t tileRows = 4, tileCols = 8;
  /// Bytes of cache that one core can call its own.
  int64_t l1Bytes = 32 * 1024, l2Bytes = 512 * 1024;
  /// LLVM's -mcpu and -mattr. `features` is a comma-separated list.
  std::string cpu, features;

  /// Lanes of one register for elements of `bits` bits.
  int64_t lanes(int64_t bits) const { return vectorBits / bits; }
};

/// The model of that name: "avx2", "avx512", "generic", or "host" for the
/// best of these that this machine runs. None for an unknown name.
std::optional<MachineModel> getMachineModel(llvm::StringRef name);

/// The text of the error where `getMachineModel` knows no such name: the name
/// and those that are accepted.
std::string describeUnknownTarget(llvm::StringRef name);

} // namespace dynamo::target

#endif // DYNAMO_TARGET_MACHINEMODEL_H
