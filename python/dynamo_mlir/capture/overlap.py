# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether tensors share memory. A program writes what it has computed at its end, all at once: only right where a written
input shares its memory with no other one."""
import torch


def memory_of(tensor):
    """(first byte, last byte) that a tensor's elements take, or None if it has none."""
    if not tensor.numel():
        return None
    start = tensor.data_ptr()
    last = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    return start, start + (last + 1) * tensor.element_size()


def written_is_shared(tensors, written):
    """Whether one of the tensors at the positions `written` shares memory with another one."""
    spans = sorted((*span, i in written) for i, t in enumerate(tensors)
                   if isinstance(t, torch.Tensor) and (span := memory_of(t)) is not None)
    end_of_written = end_of_any = 0
    for start, end, is_written in spans:
        if start < end_of_written or is_written and start < end_of_any:
            return True
        end_of_any = max(end_of_any, end)
        if is_written:
            end_of_written = max(end_of_written, end)
    return False
