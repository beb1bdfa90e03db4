# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile with our backend: what comes out, how it lies in memory, what is mutated, and what happens with other sizes."""
import subprocess
import sys
import time

import pytest
import torch
import torch.nn.functional as F

import dynamo_mlir
from conftest import check, same


def test_by_name():
    f = torch.compile(lambda a: torch.relu(a) * 2 + 1, backend="dynamo_mlir")
    a = torch.randn(5, 7)
    same(torch.relu(a) * 2 + 1, f(a))
    assert dynamo_mlir.report().graphs and not dynamo_mlir.report().fallbacks


def test_name_is_found_without_importing_us():
    code = "import torch; print(torch.compile(lambda a: a + 1, backend='dynamo_mlir')(torch.zeros(3)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "tensor([1., 1., 1.])" in done.stdout, done.stderr


def test_importing_is_cheap():
    code = "import torch, time, sys; t = time.perf_counter(); import dynamo_mlir; print(time.perf_counter() - t); assert 'torch._dynamo' not in sys.modules or True; assert 'dynamo_mlir._C' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and float(done.stdout) < 0.1, done.stderr + done.stdout


def test_decorator_and_options():
    @dynamo_mlir.compile(threads=1)
    def f(a):
        return a.sin() + 1

    a = torch.randn(3, 3)
    same(a.sin() + 1, f(a))
    with pytest.raises(ValueError, match="unknown option 'thread'"):
        dynamo_mlir.compile(f, thread=1)


FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]
INTS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_float_types(dtype):
    a, b = torch.randn(8, 16).to(dtype), torch.randn(16).to(dtype)
    check(lambda a, b: ((a * b + 1).relu(), (a > b), a.sum(-1), a.float(), a.amax(0)), a, b)


@pytest.mark.parametrize("dtype", INTS, ids=str)
def test_integer_types(dtype):
    a = torch.randint(0, 2 if dtype == torch.bool else 100, (6, 9)).to(dtype)
    check(lambda a: (a + a, a * 2, a == 1, a.float() / 3, a.sum(), torch.where(a > 0, a, a + 1)), a)


def test_edge_values():
    a = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-40, 3e38, -1.5])
    check(lambda a: (a + 0.0, a.relu(), a.exp(), a.tanh(), a.abs(), a * 1e-3, torch.maximum(a, -a), a.clamp(-1, 1), a.sign()), a)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (3, 0, 2), (1, 1)], ids=str)
def test_small_and_empty(shape):
    a = torch.randn(shape)
    check(lambda a: (a + 1, a * a, a.sum()), a)


def test_sizes_strides_and_views():
    a = torch.randn(4, 6)
    check(lambda a: (a.t() + 1, (a + 1).t(), (a + 1)[:, ::2], a[1:], a.expand(2, 4, 6), (a * 2).expand(2, 4, 6)), a)
    check(lambda a: (a + 1).view(3, 8), a)


def test_channels_last_stays():
    a = torch.randn(2, 8, 5, 6).to(memory_format=torch.channels_last)
    check(lambda a: (a.relu() + 1, a.mean((2, 3))), a)


@pytest.mark.parametrize("make", [lambda: torch.randn(4, 12)[:, ::2], lambda: torch.randn(6, 4).t(), lambda: torch.randn(1, 6).expand(4, 6),
                                  lambda: torch.randn(50).as_strided((4, 6), (7, 1), 3)], ids=["gaps", "transposed", "expanded", "offset"])
def test_layouts_of_arguments(make):
    check(lambda a: (a * 2 + 1, a.sum(0)), make())


def test_an_argument_changes_layout_between_calls():
    f = dynamo_mlir.compile(lambda a: a * 2 + 1)
    for a in (torch.randn(4, 6), torch.randn(6, 4).t(), torch.randn(1, 6).expand(4, 6), torch.randn(4, 12)[:, ::2], torch.randn(1, 6).expand(4, 6)):
        same(a * 2 + 1, f(a))


def test_aliases_of_arguments_are_aliases():
    f = dynamo_mlir.compile(lambda a: (a.view(-1), a[1:], a + 1))
    a = torch.randn(3, 4)
    flat, part, _ = f(a)
    a.fill_(7)
    assert flat.sum() == 84 and part.sum() == 56 and part.storage_offset() == 4


def test_aliases_among_results_are_aliases():
    f = dynamo_mlir.compile(lambda a: (lambda y: (y, y[1:], y.view(-1)))(a + 1))
    y, part, flat = f(torch.randn(3, 4))
    y.zero_()
    assert part.abs().sum() == 0 and flat.abs().sum() == 0


def test_results_do_not_share_memory_between_calls():
    f = dynamo_mlir.compile(lambda a: a + 1)
    a = torch.randn(64)
    first = f(a)
    kept = first.clone()
    f(a + 5)
    assert torch.equal(first, kept)


def test_mutation_of_arguments():
    def f(a, b):
        a.add_(1)
        b[:, 1:] = a[:, 1:] * 2
        return a.sum(), b

    check(f, torch.randn(3, 4), torch.randn(3, 4))


def test_mutation_of_a_view_of_an_argument():
    def f(a):
        a.t()[0].mul_(3)
        a.view(-1)[5] = 0
        return a + 1

    check(f, torch.randn(3, 4))


def test_mutation_bumps_the_version():
    f = dynamo_mlir.compile(lambda a: a.mul_(2))
    a = torch.randn(3)
    before = a._version
    assert f(a) is a and a._version > before


def test_overlapping_arguments():
    def f(a, b):
        a.add_(1)
        return a * b

    x, y = torch.randn(8), None
    y = x.clone()
    compiled = dynamo_mlir.compile(f)
    same(f(x, x[:]), compiled(y, y[:]))
    same(x, y)


def test_constants_and_none():
    table = torch.tensor([1.0, 2.0, 3.0])
    check(lambda a: (a + table, None, 3, {"k": a * torch.tensor(2.0)}), torch.randn(3))


def test_a_constant_of_the_graph_is_read_at_each_call():
    table = torch.ones(3)
    f = dynamo_mlir.compile(lambda a: a + table)
    a = torch.randn(3)
    same(a + 1, f(a))
    table.fill_(5)
    same(a + 5, f(a))


def test_different_sizes():
    f = dynamo_mlir.compile(lambda a: (a.relu() + a.shape[0]).sum(-1))
    for n in (3, 5, 7, 3, 5, 1, 0):
        a = torch.randn(n, 4)
        same((a.relu() + n).sum(-1), f(a))
    assert not dynamo_mlir.report().fallbacks


def test_numbers_as_arguments():
    f = dynamo_mlir.compile(lambda a, k, s: a[:k] * s)
    for k, s in ((2, 1.5), (3, 2.5), (4, -0.0), (2, 1.5), (3, 7)):
        a = torch.randn(6, 2)
        same(a[:k] * s, f(a, k, s))
    assert not dynamo_mlir.report().fallbacks


def test_many_sizes_run_in_eager_with_one_warning(caplog):
    f = torch.compile(lambda a: a.relu() * 3, backend="dynamo_mlir", dynamic=True)
    for n in range(2, 20):
        a = torch.randn(n, 4)
        same(a.relu() * 3, f(a))
    assert len(dynamo_mlir.report().fallbacks) == 1
    assert sum("different sizes" in r.message for r in caplog.records) == 1


def test_inference_mode_and_no_grad():
    layer = torch.nn.Linear(4, 4)
    f = dynamo_mlir.compile(layer)
    a = torch.randn(2, 4)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            out = f(a)
            torch.testing.assert_close(out, layer(a))
            assert out.is_inference() == layer(a).is_inference() and not out.requires_grad
    assert f(a).requires_grad


def test_autocast():
    layer = torch.nn.Linear(16, 16)

    def f(a):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return layer(a).relu()

    with torch.no_grad():
        same(f(torch.ones(4, 16)), dynamo_mlir.compile(f)(torch.ones(4, 16)), rtol=2e-2, atol=2e-2)
        g = dynamo_mlir.compile(lambda a: layer(a).relu())
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert g(torch.ones(4, 16)).dtype == torch.bfloat16


def test_nested_containers_and_keyword_arguments():
    def f(pair, *, scale, extra=None):
        return {"sum": pair[0] + pair[1] * scale, "list": [pair[0].t(), extra]}

    args = (torch.randn(3, 4), torch.randn(3, 4))
    same(f(args, scale=2), dynamo_mlir.compile(f)(args, scale=2))


def test_report_tells_kernels_and_shares():
    f = dynamo_mlir.compile(lambda a, b: F.gelu(a @ b))
    f(torch.randn(32, 64), torch.randn(64, 16))
    graph = dynamo_mlir.report().graphs[-1]
    assert graph.kind in ("inference", "segment") and graph.flops == 2 * 32 * 64 * 16 and graph.own_share == 1.0
    assert sum(graph.kernels.values()) >= 1 and graph.launches >= 1 and graph.seconds["import"] > 0
    assert "GFLOP" in str(dynamo_mlir.report())


@pytest.mark.parametrize("variable", ["NO_TORCH_COMPILE", "TORCH_COMPILE_DISABLE"])
def test_switched_off(variable, monkeypatch):
    monkeypatch.setenv(variable, "1")
    f = lambda a: a + 1
    assert dynamo_mlir.compile(f) is f
    torch.testing.assert_close(torch.compile(f, backend="dynamo_mlir")(torch.zeros(2)), torch.ones(2))
    assert not dynamo_mlir.report().graphs


def test_dump(tmp_path):
    f = dynamo_mlir.compile(lambda a: a.exp() + 1, dump=str(tmp_path))
    f(torch.randn(3))
    texts = [p.read_text() for p in tmp_path.rglob("*.mlir")]
    assert any("aten.exp" in t for t in texts)
