//===- TorchState.cpp - Tensors and torch's state, as traces hold them ----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Capture/TorchState.h"

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;
using dynamo::python::RawTensor;
using dynamo::python::TorchShim;

/// A function of a Python module, kept for good.
static py::handle
helper(const char *name,
       const char *module = "dynamo_mlir.capture.torch_state") {
  return py::object(py::module_::import(module).attr(name)).release();
}

std::shared_ptr<TensorSpec> capture::describeTensor(PyObject *tensor) {
  auto spec = std::make_shared<TensorSpec>();
  spec->type = py::type::of(py::handle(tensor));
  const TorchShim &shim = TorchShim::get();
  if (shim.raw()) {
    RawTensor raw = shim.rawTensor(tensor);
    spec->dtype = raw.dtype();
    spec->deviceType = raw.deviceType();
    spec->deviceIndex = raw.deviceIndex();
    spec->sizes.assign(raw.sizes(), raw.sizes() + raw.rank());
    spec->strides.assign(raw.strides(), raw.strides() + raw.rank());
    spec->offset = raw.storageOffset();
    spec->keys = raw.keys();
    spec->requiresGrad = shim.requiresGrad(raw);
    spec->isLeaf = !raw.hasGradFn() &&
                   (!spec->requiresGrad ||
                    py::cast<bool>(py::handle(tensor).attr("is_leaf")));
    return spec;
  }
  static py::handle describe = helper("describe_tensor");
  py::tuple all = describe(py::handle(tensor));
  spec->dtype = py::cast<int32_t>(all[0]);
  spec->deviceType = py::cast<int32_t>(all[1]);
  spec->deviceIndex = py::cast<int32_t>(all[2]);
  spec->sizes = py::cast<std::vector<int64_t>>(py::list(all[3]));
  spec->strides = py::cast<std::vector<int64_t>>(py::list(all[4]));
  spec->offset = py::cast<int64_t>(all[5]);
  spec->keys = py::cast<uint64_t>(all[6]);
  spec->requiresGrad = py::cast<bool>(all[7]);
  spec->isLeaf = py::cast<bool>(all[8]);
  return spec;
}

static bool equalInts(const int64_t *values,
                      const std::vector<int64_t> &expected) {
  // Ranks are small: a call of memcmp would be the larger part.
  for (size_t i = 0, n = expected.size(); i < n; ++i)
    if (values[i] != expected[i])
      return false;
  return true;
}

bool capture::matchesTensor(PyObject *tensor, const TensorSpec &spec) {
  if (reinterpret_cast<PyObject *>(Py_TYPE(tensor)) != spec.type.ptr())
    return false;
  const TorchShim &shim = TorchShim::get();
  if (shim.raw()) {
    RawTensor raw = shim.rawTensor(tensor);
    // A tensor that requires grad through a view's base has a node by then.
    return raw.rank() == static_cast<int64_t>(spec.sizes.size()) &&
           equalInts(raw.sizes(), spec.sizes) &&
           equalInts(raw.strides(), spec.strides) &&
           raw.dtype() == spec.dtype && raw.deviceType() == spec.deviceType &&
           raw.deviceIndex() == spec.deviceIndex && raw.keys() == spec.keys &&
           (spec.offset < 0 || raw.storageOffset() == spec.offset) &&
           shim.requiresGrad(raw) == spec.requiresGrad &&
           (!spec.requiresGrad || raw.hasGradFn() != spec.isLeaf);
  }
  try {
    std::shared_ptr<TensorSpec> now = describeTensor(tensor);
    return now->dtype == spec.dtype && now->deviceType == spec.deviceType &&
           now->deviceIndex == spec.deviceIndex && now->sizes == spec.sizes &&
           now->strides == spec.strides && now->keys == spec.keys &&
           (spec.offset < 0 || now->offset == spec.offset) &&
           now->requiresGrad == spec.requiresGrad && now->isLeaf == spec.isLeaf;
  } catch (py::error_already_set &) {
    return false;
  }
}

void capture::packTensor(const TensorSpec &spec, std::vector<int64_t> &words) {
  words.insert(words.end(), {reinterpret_cast<int64_t>(spec.type.ptr()),
                             static_cast<int64_t>(spec.keys),
                             spec.dtype << 16 | (spec.deviceType & 255) << 8 |
                                 (spec.deviceIndex & 255),
                             spec.requiresGrad | spec.isLeaf << 1, spec.offset,
                             static_cast<int64_t>(spec.sizes.size())});
  words.insert(words.end(), spec.sizes.begin(), spec.sizes.end());
  words.insert(words.end(), spec.strides.begin(), spec.strides.end());
}

std::string capture::tensorText(const TensorSpec &spec) {
  static const char *names[] = {
      "uint8",   "int8",    "int16",     "int32",     "int64",      "float16",
      "float32", "float64", "complex32", "complex64", "complex128", "bool"};
  std::string text = spec.dtype >= 0 && spec.dtype < 12 ? names[spec.dtype]
                     : spec.dtype == 15 ? std::string("bfloat16")
                                        : "dtype " + std::to_string(spec.dtype);
  auto list = [](const std::vector<int64_t> &values) {
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i)
      text += (i ? ", " : "") + std::to_string(values[i]);
    return text + "]";
  };
  text += list(spec.sizes);
  if (spec.strides !=
      python::denseStrides(spec.sizes.data(),
                           static_cast<int64_t>(spec.sizes.size())))
    text += " strides " + list(spec.strides);
  if (spec.offset > 0)
    text += " offset " + std::to_string(spec.offset);
  if (spec.deviceType)
    text += " on device " + std::to_string(spec.deviceType) + ":" +
            std::to_string(spec.deviceIndex);
  if (spec.requiresGrad)
    text += spec.isLeaf ? " requires_grad" : " requires_grad with a grad_fn";
  return text;
}

TorchState capture::readTorchState() {
  TorchState state;
  static py::handle details = helper("details"), autocast = helper("autocast");
  static py::handle grad = helper("is_grad_enabled", "torch");
  static py::handle inference = helper("is_inference_mode_enabled", "torch");
  state.gradMode = py::cast<bool>(grad());
  state.inferenceMode = py::cast<bool>(inference());
  if (!TorchShim::get().words(state.words)) {
    state.details = details();
    return state;
  }
  py::object on = autocast();
  if (!on.is_none())
    state.details = std::move(on);
  return state;
}

bool capture::matchesTorchState(const TorchState &state) {
  python::TorchWords now;
  bool known = TorchShim::get().words(now);
  if (known && !(now == state.words))
    return false;
  if (!state.details)
    return known;
  static py::handle details = helper("details"), autocast = helper("autocast");
  try {
    py::object current = known ? autocast() : details();
    return current.equal(state.details);
  } catch (py::error_already_set &) {
    return false;
  }
}

bool capture::isRecordable() {
  static py::handle recordable = helper("recordable");
  try {
    return py::cast<bool>(recordable());
  } catch (py::error_already_set &) {
    return false;
  }
}
