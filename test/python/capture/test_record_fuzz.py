# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of views, writes and reads over a few tensors, recorded and held against eager PyTorch."""
import random

import pytest
import torch

from test_record import T, check


def view(r, t):
    """A random view of a tensor."""
    rank = t.dim()
    choices = ["alias", "unsqueeze", "flatten"]
    if rank:
        choices += ["select", "slice", "slice", "narrow", "split", "unbind", "squeeze"]
    if rank > 1:
        choices += ["transpose", "permute", "diagonal", "reshape"]
    kind = r.choice(choices)
    dim = r.randrange(rank) if rank else 0
    if rank and t.shape[dim] == 0:
        kind = "alias"
    if kind == "select":
        return t.select(dim, r.randrange(t.shape[dim]))
    if kind == "slice":
        start = r.randrange(t.shape[dim])
        index = [slice(None)] * rank
        index[dim] = slice(start, None, r.choice((1, 1, 2)))
        return t[tuple(index)]
    if kind == "narrow":
        return t.narrow(dim, 0, r.randrange(1, t.shape[dim] + 1))
    if kind == "split":
        return r.choice(t.split(2, dim))
    if kind == "unbind":
        return r.choice(t.unbind(dim))
    if kind == "squeeze":
        return t.squeeze(dim)
    if kind == "transpose":
        return t.transpose(dim, r.randrange(rank))
    if kind == "permute":
        order = list(range(rank))
        r.shuffle(order)
        return t.permute(order)
    if kind == "diagonal":
        return t.diagonal(r.randrange(-1, 2), 0, 1)
    if kind == "unsqueeze":
        return t.unsqueeze(r.randrange(rank + 1)) if rank < 4 else t.detach()
    if kind in ("flatten", "reshape"):
        try:
            return t.view(-1)
        except RuntimeError:
            return t.flatten()  # a copy
    return t.detach()


def write(r, t, others):
    kind = r.choice(("add", "mul", "copy", "fill", "zero", "relu", "neg", "addcmul", "clamp", "out", "index", "masked"))
    other = r.choice(others)
    if other.shape != t.shape:
        other = other.sum() if r.random() < 0.5 else torch.full_like(t, 2)
    if other.is_floating_point() and not t.is_floating_point():
        other = other.round().to(t.dtype)
    if kind == "add":
        return t.add_(other)
    if kind == "mul":
        return t.mul_(other if r.random() < 0.3 else 3)
    if kind == "copy":
        return t.copy_(other.clone())
    if kind == "fill":
        return t.fill_(r.choice((4, -1)))
    if kind == "zero":
        return t.zero_()
    if kind == "relu":
        return t.relu_()
    if kind == "neg":
        return t.neg_()
    if kind == "addcmul":
        return t.addcmul_(other.clone(), torch.full_like(t, 2))
    if kind == "clamp":
        return t.clamp_(-3, 3)
    if kind == "out":
        return torch.sub(t.clone(), 1, out=t)
    if kind == "index" and t.dim() and t.shape[0]:
        t[torch.tensor([0])] = 5
        return t
    return t.masked_fill_(t > 1, -2)


def program(seed):
    """A function of two tensors; it draws the same choices whenever it is called."""

    def function(x, y):
        r = random.Random(seed)
        tensors = [x, y]
        kept = []
        for _ in range(r.randrange(4, 16)):
            t = r.choice(tensors[-5:] + [x])
            what = r.random()
            if what < 0.45:
                tensors.append(view(r, t))
            elif what < 0.8:
                write(r, t, tensors)
            elif what < 0.9:
                tensors.append(t * 2 + 1 if t.numel() else t.clone())
            else:
                kept.append(t.clone())
        r.shuffle(tensors)
        return [t for t in [*tensors[:3], *kept] if t is not x and t is not y]

    return function


def inputs(seed):
    r = random.Random(seed)
    x = torch.arange(24).reshape(2, 3, 4)
    x = x.float() if r.random() < 0.7 else x
    if r.random() < 0.3:
        x = x.permute(r.choice(((2, 0, 1), (0, 2, 1), (1, 0, 2)))).contiguous().permute(0, 2, 1)
    return x, T(3, 4)


@pytest.mark.parametrize("seed", range(60))
def test_program(seed):
    x, y = inputs(seed)
    check(program(seed), x, y, calls=1, extern=None)
