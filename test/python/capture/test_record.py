# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records of small functions, compiled and held against eager PyTorch: values, layouts, aliasing, what was written."""
import copy

import pytest
import torch
import torch.nn.functional as F

from dynamo_mlir.capture.program import compile_record
from dynamo_mlir.capture.record import Record
from dynamo_mlir.errors import CompileError


class Observer:
    """Knows a list of tensors as inputs."""

    def __init__(self, inputs):
        self.inputs = inputs
        self.refused = None

    def input_of(self, tensor):
        for i, known in enumerate(self.inputs):
            if known is tensor:
                return i
        return -1

    def refuse(self, reason):
        self.refused = reason


def leaves(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value or () for t in leaves(v)]


def record_call(function, inputs):
    """(record, what of each result is an input's number or a program's result, the results)"""
    observer = Observer(inputs)
    with Record(observer) as record:
        results = leaves(function(*inputs))
        places = []
        for t in results:
            number = observer.input_of(t)
            places.append(("input", number) if number >= 0 else ("result", record.output_of(t)))
    return record, places, results


def replay(program, places, inputs):
    values = program.run(list(inputs))
    assert values is not None
    return [inputs[n] if kind == "input" else values[n] for kind, n in places]


def aliasing(tensors):
    """Which tensors share memory, and at what distance."""
    seen = {}
    out = []
    for t in tensors:
        place = t.untyped_storage().data_ptr() if t.numel() else id(t)
        out.append(seen.setdefault(place, len(seen)))
    return out


def compare(expected, actual, rtol=None, atol=None):
    assert len(expected) == len(actual)
    for e, a in zip(expected, actual):
        assert (e.dtype, e.shape, e.stride()) == (a.dtype, a.shape, a.stride())
        torch.testing.assert_close(a, e, rtol=rtol, atol=atol, equal_nan=True)
    assert aliasing(expected) == aliasing(actual)


def check(function, *inputs, calls=2, rtol=None, atol=None, extern=()):
    """Records a call, then runs the program on fresh copies of the arguments beside eager."""
    recorded = copy.deepcopy(inputs)
    record, places, results = record_call(function, recorded)
    assert not record.void, record.reason
    program = compile_record(record)
    for n in range(calls):
        theirs, ours = copy.deepcopy(inputs), copy.deepcopy(inputs)
        versions = [(t._version, mine._version) for t, mine in zip(theirs, ours)]
        torch.manual_seed(n)
        expected = leaves(function(*theirs))
        torch.manual_seed(n)
        actual = replay(program, places, ours)
        state = torch.get_rng_state()
        torch.manual_seed(n)
        leaves(function(*copy.deepcopy(inputs)))
        assert torch.equal(state, torch.get_rng_state())
        compare([*theirs, *expected], [*ours, *actual], rtol, atol)
        for before, t, mine in zip(versions, theirs, ours):
            assert (t._version > before[0]) == (mine._version > before[1])
    if extern is not None:
        assert set(program.report().externs) <= set(extern), program.report().externs
    return program


def T(*sizes, dtype=torch.float32):
    generator = torch.Generator().manual_seed(len(sizes) + sum(sizes))
    return torch.randn(*sizes, generator=generator).to(dtype)


# Operators that are called as they are.
EXTERN = {"indexed": ("aten::index_fill.int_Scalar",), "sort and topk": ("aten::sort", "aten::topk"), "read before a write": ("aten::view.dtype",),
          "write through a view of another dtype": ("aten::view.dtype",), "diagonal": ("aten::diagonal_scatter",),
          "as strided": ("aten::as_strided_scatter",), "mask with a value for each place": ("aten::index_put",)}

PURE = {
    "pointwise": (lambda x: (x * 2.0 + 1).relu(), T(4, 5)),
    "two results": (lambda x, y: (x + y, x - y), T(4, 5), T(4, 5)),
    "one used twice": (lambda x: [x + 1] * 2, T(3)),
    "linear": (lambda x, w, b: F.linear(x, w, b), T(3, 4), T(5, 4), T(5)),
    "linear of three dims": (lambda x, w, b: F.linear(x, w, b), T(2, 3, 4), T(5, 4), T(5)),
    "layer norm": (lambda x, w, b: F.layer_norm(x, (8,), w, b), T(3, 8), T(8), T(8)),
    "softmax": (lambda x: x.softmax(-1), T(3, 7)),
    "attention": (F.scaled_dot_product_attention, T(1, 2, 4, 8), T(1, 2, 4, 8), T(1, 2, 4, 8)),
    "convolution": (lambda x, w: F.conv2d(x, w, padding=1), T(1, 3, 8, 8), T(4, 3, 3, 3)),
    "pooling": (lambda x: F.max_pool2d(x, 2), T(1, 3, 8, 8)),
    "batch norm in eval mode": (lambda x, m, v, w, b: F.batch_norm(x, m, v.abs(), w, b), T(2, 3, 4), T(3), T(3), T(3), T(3)),
    "embedding": (lambda i, w: F.embedding(i, w), torch.tensor([[0, 3], [1, 1]]), T(5, 4)),
    "constant of Python data": (lambda x: x + torch.tensor([1.0, 2.0, 3.0]), T(2, 3)),
    "constant that leaves": (lambda x: (torch.tensor([1.0, 2.0]), x + 1), T(2)),
    "factory": (lambda x: x + torch.arange(5) + torch.zeros(4, 5) + torch.full((5,), 2.5), T(4, 5)),
    "no input": (lambda x: torch.ones(3), T(1)),
    "cat and stack": (lambda x, y: (torch.cat([x, y]), torch.stack([x, y], 1)), T(2, 3), T(2, 3)),
    "transposed result": (lambda x: (x + 1).t(), T(3, 4)),
    "result with gaps": (lambda x: (x + 1)[:, ::2], T(3, 4)),
    "expanded result": (lambda x: (x + 1).expand(3, 4), T(4)),
    "results that share memory": (lambda x: (x * 2).chunk(2, 1), T(3, 4)),
    "base and view": (lambda x: (lambda y: (y, y[1:], y.t()))(x + 1), T(3, 4)),
    "views of an input": (lambda x: (x[1:], x.t(), x.view(-1), x.unbind(0)), T(3, 4)),
    "view of an input and of a result": (lambda x: (x[1:], (x * 2)[1:]), T(3, 4)),
    "channels last": (lambda x: (x.to(memory_format=torch.channels_last) + 1).relu(), T(2, 3, 4, 5)),
    "view in another dtype": (lambda x: (lambda y: (y, y.view(torch.int32)))(x + 1), T(3, 4)),
    "comparison": (lambda x, y: (x > y, x.eq(0), torch.where(x > 0, x, y)), T(3, 4), T(3, 4)),
    "integers": (lambda i: (i // 3, i % 3, i << 1, i.float() / 2), torch.arange(-5, 6)),
    "detach": (lambda x: (x + 1).detach() * 2, T(3)),
    "sort and topk": (lambda x: (x.sort(-1), x.topk(2)), T(3, 7)),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2), T(1, 2, 3, 3)),
    "pad": (lambda x: F.pad(x, (1, -1), value=2.0), T(3, 4)),
    "as strided of permuted memory": (lambda x: torch.as_strided(x.roll(1, 0), (4, 3), (2, 1), 1),
                                      T(2, 3, 2, 2).to(memory_format=torch.channels_last)),
    "einsum": (lambda a, b: torch.einsum("bij,bjk->bik", a, b), T(2, 3, 4), T(2, 4, 5)),
    "var and std": (lambda x: (x.var(0), x.std(), x.mean((0, 1))), T(4, 5)),
    "losses": (lambda x, t: (F.cross_entropy(x, t), F.mse_loss(x, x * 2), F.l1_loss(x, -x), F.smooth_l1_loss(x, -x)),
               T(4, 5), torch.tensor([0, 4, 2, 1])),
    "activations": (lambda x: (F.gelu(x), F.silu(x), F.elu(x), F.hardswish(x), F.softplus(x), F.mish(x), F.leaky_relu(x),
                               F.selu(x), F.relu6(x), F.logsigmoid(x), F.glu(x)), T(4, 6)),
}

WRITES = {
    "into an input": (lambda x, y: x.add_(y), T(3, 4), T(4)),
    "into an input that is read before and after": (lambda x: (x + 1, x.mul_(2), x + 1), T(3, 4)),
    "view read after its base was written": (lambda x: (lambda v: (v + 0, x.mul_(2), v + 0, v.t() * 1))(x[1:]), T(3, 4)),
    "view of a result read after that was written": (lambda x: (lambda y: (lambda v: (v + 0, y.mul_(2), v + 0))(y[1:]))(x + 1), T(3, 4)),
    "into a row": (lambda x: x[1].fill_(7), T(3, 4)),
    "into a slice": (lambda x: (x.__setitem__((slice(None), slice(1, 3)), 7.0), x * 2), T(3, 4)),
    "through a chain of views": (lambda x: (x.t()[1:3].reshape(2, 3).unsqueeze(0).mul_(3), x + 0), T(3, 4)),
    "into an intermediate": (lambda x: (lambda y: (y[0].add_(1), y.mul_(2), y.sum()))(x + 1)[1:], T(3, 4)),
    "into a view that leaves": (lambda x: (lambda y: (y[0].add_(1), y, y[1]))(x + 1), T(3, 4)),
    "activation in place": (lambda x: F.silu(F.relu(x + 1, inplace=True), inplace=True), T(3, 4)),
    "copy with broadcast and cast": (lambda x, i: x.copy_(i), T(3, 4), torch.arange(4)),
    "integer from a float": (lambda i, x: i.copy_(x), torch.arange(4), T(4) * 5),
    "promoted": (lambda x, d: x.add_(d), T(3), T(3, dtype=torch.float64)),
    "comparison in place": (lambda x, y: x.gt_(y), T(3, 4), T(3, 4)),
    "integer in place": (lambda i: (i.add_(2), i.mul_(3), i.bitwise_and_(6)), torch.arange(5)),
    "read before a write": (lambda x: (lambda y: (x.view(torch.int32) + 1, y, x.add_(1)))(x.view(-1)), T(3, 4)),
    "write through a view of another dtype": (lambda x: (x.view(torch.int32).bitwise_and_(0x7FFFFFFF), x + 0), T(3, 4)),
    "diagonal": (lambda x: (x.diagonal().fill_(0), x * 1), T(4, 4)),
    "as strided": (lambda x: (x.as_strided((2, 2), (1, 4), 1).zero_(), x * 1), T(3, 4)),
    "unbind and split": (lambda x: ([p.mul_(i) for i, p in enumerate(x.unbind(1))], [p.add_(1) for p in x.split(2)]), T(3, 4)),
    "indexed": (lambda x, i: (x.index_add_(0, i, torch.ones(2, 4)), x.index_fill_(0, i, 3), x.__setitem__(i, 5.0)),
                T(3, 4), torch.tensor([0, 2])),
    "masked": (lambda x: (x.masked_fill_(x > 0, 9.0), x.__setitem__(x < -1, 0.0), x * 1), T(3, 4)),
    "mask of rows": (lambda x, m, v: (x.__setitem__(m, 1.0), x.__setitem__(m, v), x.index_put_((m,), v, accumulate=True)),
                     T(3, 4), torch.tensor([True, False, True]), T(4)),
    "mask with a value for each place": (lambda x, m, v: x.__setitem__(m, v), T(3, 4), torch.tensor([True, False, True]), T(2, 4)),
    "scatter": (lambda x, i: (x.scatter_(1, i, 2.0), x.scatter_add_(1, i, x.clone())), T(3, 4), torch.tensor([[0, 1], [3, 2], [1, 0]])),
    "clamp and friends": (lambda x: (x.clamp_(-1, 1), x.abs_(), x.sqrt_(), x.neg_(), x.exp_(), x.tanh_()), T(3, 4)),
    "addcmul": (lambda x, y: (x.addcmul_(y, y, value=2), x.addcdiv_(y, y.exp()), x.lerp_(y, 0.3), x.sub_(y, alpha=2)), T(3), T(3)),
    "addmm in place": (lambda x, a, b: x.addmm_(a, b), T(3, 5), T(3, 4), T(4, 5)),
    "matrix product with out=": (lambda a, b, o: torch.mm(a, b, out=o), T(3, 4), T(4, 5), T(3, 5)),
    "out= of an intermediate": (lambda a: (lambda o: (torch.add(a, 1, out=o), o * 2))(torch.empty(3, 4)), T(3, 4)),
    "constant": (lambda x: (lambda t: (t.add_(1), t + x[0, 0]))(torch.tensor([1.0, 2.0])), T(3, 4)),
    "zeros filled row by row": (lambda x: (lambda z: ([z[i].copy_(x[i] * i) for i in range(3)], z)[1])(torch.zeros(3, 4)), T(3, 4)),
    "batch norm's statistics": (lambda x, m, v: F.batch_norm(x, m, v, training=True), T(4, 3), T(3), T(3).abs()),
    "batch norm without statistics": (lambda x: F.batch_norm(x, None, None, training=True), T(4, 3)),
    "result that is copied into an input": (lambda x: (lambda y: (x.copy_(y), y)[1])(x * 2), T(3)),
    "input copied into another": (lambda x, y: (x.copy_(y), x + 1)[1], T(3), T(3)),
    "swap": (lambda x, y: (lambda t: (x.copy_(y), y.copy_(t)))(x.clone()), T(3), T(3)),
    "layout of an intermediate changed in place": (lambda x: (lambda y: (y.t_(), y.unsqueeze_(0), y.mul_(2))[2])(x + 1), T(3, 4)),
    "foreach": (lambda x, y: (torch._foreach_add_([x, y], [y, x]), torch._foreach_mul_([x, y], 2.0),
                              torch._foreach_addcmul_([x], [y], [y], value=0.5), torch._foreach_sqrt([y.abs()]),
                              torch._foreach_lerp_([x], [y], 0.1), torch._foreach_div_([x, y], [2.0, 3.0]),
                              torch._foreach_zero_([x]))[3], T(3), T(3)),
}

RANDOM = {
    "dropout": (lambda x: F.dropout(x, 0.5), T(5, 6)),
    "random": (lambda x: (torch.rand(3), torch.randn_like(x), torch.randint(0, 9, (4,)), torch.randperm(5)), T(3, 4)),
    "in place": (lambda x: (x.uniform_(), x.clone().normal_(), x.clone().exponential_(), x.clone().random_(0, 5)), T(3, 4)),
    "in place, channels last": (lambda x: (torch.empty_like(x).bernoulli_(0.5), torch.empty_like(x).uniform_()),
                                T(2, 3, 4, 5).to(memory_format=torch.channels_last)),
    "unused": (lambda x: (torch.rand(3), x + 1)[1], T(3)),
    "order": (lambda x: torch.rand(3) - torch.rand(3) + x, T(3)),
}


@pytest.mark.parametrize("name", PURE)
def test_values(name):
    check(*PURE[name], extern=EXTERN.get(name, ()))


@pytest.mark.parametrize("name", WRITES)
def test_writes(name):
    check(*WRITES[name], extern=EXTERN.get(name, ()))


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_are_eagers(name):
    check(*RANDOM[name], extern=None)



def longer_where(x, mask):
    """A result whose size depends on values that depend on nothing."""
    positions = torch.arange(4)
    if (positions.cumsum(0) > 5).any() and int(positions.max()) == 3 and mask is None:
        return x[positions > 1] + positions.sum().item()
    return x


# Values of tensors that come from constants alone may be taken out.
def test_settled_values():
    check(lambda x: longer_where(x, None), T(4, 3), extern=("aten::index.Tensor",))


VOID = {
    "a value": lambda x: x.sum().item(),
    "a mask": lambda x: x[x > 0],
    "nonzero": lambda x: x.nonzero(),
    "equal": lambda x: torch.equal(x, x),
    "a constant that was written": lambda x: torch.zeros(3).add_(x[0, 0]).sum().item(),
    "through a view": lambda x: (lambda z: (z[1:].add_(x[0, 0]), z[1].item()))(torch.zeros(3)),
    "random": lambda x: torch.rand(3).sum().item(),
    "unset memory": lambda x: torch.empty(3).sum().item() == 0,
    "an input's layout": lambda x: x.t_(),
    "unknown": lambda x: x + OUTSIDE,
    "memory of others": lambda x: x[:, 0] + torch.from_numpy(ARRAY),
    "sparse": lambda x: x.to_sparse(),
    "set": lambda x: torch.zeros(3).set_(x),
    "complex": lambda x: torch.view_as_complex(x.reshape(6, 2)),
    "another class": lambda x: x + ODD,
}

OUTSIDE = torch.ones(4)
ARRAY = torch.ones(3).numpy()
ODD = torch.ones(3, 4).as_subclass(type("Odd", (torch.Tensor,), {}))


@pytest.mark.parametrize("name", VOID)
def test_what_makes_a_record_void(name):
    observer = Observer([T(3, 4), ODD])
    with Record(observer) as record:
        VOID[name](observer.inputs[0])
    assert record.void and observer.refused == record.reason and record.output_of(observer.inputs[0]) == -1
    with pytest.raises(CompileError):
        compile_record(record)


# A later call may pass tensors that overlap where the recorded ones did not: nothing happens then.
def test_overlapping_inputs_are_refused():
    record, _, _ = record_call(lambda x, y: x.add_(y), [T(4), T(4)])
    program = compile_record(record)
    memory = T(6)
    before = memory.clone()
    assert program.run([memory[:4], memory[2:]]) is None
    assert torch.equal(memory, before)
    program.run([memory[:3].new_zeros(4), memory[2:]])


# Inputs of one storage that don't overlap are not told apart: not compiled.
def test_written_input_with_another_of_its_storage():
    memory = T(8)
    record, _, _ = record_call(lambda x, y: x.add_(y), [memory[:4], memory[4:]])
    with pytest.raises(CompileError, match="share memory"):
        compile_record(record)


# No tensor of the first call lives longer than it does in eager.
def test_nothing_is_kept_alive():
    import weakref

    x = T(4)
    observer = Observer([x])
    with Record(observer):
        y = x + 1
        seen = weakref.ref(y)
        del y
        assert seen() is None


# An operator that fails leaves inputs, and the random generator, as they were.
def test_failure_in_the_middle():
    record, _, _ = record_call(lambda x, m: (x.add_(torch.rand(3)), torch.linalg.cholesky(m))[1], [T(3), torch.eye(3)])
    program = compile_record(record)
    x = T(3)
    before = torch.get_rng_state()
    with pytest.raises(Exception):
        program.run([x, -torch.eye(3)])
    assert torch.equal(x, T(3)) and torch.equal(torch.get_rng_state(), before)
