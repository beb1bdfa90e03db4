//===- GraphBuilder.h - Builds the aten module of a graph --------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The importer's hand on MLIR: values are numbers, attributes a small tree of
// plain data, so that neither side of this header knows the other's library
// (no Python here, no MLIR in the callers).  Nothing goes through text.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_GRAPHBUILDER_H
#define DYNAMO_PYTHON_GRAPHBUILDER_H

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace dynamo::python {

/// An attribute as plain data.
struct AttrValue {
  enum Kind {
    Unit,
    Bool,
    Int,
    Float,
    Str,
    Operand, ///< #aten.operand<i>
    List,
    Dict, ///< ArrayAttr, DictionaryAttr (keys in `keys`)
    Ints,
    Floats,
    Bools,  ///< dense arrays
    Int32s, ///< operandSegmentSizes
  } kind = Unit;
  bool b = false;
  int64_t i = 0;
  double f = 0;
  std::string s;
  std::vector<std::string> keys;
  std::vector<AttrValue> list;
  std::vector<int64_t> ints;
  std::vector<double> floats;
};

using NamedAttrValue = std::pair<std::string, AttrValue>;

/// Element type, numbered as torch's ScalarType, and sizes.
struct TensorTypeDesc {
  int32_t dtype;
  std::vector<int64_t> sizes;
};

/// Python source position of an operation; line 0: unknown.
struct Position {
  std::string file;
  int32_t line = 0;
  int32_t column = 0;
  std::string name; ///< of the graph's node
};

/// Ours went wrong: a diagnostic text with everything MLIR said.
struct CompilerFailure {
  std::string message;
};

/// A module with the context that owns its types.
class Module {
public:
  Module();
  ~Module();
  std::string print(bool withLocations) const;
  /// Empty if the module verifies, else the diagnostics.
  std::string verify() const;
  mlir::MLIRContext &context() const;
  mlir::ModuleOp op() const;

  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Builds `func.func @main` operation by operation.  Values are numbered in the
/// order in which they come into being.
class GraphBuilder {
public:
  GraphBuilder();
  ~GraphBuilder();

  int64_t addInput(const TensorTypeDesc &type);
  int64_t addFloat(double value);
  int64_t addInt(int64_t value);
  int64_t addBool(bool value);
  /// `op` is the full name ("aten.add", "aten.extern"). Throws CompilerFailure
  /// if there is no such operation. Returns the first result's number.
  int64_t addOp(const std::string &op, const std::vector<int64_t> &operands,
                const std::vector<NamedAttrValue> &attributes,
                const std::vector<TensorTypeDesc> &results,
                const Position &position);
  /// Ends the function; the builder is used up.
  std::shared_ptr<Module> finish(const std::vector<int64_t> &outputs);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Reads the text of an attribute back (extern arguments). Throws
/// CompilerFailure if it is malformed or of a kind that no extern has.
AttrValue parseAttribute(const std::string &text);

} // namespace dynamo::python

#endif // DYNAMO_PYTHON_GRAPHBUILDER_H
