# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Torch's state and tensors' metadata as plain values, for where C++ can't read them in place (Capture/TorchState.cpp)."""
import torch

_DEVICES = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia")
_DTYPES = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64,
           torch.complex32, torch.complex64, torch.complex128, torch.bool)


def autocast():
    """None where autocast is off on every device."""
    state = []
    for device in _DEVICES:
        try:
            if torch.is_autocast_enabled(device):
                state.append((device, torch.get_autocast_dtype(device)))
        except RuntimeError:  # this build knows no such device
            continue
    return (*state, torch.is_autocast_cache_enabled()) if state else None


def details():
    return (torch.is_grad_enabled(), torch.is_inference_mode_enabled(), autocast(), torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(),
            torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack(), torch._C._get_torch_function_state(),
            recordable())


def recordable():
    return (torch._C._len_torch_function_stack() == 0 and torch._C._len_torch_dispatch_stack() == 0
            and torch._C._is_torch_function_enabled() and torch._C._functorch.peek_interpreter_stack() is None
            and torch._C._get_tracing_state() is None)


def dtype_number(dtype):
    """torch's own number of a dtype, as the C++ side has it."""
    if dtype is torch.bfloat16:
        return 15
    return _DTYPES.index(dtype) if dtype in _DTYPES else 1000 + abs(hash(str(dtype))) % 100000


def describe_tensor(t):
    strided = t.layout is torch.strided
    device = {"cpu": 0, "cuda": 1}.get(t.device.type)
    return (dtype_number(t.dtype), 100 + len(t.device.type) if device is None else device,
            -1 if t.device.index is None else t.device.index, tuple(t.shape), tuple(t.stride()) if strided else (),
            t.storage_offset() if strided else 0, torch._C._dispatch_keys(t).raw_repr(), t.requires_grad, t.is_leaf)


def copy_below_autograd(target, value):
    """A write that autograd does not see: the operators were recorded below it."""
    with torch._C._AutoDispatchBelowAutograd():
        target.copy_(value)
