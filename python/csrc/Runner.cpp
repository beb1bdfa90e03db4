//===- Runner.cpp - Calls a compiled program on torch tensors -------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include <algorithm>
#include <exception>

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::python;

Runner::Runner(Compiled compiled, std::vector<InputPlan> inputs,
               std::vector<OutputPlan> outputs, py::object callExtern,
               py::object repack, int threads)
    : code(std::move(compiled)), inputs(std::move(inputs)),
      outputs(std::move(outputs)), callExtern(std::move(callExtern)),
      repack(std::move(repack)), threads(threads) {
  const runtime::Program &program = *code.program;
  if (program.inputs.size() != this->inputs.size() ||
      program.outputs.size() != this->outputs.size())
    throw CompilerFailure{"the program has other arguments than the graph"};
}

static py::tuple toTuple(const std::vector<int64_t> &values) {
  py::tuple tuple(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    tuple[i] = values[i];
  return tuple;
}

static bool sameSizes(const TensorView &view,
                      const std::vector<int64_t> &sizes) {
  return view.rank == static_cast<int64_t>(sizes.size()) &&
         std::equal(sizes.begin(), sizes.end(), view.sizes);
}

/// Strides of dims of size 1 mean nothing, nor do any of an empty tensor.
static bool sameStrides(const TensorView &view,
                        const std::vector<int64_t> &sizes,
                        const std::vector<int64_t> &strides) {
  bool same = true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0)
      return true;
    same &= sizes[i] == 1 || view.strides[i] == strides[i];
  }
  return same;
}

namespace {
/// State of one call that the runtime's callbacks see. They are C functions:
/// a Python exception is kept here and raised when the run has come back.
struct Call {
  const TorchShim &shim;
  py::handle callExtern;
  PyThreadState *released = nullptr;
  std::exception_ptr raised;
};
} // namespace

static int32_t callExternHook(void *context, int32_t id,
                              const DynamoOperand *operands,
                              int32_t numOperands, DynamoExternResult *results,
                              int32_t numResults) {
  Call &call = *static_cast<Call *>(context);
  try {
    py::list tensors(numOperands);
    for (int32_t i = 0; i < numOperands; ++i)
      tensors[i] = call.shim.borrow(operands[i].data, operands[i].sizes,
                                    operands[i].rank, operands[i].dtype);
    py::list returned = call.callExtern(id, tensors);
    if (static_cast<int32_t>(returned.size()) != numResults)
      throw py::value_error(
          "an operator returned another number of results than in the graph");
    for (int32_t i = 0; i < numResults; ++i) {
      py::object tensor = returned[i];
      results[i] = {nullptr, nullptr};
      if (tensor.is_none())
        continue;
      TensorView view;
      call.shim.view(tensor, view);
      results[i] = {view.data, tensor.release().ptr()};
    }
    return 0;
  } catch (...) {
    call.raised = std::current_exception();
    return 1;
  }
}

static void releaseHook(void *, void *owner) {
  Py_XDECREF(static_cast<PyObject *>(owner));
}

static void beginKernelsHook(void *context) {
  static_cast<Call *>(context)->released = PyEval_SaveThread();
}

static void endKernelsHook(void *context) {
  Call &call = *static_cast<Call *>(context);
  PyEval_RestoreThread(call.released);
  call.released = nullptr;
}

py::object Runner::runWith(const py::sequence &arguments,
                           int64_t *profile) const {
  const TorchShim &shim = TorchShim::get();
  std::vector<void *> in(inputs.size()), out(outputs.size());
  std::vector<py::object> kept; // repacked copies live until the end
  TensorView view;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputPlan &plan = inputs[i];
    py::object tensor = plan.position < 0
                            ? plan.constant
                            : py::object(arguments[plan.position]);
    if (!shim.isTensor(tensor))
      return py::none();
    shim.view(tensor, view);
    if (!view.cpuStrided || view.dtype != plan.dtype ||
        !sameSizes(view, plan.sizes))
      return py::none();
    if (!sameStrides(view, plan.sizes, plan.strides)) {
      if (!plan.repack)
        return py::none();
      tensor = repack(tensor, toTuple(plan.sizes), toTuple(plan.strides));
      shim.view(tensor, view);
    }
    in[i] = view.data;
    kept.push_back(std::move(tensor));
  }
  py::list results(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    results[i] = shim.empty(outputs[i].sizes, outputs[i].strides,
                            outputs[i].dtype, out[i]);

  Call call{shim, callExtern, nullptr, nullptr};
  DynamoRunContext context = {};
  context.inputs = in.data();
  context.outputs = out.data();
  context.numThreads = threads > 0 ? threads : shim.numThreads();
  context.threading = DYNAMO_THREADS_AUTO;
  context.context = &call;
  context.callExtern = callExternHook;
  context.release = releaseHook;
  context.beginKernels = beginKernelsHook;
  context.endKernels = endKernelsHook;
  context.profile = profile;
  DynamoStatus status = code.run(context);
  if (call.released)
    endKernelsHook(&call);
  if (call.raised)
    std::rethrow_exception(call.raised);
  if (status == DYNAMO_REFUSED)
    throw Refused();
  if (status == DYNAMO_OUT_OF_MEMORY) {
    PyErr_SetString(
        PyExc_MemoryError,
        "no memory for the intermediate tensors of a compiled graph");
    throw py::error_already_set();
  }
  if (status != DYNAMO_OK)
    throw CompilerFailure{dynamoStatusText(status)};
  return results;
}

py::object Runner::run(const py::sequence &arguments) const {
  return runWith(arguments, nullptr);
}

py::object Runner::runProfiled(const py::sequence &arguments,
                               std::vector<int64_t> &nanoseconds) const {
  nanoseconds.assign(code.program->instructions.size(), 0);
  return runWith(arguments, nanoseconds.data());
}
