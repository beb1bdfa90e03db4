"""Shared by every Python test: a fixed seed, a fresh compiler, and the comparison with eager PyTorch."""
import copy

import pytest
import torch

import dynamo_mlir


@pytest.fixture(autouse=True)
def _fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    dynamo_mlir.reset_report()
    yield
    torch._dynamo.reset()


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in flat(v)]
    return []


def same(expected, actual, rtol=None, atol=None):
    """Values, dtypes, sizes, strides and requires_grad."""
    expected, actual = flat(expected), flat(actual)
    assert len(expected) == len(actual)
    for e, a in zip(expected, actual):
        assert (e.dtype, e.shape, e.stride(), e.requires_grad) == (a.dtype, a.shape, a.stride(), a.requires_grad)
        torch.testing.assert_close(a, e, rtol=rtol, atol=atol, equal_nan=True)


def check(function, *args, fallback=False, calls=2, rtol=None, atol=None, **options):
    """Runs a function in eager and compiled, each on its own copy of the arguments; both must agree in what they return and
    in what they leave in the arguments. Returns the compiled function."""
    compiled = dynamo_mlir.compile(function, fullgraph=True, **options)
    for _ in range(calls):
        theirs, ours = copy.deepcopy(args), copy.deepcopy(args)
        expected, actual = function(*theirs), compiled(*ours)
        same(expected, actual, rtol, atol)
        same(theirs, ours, rtol, atol)
    reasons = list(dynamo_mlir.report().fallbacks)
    assert fallback or not reasons, reasons
    assert dynamo_mlir.report().graphs or fallback
    return compiled
