"""Generated math functions against float64, in units in the last place, over all of float32: subnormals, huge values, both
zeros, infinities and nan among them."""
import math

import pytest
import torch

COUNT = 1 << 18

FUNCTIONS = {
    "exp": 2, "exp2": 2, "expm1": 2, "log": 2, "log2": 2, "log10": 2, "log1p": 2, "tanh": 2, "erf": 2, "sin": 2, "cos": 2,
    "tan": 4, "sinh": 2, "cosh": 2, "asin": 2, "acos": 2, "atan": 2, "asinh": 2, "acosh": 2, "atanh": 2, "sqrt": 1, "rsqrt": 2,
    "floor": 0, "ceil": 0, "trunc": 0, "round": 0,
}


def floats():
    """Every 2^14th bit pattern, the values around one, and the special ones."""
    bits = torch.arange(COUNT, dtype=torch.int64) * (1 << 14) + torch.randint(0, 1 << 14, (COUNT,))
    spread = bits.sub(1 << 31).to(torch.int32).view(torch.float32)
    special = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 1e-45, -1e-45, 3.4028235e38, 1e30])
    return torch.cat([spread, torch.linspace(-20, 20, COUNT), special])


def ulps(expected, actual):
    """Distance to the float64 value in steps of float32 there; infinite where the kind of value is wrong."""
    rounded = expected.to(torch.float32)
    step = torch.nextafter(rounded.abs(), torch.tensor(math.inf)).double() - rounded.abs().double()
    distance = (expected - actual.double()).abs() / step
    same_kind = (rounded == actual) | (rounded.isnan() & actual.isnan())
    finite = rounded.isfinite() & actual.isfinite()
    return torch.where(finite, distance, torch.where(same_kind, 0.0, math.inf))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    function = getattr(torch, name)
    x = floats()
    expected = function(x.double())
    actual = torch.compile(function, backend="dynamo_mlir")(x)
    error = ulps(expected, actual)
    worst = error.argmax()
    assert error[worst] <= FUNCTIONS[name], (x[worst], actual[worst], expected[worst])
    zeros = (expected == 0) & (actual == 0)
    assert torch.equal(expected[zeros].signbit(), actual[zeros].signbit())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_round_as_torch(dtype):
    x = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(dtype)
    for function in (lambda v: v + v, lambda v: v * 3, lambda v: v.float(), lambda v: v.double().to(dtype)):
        expected, actual = function(x), torch.compile(function, backend="dynamo_mlir")(x)
        assert actual.dtype == expected.dtype
        assert torch.equal(expected.nan_to_num(7.0), actual.nan_to_num(7.0))
        assert torch.equal(expected.isnan(), actual.isnan())
