//===- PyBuilder.cpp - A recording as py IR
//-----------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/IR/PyBuilder.h"

#include "dynamo/Dialect/Aten/IR/Aten.h"
#include "dynamo/Dialect/Py/IR/Py.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::py;

using Constant = PyBuilder::Constant;

Constant Constant::boolean(bool value) {
  Constant constant;
  constant.kind = Bool;
  constant.integer = value;
  return constant;
}
Constant Constant::number(int64_t value) {
  Constant constant;
  constant.kind = Int;
  constant.integer = value;
  return constant;
}
Constant Constant::number(double value) {
  Constant constant;
  constant.kind = Float;
  constant.real = value;
  return constant;
}
Constant Constant::string(std::string value) {
  Constant constant;
  constant.kind = Text;
  constant.text = std::move(value);
  return constant;
}
Constant Constant::tuple(std::vector<Constant> items) {
  Constant constant;
  constant.kind = Tuple;
  constant.items = std::move(items);
  return constant;
}
Constant Constant::reference(Reference ref) {
  Constant constant;
  constant.kind = Ref;
  constant.ref = std::move(ref);
  return constant;
}

struct PyBuilder::Impl {
  explicit Impl(MLIRContext &context)
      : builder(&context), loc(UnknownLoc::get(&context)) {
    context.loadDialect<PyDialect, aten::AtenDialect>();
    module = ModuleOp::create(loc);
    object = builder.getType<ObjectType>();
  }

  OpBuilder builder;
  Location loc;
  OwningOpRef<ModuleOp> module;
  FuncOp segment;
  Type object;
  StringAttr line;
  std::string error; ///< the first one

  void fail(const llvm::Twine &what) {
    if (error.empty())
      error = what.str();
  }

  Value value(Object handle) {
    if (!handle)
      fail("an object is null");
    return Value::getFromOpaquePointer(handle.impl);
  }
  Value value(Tensor handle) {
    if (!handle)
      fail("a tensor is null");
    return Value::getFromOpaquePointer(handle.impl);
  }
  SmallVector<Value> values(const std::vector<Object> &handles) {
    SmallVector<Value> result;
    for (Object handle : handles)
      result.push_back(value(handle));
    return result;
  }
  StringAttr text(const std::string &string) {
    return builder.getStringAttr(string);
  }
  /// Null for an empty one.
  StringAttr optionalText(const std::string &string) {
    return string.empty() ? StringAttr() : text(string);
  }
  IntegerAttr i64(int64_t number) { return builder.getI64IntegerAttr(number); }
  RefAttr ref(const Reference &reference) {
    if (reference.index < 0) {
      fail("a reference has a negative index");
      return RefAttr::get(builder.getContext(), 0, reference.name, false);
    }
    return RefAttr::get(builder.getContext(), reference.index, reference.name,
                        reference.fixed);
  }
  RefAttr optionalRef(const Reference *reference) {
    return reference ? ref(*reference) : RefAttr();
  }
  Attribute attribute(const Constant &constant);
  ArrayAttr array(const std::vector<Constant> &constants);
  Type element(int32_t dtype);
  TensorRefType type(const Look &look);
  Attribute argument(const Argument &argument,
                     SmallVectorImpl<Value> &operands);

  /// Emits an operation unless something was wrong before.
  template <typename OpTy, typename... Args> Operation *emit(Args &&...args) {
    if (!segment)
      fail("there is no segment yet");
    if (!error.empty())
      return nullptr;
    Operation *op =
        OpTy::create(builder, loc, std::forward<Args>(args)...).getOperation();
    if (line && isa<GuardOpInterface>(op))
      op->setAttr("line", line);
    return op;
  }
  template <typename OpTy, typename... Args> Object make(Args &&...args) {
    Operation *op = emit<OpTy>(object, std::forward<Args>(args)...);
    return {op ? op->getResult(0).getAsOpaquePointer() : nullptr};
  }
};

Attribute PyBuilder::Impl::attribute(const Constant &constant) {
  switch (constant.kind) {
  case Constant::None:
    return builder.getUnitAttr();
  case Constant::Bool:
    return builder.getBoolAttr(constant.integer != 0);
  case Constant::Int:
    return i64(constant.integer);
  case Constant::Float:
    return builder.getF64FloatAttr(constant.real);
  case Constant::Text:
    return text(constant.text);
  case Constant::Tuple:
    return array(constant.items);
  case Constant::Ref:
    return ref(constant.ref);
  }
  llvm_unreachable("all kinds are listed");
}

ArrayAttr PyBuilder::Impl::array(const std::vector<Constant> &constants) {
  SmallVector<Attribute> result;
  for (const Constant &constant : constants)
    result.push_back(attribute(constant));
  return builder.getArrayAttr(result);
}

/// By the numbers of c10::ScalarType.
Type PyBuilder::Impl::element(int32_t dtype) {
  switch (dtype) {
  case 0:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case 1:
    return builder.getI8Type();
  case 2:
    return builder.getI16Type();
  case 3:
    return builder.getI32Type();
  case 4:
    return builder.getI64Type();
  case 5:
    return builder.getF16Type();
  case 6:
    return builder.getF32Type();
  case 7:
    return builder.getF64Type();
  case 8:
    return ComplexType::get(builder.getF16Type());
  case 9:
    return ComplexType::get(builder.getF32Type());
  case 10:
    return ComplexType::get(builder.getF64Type());
  case 11:
    return builder.getI1Type();
  case 15:
    return builder.getBF16Type();
  case 23:
    return Float8E5M2Type::get(builder.getContext());
  case 24:
    return Float8E4M3FNType::get(builder.getContext());
  default:
    fail("a tensor has element type " + llvm::Twine(dtype) +
         ", which has no name in the IR");
    return builder.getF32Type();
  }
}

TensorRefType PyBuilder::Impl::type(const Look &look) {
  ArrayRef<int64_t> strides = look.strides;
  if (strides == ArrayRef<int64_t>(denseStrides(look.sizes)))
    strides = {};
  if (!strides.empty() && strides.size() != look.sizes.size()) {
    fail("a tensor has " + llvm::Twine(strides.size()) + " strides for " +
         llvm::Twine(look.sizes.size()) + " sizes");
    strides = {};
  }
  return TensorRefType::get(builder.getContext(), look.sizes,
                            element(look.dtype), strides);
}

Attribute PyBuilder::Impl::argument(const Argument &argument,
                                    SmallVectorImpl<Value> &operands) {
  if (argument.list) {
    SmallVector<Attribute> entries;
    for (const Argument &entry : *argument.list)
      entries.push_back(this->argument(entry, operands));
    return builder.getArrayAttr(entries);
  }
  if (!argument.tensor)
    return attribute(argument.constant);
  Value operand = value(argument.tensor);
  // The same tensor twice is one operand.
  auto *place = llvm::find(operands, operand);
  int64_t index = place - operands.begin();
  if (place == operands.end())
    operands.push_back(operand);
  return aten::OperandAttr::get(builder.getContext(), index);
}

PyBuilder::PyBuilder(MLIRContext &context)
    : impl(std::make_unique<Impl>(context)) {}
PyBuilder::~PyBuilder() = default;

void PyBuilder::beginSegment(const std::string &name, const std::string &code,
                             int64_t start) {
  if (impl->segment)
    return impl->fail("there is a segment already");
  OpBuilder &builder = impl->builder;
  builder.setInsertionPointToEnd(impl->module->getBody());
  impl->segment =
      FuncOp::create(builder, impl->loc, name, FunctionKind::Segment,
                     builder.getFunctionType({}, impl->object));
  impl->segment.setCode(code);
  impl->segment.setStart(start);
  builder.setInsertionPointToStart(&impl->segment.getBody().front());
}

void PyBuilder::setLine(const std::string &file, int32_t line) {
  impl->loc = FileLineColLoc::get(impl->builder.getContext(), file, line, 0);
  impl->line = impl->text(file + ":" + std::to_string(line));
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

using Object = PyBuilder::Object;

Object PyBuilder::arg(int64_t index, const std::string &name) {
  return impl->make<ArgOp>(impl->i64(index), impl->optionalText(name));
}
Object PyBuilder::stack(int64_t index) {
  return impl->make<StackOp>(impl->i64(index));
}
Object PyBuilder::function() { return impl->make<FunctionOp>(); }
Object PyBuilder::constant(const Constant &value) {
  return impl->make<ConstOp>(impl->attribute(value));
}
Object PyBuilder::global(const std::string &name) {
  return impl->make<GlobalOp>(impl->text(name));
}
Object PyBuilder::free(int64_t index, const std::string &name) {
  return impl->make<FreeOp>(impl->i64(index), impl->optionalText(name));
}
Object PyBuilder::attr(Object object, const std::string &name) {
  return impl->make<AttrOp>(impl->value(object), impl->text(name));
}
Object PyBuilder::instanceDict(Object object) {
  return impl->make<InstanceDictOp>(impl->value(object));
}
Object PyBuilder::dictItem(Object dict, const Constant &key) {
  return impl->make<DictItemOp>(impl->value(dict), impl->attribute(key));
}
Object PyBuilder::item(Object sequence, int64_t index) {
  return impl->make<ItemOp>(impl->value(sequence), impl->i64(index));
}
Object PyBuilder::dequeItem(Object deque, int64_t index) {
  return impl->make<DequeItemOp>(impl->value(deque), impl->i64(index));
}
Object PyBuilder::slot(Object object, const Reference &descriptor) {
  return impl->make<SlotOp>(impl->value(object), impl->ref(descriptor));
}
Object PyBuilder::cell(Object cell) {
  return impl->make<CellOp>(impl->value(cell));
}
Object PyBuilder::closure(Object function, int64_t index) {
  return impl->make<ClosureOp>(impl->value(function), impl->i64(index));
}
Object PyBuilder::typeOf(Object object) {
  return impl->make<TypeOfOp>(impl->value(object));
}
Object PyBuilder::code(Object function) {
  return impl->make<CodeOp>(impl->value(function));
}
Object PyBuilder::defaults(Object function) {
  return impl->make<DefaultsOp>(impl->value(function));
}
Object PyBuilder::kwDefaults(Object function) {
  return impl->make<KwDefaultsOp>(impl->value(function));
}
Object PyBuilder::methodSelf(Object method) {
  return impl->make<MethodSelfOp>(impl->value(method));
}
Object PyBuilder::methodFunc(Object method) {
  return impl->make<MethodFuncOp>(impl->value(method));
}
Object PyBuilder::getter(Object object, const std::string &name) {
  return impl->make<GetterOp>(impl->value(object), impl->text(name));
}

//===----------------------------------------------------------------------===//
// Guards
//===----------------------------------------------------------------------===//

void PyBuilder::guardType(Object object, const Reference &type,
                          std::optional<int64_t> version) {
  impl->emit<GuardTypeOp>(impl->value(object), impl->ref(type),
                          version ? impl->i64(*version) : IntegerAttr());
}
void PyBuilder::guardIs(Object object, const Reference &value) {
  impl->emit<GuardIsOp>(impl->value(object), impl->ref(value));
}
void PyBuilder::guardEqual(Object object, const Constant &value) {
  impl->emit<GuardEqualOp>(impl->value(object), impl->attribute(value));
}
void PyBuilder::guardPresent(Object object) {
  impl->emit<GuardPresentOp>(impl->value(object));
}
void PyBuilder::guardAbsent(Object object) {
  impl->emit<GuardAbsentOp>(impl->value(object));
}
void PyBuilder::guardLength(Object object, int64_t length) {
  impl->emit<GuardLengthOp>(impl->value(object), impl->i64(length));
}
void PyBuilder::guardKeys(Object object, const std::vector<Constant> &keys) {
  impl->emit<GuardKeysOp>(impl->value(object), impl->array(keys));
}
void PyBuilder::guardTensor(Object object, const Spec &spec) {
  impl->emit<GuardTensorOp>(
      impl->value(object),
      SpecAttr::get(impl->builder.getContext(), impl->type(spec.look),
                    impl->ref(spec.pythonType), spec.device, spec.offset,
                    spec.keys, spec.requiresGrad, spec.leaf));
}
void PyBuilder::guardFunction(Object object, const Reference &like) {
  impl->emit<GuardFunctionOp>(impl->value(object), impl->ref(like));
}
void PyBuilder::guardSame(Object object, Object other) {
  impl->emit<GuardSameOp>(impl->value(object), impl->value(other));
}
void PyBuilder::guardDistinct(Object object, Object other) {
  impl->emit<GuardDistinctOp>(impl->value(object), impl->value(other));
}
void PyBuilder::guardNoAlias(Object tensor, Object other) {
  impl->emit<GuardNoAliasOp>(impl->value(tensor), impl->value(other));
}
void PyBuilder::guardState(const Reference &state) {
  impl->emit<GuardStateOp>(impl->ref(state));
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

PyBuilder::Tensor PyBuilder::unwrap(Object object, const Look &look) {
  Operation *op = impl->emit<UnwrapOp>(impl->type(look), impl->value(object));
  return {op ? op->getResult(0).getAsOpaquePointer() : nullptr};
}
Object PyBuilder::wrap(Tensor tensor) {
  return impl->make<WrapOp>(impl->value(tensor), TypeAttr());
}

std::vector<PyBuilder::Tensor>
PyBuilder::torchCall(const std::string &name, const Arguments &arguments,
                     const std::vector<Look> &results,
                     const std::vector<Tensor> &writes,
                     const std::vector<Tensor> &views) {
  SmallVector<Value> operands;
  NamedAttrList attributes;
  for (const auto &[argumentName, argument] : arguments)
    attributes.append(argumentName, impl->argument(argument, operands));
  auto placeOf = [&](Tensor tensor) -> int64_t {
    auto *place =
        llvm::find(operands, Value::getFromOpaquePointer(tensor.impl));
    if (place != operands.end())
      return place - operands.begin();
    impl->fail(name + " writes or views a tensor that is no argument");
    return -1;
  };
  SmallVector<int64_t> written, viewed;
  for (Tensor tensor : writes)
    written.push_back(placeOf(tensor));
  for (Tensor tensor : views)
    viewed.push_back(tensor ? placeOf(tensor) : -1);
  SmallVector<Type> types;
  for (const Look &look : results)
    types.push_back(impl->type(look));
  OpBuilder &builder = impl->builder;
  Operation *op = impl->emit<TorchCallOp>(
      types, name, operands, attributes.getDictionary(builder.getContext()),
      written.empty() ? DenseI64ArrayAttr()
                      : builder.getDenseI64ArrayAttr(written),
      viewed.empty() ? DenseI64ArrayAttr()
                     : builder.getDenseI64ArrayAttr(viewed));
  std::vector<Tensor> tensors(results.size());
  if (op)
    for (auto [tensor, result] : llvm::zip_equal(tensors, op->getResults()))
      tensor.impl = result.getAsOpaquePointer();
  return tensors;
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

Object PyBuilder::tuple(const std::vector<Object> &items,
                        const Reference *type) {
  return impl->make<TupleOp>(impl->values(items), impl->optionalRef(type));
}
Object PyBuilder::list(const std::vector<Object> &items,
                       const Reference *type) {
  return impl->make<ListOp>(impl->values(items), impl->optionalRef(type));
}
Object PyBuilder::set(const std::vector<Object> &items, const Reference *type) {
  return impl->make<SetOp>(impl->values(items), impl->optionalRef(type));
}
Object PyBuilder::dict(const std::vector<Object> &items,
                       const Reference *type) {
  return impl->make<DictOp>(impl->values(items), impl->optionalRef(type));
}
Object PyBuilder::deque(const std::vector<Object> &items,
                        std::optional<int64_t> maxLength,
                        const Reference *type) {
  return impl->make<DequeOp>(impl->values(items),
                             maxLength ? impl->i64(*maxLength) : IntegerAttr(),
                             impl->optionalRef(type));
}
Object PyBuilder::object(const Reference &type) {
  return impl->make<ObjectOp>(impl->ref(type));
}
Object PyBuilder::makeCell(Object contents) {
  return impl->make<MakeCellOp>(contents ? impl->value(contents) : Value());
}
Object PyBuilder::makeFunction(const Reference &like,
                               const std::vector<Object> &cells) {
  return impl->make<MakeFunctionOp>(impl->ref(like), impl->values(cells));
}
Object PyBuilder::boundMethod(Object function, Object self) {
  return impl->make<BoundMethodOp>(impl->value(function), impl->value(self));
}
Object PyBuilder::slice(Object start, Object stop, Object step) {
  return impl->make<SliceOp>(impl->value(start), impl->value(stop),
                             impl->value(step));
}
void PyBuilder::fill(Object container, const std::vector<Object> &items) {
  impl->emit<FillOp>(impl->value(container), impl->values(items));
}
void PyBuilder::initAttr(Object object, const std::string &name, Object value) {
  impl->emit<InitAttrOp>(impl->value(object), impl->text(name),
                         impl->value(value));
}
void PyBuilder::initSlot(Object object, const Reference &descriptor,
                         Object value) {
  impl->emit<InitSlotOp>(impl->value(object), impl->ref(descriptor),
                         impl->value(value));
}

//===----------------------------------------------------------------------===//
// Effects and exits
//===----------------------------------------------------------------------===//

void PyBuilder::setAttr(Object object, const std::string &name, Object value) {
  impl->emit<SetAttrOp>(impl->value(object), impl->text(name),
                        impl->value(value));
}
void PyBuilder::delAttr(Object object, const std::string &name) {
  impl->emit<DelAttrOp>(impl->value(object), impl->text(name));
}
void PyBuilder::setItem(Object object, Object key, Object value) {
  impl->emit<SetItemOp>(impl->value(object), impl->value(key),
                        impl->value(value));
}
void PyBuilder::delItem(Object object, Object key) {
  impl->emit<DelItemOp>(impl->value(object), impl->value(key));
}
void PyBuilder::setCell(Object cell, Object value) {
  impl->emit<SetCellOp>(impl->value(cell),
                        value ? impl->value(value) : Value());
}
void PyBuilder::mutate(const std::string &method, Object object,
                       const std::vector<Object> &arguments) {
  impl->emit<MutateOp>(impl->text(method), impl->value(object),
                       impl->values(arguments));
}
void PyBuilder::copyTensor(Object target, Tensor value) {
  impl->emit<CopyTensorOp>(impl->value(target), impl->value(value));
}
void PyBuilder::gradMode(bool enabled) {
  impl->emit<GradModeOp>(impl->builder.getBoolAttr(enabled));
}

void PyBuilder::ret(Object value) { impl->emit<ReturnOp>(impl->value(value)); }

void PyBuilder::exit(int64_t next, const std::vector<Object> &locals,
                     const std::vector<Object> &stack) {
  SmallVector<Value> objects;
  SmallVector<bool> bound;
  for (Object local : locals) {
    bound.push_back(static_cast<bool>(local));
    if (local)
      objects.push_back(impl->value(local));
  }
  impl->emit<ExitOp>(impl->i64(next), objects,
                     impl->builder.getDenseBoolArrayAttr(bound),
                     impl->values(stack));
}

absl::Status PyBuilder::finish() {
  if (!impl->error.empty())
    return absl::InvalidArgumentError(impl->error);
  std::string text;
  ScopedDiagnosticHandler handler(impl->builder.getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    if (text.empty())
                                      text = diagnostic.str();
                                    return success();
                                  });
  if (failed(verify(*impl->module)))
    return absl::InvalidArgumentError(text);
  return absl::OkStatus();
}

ModuleOp PyBuilder::module() const { return *impl->module; }
ModuleOp PyBuilder::release() { return impl->module.release(); }

std::string PyBuilder::text() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  ModuleOp module = *impl->module;
  module.print(os);
  return text;
}
