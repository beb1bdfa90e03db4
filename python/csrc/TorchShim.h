//===- TorchShim.h - torch from C++ without linking it ------------ C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and makes tensors in tens of nanoseconds through torch's stable C
// functions, found by dlsym in the libraries that the process has loaded
// already: one binary of ours serves any torch.  Where a tensor's handle lies
// inside the Python object is not part of any contract, so it is calibrated at
// start-up on known tensors and everything is tried once; if anything differs,
// the official Python methods are used instead.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_TORCHSHIM_H
#define DYNAMO_PYTHON_TORCHSHIM_H

#include "Pybind.h"
#include <cstdint>
#include <string>
#include <vector>

namespace dynamo::python {

/// What a tensor looks like; pointers are borrowed from it.
struct TensorView {
  void *data = nullptr;
  const int64_t *sizes = nullptr;
  const int64_t *strides = nullptr;
  int64_t rank = 0;
  int32_t dtype = -1;
  bool cpuStrided = false;
  // Backing store of sizes and strides for the slow road.
  std::vector<int64_t> sizeStore, strideStore;
};

/// Where the parts of a tensor lie in its TensorImpl, in bytes from its start;
/// found at start-up by looking for what known tensors must hold.
struct TensorOffsets {
  int32_t storage, autograd, rank, offset, dtype, device, keys;
  /// In the autograd metadata: the node that made the tensor, and the flag
  /// that requires_grad_ sets.
  int32_t gradFn, requiresGrad;
  /// Up to this rank sizes and strides lie in the TensorImpl behind the rank,
  /// of more dims behind a pointer there: sizes, then strides.
  static constexpr int64_t inlineRank = 5;
};

/// Reads a tensor's metadata in place; valid while the tensor is not changed.
/// Only where TorchShim::raw() is not null.
class RawTensor {
public:
  RawTensor(const TensorOffsets &at, PyObject *tensor, int64_t handleOffset)
      : at(at), impl(*reinterpret_cast<char **>(
                    reinterpret_cast<char *>(tensor) + handleOffset)) {}
  const char *address() const { return impl; }
  int64_t rank() const { return read<int64_t>(at.rank); }
  const int64_t *sizes() const {
    const int64_t *first = pointer<int64_t>(at.rank) + 1;
    return rank() <= TensorOffsets::inlineRank
               ? first
               : *reinterpret_cast<const int64_t *const *>(first);
  }
  const int64_t *strides() const {
    return sizes() + (rank() <= TensorOffsets::inlineRank
                          ? TensorOffsets::inlineRank
                          : rank());
  }
  int64_t storageOffset() const { return read<int64_t>(at.offset); }
  int32_t dtype() const { return read<uint16_t>(at.dtype); }
  int32_t deviceType() const { return read<int8_t>(at.device); }
  int32_t deviceIndex() const { return read<int8_t>(at.device + 1); }
  uint64_t keys() const { return read<uint64_t>(at.keys); }
  const void *storage() const { return read<const void *>(at.storage); }
  /// Null: the tensor takes no part in autograd.
  const char *autograd() const { return read<const char *>(at.autograd); }
  bool hasGradFn() const {
    const char *meta = autograd();
    return meta && *reinterpret_cast<void *const *>(meta + at.gradFn);
  }

private:
  template <typename T> const T *pointer(int32_t offset) const {
    return reinterpret_cast<const T *>(impl + offset);
  }
  template <typename T> T read(int32_t offset) const {
    return *pointer<T>(offset);
  }
  const TensorOffsets &at;
  const char *impl;
};

/// What torch keeps per thread and for the process that every operator depends
/// on, as words to be compared.
struct TorchWords {
  uint64_t autograd = 0; ///< grad mode, inference mode and their like, as bits
  uint64_t included = 0, excluded = 0; ///< dispatch keys: autocast, modes, ...
  uint64_t functions = 0; ///< depth of torch function modes, how far disabled
  uint64_t process = 0;   ///< default dtype, deterministic algorithms
  bool operator==(const TorchWords &o) const {
    return autograd == o.autograd && included == o.included &&
           excluded == o.excluded && functions == o.functions &&
           process == o.process;
  }
};

class TorchShim {
public:
  /// The process's shim; torch is imported already.
  static TorchShim &get();

  /// Null: tensors' metadata is read by the official ways only.
  const TensorOffsets *raw() const { return rawKnown ? &offsets : nullptr; }
  const std::string &whyNotRaw() const { return rawReason; }
  /// For tests.
  void setRaw(bool on) { rawKnown = on && rawReason.empty(); }
  RawTensor rawTensor(PyObject *tensor) const {
    return RawTensor(offsets, tensor, handleOffset);
  }
  /// Of any tensor; no Python code runs. Only where raw() is not null.
  bool requiresGrad(const RawTensor &tensor) const {
    const char *meta = tensor.autograd();
    if (!meta)
      return false;
    return meta[offsets.requiresGrad] || tensor.hasGradFn() ||
           requiresGradC(tensor.address());
  }
  /// torch's state at this moment; false: it can't be read this way.
  bool words(TorchWords &out) const;

  /// False: the Python methods are used.
  bool fast() const { return calibrated; }
  const std::string &whyNotFast() const { return reason; }
  /// For tests.
  void setFast(bool on) { calibrated = on && reason.empty(); }

  bool isTensor(pybind11::handle object) const;
  /// Throws what torch throws.
  void view(pybind11::handle tensor, TensorView &out) const;
  /// New tensor on the CPU with this layout, memory not set; its data pointer.
  pybind11::object empty(const std::vector<int64_t> &sizes,
                         const std::vector<int64_t> &strides, int32_t dtype,
                         void *&data) const;
  /// A tensor over borrowed dense row-major memory.
  pybind11::object borrow(void *data, const int64_t *sizes, int64_t rank,
                          int32_t dtype) const;
  int numThreads() const;

private:
  TorchShim();
  void load();
  void calibrate();
  /// Finds the offsets, and tries them against Python's answers.
  void calibrateRaw();
  /// What it looks at is added to `probes`.
  bool findOffsets(pybind11::list &probes);
  void loadState();
  pybind11::object dtypeObject(int32_t dtype) const;

  TensorOffsets offsets = {};
  bool rawKnown = false, stateKnown = false;
  std::string rawReason = "not looked for";
  void *core = nullptr; ///< torch's lowest library
  int32_t autogradByte = -1;
  bool (*requiresGradC)(const void *) = nullptr;
  void *(*autogradState)() = nullptr;
  int64_t (*functionModes)() = nullptr;
  int32_t (*functionsDisabled)() = nullptr;
  void *(*globalContext)() = nullptr;
  bool (*deterministic)(const void *) = nullptr;
  bool (*deterministicWarns)(const void *) = nullptr;
  uint16_t (*defaultDtype)() = nullptr;

  using Handle = void *;
  bool calibrated = false;
  std::string reason;
  int64_t handleOffset = 16;
  PyTypeObject *tensorType = nullptr;
  pybind11::object torch, dtypes, emptyStrided, fromBuffer;
  int32_t stridedLayout = 0;

  int32_t (*getDataPtr)(Handle, void **) = nullptr;
  int32_t (*getSizes)(Handle, int64_t **) = nullptr;
  int32_t (*getStrides)(Handle, int64_t **) = nullptr;
  int32_t (*getDim)(Handle, int64_t *) = nullptr;
  int32_t (*getDtype)(Handle, int32_t *) = nullptr;
  int32_t (*getDeviceType)(Handle, int32_t *) = nullptr;
  int32_t (*getLayout)(Handle, int32_t *) = nullptr;
  int32_t (*emptyStridedC)(int64_t, const int64_t *, const int64_t *, int32_t,
                           int32_t, int32_t, Handle *) = nullptr;
  int32_t (*deleteTensor)(Handle) = nullptr;
  int32_t (*fromBlob)(void *, int64_t, const int64_t *, const int64_t *,
                      int64_t, int32_t, int32_t, int32_t, Handle *, int32_t,
                      const uint8_t *, int64_t, void (*)(void *, void *),
                      void *) = nullptr;
  int32_t (*layoutStrided)() = nullptr;
  PyObject *(*wrap)(const void *) = nullptr;
  int (*getNumThreads)() = nullptr;
};

/// Bytes per element by the number of torch's ScalarType.
int64_t elementBytes(int32_t dtype);
/// Row-major strides of a shape.
std::vector<int64_t> denseStrides(const int64_t *sizes, int64_t rank);

} // namespace dynamo::python

#endif // DYNAMO_PYTHON_TORCHSHIM_H
