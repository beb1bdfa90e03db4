# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is not compiled runs in eager PyTorch: right answers, one warning, an error only if asked for."""
import os

import pytest
import torch

import dynamo_mlir
from conftest import check, same
from dynamo_mlir import CompileError, InternalCompilerError, graph


def complex_step(a):
    return torch.view_as_real(torch.view_as_complex(a) * 2j)


def test_complex_runs_in_eager_with_one_warning(caplog):
    f = dynamo_mlir.compile(complex_step)
    a = torch.randn(4, 2)
    for _ in range(3):
        same(complex_step(a), f(a))
    warnings = [r.getMessage() for r in caplog.records if r.name == "dynamo_mlir"]
    assert len(warnings) == 1 and "complex" in warnings[0] and "test_fallback.py" in warnings[0] and "view_as_complex(a) * 2j" in warnings[0]
    (fallback,) = dynamo_mlir.report().fallbacks.values()
    assert fallback.count == 1


def test_strict_raises():
    f = dynamo_mlir.compile(complex_step, strict=True)
    with pytest.raises(CompileError) as caught:
        for _ in range(2):
            f(torch.randn(4, 2))
    error = caught.value
    assert error.file == __file__ and "2j" in open(__file__).read().splitlines()[error.line - 1] and "view_as_complex" in str(error)


def test_sparse_arguments():
    f = dynamo_mlir.compile(lambda a, b: torch.sparse.mm(a, b) + 1)
    a, b = torch.eye(4).to_sparse(), torch.randn(4, 3)
    torch.testing.assert_close(f(a, b), b + 1)


def test_other_devices():
    f = dynamo_mlir.compile(lambda a: a + 1)
    assert f(torch.empty(3, device="meta")).device.type == "meta"


def test_data_dependent_sizes():
    def f(a):
        return a[a > 0].sum() + a.nonzero().shape[0]

    a = torch.randn(20)
    torch.testing.assert_close(dynamo_mlir.compile(f)(a), f(a))


def test_data_dependent_control_flow():
    def f(a):
        return a + 1 if a.sum() > 0 else a - 1

    compiled = dynamo_mlir.compile(f)
    for a in (torch.ones(3), -torch.ones(3)):
        same(f(a), compiled(a))


def test_item():
    f = lambda a: a * a.sum().item()
    same(f(torch.ones(3)), dynamo_mlir.compile(f)(torch.ones(3)))


def test_control_flow_operators():
    def f(a):
        return torch.cond(a.sum() > 0, lambda v: v + 1, lambda v: v - 1, (a,))

    a = torch.ones(3)
    torch.testing.assert_close(dynamo_mlir.compile(f)(a), a + 1)


def test_our_faults_do_not_reach_the_program(monkeypatch, caplog, tmp_path):
    """A compiler that fails: the program goes on, the IR is saved and the command that shows the failure is named."""

    def broken(*args):
        raise InternalCompilerError("the compiler broke")

    monkeypatch.setattr("dynamo_mlir.runtime._C.compile", broken)
    f = dynamo_mlir.compile(lambda a: a * 2 + 1, dump=str(tmp_path))
    a = torch.randn(3)
    for _ in range(2):
        same(a * 2 + 1, f(a))
    (reason,) = dynamo_mlir.report().fallbacks
    assert "the compiler broke" in reason and "dynamo-opt" in reason
    path = reason.split()[-1]
    assert os.path.dirname(path) == str(tmp_path) and "aten.mul" in open(path).read()


def test_any_exception_of_ours_is_contained(monkeypatch):
    monkeypatch.setattr(graph, "import_graph", lambda *a: 1 / 0)
    monkeypatch.setattr("dynamo_mlir.capture.program.import_graph", lambda *a, **k: 1 / 0)
    f = dynamo_mlir.compile(lambda a: a * 2)
    for _ in range(2):
        assert f(torch.ones(2)).sum() == 4
    assert "ZeroDivisionError" in str(dynamo_mlir.report())


def test_operators_called_as_they_are():
    check(lambda a: torch.special.bessel_j0(a * 2) + 1, torch.randn(3, 4))
    assert dynamo_mlir.report().graphs[-1].externs == {"aten::special_bessel_j0": 1}


def test_extern_that_returns_a_view_or_many():
    check(lambda a: torch.linalg.qr(a * 2)[1] + torch.special.bessel_j0(a).t()[:4], torch.randn(4, 4))


def test_random_numbers_equal_eager():
    f = lambda a: (torch.dropout(a, 0.5, True), torch.rand_like(a), torch.randn(3) * 2, torch.bernoulli(a.sigmoid()))
    a = torch.randn(8, 8)
    compiled = dynamo_mlir.compile(f)
    for seed in (1, 2):
        torch.manual_seed(seed)
        expected = f(a)
        torch.manual_seed(seed)
        same(expected, compiled(a))
    assert not dynamo_mlir.report().fallbacks


def test_exception_of_an_operator_propagates():
    table = torch.randn(5, 3)
    f = dynamo_mlir.compile(lambda i: torch.special.bessel_j0(torch.linalg.cholesky(i)) * 2)
    assert f(torch.eye(3)).shape == (3, 3)
    with pytest.raises(torch.linalg.LinAlgError):
        f(-torch.eye(3))
    assert f(torch.eye(3)).shape == (3, 3)
    assert not dynamo_mlir.report().fallbacks


def test_exception_of_a_custom_operator_propagates_unchanged():
    class Mine(Exception):
        pass

    kept = []

    @torch.library.custom_op("dynamo_mlir_test::picky", mutates_args=())
    def picky(a: torch.Tensor) -> torch.Tensor:
        kept.append(a)
        if a.sum() < 0:
            raise Mine("negative")
        return a + 1

    picky.register_fake(lambda a: torch.empty_like(a))
    f = dynamo_mlir.compile(lambda a: picky(a * 2) * 3)
    a = torch.ones(3)
    torch.testing.assert_close(f(a), (a * 2 + 1) * 3)
    f(a * 50)
    assert kept[0].sum() == 6  # what the operator kept is its own
    with pytest.raises(Mine, match="negative"):
        f(-a)
