# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Poison: after a recording, everything that it read is changed, one thing at a time; the answer must be eager's each time."""
import collections
import dataclasses
import functools

import pytest
import torch
from torch import nn

import dynamo_mlir
from conftest import same
from dynamo_mlir import _C

if not _C.capture.supported()[0]:
    pytest.skip("capture does not know this Python", allow_module_level=True)

FACTOR = 2
TABLE = {"a": 1.5, "b": {"c": 2.5}}
WEIGHT = torch.ones(3)


def helper(x, k=3, *, bias=1):
    return x * k + bias


class Base:
    rate = 2

    def apply(self, x):
        return x * self.rate

    @property
    def shift(self):
        return 1

    @staticmethod
    def fixed(x):
        return x + 1

    @classmethod
    def named(cls, x):
        return x * cls.rate


class Thing(Base):
    __slots__ = ("slot",)

    def __init__(self):
        self.slot = 1
        self.width = 2
        self.items = [1, 2, 3]
        self.sizes = (1, 2)
        self.options = {"x": 1}
        self.tags = {1, 2}
        self.queue = collections.deque([1, 2])
        self.weight = torch.full((3,), 2.0)
        self.child = Base()


@dataclasses.dataclass
class Config:
    width: int = 2
    mode: str = "plain"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.blocks = nn.ModuleList([nn.Linear(3, 3), nn.ReLU()])
        self.register_buffer("offset", torch.ones(3))
        self.config = Config()
        self.norm = nn.BatchNorm1d(3)
        self.norm.eval()

    def forward(self, x):
        y = self.linear(x) + self.offset
        for block in self.blocks:
            y = block(y)
        y = self.norm(y)
        if self.config.mode == "plain":
            y = y * self.config.width
        return y * 2 if self.training else y


def check(function, args, change, arguments=None):
    """Two calls to record and hit, the change, two more; then as eager. `arguments`: of the later calls."""
    compiled = dynamo_mlir.compile(function, backend="capture")
    with torch.no_grad():
        for _ in range(3):
            same(function(*args), compiled(*args))
        info = dynamo_mlir.capture.door.compiled_function_of(compiled)._capture_info()
        change()
        args = arguments or args
        for _ in range(3):
            same(function(*args), compiled(*args))
        return info


def recorded(info):
    assert info["segments"] and not info["eager"], info


def reads(x, thing, f=helper):
    y = f(x) * FACTOR * TABLE["a"] + TABLE["b"]["c"] + WEIGHT
    y = thing.apply(y) + thing.shift + thing.slot + thing.width + sum(thing.items) + thing.sizes[1] + thing.options["x"]
    y = thing.fixed(y) * thing.weight + thing.named(y) + thing.queue[0] + len(thing.tags) + thing.child.rate
    return y


def put(target, name, value):
    return lambda: setattr(target, name, value)


CHANGES = {
    "global": lambda t: globals().__setitem__("FACTOR", 7),
    "global of another type": lambda t: globals().__setitem__("FACTOR", 2.0),
    "global tensor, written": lambda t: WEIGHT.add_(1),
    "global tensor, replaced": lambda t: globals().__setitem__("WEIGHT", torch.full((3,), 9.0)),
    "global tensor, other type": lambda t: globals().__setitem__("WEIGHT", torch.full((3,), 9.0, dtype=torch.float64)),
    "global tensor, broadcast": lambda t: globals().__setitem__("WEIGHT", torch.full((1,), 9.0)),
    "dict entry": lambda t: TABLE.__setitem__("a", 4.5),
    "nested dict entry": lambda t: TABLE["b"].__setitem__("c", 4.5),
    "nested dict": lambda t: TABLE.__setitem__("b", {"c": 8.0}),
    "global function": lambda t: globals().__setitem__("unused", 1),
    "default": lambda t: setattr(helper, "__defaults__", (5,)),
    "keyword default": lambda t: helper.__kwdefaults__.__setitem__("bias", 5),
    "keyword defaults": lambda t: setattr(helper, "__kwdefaults__", {"bias": 6}),
    "code": lambda t: setattr(helper, "__code__", (lambda x, k=3, *, bias=1: x * k - bias).__code__),
    "class attribute of a base": lambda t: setattr(Base, "rate", 5),
    "class attribute of the class": lambda t: setattr(Thing, "rate", 6),
    "instance attribute over the class's": lambda t: setattr(t, "rate", 7),
    "instance attribute of the child": lambda t: setattr(t.child, "rate", 8),
    "method of a base": lambda t: setattr(Base, "apply", lambda self, x: x - 1),
    "method of the class": lambda t: setattr(Thing, "apply", lambda self, x: x - 2),
    "method of the instance": lambda t: setattr(t, "apply", lambda x: x - 3),
    "property": lambda t: setattr(Base, "shift", property(lambda self: 9)),
    "property to attribute": lambda t: setattr(Base, "shift", 9),
    "static method": lambda t: setattr(Base, "fixed", staticmethod(lambda x: x + 5)),
    "bases": lambda t: setattr(Thing, "__bases__", (Other,)),
    "class of the instance": lambda t: setattr(t.child, "__class__", Slow),
    "slot": lambda t: setattr(t, "slot", 4),
    "attribute": lambda t: setattr(t, "width", 5),
    "attribute, True for 1": lambda t: setattr(t, "width", True),
    "list item": lambda t: t.items.__setitem__(1, 9),
    "list length": lambda t: t.items.append(9),
    "tuple": lambda t: setattr(t, "sizes", (1, 5)),
    "dict of the instance's": lambda t: t.options.__setitem__("x", 5),
    "replaced dict": lambda t: setattr(t, "options", {"x": 6}),
    "set": lambda t: t.tags.add(7),
    "deque": lambda t: t.queue.rotate(1),
    "tensor written": lambda t: t.weight.mul_(2),
    "tensor resized": lambda t: t.weight.resize_(1),
    "tensor replaced": lambda t: setattr(t, "weight", torch.zeros(3)),
    "tensor to a view": lambda t: setattr(t, "weight", torch.arange(6.0)[::2]),
    "tensor to double": lambda t: setattr(t, "weight", t.weight.double()),
    "tensor's data": lambda t: setattr(t.weight, "data", torch.full((3,), 5.0)),
    "instance dict": lambda t: setattr(t, "__dict__", dict(t.__dict__, width=9)),
    "child": lambda t: setattr(t, "child", Slow()),
}


class Slow(Base):
    rate = 11


class Other(Base):
    def apply(self, x):
        return x * 13


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
    """The module as it was, for each case."""
    global FACTOR, TABLE, WEIGHT
    state = FACTOR, {"a": 1.5, "b": {"c": 2.5}}, torch.ones(3)
    FACTOR, TABLE, WEIGHT = state
    classes = {c: dict(vars(c)) for c in (Base, Thing)}
    code, defaults = helper.__code__, helper.__defaults__
    yield
    FACTOR, TABLE, WEIGHT = state
    if Thing.__bases__ != (Base,):
        Thing.__bases__ = (Base,)
    for c, members in classes.items():
        for name in list(vars(c)):
            if name not in members:
                delattr(c, name)
        for name, value in members.items():
            if name not in ("__dict__", "__weakref__", "__doc__") and vars(c).get(name) is not value:
                setattr(c, name, value)
    helper.__code__, helper.__defaults__, helper.__kwdefaults__ = code, defaults, {"bias": 1}


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_function_reads(name):
    thing = Thing()
    recorded(check(reads, (torch.randn(3), thing), lambda: CHANGES[name](thing)))


def test_another_instance():
    other = Thing()
    other.width, other.items, other.weight = 9, [4], torch.zeros(3)
    x = torch.randn(3)
    recorded(check(reads, (x, Thing()), lambda: None, (x, other)))


ARGUMENTS = {
    "dtype": lambda x: x.double(),
    "half": lambda x: x.half(),
    "strides": lambda x: torch.randn(3, 4).t(),
    "offset": lambda x: torch.randn(13)[1:].view(4, 3),
    "expanded": lambda x: torch.randn(1, 3).expand(4, 3),
    "shape": lambda x: torch.randn(5, 3),
    "rank": lambda x: torch.randn(2, 4, 3),
    "empty": lambda x: torch.randn(0, 3),
    "a number": lambda x: 3.0,
    "parameter": lambda x: nn.Parameter(x),
    "requires grad": lambda x: torch.randn(4, 3, requires_grad=True),
    "complex": lambda x: torch.randn(4, 3, dtype=torch.complex64),
    "conjugated": lambda x: torch.randn(4, 3, dtype=torch.complex64).conj(),
    "int": lambda x: torch.arange(12).view(4, 3),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_other_arguments(name):
    x = torch.randn(4, 3)
    recorded(check(lambda x: x * 2 + 1, (x,), lambda: None, (ARGUMENTS[name](x),)))


def test_aliased_arguments():
    """Recorded with two tensors, called with one twice, and with overlapping views."""

    def f(a, b):
        a.add_(1)
        return a * b

    compiled = dynamo_mlir.compile(f, backend="capture")

    def both(make):
        with torch.no_grad():
            theirs, ours = make(), make()
            same(f(*theirs), compiled(*ours))
            same(theirs, ours)

    def twice():
        x = torch.ones(4)
        return x, x

    def overlap():
        x = torch.arange(6.0)
        return x[:4], x[2:]

    for make in (lambda: (torch.ones(4), torch.ones(4)), lambda: (torch.ones(4), torch.ones(4)), twice, overlap, twice, overlap):
        both(make)


NET_CHANGES = {
    "weight written": lambda n: n.linear.weight.data.mul_(2),
    "weight replaced": lambda n: setattr(n.linear, "weight", nn.Parameter(torch.zeros(3, 3))),
    "weight gone": lambda n: setattr(n.linear, "bias", None),
    "weight frozen": lambda n: n.linear.weight.requires_grad_(False),
    "weight's layout": lambda n: setattr(n.linear.weight, "data", torch.randn(3, 3).t()),
    "buffer written": lambda n: n.offset.add_(1),
    "buffer replaced": lambda n: setattr(n, "offset", torch.zeros(1)),
    "module replaced": lambda n: setattr(n, "linear", nn.Linear(3, 3)),
    "block replaced": lambda n: n.blocks.__setitem__(0, nn.Linear(3, 3, bias=False)),
    "block added": lambda n: n.blocks.append(nn.Linear(3, 3)),
    "block removed": lambda n: n.blocks.__delitem__(1),
    "blocks swapped": lambda n: setattr(n, "blocks", nn.ModuleList(list(n.blocks)[::-1])),
    "train": lambda n: (n.train(), n.norm.eval()),
    "config": lambda n: setattr(n.config, "width", 7),
    "mode": lambda n: setattr(n.config, "mode", "other"),
    "config replaced": lambda n: setattr(n, "config", Config(9)),
    "double": lambda n: n.double(),
    "forward hook": lambda n: n.linear.register_forward_hook(lambda m, a, out: out * 3),
    "forward pre hook": lambda n: n.register_forward_pre_hook(lambda m, a: (a[0] * 3,)),
    "forward of the instance": lambda n: setattr(n.linear, "forward", lambda x: x * 5),
    "call of the instance's class": lambda n: setattr(n.linear, "__class__", Scaled),
    "momentum and eps": lambda n: setattr(n.norm, "eps", 0.5),
    "running mean": lambda n: n.norm.running_mean.add_(1),
}


class Scaled(nn.Linear):
    def forward(self, x):
        return x * 17


@pytest.mark.parametrize("name", NET_CHANGES)
def test_what_a_module_reads(name):
    net = Net()
    x = torch.randn(4, 3)
    inputs = (x.double(),) if name == "double" else (x,)
    compiled = dynamo_mlir.compile(net, backend="capture")
    with torch.no_grad():
        for _ in range(3):
            same(net(x), compiled(x))
        recorded(dynamo_mlir.capture.door.compiled_function_of(compiled)._capture_info())
        NET_CHANGES[name](net)
        for _ in range(3):
            same(net(*inputs), compiled(*inputs))


def test_global_hooks():
    net, x = Net(), torch.randn(4, 3)
    compiled = dynamo_mlir.compile(net, backend="capture")
    with torch.no_grad():
        for _ in range(2):
            same(net(x), compiled(x))
        handle = nn.modules.module.register_module_forward_hook(lambda m, a, out: out + 1 if isinstance(m, nn.ReLU) else None)
        try:
            same(net(x), compiled(x))
        finally:
            handle.remove()
        same(net(x), compiled(x))


STATES = {
    "grad": torch.enable_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16),
    "deterministic": None,
}


@pytest.mark.parametrize("name", STATES)
def test_state_of_torch(name):
    net, x = Net(), torch.randn(4, 3)
    compiled = dynamo_mlir.compile(net, backend="capture")
    with torch.no_grad():
        for _ in range(2):
            same(net(x), compiled(x))
        if name == "deterministic":
            torch.use_deterministic_algorithms(True)
            try:
                same(net(x), compiled(x))
            finally:
                torch.use_deterministic_algorithms(False)
            return
        with STATES[name]():
            for _ in range(2):
                expected, actual = net(x), compiled(x)
                same(expected, actual)
                assert expected.is_inference() == actual.is_inference()
                assert (expected.grad_fn is None) == (actual.grad_fn is None)
        same(net(x), compiled(x))


def test_default_dtype():
    f = lambda: torch.zeros(3) + 1
    compiled = dynamo_mlir.compile(f, backend="capture")
    for _ in range(2):
        same(f(), compiled())
    torch.set_default_dtype(torch.float64)
    try:
        same(f(), compiled())
    finally:
        torch.set_default_dtype(torch.float32)


def test_closures_and_partials():
    k, items = 2, [1, 2]

    def f(x, g):
        return g(x) * k + len(items)

    x = torch.randn(3)
    compiled = dynamo_mlir.compile(f, backend="capture")
    first, second = functools.partial(torch.add, alpha=2, other=x), functools.partial(torch.add, alpha=3, other=x)
    with torch.no_grad():
        for g in (first, first, second, torch.sin, torch.cos, first, lambda x: x + 1, lambda x: x + 2):
            same(f(x, g), compiled(x, g))
        k = 3
        same(f(x, first), compiled(x, first))
        items.append(1)
        same(f(x, first), compiled(x, first))
