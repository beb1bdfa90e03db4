//===- PyBuilder.h - A recording as py IR
//-------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a recorder emits a trace through: plain C++ types on this side, IR on
// the other, one method per kind of source, guard, value and effect of
// python/csrc/Capture/Trace.h.  Includes neither MLIR nor Python.
//
//   PyBuilder b(context);
//   b.beginSegment("forward", "Model.forward", 0);
//   auto x = b.arg(0, "x");
//   b.guardTensor(x, spec);
//   auto y = b.torchCall("aten::exp", {{"self", b.unwrap(x, spec.look)}},
//   {look}).front(); b.ret(b.wrap(y)); if (absl::Status status = b.finish();
//   status.ok()) use(b.module());
//
// Handles are valid while the builder lives and has not been released.  A wrong
// call (a null handle, an element type that has no name in IR) makes finish()
// fail; nothing is emitted for it.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_IR_PYBUILDER_H
#define DYNAMO_DIALECT_PY_IR_PYBUILDER_H

#include "absl/status/status.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace dynamo::py {

class PyBuilder {
public:
  /// A Python object in the IR; null stands for "none" where that is accepted.
  struct Object {
    void *impl = nullptr;
    explicit operator bool() const { return impl != nullptr; }
  };
  /// A reference to a torch tensor.
  struct Tensor {
    void *impl = nullptr;
    explicit operator bool() const { return impl != nullptr; }
  };
  /// Entry `index` of the process's table of objects.
  struct Reference {
    int64_t index = 0;
    std::string name;   ///< for readers
    bool fixed = false; ///< neither it nor its class can be changed
  };

  /// A value without identity, or a reference.
  struct Constant {
    enum Kind : uint8_t { None, Bool, Int, Float, Text, Tuple, Ref };
    Kind kind = None;
    int64_t integer = 0; ///< of Bool and Int
    double real = 0;
    std::string text;
    std::vector<Constant> items;
    Reference ref;

    static Constant none() { return {}; }
    static Constant boolean(bool value);
    static Constant number(int64_t value);
    static Constant number(double value);
    static Constant string(std::string value);
    static Constant tuple(std::vector<Constant> items);
    static Constant reference(Reference ref);
  };

  /// Sizes, strides (in elements) and torch's number of the element type.
  struct Look {
    int32_t dtype = -1;
    std::vector<int64_t> sizes, strides;
  };
  struct Spec {
    Look look;
    Reference pythonType;
    std::string device = "cpu";
    int64_t offset = -1; ///< -1: any
    uint64_t keys = 0;
    bool requiresGrad = false, leaf = true;
  };

  /// An argument of an operator: a tensor, a constant (dtypes, layouts and
  /// devices as text such as "torch.float32"), or a list.
  struct Argument {
    Tensor tensor;
    Constant constant;
    std::optional<std::vector<Argument>> list;
    Argument(Tensor tensor) : tensor(tensor) {}
    Argument(Constant constant) : constant(std::move(constant)) {}
    Argument(std::vector<Argument> list) : list(std::move(list)) {}
  };
  using Arguments = std::vector<std::pair<std::string, Argument>>;

  explicit PyBuilder(mlir::MLIRContext &context);
  ~PyBuilder();
  PyBuilder(const PyBuilder &) = delete;
  PyBuilder &operator=(const PyBuilder &) = delete;

  /// Comes first. `start` is the unit of the first instruction.
  void beginSegment(const std::string &name, const std::string &code,
                    int64_t start);
  /// The user's line for what is emitted from now on.
  void setLine(const std::string &file, int32_t line);

  // Sources.
  Object arg(int64_t index, const std::string &name = "");
  Object stack(int64_t index);
  Object function();
  Object constant(const Constant &value);
  Object global(const std::string &name);
  Object free(int64_t index, const std::string &name = "");
  Object attr(Object object, const std::string &name);
  Object instanceDict(Object object);
  Object dictItem(Object dict, const Constant &key);
  Object item(Object sequence, int64_t index);
  Object dequeItem(Object deque, int64_t index);
  Object slot(Object object, const Reference &descriptor);
  Object cell(Object cell);
  Object closure(Object function, int64_t index);
  Object typeOf(Object object);
  Object code(Object function);
  Object defaults(Object function);
  Object kwDefaults(Object function);
  Object methodSelf(Object method);
  Object methodFunc(Object method);
  Object getter(Object object, const std::string &name);

  // Guards.
  /// `version`: the class's version tag; none for classes that can't change.
  void guardType(Object object, const Reference &type,
                 std::optional<int64_t> version);
  void guardIs(Object object, const Reference &value);
  void guardEqual(Object object, const Constant &value);
  /// For a place that the program has read and looked at no further: a source
  /// that nothing uses is dropped otherwise.
  void guardPresent(Object object);
  void guardAbsent(Object object);
  void guardLength(Object object, int64_t length);
  void guardKeys(Object object, const std::vector<Constant> &keys);
  void guardTensor(Object object, const Spec &spec);
  void guardFunction(Object object, const Reference &like);
  void guardSame(Object object, Object other);
  void guardDistinct(Object object, Object other);
  void guardNoAlias(Object tensor, Object other);
  void guardState(const Reference &state);

  // Tensors.
  Tensor unwrap(Object object, const Look &look);
  Object wrap(Tensor tensor);
  /// `arguments` by schema name; `writes`: those of them that change; `views`:
  /// per result, whose memory it sees (null: no one's), empty: none sees any. A
  /// result that is one of the arguments is left out.
  std::vector<Tensor> torchCall(const std::string &name,
                                const Arguments &arguments,
                                const std::vector<Look> &results,
                                const std::vector<Tensor> &writes = {},
                                const std::vector<Tensor> &views = {});

  // Objects made in the segment; `type`: a subclass, or null.
  Object tuple(const std::vector<Object> &items,
               const Reference *type = nullptr);
  Object list(const std::vector<Object> &items,
              const Reference *type = nullptr);
  Object set(const std::vector<Object> &items, const Reference *type = nullptr);
  /// Keys and values in turns.
  Object dict(const std::vector<Object> &items,
              const Reference *type = nullptr);
  Object deque(const std::vector<Object> &items,
               std::optional<int64_t> maxLength,
               const Reference *type = nullptr);
  Object object(const Reference &type);
  Object makeCell(Object contents);
  Object makeFunction(const Reference &like, const std::vector<Object> &cells);
  Object boundMethod(Object function, Object self);
  Object slice(Object start, Object stop, Object step);
  /// Items of a list, set, dict, deque or cell that was made empty: for cycles.
  void fill(Object container, const std::vector<Object> &items);
  void initAttr(Object object, const std::string &name, Object value);
  void initSlot(Object object, const Reference &descriptor, Object value);

  // Effects.
  void setAttr(Object object, const std::string &name, Object value);
  void delAttr(Object object, const std::string &name);
  void setItem(Object object, Object key, Object value);
  void delItem(Object object, Object key);
  /// A null value empties the cell.
  void setCell(Object cell, Object value);
  void mutate(const std::string &method, Object object,
              const std::vector<Object> &arguments);
  void copyTensor(Object target, Tensor value);
  void gradMode(bool enabled);

  // Exits: one of them is the last.
  void ret(Object value);
  /// Null locals are unbound.
  void exit(int64_t next, const std::vector<Object> &locals,
            const std::vector<Object> &stack);

  /// Whether what was emitted is a segment of phase P0.
  absl::Status finish();
  /// The module, the builder's own.
  mlir::ModuleOp module() const;
  /// The module becomes the caller's, who destroys it.
  mlir::ModuleOp release();
  std::string text() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace dynamo::py

#endif // DYNAMO_DIALECT_PY_IR_PYBUILDER_H
