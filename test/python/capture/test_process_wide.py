# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`dynamo_mlir.enable()`: warm code of a process that names nothing is recorded, and computes what it computed."""
import torch

import dynamo_mlir
from dynamo_mlir import _C


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(16, 32)
        self.b = torch.nn.Linear(32, 4)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


def step(net, x):
    return (net(x) * 2).sum(-1) + 1


def fresh(function):
    """A function with code of its own, which no other test has made warm."""
    return type(function)(function.__code__.replace(), function.__globals__, function.__name__, function.__defaults__)


def hits(function):
    return {s.describe()["start"]: s.describe()["hits"] for s in _C.capture.segments_of(function.__code__)}


# The function runs once: its loop becomes warm, and the frame goes on in segments that start behind FOR_ITER.
def test_a_loop_of_a_function_that_is_called_once():
    def loop(net, inputs):
        results = []
        for x in inputs:
            results.append(step(net, x))
        return results

    net, inputs = Net().eval(), [torch.randn(3, 16) for _ in range(12)]
    with torch.no_grad():
        expected = loop(net, inputs)
        loop = fresh(loop)
        with dynamo_mlir.enable():
            results = loop(net, inputs)
    torch.testing.assert_close(results, expected)
    assert max(hits(loop).values()) >= 8


# What can't be recorded runs in CPython, at its place; the work on both sides of it is compiled.
def test_a_print_in_the_middle(capsys):
    def loop(net, inputs):
        total = torch.zeros(3)
        for x in inputs:
            total = total + step(net, x)
            print("seen")
            total = total * 2
        return total

    net, inputs = Net().eval(), [torch.randn(3, 16) for _ in range(12)]
    with torch.no_grad():
        expected = loop(net, inputs)
        loop = fresh(loop)
        with dynamo_mlir.enable():
            result = loop(net, inputs)
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4)
    assert capsys.readouterr().out == "seen\n" * 24
    assert len([n for n in hits(loop).values() if n]) >= 2


def test_it_ends_with_the_block():
    def loop(net, inputs):
        results = []
        for x in inputs:
            results.append(step(net, x))
        return results

    net, inputs = Net().eval(), [torch.randn(3, 16) for _ in range(6)]
    loop = fresh(loop)
    with torch.no_grad():
        with dynamo_mlir.enable():
            loop(net, inputs)
        before = hits(loop)
        loop(net, inputs)
        assert before and hits(loop) == before


def test_code_without_tensors_is_left_alone():
    def count(n):
        total = 0
        for i in range(n):
            total += i
        return total

    count = fresh(count)
    with dynamo_mlir.enable():
        assert [count(10) for _ in range(60)] == [45] * 60
    assert hits(count) == {}


def test_an_exception_in_a_segment_has_its_type_and_line():
    def loop(inputs):
        results = []
        for x in inputs:
            y = x.relu()
            results.append(y @ y)
        return results

    loop = fresh(loop)
    good = [torch.randn(4, 4) for _ in range(6)]
    with dynamo_mlir.enable():
        try:
            loop(good + [torch.randn(3, 4)])
        except RuntimeError as error:
            trace = error.__traceback__.tb_next
            assert trace.tb_lineno == loop.__code__.co_firstlineno + 4
        else:
            raise AssertionError("no exception")
