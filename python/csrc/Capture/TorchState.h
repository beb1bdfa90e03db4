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
