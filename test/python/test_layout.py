# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which strides are a permutation of a dense layout."""
import itertools
import math

import pytest
import torch

from dynamo_mlir.layout import dense_strides, inverse, permutation, same_layout


@pytest.mark.parametrize("sizes", [(), (1,), (5,), (2, 3), (2, 1, 3), (1, 1, 4), (2, 3, 4, 5), (1, 2, 1, 3)])
def test_every_permutation_is_found(sizes):
    for order in itertools.permutations(range(len(sizes))):
        tensor = torch.empty([sizes[d] for d in order]).permute(inverse(list(order)))
        found = permutation(tensor.shape, tensor.stride())
        assert tensor.permute(found).is_contiguous()
        assert math.prod(tensor.shape) == math.prod(sizes)


def test_identity_is_preferred():
    assert permutation((1, 5, 1), (7, 1, 9)) == [0, 1, 2]
    assert permutation((0, 5), (1, 3)) == [0, 1]
    assert permutation((), ()) == []


@pytest.mark.parametrize("tensor", [torch.empty(4, 6)[:, ::2], torch.empty(4, 1).expand(4, 3), torch.empty(5, 5)[1:4, 1:4],
                                    torch.empty(10).as_strided((3, 3), (2, 1))])
def test_what_is_not_dense(tensor):
    assert permutation(tensor.shape, tensor.stride()) is None


def test_same_layout_ignores_dims_of_size_one():
    assert same_layout((1, 4), (99, 1), (4, 1))
    assert not same_layout((2, 4), (99, 1), (4, 1))
    assert dense_strides((2, 3, 4)) == [12, 4, 1]
