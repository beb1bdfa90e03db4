//===- TorchShim.cpp - torch from C++ without linking it ------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TorchShim.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

namespace py = pybind11;
using namespace dynamo::python;

std::vector<int64_t> dynamo::python::denseStrides(const int64_t *sizes,
                                                  int64_t rank) {
  std::vector<int64_t> strides(rank, 1);
  for (int64_t i = rank - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * std::max<int64_t>(sizes[i + 1], 1);
  return strides;
}

int64_t dynamo::python::elementBytes(int32_t dtype) {
  switch (dtype) {
  case 2:
  case 5:
  case 15:
    return 2;
  case 3:
  case 6:
  case 8: // complex of two halves
    return 4;
  case 4:
  case 7:
  case 9:
    return 8;
  case 10:
    return 16;
  default:
    return 1;
  }
}

TorchShim &TorchShim::get() {
  // Never destroyed: it holds Python objects, and the interpreter is gone by
  // the time static destructors run.
  static TorchShim *shim = new TorchShim;
  return *shim;
}

TorchShim::TorchShim() {
  torch = py::module_::import("torch");
  tensorType =
      reinterpret_cast<PyTypeObject *>(py::object(torch.attr("Tensor")).ptr());
  emptyStrided = torch.attr("empty_strided");
  fromBuffer = torch.attr("frombuffer");
  py::dict table;
  for (auto &[number, name] :
       std::vector<std::pair<int, const char *>>{{0, "uint8"},
                                                 {1, "int8"},
                                                 {2, "int16"},
                                                 {3, "int32"},
                                                 {4, "int64"},
                                                 {5, "float16"},
                                                 {6, "float32"},
                                                 {7, "float64"},
                                                 {11, "bool"},
                                                 {15, "bfloat16"}}) {
    py::object dtype = torch.attr(name);
    table[py::int_(number)] = dtype;
    table[dtype] = py::int_(number);
  }
  dtypes = table;
  if (std::getenv("DYNAMO_MLIR_NO_TORCH_SHIM"))
    reason = "switched off by DYNAMO_MLIR_NO_TORCH_SHIM";
  else
    load();
  // The first use may lie inside torch.no_grad() or any mode of the user's:
  // what is tried out is tried outside of them.
  py::object stack = py::module_::import("contextlib").attr("ExitStack")();
  py::object enter = stack.attr("enter_context");
  enter(py::module_::import("torch.utils._python_dispatch")
            .attr("_disable_current_modes")());
  enter(torch.attr("_C").attr("DisableTorchFunction")());
  enter(torch.attr("inference_mode")(false));
  enter(torch.attr("enable_grad")());
  enter(torch.attr("autocast")("cpu", py::arg("enabled") = false));
  if (reason.empty())
    calibrate();
  calibrated = reason.empty();
  if (calibrated) {
    calibrateRaw();
    loadState();
  }
  stack.attr("close")();
}

py::object TorchShim::dtypeObject(int32_t dtype) const {
  return dtypes.attr("__getitem__")(dtype);
}

void TorchShim::load() {
  std::string folder = py::str(py::module_::import("os").attr("path").attr(
      "dirname")(torch.attr("__file__")));
  void *cpu =
      dlopen((folder + "/lib/libtorch_cpu.so").c_str(), RTLD_NOLOAD | RTLD_NOW);
  void *python = dlopen((folder + "/lib/libtorch_python.so").c_str(),
                        RTLD_NOLOAD | RTLD_NOW);
  if (!cpu || !python) {
    reason = "torch's libraries are not where they were expected";
    return;
  }
  auto find = [&](auto &function, void *library, const char *name) {
    void *address = dlsym(library, name);
    std::memcpy(&function, &address, sizeof(address));
    if (!address && reason.empty())
      reason = std::string("torch has no ") + name;
  };
  find(getDataPtr, cpu, "aoti_torch_get_data_ptr");
  find(getSizes, cpu, "aoti_torch_get_sizes");
  find(getStrides, cpu, "aoti_torch_get_strides");
  find(getDim, cpu, "aoti_torch_get_dim");
  find(getDtype, cpu, "aoti_torch_get_dtype");
  find(getDeviceType, cpu, "aoti_torch_get_device_type");
  find(getLayout, cpu, "aoti_torch_get_layout");
  find(emptyStridedC, cpu, "aoti_torch_empty_strided");
  find(deleteTensor, cpu, "aoti_torch_delete_tensor_object");
  find(fromBlob, cpu, "torch_from_blob");
  find(layoutStrided, cpu, "aoti_torch_layout_strided");
  find(wrap, python, "_Z16THPVariable_WrapRKN2at10TensorBaseE");
  core = dlopen((folder + "/lib/libc10.so").c_str(), RTLD_NOLOAD | RTLD_NOW);
  auto findMaybe = [](auto &function, void *library, const char *name) {
    void *address = library ? dlsym(library, name) : nullptr;
    std::memcpy(&function, &address, sizeof(address));
  };
  findMaybe(requiresGradC, core, "_ZNK3c1010TensorImpl13requires_gradEv");
  findMaybe(autogradState, core, "_ZN3c1013AutogradState13get_tls_stateEv");
  findMaybe(defaultDtype, core, "_ZN3c1017get_default_dtypeEv");
  findMaybe(functionModes, cpu,
            "_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv");
  findMaybe(functionsDisabled, cpu,
            "_ZN2at4impl22PythonTorchFunctionTLS18get_disabled_stateEv");
  findMaybe(globalContext, cpu, "_ZN2at13globalContextEv");
  findMaybe(deterministic, cpu, "_ZNK2at7Context23deterministicAlgorithmsEv");
  findMaybe(deterministicWarns, cpu,
            "_ZNK2at7Context31deterministicAlgorithmsWarnOnlyEv");
  void *threads = dlsym(cpu, "_ZN2at15get_num_threadsEv"); // may be missing
  std::memcpy(&getNumThreads, &threads, sizeof(threads));
}

/// Finds the handle in the Python object and tries every function once, on
/// known tensors and against Python's answers.
void TorchShim::calibrate() {
  auto fail = [&](const char *what) { reason = what; };
  stridedLayout = layoutStrided();
  py::object base = emptyStrided(py::make_tuple(6, 5, 4, 3, 2, 7),
                                 py::make_tuple(840, 1, 210, 70, 35, 5),
                                 py::arg("dtype") = torch.attr("float32"));
  py::object probe = base.attr("__getitem__")(1);
  py::object parameter = torch.attr("nn").attr("Parameter")(
      torch.attr("zeros")(3, 2, py::arg("dtype") = torch.attr("float64")));
  // An at::Tensor is one word, the address of its TensorImpl, which Python
  // knows as `_cdata`: the handle is where that word lies in the object.
  if (!py::hasattr(probe, "_cdata"))
    return fail("a tensor does not tell where its implementation lies");
  uintptr_t implementation = py::cast<uintptr_t>(probe.attr("_cdata"));
  handleOffset = 0;
  for (Py_ssize_t at = sizeof(PyObject);
       at + static_cast<Py_ssize_t>(sizeof(void *)) <= tensorType->tp_basicsize;
       at += sizeof(void *)) {
    uintptr_t word;
    std::memcpy(&word, reinterpret_cast<char *>(probe.ptr()) + at,
                sizeof(word));
    if (word == implementation) {
      handleOffset = at;
      break;
    }
  }
  if (!handleOffset)
    return fail("a tensor object does not hold its implementation");
  for (auto &[tensor, rank, dtype] :
       {std::make_tuple(probe, 5, 6), std::make_tuple(parameter, 2, 7)}) {
    TensorView seen;
    uintptr_t word;
    std::memcpy(&word, reinterpret_cast<char *>(tensor.ptr()) + handleOffset,
                sizeof(word));
    if (word != py::cast<uintptr_t>(tensor.attr("_cdata")))
      return fail("tensor objects differ in where their implementation lies");
    calibrated = true;
    view(tensor, seen);
    calibrated = false;
    uintptr_t data = py::cast<uintptr_t>(tensor.attr("data_ptr")());
    std::vector<int64_t> sizes, strides;
    for (py::handle v : py::tuple(tensor.attr("shape")))
      sizes.push_back(py::cast<int64_t>(v));
    for (py::handle v : py::tuple(tensor.attr("stride")()))
      strides.push_back(py::cast<int64_t>(v));
    if (seen.data != reinterpret_cast<void *>(data) || seen.rank != rank ||
        seen.dtype != dtype || !seen.cpuStrided ||
        !std::equal(sizes.begin(), sizes.end(), seen.sizes) ||
        !std::equal(strides.begin(), strides.end(), seen.strides))
      return fail("a tensor read through C differs from Python's view of it");
  }
  calibrated = true;
  void *data = nullptr;
  py::object made = empty({3, 4}, {1, 3}, /*Float64=*/7, data);
  float memory[6] = {0, 1, 2, 3, 4, 5};
  int64_t sizes[2] = {2, 3};
  py::object borrowed = borrow(memory, sizes, 2, /*Float32=*/6);
  calibrated = false;
  if (!isTensor(made) || !isTensor(borrowed) ||
      py::cast<uintptr_t>(made.attr("data_ptr")()) !=
          reinterpret_cast<uintptr_t>(data) ||
      !py::tuple(made.attr("stride")()).equal(py::make_tuple(1, 3)) ||
      !made.attr("dtype").is(torch.attr("float64")) ||
      py::cast<int>(made.attr("_version")) != 0 ||
      py::cast<bool>(made.attr("requires_grad")))
    return fail("a tensor made through C is not what was asked for");
  if (py::cast<uintptr_t>(borrowed.attr("data_ptr")()) !=
          reinterpret_cast<uintptr_t>(memory) ||
      py::cast<float>(borrowed.attr("sum")().attr("item")()) != 15.0f)
    return fail("a tensor over borrowed memory reads something else");
}

bool TorchShim::isTensor(py::handle object) const {
  return PyObject_TypeCheck(object.ptr(), tensorType);
}

void TorchShim::view(py::handle tensor, TensorView &out) const {
  if (calibrated) {
    Handle handle = reinterpret_cast<char *>(tensor.ptr()) + handleOffset;
    int64_t *sizes = nullptr, *strides = nullptr;
    int32_t device = -1, layout = -1;
    if (getDim(handle, &out.rank) || getDtype(handle, &out.dtype) ||
        getDeviceType(handle, &device) || getLayout(handle, &layout))
      throw py::value_error("torch could not describe a tensor");
    out.cpuStrided = device == 0 && layout == stridedLayout;
    if (!out.cpuStrided)
      return;
    if (getDataPtr(handle, &out.data) || getSizes(handle, &sizes) ||
        getStrides(handle, &strides))
      throw py::value_error("torch could not describe a tensor");
    out.sizes = sizes;
    out.strides = strides;
    return;
  }
  out.cpuStrided =
      py::cast<std::string>(tensor.attr("device").attr("type")) == "cpu" &&
      tensor.attr("layout").is(torch.attr("strided"));
  py::object number = dtypes.attr("get")(tensor.attr("dtype"), -1);
  out.dtype = py::cast<int32_t>(number);
  if (!out.cpuStrided)
    return;
  out.sizeStore.clear();
  out.strideStore.clear();
  for (py::handle v : py::tuple(tensor.attr("shape")))
    out.sizeStore.push_back(py::cast<int64_t>(v));
  for (py::handle v : py::tuple(tensor.attr("stride")()))
    out.strideStore.push_back(py::cast<int64_t>(v));
  out.rank = out.sizeStore.size();
  out.sizes = out.sizeStore.data();
  out.strides = out.strideStore.data();
  out.data =
      reinterpret_cast<void *>(py::cast<uintptr_t>(tensor.attr("data_ptr")()));
}

py::object TorchShim::empty(const std::vector<int64_t> &sizes,
                            const std::vector<int64_t> &strides, int32_t dtype,
                            void *&data) const {
  if (calibrated) {
    Handle handle = nullptr;
    if (emptyStridedC(sizes.size(), sizes.data(), strides.data(), dtype,
                      /*cpu=*/0, 0, &handle) == 0) {
      getDataPtr(handle, &data);
      PyObject *object = wrap(handle);
      deleteTensor(handle);
      if (!object)
        throw py::error_already_set();
      return py::reinterpret_steal<py::object>(object);
    }
    // Out of memory, most likely: torch's own road has the proper exception.
  }
  py::tuple size(sizes.size()), stride(strides.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    size[i] = sizes[i];
    stride[i] = strides[i];
  }
  py::object made =
      emptyStrided(size, stride, py::arg("dtype") = dtypeObject(dtype),
                   py::arg("device") = "cpu");
  data = reinterpret_cast<void *>(py::cast<uintptr_t>(made.attr("data_ptr")()));
  return made;
}

py::object TorchShim::borrow(void *data, const int64_t *sizes, int64_t rank,
                             int32_t dtype) const {
  std::vector<int64_t> strides = denseStrides(sizes, rank);
  int64_t bytes = elementBytes(dtype);
  for (int64_t i = 0; i < rank; ++i)
    bytes *= sizes[i];
  if (bytes == 0) {
    void *ignored;
    return empty(std::vector<int64_t>(sizes, sizes + rank), strides, dtype,
                 ignored);
  }
  if (calibrated) {
    Handle handle = nullptr;
    // Device index -1: a CPU device has none.
    if (fromBlob(
            data, rank, sizes, strides.data(), 0, dtype, /*cpu=*/0, -1, &handle,
            stridedLayout, nullptr, 0, [](void *, void *) {}, nullptr) == 0) {
      PyObject *object = wrap(handle);
      deleteTensor(handle);
      if (!object)
        throw py::error_already_set();
      return py::reinterpret_steal<py::object>(object);
    }
  }
  py::tuple shape(rank);
  for (int64_t i = 0; i < rank; ++i)
    shape[i] = sizes[i];
  py::object memory =
      py::memoryview::from_memory(data, bytes, /*readonly=*/false);
  return fromBuffer(memory, py::arg("dtype") = dtypeObject(dtype))
      .attr("reshape")(shape);
}

int TorchShim::numThreads() const {
  if (calibrated && getNumThreads)
    return getNumThreads();
  return py::cast<int>(torch.attr("get_num_threads")());
}
