# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records whose results carry gradients, held against eager PyTorch: results, gradients, what was written."""
import copy

import pytest
import torch
import torch.nn.functional as F

import dynamo_mlir
from dynamo_mlir.capture.program import compile_record
from dynamo_mlir.errors import CompileError
from test_record import T, compare, leaves, record_call, replay


def P(*sizes):
    return T(*sizes).requires_grad_()


def fresh(inputs):
    return [copy.deepcopy(t.detach()).requires_grad_(t.requires_grad) for t in inputs]


def gradients(results, inputs):
    """Fills .grad of the inputs from all results that carry a gradient."""
    torch.autograd.backward([t.sin().sum() for t in results if t.requires_grad and t.is_floating_point()])
    return [t.grad if t.grad is not None else torch.zeros(0) for t in inputs]


def check(function, *inputs, calls=2, rtol=1e-4, atol=1e-5):
    record, places, _ = record_call(function, fresh(inputs))
    assert not record.void, record.reason
    program = compile_record(record)
    for n in range(calls):
        theirs, ours = fresh(inputs), fresh(inputs)
        torch.manual_seed(n)
        expected = leaves(function(*theirs))
        torch.manual_seed(n)
        actual = replay(program, places, ours)
        assert [t.requires_grad for t in expected] == [t.requires_grad for t in actual]
        compare([*theirs, *expected], [*ours, *actual], rtol, atol)
        compare(gradients(expected, theirs), gradients(actual, ours), rtol, atol)
    assert not dynamo_mlir.report().fallbacks
    return program


CASES = {
    "pointwise": (lambda x: (x * 2 + 1).relu(), P(3, 4)),
    "some results without gradient": (lambda x, y: (x * y, y + 1, (x * 3).detach(), x > 0), P(3), T(3)),
    "linear and layer norm": (lambda x, w, b: F.layer_norm(F.linear(x, w, b), (5,)).tanh(), P(3, 4), P(5, 4), P(5)),
    "attention": (F.scaled_dot_product_attention, P(1, 2, 4, 8), P(1, 2, 4, 8), P(1, 2, 4, 8)),
    "convolution": (lambda x, w: F.relu(F.conv2d(x, w, padding=1), inplace=True), T(1, 3, 8, 8), P(4, 3, 3, 3)),
    "batch norm in training": (lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, training=True), P(4, 3), T(3), T(3).abs(), P(3), P(3)),
    "batch norm without statistics": (lambda x, w: F.batch_norm(x, None, None, w, None, training=True), P(4, 3), P(3)),
    "batch norm in eval mode": (lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b), P(4, 3), T(3), T(3).abs(), P(3), P(3)),
    "no_grad inside": (lambda x, y: (lambda s: x * s + y)(no_grad_scale(x)), P(3), P(3)),
    "detach inside": (lambda x: x * x.detach(), P(3)),
    "write under no_grad into a buffer": (lambda x, m: (update(m, x), x * m.clone())[1], P(3), T(3)),
    "in place on an intermediate": (lambda x: (lambda y: (y[0].mul_(2), y.add_(x), y)[2])(x * 3), P(3, 4)),
    "views of a result": (lambda x: (lambda y: (y[1:], y.t()))(x * 3), P(3, 4)),
    "view of an input": (lambda x: (x.t(), x * 2), P(3, 4)),
    "embedding and loss": (lambda i, w, t: F.cross_entropy(F.embedding(i, w), t), torch.tensor([0, 2, 1]), P(5, 4), torch.tensor([1, 3, 0])),
    "constant": (lambda x: x * torch.tensor([1.0, 2.0, 3.0]), P(3)),
    "dropout": (lambda x: F.dropout(x, 0.5) * x, P(5, 6)),
    "split and cat": (lambda x: torch.cat([p * i for i, p in enumerate(x.chunk(2, 1))]), P(3, 4)),
}


def no_grad_scale(x):
    with torch.no_grad():
        return x.abs().max()


def update(m, x):
    with torch.no_grad():
        m.mul_(0.9).add_(x * 0.1)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    check(*CASES[name])


# What an input held before is saved for backward(), though it is written.
def test_old_value_of_a_written_input():
    def function(x, m):
        old = m.clone()
        with torch.no_grad():
            m.mul_(3)
        return x * old

    check(function, P(3), T(3))


def test_input_written_with_gradient_is_refused():
    record, _, _ = record_call(lambda x, w: x.mul_(w) + 1, [T(3), P(3)])
    with pytest.raises(CompileError, match="written"):
        compile_record(record)


# An input that is itself a result of others: gradients reach them.
def test_input_that_is_no_leaf():
    function = lambda y: y.exp()
    record, places, _ = record_call(function, [P(3) * 2])
    program = compile_record(record)
    x = P(3)
    program.run([x * 2])[0].sum().backward()
    expected = P(3)
    (expected * 2).exp().sum().backward()
    compare([expected.grad], [x.grad])


# The graph may be kept and used again.
def test_backward_twice():
    function = lambda x: (x * x).sin()
    record, _, _ = record_call(function, [P(3)])
    program = compile_record(record)
    x, e = P(3), P(3)
    out, expected = program.run([x])[0].sum(), function(e).sum()
    for t in (out, expected):
        t.backward(retain_graph=True)
        t.backward()
    compare([e.grad], [x.grad])


# Hooks and retain_grad on results work as on eager's.
def test_hooks():
    record, _, _ = record_call(lambda x: x * 3, [P(3)])
    program = compile_record(record)
    seen = []
    x = P(3)
    y = program.run([x])[0]
    y.retain_grad()
    y.register_hook(lambda g: seen.append(g.clone()) or g * 2)
    y.sum().backward()
    assert torch.equal(seen[0], torch.ones(3)) and torch.equal(x.grad, torch.full((3,), 6.0)) and y.grad is not None


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 7


def test_custom_function_is_refused():
    for function in (lambda x: Double.apply(x), lambda x: Double.apply(x) + x):
        record, _, _ = record_call(function, [P(3)])
        with pytest.raises(CompileError, match="not compiled"):
            compile_record(record)


def test_detach_in_place_is_refused():
    def function(x):
        y = x * 2
        y.detach_()
        return y * x

    record, _, _ = record_call(function, [P(3)])
    with pytest.raises(CompileError, match="not compiled"):
        compile_record(record)


# With no_grad around, parameters don't need it.
def test_no_grad_needs_no_autograd():
    with torch.no_grad():
        record, places, _ = record_call(lambda x, w: F.linear(x, w), [T(3, 4), P(5, 4)])
    program = compile_record(record)
    assert program.plain
