//===- Trace.h - What one recording knows ------------------------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The data that capture hands over: the observer fills a Trace while CPython
// runs a stretch of a frame, the segment compiler turns it into something that
// later calls run instead.  A trace says where everything came from (sources),
// what must hold for it to be valid again (guards), which tensors enter and
// leave the tensor work, what must be done to the outside world (effects) and
// how to leave (exit).  docs/Rationale/Capture.md explains the scheme.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_TRACE_H
#define DYNAMO_PYTHON_CAPTURE_TRACE_H

#include "TorchShim.h"

#include "Pybind.h"
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace dynamo::capture {

/// An owned reference; made and dropped with the GIL held.
using Ref = pybind11::object;

/// How an object is reached: a root, or a step from a parent.  A step never
/// runs Python code of the user's.
enum class Access : uint8_t {
  // Roots.
  Local,    ///< slot `index` of the frame's localsplus (may be a cell)
  Stack,    ///< slot `index` of the value stack, 0 is the bottom
  Function, ///< the function object of the frame
  Constant, ///< `key`: this very object
  // Steps.
  Type,         ///< type(parent)
  InstanceAttr, ///< attribute `key` (str) in the instance's own storage: inline
                ///< values or dict, no lookup in the type
  InstanceDict, ///< the dict object behind parent.__dict__
  DictItem,     ///< parent[key]; parent is a dict or a subclass, dict's lookup
  Item,         ///< parent[index]; parent is a list, tuple or a subclass
  DequeItem,    ///< parent[index] of a collections.deque
  Slot,         ///< what the member descriptor `key` reads from parent
  CellContents, ///< of a cell
  Closure,      ///< cell `index` of a function's closure
  Code,         ///< parent.__code__ of a function
  Globals,      ///< parent.__globals__ of a function
  Defaults,     ///< parent.__defaults__ of a function
  KwDefaults,   ///< parent.__kwdefaults__ of a function
  MethodSelf,   ///< parent.__self__ of a bound method (also of C methods)
  MethodFunc,   ///< parent.__func__ of a bound method
  Getter,       ///< getattr(parent, key) through a C descriptor: tensor.grad,
                ///< partial.func; `key` is the descriptor's name
};

/// A place outside the trace.  Sources are made once: equal places are one
/// Source.
struct Source {
  Access access;
  Source *parent = nullptr; ///< null for roots
  int64_t index = 0;
  Ref key;
  /// Position in Trace::sources.
  int64_t number = 0;
};

/// What a tensor must look like; made by describeTensor (TorchState.h).
struct TensorSpec {
  Ref type; ///< the Python class
  int32_t dtype = -1;
  int32_t deviceType = 0, deviceIndex = -1;
  std::vector<int64_t> sizes, strides;
  int64_t offset = -1; ///< storage offset, -1: any
  /// The dispatch keys: layout, conjugate and negative views, inference
  /// tensors, subclasses that dispatch, wrappers of transforms.
  uint64_t keys = 0;
  bool requiresGrad = false, isLeaf = true;
};

enum class Check : uint8_t {
  Type,     ///< type(x) is `object`; the type and its bases are unchanged
  Identity, ///< x is `object`
  Equal,   ///< same type and value as `object`, a value without identity: None,
           ///< bool, int, float (by bits), complex, str, bytes, range, slice,
           ///< tuple or frozenset of such, dtype, device, torch.Size
  Absent,  ///< the step from the parent finds nothing
  Present, ///< the step from the parent finds something
  Class,   ///< the class x (a Constant) and its bases are unchanged
  Length,  ///< len(x) == index, x a list, tuple, dict, set, deque
  Keys,    ///< the keys of the dict or the elements of the set x, in iteration
           ///< order, equal the tuple `object`
  Tensor,  ///< x looks like `tensor`
  Function, ///< code, defaults and keyword defaults of the function x are the
            ///< objects that `object`, a function, has when the trace is handed
            ///< over, or a tuple (code, defaults, keyword defaults)
  Same,     ///< x is the object at `other`
  Distinct, ///< x is not the object at `other`
  NoOverlap ///< tensors x and `other` share no memory
};

struct Guard {
  Check check;
  const Source *source;
  Ref object;
  int64_t index = 0;
  std::shared_ptr<const TensorSpec> tensor;
  const Source *other = nullptr;
  /// Where the program relied on it: for explain and the recompile log.
  Ref file; ///< str or null
  int32_t line = 0;
};

/// An object as it must be after the segment.  One Value is one object: what
/// refers to it twice gets the same object, and values may form cycles.
struct Value {
  enum Kind : uint8_t {
    Constant,    ///< `object` itself
    Source,      ///< the object at `source`
    Tensor,      ///< tensor result `index` of the tensor program
    List,        ///< `type` list or subclass; items
    Tuple,       ///< tuple or subclass (namedtuple); items
    Set,         ///< set, frozenset or subclass; items
    Dict,        ///< dict, OrderedDict or subclass; keys and values in turns
    Deque,       ///< items; `object` is maxlen
    Object,      ///< instance of a Python class over `object`; no items
    Cell,        ///< items: its contents, or none
    Function,    ///< `object` is the template function; items: closure cells
    BoundMethod, ///< items: function, self
    Slice,       ///< items: start, stop, step
  };
  Kind kind;
  Ref object;
  Ref type; ///< of containers and objects
  const capture::Source *source = nullptr;
  int64_t index = 0;
  std::vector<Value *> items;
  /// Instance attributes of any kind, in the order of the dict, and slots.
  std::vector<std::pair<Ref, Value *>> attributes;
  std::vector<std::pair<Ref, Value *>> slots;
};

/// A change of something that exists outside the trace; done after all tensor
/// work has succeeded, in this order.
struct Effect {
  enum Kind : uint8_t {
    SetAttr, ///< object.__setattr__(target, name, operands[0])
    DelAttr,
    SetItem, ///< target[operands[0]] = operands[1]; dict, list, deque
    DelItem,
    SetCell,    ///< of a cell; no operand: empties it
    Call,       ///< type(target).name(target, *operands): a method in C, its
                ///< result is dropped
    CopyTensor, ///< target.copy_(operands[0]) below autograd: a write into an
                ///< outside tensor
    GradMode,   ///< torch.set_grad_enabled(operands[0])
  };
  Kind kind;
  Value *target = nullptr;
  Ref name;
  std::vector<Value *> operands;
};

/// How control leaves the segment.
struct Exit {
  /// The frame returns `result`; else it goes on at unit `next` with these
  /// locals (null: unbound) and stack.
  bool returns = true;
  Value *result = nullptr;
  int32_t next = 0;
  std::vector<Value *> locals, stack;
};

/// Why a recording ended before the frame returned.
struct Break {
  std::string reason; ///< "calls print", with names of the user's
  std::string advice; ///< what to change, may be empty
  std::string file;   ///< of the instruction that could not be recorded
  int32_t line = 0;
  int32_t depth = 0; ///< frames below the segment's
};

/// State of torch that every operator depends on, at the segment's start; made
/// by readTorchState (TorchState.h) before the observer pushes modes of its
/// own.
struct TorchState {
  bool gradMode = true, inferenceMode = false;
  python::TorchWords words;
  /// All of it as a tuple, where `words` can't be read; (dtype, ...) of
  /// autocast where that is on; else null.
  Ref details;
};

struct Trace {
  Ref code;          ///< of the frame
  int32_t start = 0; ///< unit (2 bytes each) of the first instruction
  std::deque<Source> sources;
  std::vector<Guard> guards; ///< in the order of the reads; parents first
  TorchState state;
  /// Tensor arguments of the tensor program, in order.
  std::vector<const Source *> inputs;
  /// The Python object with the recorded operators
  /// (dynamo_mlir.capture.record.Record); None if there were none.
  Ref record;
  std::deque<Value> values;
  std::vector<Effect> effects;
  Exit exit;
  /// Set where the segment does not end with the frame's return.
  std::unique_ptr<Break> ended;
  int64_t instructions = 0, frames = 0;
};

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_TRACE_H
