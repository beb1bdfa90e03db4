//===- Emission.cpp - From the planned host function to a program ---------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/ExecutionEngine/Emission.h"

#include "dynamo/Dialect/Rt/IR/Rt.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dynamo;
using namespace dynamo::engine;
using dynamo::runtime::BufferRef;
using dynamo::runtime::DType;
using dynamo::runtime::Instruction;
using dynamo::runtime::TensorSpec;

std::string dynamo::engine::located(Location loc, const Twine &message) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto file = loc->findInstanceOf<FileLineColLoc>())
    stream << file.getFilename().getValue() << ":" << file.getLine() << ":"
           << file.getColumn() << ": ";
  stream << message;
  return text;
}

static absl::Status invalid(Operation *op, const Twine &message) {
  return absl::InvalidArgumentError(located(op->getLoc(), message));
}

static std::optional<DType> dtypeOf(Type type) {
  if (type.isInteger(1))
    return DType::Bool;
  if (type.isUnsignedInteger(8))
    return DType::UInt8;
  if (type.isSignlessInteger())
    switch (type.getIntOrFloatBitWidth()) {
    case 8:
      return DType::Int8;
    case 16:
      return DType::Int16;
    case 32:
      return DType::Int32;
    case 64:
      return DType::Int64;
    }
  if (type.isF16())
    return DType::Float16;
  if (type.isBF16())
    return DType::BFloat16;
  if (type.isF32())
    return DType::Float32;
  if (type.isF64())
    return DType::Float64;
  return std::nullopt;
}

static std::string printed(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attr.print(stream);
  return text;
}

namespace {
class Emitter {
public:
  explicit Emitter(func::FuncOp host) : host(host) {}
  absl::StatusOr<EmittedProgram> run();

private:
  absl::StatusOr<TensorSpec> specOf(Operation *op, Type type, Attribute dtype);
  absl::Status arguments();
  absl::Status append(Operation *op);
  absl::Status append(dynamo::rt::LaunchOp launch);
  absl::Status append(dynamo::rt::CallExternOp call);
  absl::Status append(dynamo::rt::CopyOp copy);
  absl::Status append(dynamo::rt::RefuseIfOp check);
  /// Adds the buffers of `values` to the instruction.
  absl::Status addArgs(Operation *op, ValueRange values,
                       Instruction &instruction);
  void finish(Instruction instruction, int kernel = -1) {
    out.program.instructions.push_back(std::move(instruction));
    out.kernelOf.push_back(kernel);
  }

  func::FuncOp host;
  EmittedProgram out;
  llvm::DenseMap<Value, BufferRef> buffers;
  llvm::DenseMap<Operation *, int> kernelIndex;
};
} // namespace

absl::StatusOr<TensorSpec> Emitter::specOf(Operation *op, Type type,
                                           Attribute dtype) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !memref.hasStaticShape() || !memref.getLayout().isIdentity())
    return invalid(op, "a buffer of the host must be a memref of static shape "
                       "and identity layout");
  Type element = memref.getElementType();
  if (auto original = dyn_cast_or_null<TypeAttr>(dtype))
    element = original.getValue();
  std::optional<DType> known = dtypeOf(element);
  if (!known ||
      runtime::elementSize(*known) !=
          runtime::elementSize(
              dtypeOf(memref.getElementType()).value_or(DType::Float64)))
    return invalid(op, "element type of a buffer is not one of the runtime's");
  return TensorSpec{*known, memref.getShape().vec()};
}

absl::Status Emitter::arguments() {
  int64_t numInputs =
      host->getAttrOfType<IntegerAttr>(rt::kNumInputsAttr).getInt();
  if (numInputs < 0 || numInputs > host.getNumArguments())
    return invalid(host, "rt.num_inputs is out of range");
  for (BlockArgument arg : host.getArguments()) {
    int64_t number = arg.getArgNumber();
    absl::StatusOr<TensorSpec> spec =
        specOf(host, arg.getType(), host.getArgAttr(number, rt::kDtypeAttr));
    if (!spec.ok())
      return spec.status();
    bool input = number < numInputs;
    (input ? out.program.inputs : out.program.outputs)
        .push_back(std::move(*spec));
    buffers[arg] = {input ? BufferRef::Input : BufferRef::Output,
                    input ? number : number - numInputs};
  }
  auto bytes = host->getAttrOfType<IntegerAttr>(rt::kArenaBytesAttr);
  out.program.arenaBytes = bytes ? bytes.getInt() : 0;
  return absl::OkStatus();
}

absl::Status Emitter::addArgs(Operation *op, ValueRange values,
                              Instruction &instruction) {
  for (Value value : values) {
    auto it = buffers.find(value);
    if (it == buffers.end())
      return invalid(op, "operand is not a buffer of the host");
    instruction.args.push_back(it->second);
  }
  return absl::OkStatus();
}

absl::Status Emitter::append(rt::LaunchOp launch) {
  SymbolRefAttr symbol = launch.getKernel();
  auto kernel = SymbolTable::lookupNearestSymbolFrom<ModuleOp>(
      host, symbol.getRootReference());
  if (!kernel)
    return invalid(launch, "kernel '" + symbol.getRootReference().getValue() +
                               "' is not in the module");
  auto function = kernel.lookupSymbol<LLVM::LLVMFuncOp>(
      symbol.getLeafReference().getValue());
  if (!function || symbol.getLeafReference() != symbol.getRootReference())
    return invalid(launch,
                   "kernel '" + symbol.getRootReference().getValue() +
                       "' has no function of its name in the LLVM dialect");
  if (launch.getNumResults())
    return invalid(launch, "a launch on the host writes its outs, results are "
                           "not accepted");

  auto [it, isNew] =
      kernelIndex.try_emplace(kernel, static_cast<int>(out.kernels.size()));
  if (isNew)
    out.kernels.push_back(kernel);
  Instruction instruction;
  instruction.kind = Instruction::Launch;
  instruction.name = symbol.getRootReference().str();
  if (auto range = function->getAttrOfType<IntegerAttr>(rt::kRangeAttr))
    instruction.range = range.getInt();
  if (auto work = function->getAttrOfType<IntegerAttr>(rt::kWorkAttr))
    instruction.work = work.getInt();
  for (ValueRange values : {launch.getInputs(), launch.getOutputs()})
    if (absl::Status status = addArgs(launch, values, instruction);
        !status.ok())
      return status;
  finish(std::move(instruction), it->second);
  return absl::OkStatus();
}

absl::Status Emitter::append(rt::CallExternOp call) {
  Instruction instruction;
  instruction.kind = Instruction::Extern;
  instruction.name = call.getName().str();
  instruction.externId = static_cast<int32_t>(out.program.externs.size());
  instruction.firstResult = out.program.numExternResults;
  if (absl::Status status = addArgs(call, call.getOperands(), instruction);
      !status.ok())
    return status;
  for (auto [value, dtype] :
       llvm::zip_equal(call.getOperands(), call.getOperandDtypes())) {
    absl::StatusOr<TensorSpec> spec = specOf(call, value.getType(), dtype);
    if (!spec.ok())
      return spec.status();
    instruction.specs.push_back(std::move(*spec));
  }
  for (auto [value, dtype] :
       llvm::zip_equal(call.getResults(), call.getResultDtypes())) {
    absl::StatusOr<TensorSpec> spec = specOf(call, value.getType(), dtype);
    if (!spec.ok())
      return spec.status();
    instruction.resultSpecs.push_back(std::move(*spec));
    buffers[value] = {BufferRef::ExternResult, out.program.numExternResults++};
  }
  out.program.externs.push_back({call.getName().str(), printed(call.getArgs()),
                                 printed(call.getKwargs())});
  finish(std::move(instruction));
  return absl::OkStatus();
}

absl::Status Emitter::append(rt::CopyOp copy) {
  Instruction instruction;
  instruction.kind = Instruction::Copy;
  instruction.name = "copy";
  if (absl::Status status =
          addArgs(copy, {copy.getSource(), copy.getTarget()}, instruction);
      !status.ok())
    return status;
  absl::StatusOr<TensorSpec> spec =
      specOf(copy, copy.getSource().getType(), nullptr);
  if (!spec.ok())
    return spec.status();
  instruction.range = spec->bytes();
  finish(std::move(instruction));
  return absl::OkStatus();
}

absl::Status Emitter::append(rt::RefuseIfOp check) {
  Instruction instruction;
  instruction.kind = Instruction::RefuseIf;
  instruction.name = check.getReason().str();
  instruction.work = 0;
  if (absl::Status status = addArgs(check, check.getFlag(), instruction);
      !status.ok())
    return status;
  finish(std::move(instruction));
  return absl::OkStatus();
}

absl::Status Emitter::append(Operation *op) {
  return llvm::TypeSwitch<Operation *, absl::Status>(op)
      .Case<rt::LaunchOp, rt::CallExternOp, rt::CopyOp, rt::RefuseIfOp>(
          [&](auto concrete) { return append(concrete); })
      .Case<rt::SlotOp>([&](rt::SlotOp slot) -> absl::Status {
        absl::StatusOr<TensorSpec> spec =
            specOf(slot, slot.getResult().getType(), nullptr);
        if (!spec.ok())
          return spec.status();
        int64_t offset = slot.getOffset();
        if (offset + spec->bytes() > out.program.arenaBytes)
          return invalid(slot, "slot reaches beyond rt.arena_bytes");
        buffers[slot.getResult()] = {BufferRef::Arena, offset};
        return absl::OkStatus();
      })
      .Case<rt::ReinterpretOp>([&](rt::ReinterpretOp view) -> absl::Status {
        auto it = buffers.find(view.getSource());
        if (it == buffers.end())
          return invalid(view, "operand is not a buffer of the host");
        BufferRef source = it->second;
        buffers[view.getResult()] = source;
        return absl::OkStatus();
      })
      .Case<func::ReturnOp>([&](func::ReturnOp ret) -> absl::Status {
        if (ret.getNumOperands())
          return invalid(ret, "the planned host function returns nothing");
        return absl::OkStatus();
      })
      .Default([&](Operation *other) {
        return invalid(other, "'" + other->getName().getStringRef() +
                                  "' is not an operation of the planned host");
      });
}

absl::StatusOr<EmittedProgram> Emitter::run() {
  if (absl::Status status = arguments(); !status.ok())
    return status;
  for (Operation &op : host.getBody().front())
    if (absl::Status status = append(&op); !status.ok())
      return status;
  return std::move(out);
}

absl::StatusOr<func::FuncOp> dynamo::engine::findHostFunction(ModuleOp module,
                                                              StringRef entry) {
  auto host = module.lookupSymbol<func::FuncOp>(entry);
  if (!host || host.isExternal())
    return absl::InvalidArgumentError(
        located(module.getLoc(), "no function '@" + entry + "' to run"));
  if (!host.getBody().hasOneBlock())
    return invalid(host, "the host function has control flow, one block is "
                         "accepted");
  if (!host->getAttrOfType<IntegerAttr>(rt::kNumInputsAttr))
    return invalid(host, "the host function is not memory-planned: "
                         "rt.num_inputs is missing");
  return host;
}

absl::StatusOr<EmittedProgram> dynamo::engine::emitProgram(func::FuncOp host) {
  return Emitter(host).run();
}
