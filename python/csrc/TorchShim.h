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

#include <cstdint>
#include <pybind11/pybind11.h>
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

class TorchShim {
public:
  /// The process's shim; torch is imported already.
  static TorchShim &get();

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
  pybind11::object dtypeObject(int32_t dtype) const;

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

/// Row-major strides of a shape.
std::vector<int64_t> denseStrides(const int64_t *sizes, int64_t rank);

} // namespace dynamo::python

#endif // DYNAMO_PYTHON_TORCHSHIM_H
