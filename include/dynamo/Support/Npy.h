//===- Npy.h - Arrays in NumPy's file format ---------------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How tools and tests exchange arrays with Python.  bfloat16, which the format
// does not know, is stored as uint16.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_SUPPORT_NPY_H
#define DYNAMO_SUPPORT_NPY_H

#include "dynamo/Runtime/Program.h"

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace dynamo {

/// A dense row-major array in memory of its own.
struct NpyArray {
  runtime::TensorSpec spec;
  std::vector<char> data;
};

/// Parses the bytes of a file. Fortran order is turned into row-major, uint16
/// becomes BFloat16; other types than the runtime's, and malformed files, are
/// errors.
absl::StatusOr<NpyArray> parseNpy(llvm::ArrayRef<char> bytes);

/// Reads a file; errors start with its name.
absl::StatusOr<NpyArray> readNpy(llvm::StringRef path);

/// Writes a file in one go: a reader sees all of it or what was there before.
absl::Status writeNpy(llvm::StringRef path, const runtime::TensorSpec &spec,
                      const void *data);

} // namespace dynamo

#endif // DYNAMO_SUPPORT_NPY_H
