# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forward and backward through compiled modules, against eager."""
import copy

import pytest
import torch
import torch.nn.functional as F

import dynamo_mlir


def mlp():
    return torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.LayerNorm(32), torch.nn.GELU(), torch.nn.Linear(32, 16), torch.nn.ReLU(),
                               torch.nn.Linear(16, 4))


@pytest.mark.parametrize("optimizer", [lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), lambda p: torch.optim.AdamW(p, 1e-2)], ids=["SGD", "AdamW"])
def test_five_steps(optimizer):
    theirs = mlp()
    ours = copy.deepcopy(theirs)
    compiled = dynamo_mlir.compile(ours)
    steps = [(theirs, theirs, optimizer(theirs.parameters())), (ours, compiled, optimizer(ours.parameters()))]
    for _ in range(5):
        x, y = torch.randn(16, 10), torch.randint(0, 4, (16,))
        losses = []
        for module, call, optim in steps:
            optim.zero_grad()
            loss = F.cross_entropy(call(x), y)
            loss.backward()
            optim.step()
            losses.append(loss)
        torch.testing.assert_close(losses[1], losses[0], rtol=1e-4, atol=1e-5)
    for p, q in zip(theirs.parameters(), ours.parameters()):
        torch.testing.assert_close(q, p, rtol=1e-3, atol=1e-4)
    assert not dynamo_mlir.report().fallbacks
    assert {g.kind for g in dynamo_mlir.report().graphs} == {"forward", "backward"}


def gradients(function, inputs):
    inputs = [t.detach().clone().requires_grad_(t.is_floating_point()) for t in inputs]
    out = function(*inputs)
    (out * torch.linspace(0.5, 1.5, out.numel()).view(out.shape)).sum().backward()
    return [out.detach()] + [t.grad for t in inputs if t.requires_grad]


CASES = {
    "matmul": (lambda a, b: a @ b, (4, 5), (5, 6)),
    "softmax": (lambda a: a.softmax(-1), (4, 9)),
    "log_softmax": (lambda a: a.log_softmax(-1), (4, 9)),
    "layer_norm": (lambda a, w, b: F.layer_norm(a, (9,), w, b), (4, 9), (9,), (9,)),
    "gelu": (lambda a: F.gelu(a), (4, 9)),
    "silu": (lambda a: F.silu(a), (4, 9)),
    "sigmoid": (lambda a: a.sigmoid(), (4, 9)),
    "mean": (lambda a: a.mean(1), (4, 9)),
    "var": (lambda a: a.var(1), (4, 9)),
    "max": (lambda a: a.max(1).values, (4, 9)),
    "broadcast": (lambda a, b: a * b + b, (4, 9), (9,)),
    "transpose": (lambda a: (a.t() * 2).contiguous(), (4, 9)),
    "cat": (lambda a, b: torch.cat([a, b], 1), (4, 9), (4, 3)),
    "index": (lambda a: a[:, [0, 2, 2]], (4, 9)),
    "embedding": (lambda w: F.embedding(torch.tensor([0, 3, 3, 1]), w), (5, 4)),
    "conv2d": (lambda a, w, b: F.conv2d(a, w, b, padding=1), (2, 3, 6, 6), (4, 3, 3, 3), (4,)),
    "max_pool": (lambda a: F.max_pool2d(a, 2), (2, 3, 6, 6)),
    "avg_pool": (lambda a: F.adaptive_avg_pool2d(a, 1), (2, 3, 6, 6)),
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), (2, 2, 8, 4), (2, 2, 8, 4), (2, 2, 8, 4)),
    "group_norm": (lambda a, w, b: F.group_norm(a, 2, w, b), (2, 4, 5), (4,), (4,)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, *shapes = CASES[name]
    inputs = [torch.randn(s) for s in shapes]
    expected, actual = gradients(function, inputs), gradients(dynamo_mlir.compile(function), inputs)
    for e, a in zip(expected, actual):
        torch.testing.assert_close(a, e, rtol=1e-4, atol=1e-5)
        assert a.stride() == e.stride()
    assert not dynamo_mlir.report().fallbacks


def test_gradient_accumulates_and_can_be_taken_again():
    layer = torch.nn.Linear(4, 4)
    compiled = dynamo_mlir.compile(layer)
    a = torch.randn(3, 4)
    for _ in range(2):
        compiled(a).sum().backward()
    torch.testing.assert_close(layer.bias.grad, torch.full((4,), 6.0))


def test_outputs_without_gradient():
    f = dynamo_mlir.compile(lambda a: (a * 2, a.argmax(), a.detach() + 1))
    a = torch.randn(5, requires_grad=True)
    first, second, third = f(a)
    assert first.requires_grad and not second.requires_grad and not third.requires_grad
    first.sum().backward()
    torch.testing.assert_close(a.grad, torch.full((5,), 2.0))


def test_write_into_a_saved_tensor_is_noticed():
    w = torch.randn(4, 4, requires_grad=True)
    x = torch.randn(3, 4, requires_grad=True)
    out = dynamo_mlir.compile(lambda x, w: x @ w.t())(x, w)
    with torch.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
