# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of tensors that depend on constants alone are taken out inside a segment; those of others end it."""
import pytest
import torch

from dynamo_mlir.capture.door import compile_any
from dynamo_mlir.options import Options


def branch(x):
    mask = torch.arange(5) > 2
    if mask.all():
        return x
    return x.masked_fill(mask, 0) if not bool((~mask).all()) else -x


def number(x):
    return x * torch.arange(4).sum().item() + int(torch.tensor([3, 4]).max())


def compare(x):
    return x + 1 if torch.equal(torch.zeros(2), torch.tensor([0.0, 0.0])) else x - 1


@pytest.mark.parametrize("function", (branch, number, compare))
def test_settled_values_stay_in_the_segment(function):
    compiled = compile_any(function, Options(), fullgraph=True)
    for _ in range(3):
        x = torch.randn(2, 5)
        assert torch.equal(compiled(x), function(x))


def of_input(x):
    return x + 1 if x.sum() > 0 else x - 1


def of_written_constant(x):
    total = torch.zeros(())
    total.add_(x.sum())
    return x * total.item()


@pytest.mark.parametrize("function", (of_input, of_written_constant))
def test_values_of_inputs_do_not(function):
    compiled = compile_any(function, Options())
    for sign in (1, -1, 1):
        x = torch.randn(2, 5).abs() * sign
        assert torch.equal(compiled(x), function(x))
