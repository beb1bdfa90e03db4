//===- CFunctionsTorch.cpp - torch's functions in C -----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators are recorded by the dispatch mode, so all functions that lead to
// the dispatcher are allowed, but for those that hand a tensor's content to
// Python.  What only reads metadata is covered by the guards on the tensors,
// and what reads torch's state by TorchState.
//
//===----------------------------------------------------------------------===//

#include "Capture/CFunctions.h"
#include "Capture/CPythonCompat.h"
#include "Capture/Kinds.h"

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;

static void operatorCall(Observer &self, Call &call) {
  self.operands(call);
  self.plan().operators = true;
  self.freshResult();
  // A container of results: its tensors are known by the record.
  self.plan().after = [&self](PyObject *result) {
    if (!self.objects.isKnown(result))
      self.objects.addFresh(result);
  };
}

static void metadata(Observer &self, Call &call) {
  self.operands(call);
  self.plan().hasResult = false;
}

/// Gives a number or array to Python.
static void takesValue(Observer &, Call &call) {
  stop("takes values out of a tensor (" + describe(call.callable) + ")",
       "keep it a tensor, or do this outside the compiled function");
}

/// Gives a value that is the same at each call if the tensors are settled.
static void takesSettledValue(Observer &self, Call &call) {
  for (PyObject *argument : call.args)
    if (argument && isTensor(argument) && !self.settled(argument))
      return takesValue(self, call);
  operatorCall(self, call);
  self.plan().hasResult = false;
  self.plan().after = nullptr;
}

static void dataDependent(Observer &, Call &call) {
  stop("calls " + describe(call.callable) +
           ", whose result's size depends on the values",
       "a mask of fixed size keeps the shape");
}

/// torch.where with the condition only is nonzero().
static void where(Observer &self, Call &call) {
  if (call.args.size() == 1)
    dataDependent(self, call);
  operatorCall(self, call);
}

static void repeatInterleave(Observer &self, Call &call) {
  for (size_t i = 1; i < call.args.size(); ++i)
    if (isTensor(call.args[i]))
      dataDependent(self, call);
  if (call.args.size() == 1)
    dataDependent(self, call);
  operatorCall(self, call);
}

/// Reads torch's state, or does nothing.
static void state(Observer &self, Call &call) {
  for (PyObject *argument : call.args)
    self.objects.need(argument);
}

static void setGradEnabled(Observer &self, Call &call) {
  PyObject *on = call.args[0];
  if (!PyBool_Check(on))
    stop("sets the grad mode to " + describe(on));
  self.gradMode(on == Py_True);
}

static void typeMethod(Observer &self, Call &call) {
  if (call.args.size() == 1)
    return metadata(self, call);
  operatorCall(self, call);
}

static void makesValue(Observer &self, Call &call) {
  for (PyObject *argument : call.args) {
    if (argument && !isValue(argument) && isTensor(argument))
      stop("calls " + describe(call.callable) + " with a tensor");
    if (argument && !isValue(argument))
      self.objects.deep(argument, "makes a size of");
  }
  self.plan().hasResult = false;
}

static void addAll(CTable &t, const char *path, CHandler handler) {
  std::string text = path;
  size_t dot = text.find(':');
  py::object owner;
  try {
    owner = py::module_::import(text.substr(0, dot).c_str());
    if (dot != std::string::npos)
      owner = owner.attr(text.substr(dot + 1).c_str());
  } catch (py::error_already_set &) {
    return;
  }
  if (!PyType_Check(owner.ptr()) && !PyModule_Check(owner.ptr()))
    owner = py::type::of(owner);
  PyObject *dict = PyType_Check(owner.ptr())
                       ? reinterpret_cast<PyTypeObject *>(owner.ptr())->tp_dict
                   : PyModule_Check(owner.ptr()) ? PyModule_GetDict(owner.ptr())
                                                 : nullptr;
  PyObject *key, *value;
  for (Py_ssize_t at = 0; dict && PyDict_Next(dict, &at, &key, &value);) {
    PyObject *function = value;
    Ref inner;
    if (Py_TYPE(value) == &PyStaticMethod_Type) {
      inner = py::handle(value).attr("__func__");
      function = inner.ptr();
    }
    if (PyCFunction_Check(function) || Py_TYPE(function) == &PyMethodDescr_Type)
      t.addObject(function, handler, false);
  }
}

void capture::addTorch(CTable &t) {
  const char *tb = "torch._C:TensorBase";
  const char *vf = "torch._C:_VariableFunctions";
  t.add(tb,
        "numpy __complex__ __contains__ data_ptr _storage storage "
        "untyped_storage share_memory_ is_pinned _is_view "
        "map_ map2_ apply_ __array__ _cdata",
        takesValue);
  t.add(tb, "item __bool__ __int__ __float__ __index__ equal is_nonzero",
        takesSettledValue);
  t.add(tb, "tolist allclose", takesValue);
  t.add(vf, "equal is_nonzero", takesSettledValue);
  t.add(vf, "allclose", takesValue);
  t.add(tb,
        "nonzero argwhere masked_select unique unique_consecutive "
        "bincount histogram coalesce to_sparse _unique2 nonzero_static",
        dataDependent);
  t.add(vf,
        "nonzero argwhere masked_select unique unique_consecutive "
        "_unique _unique2 bincount histogram histogramdd combinations",
        dataDependent);
  t.add(
      tb,
      "set_ resize_ resize_as_ requires_grad_ backward register_hook "
      "_make_subclass _make_wrapper_subclass as_subclass "
      "retain_grad _fix_weakref __setstate__ random_ "
      "record_stream rename_ rename align_to refine_names",
      [](Observer &, Call &call) { stop("calls " + describe(call.callable)); });
  t.add(
      vf, "from_file frombuffer from_numpy asarray set_flush_denormal",
      [](Observer &, Call &call) { stop("calls " + describe(call.callable)); });
  t.add(tb, "where", operatorCall);
  t.add(vf, "where", where);
  t.add(tb, "repeat_interleave", repeatInterleave);
  t.add(vf, "repeat_interleave", repeatInterleave);
  t.add(tb, "type", typeMethod);
  t.add(tb,
        "size dim ndimension stride numel nelement is_contiguous "
        "storage_offset element_size is_floating_point is_complex "
        "is_signed get_device is_conj is_neg is_inference is_same_size "
        "is_coalesced sparse_dim dense_dim has_names __len__ "
        "_is_zerotensor is_set_to",
        metadata);
  t.add(vf,
        "is_floating_point is_complex is_signed is_conj is_neg "
        "is_inference is_same_size numel promote_types result_type "
        "can_cast get_device is_tensor _is_zerotensor is_vulkan_available",
        metadata);
  addAll(t, tb, operatorCall);
  addAll(t, vf, operatorCall);
  addAll(t, "torch._C._nn", operatorCall);
  addAll(t, "torch._C._linalg", operatorCall);
  addAll(t, "torch._C._fft", operatorCall);
  addAll(t, "torch._C._special", operatorCall);

  t.add("torch._C",
        "is_grad_enabled is_inference_mode_enabled is_autocast_enabled "
        "is_autocast_cpu_enabled get_autocast_dtype get_autocast_gpu_dtype "
        "get_autocast_cpu_dtype is_autocast_cache_enabled "
        "_is_autocast_available is_any_autocast_enabled "
        "_get_tracing_state _has_torch_function _has_torch_function_unary "
        "_has_torch_function_variadic _is_torch_function_enabled "
        "_is_torch_function_all_disabled _is_torch_function_mode_enabled "
        "_log_api_usage_once _log_api_usage_metadata _get_default_device "
        "_len_torch_function_stack _len_torch_dispatch_stack "
        "_get_deterministic_algorithms "
        "_get_deterministic_algorithms_warn_only "
        "_get_deterministic_fill_uninitialized_memory get_default_dtype "
        "_get_cudnn_enabled _get_mkldnn_enabled _get_flash_sdp_enabled "
        "_get_mem_efficient_sdp_enabled _get_math_sdp_enabled "
        "_get_cudnn_sdp_enabled _get_overrideable_sdp_enabled "
        "_get_privateuse1_backend_name _is_default_mobile_cpu_allocator_set "
        "_get_float32_matmul_precision get_num_threads "
        "_get_cpu_capability _is_tracing _cuda_isCurrentStreamCapturing "
        "_get_nested_int _is_alias_of _are_functorch_transforms_active "
        "_cuda_getDeviceCount _get_accelerator _accelerator_isAvailable",
        state);
  // Without CUDA these are Python classes.
  for (const char *name :
       {"_cuda_isCurrentStreamCapturing", "_cuda_getDeviceCount"}) {
    py::object found =
        py::getattr(py::module_::import("torch._C"), name, py::none());
    if (PyType_Check(found.ptr()))
      t.handlers.erase(found.ptr());
  }
  t.add("torch._C._functorch",
        "peek_interpreter_stack maybe_get_level is_batchedtensor "
        "is_functorch_wrapped_tensor is_gradtrackingtensor",
        state);
  t.add("torch",
        "get_default_dtype is_grad_enabled "
        "is_inference_mode_enabled _is_functional_tensor "
        "is_autocast_enabled",
        state);
  t.add("torch._C", "_set_grad_enabled", setGradEnabled);
  t.add("torch._C._nn", "_parse_to", [](Observer &self, Call &call) {
    for (PyObject *argument : call.args)
      self.objects.need(argument);
    self.freshResult();
  });
  t.add("torch", "Size device finfo iinfo dtype", makesValue);
  for (const char *type : {"Size", "device", "dtype", "finfo"}) {
    std::string path = std::string("torch:") + type;
    addAll(t, path.c_str(), makesValue);
  }
}
