# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data that eager raises for: the compiled function raises the same, and nothing else has happened."""
import copy

import pytest
import torch
import torch.nn.functional as F

import dynamo_mlir
from conftest import same

I = lambda *values: torch.tensor(values)
X = torch.arange(24.0).view(4, 6)

# function, arguments that are right, further ones that eager raises for
INDEXING = {
    "embedding": (lambda i: F.embedding(i, X), [I(0, 3)], [I(0, 4)], [I(-1, 0)]),
    "embedding_int32": (lambda i: F.embedding(i.int(), X), [I(0, 3)], [I(0, 4)], [I(-1, 0)]),
    "embedding_many": (lambda i: F.embedding(i, X) * 2, [torch.arange(70000) % 4], [torch.arange(70000).clamp(65536 - 10).sub(65530)]),
    "gather": (lambda i: X.gather(1, i), [I(0, 5).view(2, 1)], [I(0, 6).view(2, 1)], [I(-1, 0).view(2, 1)]),
    "gather_expanded": (lambda i: X.gather(0, i.view(2, 1).expand(2, 6)), [I(0, 3)], [I(0, 4)], [I(-1, 0)]),
    "index_select": (lambda i: X.index_select(0, i), [I(0, 3)], [I(0, 4)], [I(-1, 0)]),
    "index": (lambda i: X[:, i], [I(-6, 5)], [I(0, 6)], [I(-7, 0)]),
    "index_two": (lambda i, j: X[i, j] + 1, [I(0, -4), I(5, 1)], [I(0, 4), I(5, 1)], [I(0, 1), I(5, 6)]),
    "index_put": (lambda i: torch.zeros(4, 6).index_put((i,), torch.ones(6)), [I(-4, 3)], [I(0, 4)], [I(-5, 0)]),
    "index_put_add": (lambda i: X.index_put((i,), torch.ones(6), accumulate=True), [I(3, 3)], [I(0, 4)], [I(-5, 0)]),
    "index_add": (lambda i: X.index_add(0, i, torch.ones(2, 6)), [I(3, 3)], [I(0, 4)], [I(-1, 0)]),
    "scatter": (lambda i: X.scatter(1, i.view(2, 1), torch.ones(2, 1)), [I(0, 5)], [I(0, 6)], [I(-1, 0)]),
    "scatter_value": (lambda i: X.scatter(1, i.view(2, 1), 7.0), [I(0, 5)], [I(0, 6)], [I(-1, 0)]),
    "scatter_add": (lambda i: X.scatter_add(1, i.view(2, 1), torch.ones(2, 1)), [I(0, 5)], [I(0, 6)], [I(-1, 0)]),
    "nll_loss": (lambda t: F.nll_loss(X, t), [I(0, 5, -100, 1)], [I(0, 6, 1, 1)], [I(0, -1, 1, 1)]),
    "cross_entropy": (lambda t: F.cross_entropy(X, t, reduction="none", ignore_index=-1), [I(0, 5, -1, 1)], [I(0, 6, 1, 1)], [I(0, -2, 1, 1)]),
    "computed": (lambda i: X[i * 2 + 1].relu(), [I(0, 1)], [I(0, 2)]),
    "after_extern": (lambda i: X[i.msort()], [I(3, 1)], [I(4, 0)]),
}
IMAGE = torch.randn(2, 3, 2, 2).log_softmax(1)
# Operators that are not compiled: they are called whole, so that it is they who raise.
WHOLE = {
    "nll_loss2d": (lambda t: F.nll_loss(IMAGE, t), [torch.ones(2, 2, 2).long()], [torch.full((2, 2, 2), 3)]),
    "binary_cross_entropy": (lambda p: F.binary_cross_entropy(p, torch.ones(2)), [torch.tensor([0.5, 1])], [torch.tensor([0.5, 1.5])]),
    "take": (lambda i: X.take(i), [I(0, -24)], [I(0, 24)]),
    "index_copy": (lambda i: X.index_copy(0, i, torch.ones(2, 6)), [I(0, 3)], [I(0, 4)]),
    "index_fill": (lambda i: X.index_fill(0, i, 7.0), [I(0, 3)], [I(0, 4)]),
    "max_unpool": (lambda i: F.max_unpool2d(torch.ones(1, 1, 1, 2), i, 2), [I(0, 3).view(1, 1, 1, 2)], [I(0, 8).view(1, 1, 1, 2)]),
    "bernoulli": (lambda p: torch.bernoulli(p), [torch.tensor([0.0, 1])], [torch.tensor([0.5, 1.5])]),
}
Z = lambda dtype: (lambda *values: torch.tensor(values, dtype=dtype))
DIVISION = {}
for dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
    z, name = Z(dtype), str(dtype)[len("torch."):]
    a = z(7, 0, 100, 5)
    for kind, divide in {
        "floor": lambda x, y: x // y,
        "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        "remainder": lambda x, y: x % y,
        "fmod": torch.fmod,
    }.items():
        DIVISION[f"{kind}_{name}"] = (divide, [a, z(2, 3, 7, 5)], [a, z(2, 0, 7, 5)], [a, z(0)])
DIVISION["broadcast"] = (lambda x, y: x // y, [I(1, 2, 3).view(3, 1), I(4, 5)], [I(1, 2, 3).view(3, 1), I(4, 0)])
DIVISION["by_number"] = (lambda x, y: y // x, [I(1, 2), 3], [I(1, 0), 3])


def outcome(function, args):
    """What is returned, or (type, text) of what is raised."""
    try:
        return function(*args), None
    except Exception as error:
        return None, (type(error), str(error))


@pytest.mark.parametrize("name", [*INDEXING, *DIVISION, *WHOLE])
def test_raises_as_eager_does(name):
    function, right, *wrong = {**INDEXING, **DIVISION, **WHOLE}[name]
    compiled = dynamo_mlir.compile(function, fullgraph=True)
    for args in [right, *wrong, right]:
        expected, error = outcome(function, copy.deepcopy(args))
        assert (error is None) == (args is right)
        ours, our_error = outcome(compiled, copy.deepcopy(args))
        assert our_error == error
        if error is None:
            same(expected, ours)
    assert not dynamo_mlir.report().fallbacks
    externs = {name for graph in dynamo_mlir.report().graphs for name in graph.externs}
    assert externs <= {"aten::sort"} or name in WHOLE


def test_division_of_negative_numbers():
    for dtype in (torch.int64, torch.int32, torch.int16, torch.int8):
        low = torch.iinfo(dtype).min
        x = torch.tensor([7, -7, 7, -7, 0, 5, low + 1, low + 1], dtype=dtype)
        y = torch.tensor([2, 2, -2, -2, -3, -1, -1, 3], dtype=dtype)

        def all_of(x, y):
            return x // y, x % y, torch.fmod(x, y), torch.div(x, y, rounding_mode="trunc")

        same(all_of(x, y), dynamo_mlir.compile(all_of)(x, y))
    # Eager dies of this one: the machine's division traps.
    lowest = torch.tensor([torch.iinfo(torch.int64).min])
    assert dynamo_mlir.compile(lambda x, y: x // y)(lowest, torch.tensor([-1])).item() == lowest.item()


def conditions(function, *args):
    """How many checks the compiled function makes."""
    import dynamo_mlir.capture.program as capture
    import dynamo_mlir.graph as graph

    counts, build = [], graph.build_program
    graph.build_program = capture.build_program = lambda *a: counts.append(build(*a)) or counts[-1]
    try:
        compiled = dynamo_mlir.compile(function, fullgraph=True)
        compiled(*args), compiled(*args)
    finally:
        graph.build_program = capture.build_program = build
    return sum(program.runner.conditions() for program in counts)


def test_only_what_can_fail_is_checked():
    i = I(0, 3)
    assert conditions(lambda i: X[i], i) == 1
    assert conditions(lambda i: (X[i], (X * 2)[i], X.index_select(0, i), torch.ones(4, 2)[i.view(2, 1).expand(2, 2)]), i) == 2
    assert conditions(lambda i: (X[i.clamp(0, 3)], X[i % 4], X[(i > 0).long()], X[torch.arange(4) // 2], X[i.clamp(0, 1) + 2]), i) == 0
    assert conditions(lambda i: X[torch.arange(3) - 4] + X.argmax(1).sum(), i) == 0
    assert conditions(lambda i: X.gather(1, X.argmax(1, keepdim=True)) + torch.ones(6)[X.sort(1)[1]].sum(), i) == 0
    assert conditions(lambda i: i // 3 + i % 5, i) == 0
    assert conditions(lambda i: i // (i * i), I(1, 3)) == 1
    assert conditions(lambda i: i // (i.clamp(1, 7)), i) == 0
    # A range that wraps around is no range.
    assert conditions(lambda i: X[i.to(torch.int8).clamp(0, 100).add(100).sub(100).long()], i) == 1


def test_random_numbers_are_drawn_once():
    def f(i):
        noise = torch.rand(3)
        dropped = F.dropout(torch.ones(50), 0.5)
        return noise, dropped, X[i + noise.gt(2).long()], torch.rand(2)

    compiled = dynamo_mlir.compile(f)
    compiled(I(0))
    for index in (1, 4, 2):
        torch.manual_seed(5)
        expected, error = outcome(f, [I(index)])
        state = torch.get_rng_state()
        torch.manual_seed(5)
        ours, our_error = outcome(compiled, [I(index)])
        assert error == our_error
        same(expected or (), ours or ())
        assert torch.equal(state, torch.get_rng_state())


def test_an_operator_with_effects_runs_once():
    calls = []

    @torch.library.custom_op("dynamo_mlir_test::noted", mutates_args=())
    def noted(x: torch.Tensor, number: int) -> torch.Tensor:
        calls.append(number)
        return x.clone()

    noted.register_fake(lambda x, number: torch.empty_like(x))

    def f(i):
        a = noted(i, 1)
        b = X[a]
        return noted(b, 2)

    compiled = dynamo_mlir.compile(f)
    compiled(I(0))
    for index, expected in ((0, [1, 2]), (4, [1]), (3, [1, 2])):
        calls.clear()
        _, error = outcome(compiled, [I(index)])
        assert (error is not None) == (index == 4)
        assert calls == expected


def test_arguments_are_as_eager_leaves_them():
    def f(x, i):
        x.add_(1)
        y = X[i]
        x.mul_(2)
        return y

    compiled = dynamo_mlir.compile(f)
    for index in (0, 4):
        x = torch.zeros(3)
        _, error = outcome(compiled, [x, I(index)])
        # Capture does as eager does; a backend of AOTAutograd writes when the graph has run.
        assert x.tolist() in (([0] * 3, [1] * 3) if error else ([2] * 3,))


def test_training_step():
    table = torch.nn.Embedding(4, 3)
    compiled = dynamo_mlir.compile(lambda i, t: F.cross_entropy(table(i), t))
    compiled(I(0, 1), I(1, 2)).backward()
    before = table.weight.grad.clone()
    for i, t in ((I(0, 4), I(1, 2)), (I(0, 1), I(1, 3))):
        _, expected = outcome(lambda i, t: F.cross_entropy(table(i), t), (i, t))
        _, error = outcome(compiled, (i, t))
        assert error == expected and error[0] is IndexError
    assert torch.equal(table.weight.grad, before)
    compiled(I(0, 1), I(1, 2)).backward()
    torch.testing.assert_close(table.weight.grad, 2 * before)


def test_traceback_has_no_trace_of_ours():
    compiled = dynamo_mlir.compile(lambda i: X[i])
    with pytest.raises(IndexError) as caught:
        compiled(I(9))
    assert caught.value.__cause__ is None and caught.value.__context__ is None


@pytest.mark.parametrize("name", ["embedding", "index_put", "cross_entropy", "floor_int64"])
def test_captured_functions_raise_as_eager_does(name):
    """There CPython runs the function again from the segment's start."""
    function, right, *wrong = {**INDEXING, **DIVISION}[name]
    compiled = dynamo_mlir.compile(function, backend="capture")
    for args in [right, right, *wrong, right]:
        expected, error = outcome(function, copy.deepcopy(args))
        ours, our_error = outcome(compiled, copy.deepcopy(args))
        assert our_error == error
        if error is None:
            same(expected, ours)


def test_captured_random_numbers_are_drawn_once():
    def f(i):
        noise = torch.rand(3)
        return noise, X[i + noise.gt(2).long()], torch.rand(2)

    compiled = dynamo_mlir.compile(f, backend="capture")
    compiled(I(0)), compiled(I(1))
    for index in (1, 4, 2):
        torch.manual_seed(5)
        expected, error = outcome(f, [I(index)])
        state = torch.get_rng_state()
        torch.manual_seed(5)
        ours, our_error = outcome(compiled, [I(index)])
        assert error == our_error
        same(expected or (), ours or ())
        assert torch.equal(state, torch.get_rng_state())
