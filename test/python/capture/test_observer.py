# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the observer records: guards at reads, effects at writes, and where a segment ends. The program itself runs as ever."""
import sys

import torch

import dynamo_mlir  # noqa: F401
from dynamo_mlir import _C


def record(function, *args, **kwargs):
    return _C.capture.record(function, args, kwargs)


def complete(function, *args, **kwargs):
    recording = record(function, *args, **kwargs)
    assert recording.complete, (recording.reason, recording.where, recording.text)
    return recording


def lines(recording, kind):
    return [line[len(kind) + 1:] for line in recording.text.splitlines() if line.startswith(kind + " ")]


X = torch.randn(3, 4)
Y = torch.randn(3, 4)
COUNT = 3


def test_operators_on_arguments():
    def f(x, y):
        return (x * 2 + y).relu()

    recording = complete(f, X, Y)
    assert torch.equal(recording.result, f(X, Y))
    assert lines(recording, "guard")[:2] == ["x: float32[3, 4]", "y: float32[3, 4]"]
    assert lines(recording, "input") == ["x", "y"]
    assert lines(recording, "return") == ["%0"]


def test_values_are_guarded_and_containers_rebuilt():
    def f(x, n):
        out = []
        for i in range(n):
            x = torch.sin(x) + i
            out.append(x)
        return {"a": out, "n": n, "t": (x, x.shape[0])}

    recording = complete(f, X, 3)
    assert "n == 3" in lines(recording, "guard")
    assert lines(recording, "return") == ["{'a': [%0, %1, %2], 'n': 3, 't': (%2, 3)}"]


def test_globals_are_guarded_by_value():
    def f(x):
        return x * COUNT

    assert "COUNT == 3" in lines(complete(f, X), "guard")


def test_sequential_is_recorded_whole():
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU())
    with torch.no_grad():
        recording = complete(model, X)
    assert set(lines(recording, "input")) == {
        "args[0]", "self._modules['0']._parameters['weight']", "self._modules['0']._parameters['bias']"}
    assert "self._modules['1'] is a ReLU" in lines(recording, "guard")
    assert torch.equal(recording.result, model(X))


def test_a_call_that_is_not_known_ends_the_segment(capsys):
    def f(x):
        y = x + 1
        print("hello")
        return y * 2

    recording = record(f, X)
    assert capsys.readouterr().out == "hello\n"
    assert recording.recorded and not recording.complete
    assert recording.reason == "calls print"
    assert lines(recording, "local") == ["x = x", "y = %0"]
    assert lines(recording, "stack") == ["null", "print", "'hello'"]
    assert torch.equal(recording.result, (X + 1) * 2)


def test_a_break_below_ends_the_next_segment_in_front_of_the_call(capsys):
    def inner(x):
        print("inner")
        return x

    def f(x):
        y = x + 1
        return inner(y) * 2

    first = record(f, X)
    assert not first.recorded and first.reason == "calls print" and first.where[2] == 1
    again = _C.capture.record(f, (X,), {}, stops={first.blocked_at: first.reason})
    assert again.recorded and again.text.splitlines()[-1] == f"goto {first.blocked_at}: calls print"
    assert lines(again, "local") == ["x = x", "y = %0", "inner = function.__closure__[0]"]


def test_branch_on_a_tensor_ends_the_segment():
    def f(x):
        if x.sum() > 0:
            return x
        return -x

    assert record(f, X).reason == "branches on a tensor's value"


def test_exceptions_are_the_programs_own():
    def f(x):
        raise ValueError("mine")

    recording = record(f, X)
    assert not recording.recorded and isinstance(recording.error, ValueError)


def test_nothing_is_recorded_under_a_tracer():
    def f(x):
        return x + 1

    sys.settrace(lambda *event: None)
    try:
        recording = record(f, X)
    finally:
        sys.settrace(None)
    assert not recording.recorded and "tracer" in recording.reason


def test_id_does_not_leave():
    def f(x, table):
        table = {id(x): 1}
        return x + len(table)

    complete(f, X, None)
    recording = record(lambda x: (x + 1, id(x)), X)
    assert not recording.recorded and "id()" in recording.reason
