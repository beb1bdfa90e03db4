"""Pointwise, reduction, normalisation, softmax, loss and factory operators against eager PyTorch, over dtypes and edge values.

Many operators are one graph: each case compiles once and compares every result.
"""
import math

import pytest
import torch
import torch.nn.functional as F
from conftest import check

import dynamo_mlir

A = torch.ops.aten
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
INF, NAN = math.inf, math.nan
EDGE = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 1e-3, 88.0, -88.0, 1e4, 2.5, -2.5, 6.0]

named = lambda dtype: str(dtype).removeprefix("torch.")


def values(dtype, *sizes, low=-50, high=50):
    if dtype == torch.bool:
        return torch.rand(*sizes) > 0.5
    if not dtype.is_floating_point:
        low = max(torch.iinfo(dtype).min, low)
        return torch.randint(low, high, sizes).to(dtype)
    return (torch.randn(*sizes) * 2).to(dtype)


def edges(dtype):
    if dtype == torch.bool:
        return torch.tensor([True, False, True])
    if not dtype.is_floating_point:
        info = torch.iinfo(dtype)
        return torch.tensor([0, 1, 2, 3, 7, 100, info.max, info.min, info.max - 1], dtype=dtype)
    return torch.cat([torch.tensor(EDGE), torch.randn(14) * 3]).to(dtype)


def pairs(dtype):
    e = edges(dtype)
    return e.repeat_interleave(len(e)), e.repeat(len(e))


@pytest.mark.parametrize("dtype", FLOATS, ids=named)
def test_unary(dtype):
    def f(x):
        return (x.abs(), x.acos(), x.asin(), x.atan(), x.asinh(), x.acosh(), x.atanh(), x.ceil(), x.cos(), x.cosh(), x.erf(),
                x.exp(), x.exp2(), x.expm1(), x.floor(), x.frac(), x.log(), x.log10(), x.log1p(), x.log2(), -x, x.reciprocal(),
                x.rsqrt(), x.sigmoid(), x.sign(), x.sin(), x.sinh(), x.sqrt(), x.tan(), x.tanh(), x.trunc(), x.round(),
                torch.round(x, decimals=2), x.isnan(), x.isinf(), x.isfinite(), x.logical_not(), x.nan_to_num(), x.nan_to_num(1, 2, 3))

    check(f, edges(dtype))


@pytest.mark.parametrize("dtype", INTS + [torch.bool], ids=named)
def test_unary_of_integers(dtype):
    def f(x):
        same = () if dtype == torch.bool else (x.abs(), -x, x.floor(), x.round(), x.sign())
        return *same, x.bitwise_not(), x.exp(), x.sqrt(), x.tanh(), x.logical_not(), x.isnan(), x.isinf(), x.isfinite()

    check(f, edges(dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=named)
def test_activations(dtype):
    def f(x):
        return (F.relu(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.mish(x), F.hardswish(x), F.hardsigmoid(x), F.hardtanh(x),
                F.relu6(x), F.leaky_relu(x, 0.3), F.elu(x, 1.7), F.selu(x), F.celu(x, 0.7), F.softplus(x, 2.0, 3.0), F.logsigmoid(x), F.glu(x))

    check(f, edges(dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=named)
def test_activations_backward(dtype):
    def f(g, x):
        return (A.gelu_backward(g, x), A.gelu_backward(g, x, approximate="tanh"), A.silu_backward(g, x), A.mish_backward(g, x),
                A.sigmoid_backward(g, x), A.tanh_backward(g, x), A.hardtanh_backward(g, x, -1.0, 1.0), A.hardswish_backward(g, x),
                A.hardsigmoid_backward(g, x), A.leaky_relu_backward(g, x, 0.1, False), A.elu_backward(g, 1.5, 1.2, 1.1, False, x),
                A.elu_backward(g, 1.5, 1.2, 1.1, True, x), A.softplus_backward(g, x, 1.5, 4.0), A.threshold_backward(g, x, 0))

    x = edges(dtype)
    check(f, torch.randn(len(x)).to(dtype), x)


@pytest.mark.parametrize("dtype", FLOATS, ids=named)
def test_binary(dtype):
    def f(x, y):
        return (x + y, x - y, x * y, x / y, torch.add(x, y, alpha=2), torch.rsub(x, y, alpha=2), torch.maximum(x, y), torch.minimum(x, y),
                torch.fmax(x, y), torch.fmin(x, y), torch.fmod(x, y), torch.remainder(x, y), x // y, torch.div(x, y, rounding_mode="trunc"),
                torch.logaddexp(x, y), torch.xlogy(x, y), torch.pow(x, y), torch.atan2(x, y), x == y, x != y, x < y, x <= y, x > y, x >= y,
                torch.logical_and(x, y), torch.logical_or(x, y), torch.logical_xor(x, y), torch.clamp(x, y, y + 1), torch.where(x > y, x, y),
                x.masked_fill(y > 0, 3), torch.lerp(x, y, 0.3), torch.addcmul(x, y, x, value=2), torch.addcdiv(x, y, x))

    check(f, *pairs(dtype))


@pytest.mark.parametrize("dtype", INTS, ids=named)
def test_binary_of_integers(dtype):
    """Wraps like eager's; a shift out of range is eager's too."""
    def f(x, y):
        return (x + y, x - y, x * y, x / y, torch.add(x, y, alpha=3), torch.maximum(x, y), torch.minimum(x, y), x == y, x != y, x < y,
                x <= y, x > y, x >= y, x & y, x | y, x ^ y, x << y, x >> y, torch.logical_and(x, y), torch.clamp(x, y, y + 1), torch.where(x > y, x, y))

    check(f, *pairs(dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=named)
def test_with_numbers(dtype):
    """A number is rounded to a half type where eager does it (comparisons) and not where it does not (arithmetic)."""
    def f(x):
        return (x + 0.1, x * 0.1, 0.1 - x, x / 3, 3 / x, x < 0.1, x >= 0.5, x == 2, x**2, x**3, x**0.5, x**-0.5, x**-1, x**-2, x**0, x**2.5,
                2**x, x // 3, x % 3, x % -2.5, torch.fmod(x, 2.5), x.clamp(-1, 2), x.clamp(min=0.3), x.clamp(max=0.3), x.clamp(2, -2),
                x.clamp(NAN, 2.0), x.masked_fill(x > 0, -INF), torch.where(x > 0, x, 0.1), torch.where(x > 0, 1.0, 0.0))

    check(f, edges(dtype))


@pytest.mark.parametrize("dtype", INTS, ids=named)
def test_integers_with_numbers(dtype):
    """Floor division and remainder have Python's signs."""
    def f(x):
        signed = () if dtype == torch.uint8 else (x // -3, x // -1, x % -3, x % -1, torch.div(x, -3, rounding_mode="trunc"))
        return (*signed, x + 3, x + 0.5, x * 3, x / 3, x // 3, x % 3, torch.fmod(x, 3), x**2, x**5, x**0, x < 2, x < 2.5, x << 2, x >> 1,
                x & 6, x.clamp(1, 5), x.clamp(min=0.5), x**0.5, torch.where(x > 2, x, 1))

    check(f, edges(dtype))


def test_integer_division_by_zero_raises():
    """Eager raises, a machine instruction would kill the process."""
    compiled = dynamo_mlir.compile(lambda x, y: x // y)
    assert torch.equal(compiled(torch.tensor([7, -7]), torch.tensor([2, 2])), torch.tensor([3, -4]))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        compiled(torch.tensor([7, -7]), torch.tensor([2, 0]))


@pytest.mark.parametrize("source", FLOATS + INTS + [torch.bool], ids=named)
def test_conversion(source):
    """Every dtype to every other, of numbers that fit: nan is true, floats truncate, uint8 is not sign-extended."""
    others = FLOATS + INTS + [torch.bool]

    def f(x, y):
        return *(x.to(d) for d in others), *(x + y.to(d) for d in others), *(x < y.to(d) for d in others)

    x = values(source, 12, low=0, high=100)
    check(f, x.abs() if source.is_floating_point else x, torch.tensor([0, 1, 2] * 4))


def test_promotion_of_zero_dims():
    def f(h, i, zero, number):
        return h + zero, i * zero, i < zero, i + number, h * number

    check(f, torch.randn(4).half(), torch.arange(4), torch.tensor(2.5), torch.tensor(2))


def test_broadcast_and_empty():
    def f(x, row, column, empty):
        return x + row, column * x, row * column, empty * 2 + 1, x.unsqueeze(0) - row

    check(f, torch.randn(4, 8), torch.randn(8), torch.randn(4, 1), torch.zeros(0, 3))


DIMS = [{}, {"dim": 1}, {"dim": -1, "keepdim": True}, {"dim": (0, 2)}, {"dim": 0}]


@pytest.mark.parametrize("dtype", FLOATS, ids=named)
def test_reductions(dtype):
    def f(x):
        out = []
        for k in DIMS:
            out += [x.sum(**k), x.mean(**k), x.amax(**k), x.amin(**k), x.var(**k), x.std(**k), torch.var_mean(x, correction=0, **k),
                    torch.any(x, **k), torch.all(x, **k)]
            out += [torch.linalg.vector_norm(x, p, **k) for p in (2, 1, INF, -INF, 0, 3)]
            if k:
                out.append(torch.logsumexp(x, **k))
        for k in DIMS[1:3]:
            out += [x.max(**k), x.min(**k), x.argmax(**k), x.argmin(**k), x.prod(**k)]
        return (*out, x.argmax(), x.max(), x.min())

    loose = {torch.float16: 4e-3, torch.bfloat16: 2e-2}.get(dtype)
    check(f, values(dtype, 3, 5, 7), rtol=loose, atol=loose)


@pytest.mark.parametrize("dtype", INTS + [torch.bool], ids=named)
def test_reductions_of_integers(dtype):
    """Ties give the first index; sums are int64."""
    def f(x):
        out = []
        for k in DIMS:
            out += [x.sum(**k), x.amax(**k), x.amin(**k), torch.any(x, **k), torch.all(x, **k)]
        for k in DIMS[1:3]:
            out += [x.max(**k), x.min(**k), x.prod(**k)]
            if dtype != torch.bool:
                out += [x.argmax(**k), x.argmin(**k)]
        return tuple(out)

    check(f, values(dtype, 3, 5, 7, low=-4, high=5))


def test_reductions_of_nan_and_inf():
    def f(x):
        return (x.amax(1), x.amin(1), x.max(1), x.min(1), x.argmax(1), x.argmin(1), x.sum(1), x.mean(1), torch.logsumexp(x, 1),
                torch.softmax(x, 1), torch.log_softmax(x, 1), A._safe_softmax(x, 1), x.var(1))

    x = torch.randn(6, 9)
    x[0, 3] = x[0, 5] = NAN
    x[1], x[2], x[3, 2], x[4, 7] = -INF, INF, INF, -INF
    check(f, x)


def test_reductions_of_nothing():
    def f(x, e, zero):
        return (x.sum(0), x.mean(0), e.prod(), e.any(), e.all(), torch.linalg.vector_norm(e), zero.sum(), zero.max(0), zero.argmax(),
                torch.softmax(zero, 0))

    check(f, torch.zeros(0, 3), torch.zeros(0), torch.tensor(3.0))


@pytest.mark.parametrize("dtype", FLOATS, ids=named)
def test_softmax(dtype):
    def f(x, g):
        out = []
        for d in (0, 1, -1):
            y = torch.softmax(x, d)
            out += [y, torch.log_softmax(x, d), A._softmax_backward_data(g, y, d, dtype), A._log_softmax_backward_data(g, torch.log_softmax(x, d), d, dtype)]
        return (*out, torch.softmax(x, -1, dtype=torch.float32))

    loose = {torch.float16: 4e-3, torch.bfloat16: 4e-2}.get(dtype)
    check(f, values(dtype, 4, 6, 5), torch.randn(4, 6, 5).to(dtype), rtol=loose, atol=loose)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("dtype", FLOATS, ids=named)
def test_norms(dtype, affine):
    def f(x, w, b, c, d, mean, var):
        w, b, c, d = (w, b, c, d) if affine else (None,) * 4
        return (F.layer_norm(x, [4, 5], w, b), F.rms_norm(x, [4, 5], w), F.group_norm(x, 3, c, d), F.batch_norm(x, mean, var, c, d))

    make = lambda *sizes: torch.randn(*sizes).to(dtype)
    loose = {torch.float16: 1e-2, torch.bfloat16: 6e-2}.get(dtype)
    check(f, make(2, 6, 4, 5), make(4, 5), make(4, 5), make(6), make(6), make(6), torch.rand(6).to(dtype) + 0.1, rtol=loose, atol=loose)


@pytest.mark.parametrize("affine", [True, False])
def test_norms_backward(affine):
    """Forward and backward of each norm, statistics over the batch included."""
    def loss(x, w, b, c, d, mean, var, g):
        mean, var = mean.clone(), var.clone()
        w, b, c, d = (w, b, c, d) if affine else (None,) * 4
        y = F.layer_norm(x, [4, 5], w, b) + F.rms_norm(x, [4, 5], w) + F.group_norm(x, 3, c, d) + F.batch_norm(x, mean, var, c, d, training=True)
        return (y * g).sum()

    make = lambda *sizes: torch.randn(*sizes, dtype=torch.float64)
    leaves = [make(2, 6, 4, 5), make(4, 5), make(4, 5), make(6), make(6)]
    numbers = (0, 1, 2, 3, 4) if affine else (0,)
    check(lambda *a: torch.func.grad(loss, numbers)(*a), *leaves, make(6), torch.rand(6, dtype=torch.float64) + 0.1, make(2, 6, 4, 5))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=named)
def test_losses(dtype):
    def f(x, y, t, w, g):
        out = []
        for r in ("none", "mean", "sum"):
            out += [F.mse_loss(x, y, reduction=r), F.nll_loss(x, t, reduction=r), F.nll_loss(x, t, w, reduction=r), F.cross_entropy(x, t, reduction=r)]
        total = A.nll_loss_forward(x, t, w, 1, -100)[1]
        return (*out, A.mse_loss_backward(g, x, y, 1), A.mse_loss_backward(g, x, y, 2), A.nll_loss_backward(g, x, t, w, 1, -100, total),
                A.nll_loss_backward(g, x, t, None, 2, -100, total), F.nll_loss(x[0], t[0]), F.nll_loss(x[3:4], t[3:4]))

    loose = {torch.bfloat16: 2e-2}.get(dtype)
    check(f, values(dtype, 6, 5), values(dtype, 6, 5), torch.tensor([1, 0, 4, -100, 2, 3]), torch.rand(5).to(dtype), torch.tensor(1.5, dtype=dtype),
          rtol=loose, atol=loose)


def test_factories():
    def f(x):
        return (x + torch.full((3, 4), 2.5), torch.ones(3, 4), torch.zeros(2, dtype=torch.bool), torch.full((2,), 7), torch.full_like(x, 3),
                torch.arange(10), torch.arange(1, 10, 3), torch.arange(0, 1, 0.1), torch.arange(10, 0, -2), torch.arange(7, dtype=torch.bfloat16),
                torch.scalar_tensor(2.5), torch.eye(3), torch.eye(2, 4, dtype=torch.int64), torch.linspace(0, 1, 7), torch.linspace(3, 9, 1),
                torch.where(torch.ones(3, 4, dtype=torch.bool), x, torch.zeros(3, 4)), torch.full((3,), True))

    check(f, torch.randn(3, 4))
