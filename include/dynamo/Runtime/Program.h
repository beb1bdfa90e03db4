//===- Program.h - What the host runs -------------------------- C++ -*----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiled program as plain data: launches, extern calls and copies over
// pointers.  It is interpreted rather than compiled to machine code: a step
// costs a few nanoseconds next to kernels of microseconds, and the compile
// time of a host function is saved.  No MLIR, LLVM or Python here.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_RUNTIME_PROGRAM_H
#define DYNAMO_RUNTIME_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace dynamo::runtime {

/// The compiled kernel: `args` are data pointers of inputs, then outputs; the
/// tiles [begin, end) of its range are computed.
using KernelFn = void (*)(void *const *args, int64_t begin, int64_t end);

/// Element types, numbered as torch's ScalarType.
enum class DType : int32_t {
  UInt8 = 0,
  Int8 = 1,
  Int16 = 2,
  Int32 = 3,
  Int64 = 4,
  Float16 = 5,
  Float32 = 6,
  Float64 = 7,
  Bool = 11,
  BFloat16 = 15,
};

/// Bytes per element.
int64_t elementSize(DType dtype);

/// Element type and dense row-major sizes of a buffer.
struct TensorSpec {
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes;
  int64_t numElements() const;
  int64_t bytes() const;
};

/// Where a buffer lives. `index` numbers inputs, outputs and extern results;
/// for the arena it is a byte offset. `offset` is in bytes too: a view (a
/// contiguous slice) into any of these.
struct BufferRef {
  enum Kind : int32_t { Input, Output, Arena, ExternResult } kind = Input;
  int64_t index = 0;
  int64_t offset = 0;
};

/// One instruction. Launch: `args` are inputs then outputs. Extern: `args` are
/// operands with `specs`; results go to extern slots
/// [firstResult, firstResult + resultSpecs.size()). Copy: args[0] to args[1],
/// `range` bytes. RefuseIf: ends the run as refused if the byte args[0] is not
/// 0.
struct Instruction {
  enum Kind : int32_t { Launch, Extern, Copy, RefuseIf } kind = Launch;
  KernelFn kernel = nullptr;
  int64_t range = 1;     ///< parallel tiles (Launch), bytes (Copy)
  int64_t work = -1;     ///< estimated scalar operations, -1: unknown
  int32_t externId = -1; ///< index into Program::externs
  int32_t firstResult = 0;
  std::vector<BufferRef> args;
  std::vector<TensorSpec> specs;
  std::vector<TensorSpec> resultSpecs;
  std::string name; ///< kernel, operator or reason, for reports
};

/// An operator run by the embedder: its name and its arguments in the textual
/// form of the aten.extern attributes (parsed once by the embedder).
struct ExternCall {
  std::string name;   ///< "aten::topk" or "aten::add.Tensor"
  std::string args;   ///< printed ArrayAttr
  std::string kwargs; ///< printed DictionaryAttr
};

struct Program {
  std::vector<TensorSpec> inputs, outputs;
  std::vector<ExternCall> externs;
  std::vector<Instruction> instructions;
  int64_t arenaBytes = 0;
  int32_t numExternResults = 0;
};

} // namespace dynamo::runtime

#endif // DYNAMO_RUNTIME_PROGRAM_H
