//===- TorchState.h - Tensors and torch's state, as traces hold them  C++
//-*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the descriptions that a recording keeps of tensors and of torch's
// state, and compares them at later calls: by raw words where these are known,
// else by asking torch's Python.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_TORCHSTATE_H
#define DYNAMO_PYTHON_CAPTURE_TORCHSTATE_H

#include "Capture/Trace.h"

namespace dynamo::capture {

/// What a tensor looks like now. Throws what torch throws.
std::shared_ptr<TensorSpec> describeTensor(PyObject *tensor);
/// Whether a tensor looks as described; runs no code of the user's.
bool matchesTensor(PyObject *tensor, const TensorSpec &spec);
/// A description in one stretch of memory, appended to `words`.
void packTensor(const TensorSpec &spec, std::vector<int64_t> &words);
/// As matchesTensor, for a packed description; only where tensors are read in
/// place.
inline bool matchesPacked(PyObject *tensor, const python::TorchShim &shim,
                          const int64_t *words) {
  // type, keys, dtype and device, requires grad and leaf, offset, rank, sizes,
  // strides
  if (reinterpret_cast<int64_t>(Py_TYPE(tensor)) != words[0])
    return false;
  python::RawTensor raw = shim.rawTensor(tensor);
  int64_t rank = words[5];
  if (raw.rank() != rank || static_cast<int64_t>(raw.keys()) != words[1] ||
      (raw.dtype() << 16 | (raw.deviceType() & 255) << 8 |
       (raw.deviceIndex() & 255)) != words[2] ||
      (words[4] >= 0 && raw.storageOffset() != words[4]))
    return false;
  const int64_t *sizes = raw.sizes(), *strides = raw.strides();
  for (int64_t i = 0; i < rank; ++i)
    if (sizes[i] != words[6 + i] || strides[i] != words[6 + rank + i])
      return false;
  bool requiresGrad = shim.requiresGrad(raw);
  return requiresGrad == (words[3] & 1) &&
         (!requiresGrad || raw.hasGradFn() != (words[3] >> 1));
}
/// "float32[2, 3] on cpu, requires grad"
std::string tensorText(const TensorSpec &spec);

/// Torch's state at this moment. Throws what torch throws.
TorchState readTorchState();
/// Whether torch's state is as it was.
bool matchesTorchState(const TorchState &state);
/// False while something is active that must see every operator as eager runs
/// it: a mode of the user's, a functorch transform, torch.jit tracing. Nothing
/// is recorded then.
bool isRecordable();

} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_TORCHSTATE_H
