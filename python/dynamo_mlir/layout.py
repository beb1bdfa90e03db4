# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strides: which layouts are a permutation of a dense row-major one, and which are not.

The compiler sees dense row-major buffers only. A tensor whose dims are dense in another order (channels_last, a transposed
weight) is such a buffer with its dims permuted; a dim of stride 0 (an expanded tensor) is left out.
"""


def dense_strides(sizes):
    strides, step = [1] * len(sizes), 1
    for i in range(len(sizes) - 1, -1, -1):
        strides[i] = step
        step *= max(sizes[i], 1)
    return strides


def permutation(sizes, strides):
    """Dims from the outermost to the innermost in memory, or None if the tensor is not dense.

    Identity wherever possible: strides of dims of size 1 mean nothing, nor do any if the tensor is empty.
    """
    rank = len(sizes)
    identity = list(range(rank))
    if 0 in sizes:
        return identity
    order = sorted((d for d in identity if sizes[d] != 1), key=lambda d: -strides[d])
    step = 1
    for d in reversed(order):
        if strides[d] != step:
            return None
        step *= sizes[d]
    if order == sorted(order):
        return identity
    return [d for d in identity if sizes[d] == 1] + order


def inverse(order):
    back = [0] * len(order)
    for i, d in enumerate(order):
        back[d] = i
    return back


def same_layout(sizes, strides, other):
    """Whether two lists of strides address the same places of a tensor of these sizes."""
    return 0 in sizes or all(n == 1 or a == b for n, a, b in zip(sizes, strides, other))
