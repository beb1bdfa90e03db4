# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Guards of traces made by hand: they hold while nothing that was read has changed, and fail when it has."""
import collections
import functools
import gc
import math
import weakref

import pytest
import torch

from dynamo_mlir import _C

if not _C.capture.supported()[0]:
    pytest.skip("capture does not know this Python", allow_module_level=True)


def f(x, y=1, *, z=2):
    return x


class Maker:
    """A trace of `f` that returns None."""

    def __init__(self, code=None):
        self.t = _C.capture.TraceMaker(code or f.__code__)
        self.source, self.guard = self.t.source, self.t.guard

    def local(self, index=0):
        return self.source("Local", index=index)

    def attr(self, parent, *names):
        for name in names:
            parent = self.source("InstanceAttr", parent, key=name)
        return parent

    def finish(self):
        self.t.returns(self.t.value("Constant", None))
        return self.t.segment()


def hits(segment, *args, **kwargs):
    outcome = segment.run(list(args), **kwargs)
    assert outcome[0] in ("done", "miss"), outcome
    return outcome[0] == "done"


def always(segment, *args, **kwargs):
    """Three times: the first check fills the versions, later ones use them."""
    return [hits(segment, *args, **kwargs) for _ in range(3)]


HELD, MISSED = [True] * 3, [False] * 3


class Config:
    def __init__(self, width=3):
        self.width = width


class Net:
    scale = 1

    def __init__(self):
        self.config = Config()
        self.layers = {"a": 1, "b": 2}


def instance_chain():
    m = Maker()
    x = m.local()
    m.guard("Type", x, Net)
    config = m.attr(x, "config")
    m.guard("Type", config, Config)
    m.guard("Equal", m.attr(config, "width"), 3, file="model.py", line=7)
    return m.finish()


@pytest.mark.parametrize("with_dict", [False, True], ids=["inline", "dict"])
def test_instance_attributes(with_dict):
    segment = instance_chain()
    net, other = Net(), Net()
    if with_dict:
        net.__dict__, net.config.__dict__
    assert always(segment, net) == HELD and always(segment, other) == HELD
    net.config.width = 4
    assert always(segment, net) == MISSED and always(segment, other) == HELD
    assert segment.run([net])[1] == "x.config.width == 3, found 4 (model.py:7)"
    net.config.width = 3.0  # equal, of another type
    assert always(segment, net) == MISSED
    net.config.width = 3
    net.unrelated = 1
    assert always(segment, net) == HELD
    net.config = Config(4)
    assert always(segment, net) == MISSED
    net.config = Config()
    assert always(segment, net) == HELD
    del net.config
    assert always(segment, net) == MISSED
    assert always(segment, 3) == MISSED and always(segment) == MISSED


def test_a_replaced_dict():
    segment = instance_chain()
    net = Net()
    assert always(segment, net) == HELD
    net.__dict__ = {"config": Config(5)}
    assert always(segment, net) == MISSED
    net.__dict__ = {"config": Config(3)}
    assert always(segment, net) == HELD


def test_a_changed_class_of_an_instance():
    segment = instance_chain()

    class Other(Config):
        pass

    net = Net()
    assert always(segment, net) == HELD
    net.config.__class__ = Other
    assert always(segment, net) == MISSED


def test_a_changed_class_of_an_instance_in_a_dict():
    """The dict's version does not tell: the object in it changed."""

    class Old:
        pass

    class New:
        pass

    m = Maker()
    x = m.local()
    m.guard("Type", x, dict)
    m.guard("Type", m.source("DictItem", x, key="k"), Old)
    segment = m.finish()
    d = {"k": Old()}
    assert always(segment, d) == HELD
    d["k"].__class__ = New
    assert always(segment, d) == MISSED


@pytest.mark.parametrize("change", ["attribute", "base", "method", "deleted"])
def test_a_changed_class(change):
    class Base:
        kind = 1

    class Mine(Base):
        gone = 1

        def method(self):
            pass

    m = Maker()
    m.guard("Type", m.local(), Mine)
    segment = m.finish()
    x = Mine()
    assert always(segment, x) == HELD
    if change == "attribute":
        Mine.new = 1
    elif change == "base":
        Base.kind = 2
    elif change == "method":
        Mine.method = lambda self: 1
    else:
        del Mine.gone
    assert always(segment, x) == MISSED


def test_class_of_objects_made_inside():
    class Mine:
        pass

    m = Maker()
    m.guard("Class", m.source("Constant", key=Mine))
    segment = m.finish()
    assert always(segment) == HELD
    Mine.x = 1
    assert always(segment) == MISSED


VALUES = [None, True, 1, 1 << 70, 1.5, -0.0, math.nan, 2j, "text", b"bytes", range(3), slice(1, 2), (1, (2.0, "x")), frozenset({1, 2}),
          torch.float32, torch.device("cpu"), torch.Size([2, 3])]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_equality_is_of_type_and_value(value):
    m = Maker()
    m.guard("Equal", m.local(), value)
    segment = m.finish()
    assert always(segment, value) == HELD
    for other in VALUES + [1.0, 0.0, 0, False, (1, (2, "x")), frozenset({1.0, 2}), (2, 3), "texT", torch.device("meta"), [1]]:
        if other is not value:
            assert always(segment, other) == MISSED, other


def test_equal_values_that_are_other_objects():
    def again(value):
        import copy
        import pickle

        return pickle.loads(pickle.dumps(value)) if not isinstance(value, torch.dtype) else copy.copy(value)

    for value in (1 << 70, 1.5, math.nan, "some text", (1, 2.5), range(2, 9), torch.Size([4]), torch.device("cpu", 0)):
        m = Maker()
        m.guard("Equal", m.local(), value)
        assert always(m.finish(), again(value)) == HELD, value


def test_identity_length_keys():
    marker = [1, 2]
    m = Maker()
    x = m.local()
    m.guard("Identity", x, marker)
    m.guard("Length", x, index=2)
    m.guard("Equal", m.source("Item", x, 1), 2)
    segment = m.finish()
    assert always(segment, marker) == HELD
    assert always(segment, [1, 2]) == MISSED
    marker[1] = 3
    assert always(segment, marker) == MISSED
    marker[1] = 2
    marker.append(1)
    assert always(segment, marker) == MISSED
    marker.clear()
    assert always(segment, marker) == MISSED


@pytest.mark.parametrize("make", [dict, collections.OrderedDict, collections.defaultdict, type("D", (dict,), {})])
def test_keys_of_a_dict(make):
    m = Maker()
    x = m.local()
    m.guard("Type", x, make)
    m.guard("Keys", x, ("a", "b"))
    m.guard("Length", x, index=2)
    m.guard("Equal", m.source("DictItem", x, key="b"), 2)
    m.guard("Absent", m.source("DictItem", x, key="c"))
    m.guard("Present", m.source("DictItem", x, key="a"))
    segment = m.finish()

    def made(pairs):
        d = make()
        for k, v in pairs:
            d[k] = v
        return d

    d = made([("a", 1), ("b", 2)])
    assert always(segment, d) == HELD
    d["a"] = 5
    assert always(segment, d) == HELD
    d["b"] = 5
    assert always(segment, d) == MISSED
    d["b"] = 2
    assert always(segment, d) == HELD
    d["c"] = 1
    assert always(segment, d) == MISSED
    assert always(segment, made([("b", 2), ("a", 1)])) == MISSED
    assert always(segment, made([("a", 1), ("b", 2)])) == HELD
    if make is collections.OrderedDict:
        d = made([("a", 1), ("b", 2)])
        assert always(segment, d) == HELD
        d.move_to_end("a")  # the dict below does not change
        assert always(segment, d) == MISSED


def test_sets_and_deques():
    m = Maker()
    x, y = m.local(0), m.local(1)
    m.guard("Keys", x, tuple({3, 1, 2}))
    m.guard("Length", y, index=3)
    m.guard("Equal", m.source("DequeItem", y, 2), 7)
    segment = m.finish()
    assert always(segment, {1, 2, 3}, collections.deque([1, 2, 7])) == HELD
    assert always(segment, {1, 2}, collections.deque([1, 2, 7])) == MISSED
    assert always(segment, {1, 2, 4}, collections.deque([1, 2, 7])) == MISSED
    assert always(segment, {1, 2, 3}, collections.deque([1, 2, 8])) == MISSED
    assert always(segment, {1, 2, 3}, collections.deque([1, 2])) == MISSED
    assert always(segment, {1, 2, 3}, [1, 2, 7]) == MISSED


def test_slots_getters_methods_and_partials():
    class Slotted:
        __slots__ = ("a",)

        def method(self):
            pass

    obj = Slotted()
    obj.a = 1
    m = Maker()
    x = m.local()
    m.guard("Type", x, Slotted)
    m.guard("Equal", m.source("Slot", x, key=Slotted.a), 1)
    segment = m.finish()
    assert always(segment, obj) == HELD
    obj.a = 2
    assert always(segment, obj) == MISSED
    del obj.a
    assert always(segment, obj) == MISSED

    m = Maker()
    x = m.local()
    m.guard("Identity", m.source("MethodSelf", x), obj)
    m.guard("Identity", m.source("MethodFunc", x), Slotted.method)
    segment = m.finish()
    assert always(segment, obj.method) == HELD
    assert always(segment, Slotted().method) == MISSED
    assert always(segment, len) == MISSED

    m = Maker()
    x = m.local()
    m.guard("Type", x, functools.partial)
    m.guard("Identity", m.source("Getter", x, key="func"), f)
    m.guard("Equal", m.source("Item", m.source("Getter", x, key="args"), 0), 3)
    segment = m.finish()
    assert always(segment, functools.partial(f, 3)) == HELD
    assert always(segment, functools.partial(f, 4)) == MISSED
    assert always(segment, functools.partial(len, 3)) == MISSED


def test_closures_globals_and_defaults():
    def outer(v):
        def inner(x, y=1, *, z=2):
            return v

        return inner

    def chain(given):
        m = Maker(given.__code__)
        me = m.source("Function")
        m.guard("Function", me, given)
        m.guard("Equal", m.source("CellContents", m.source("Closure", me, 0)), 5)
        m.guard("Equal", m.source("DictItem", m.source("KwDefaults", me), key="z"), 2)
        m.guard("Absent", m.source("DictItem", m.source("Globals", me), key="_nowhere"))
        return m.finish()

    inner = outer(5)
    segment = chain(inner)
    held = lambda: always(segment, function=inner)
    assert held() == HELD
    inner.__closure__[0].cell_contents = 6
    assert held() == MISSED
    inner.__closure__[0].cell_contents = 5
    assert held() == HELD
    globals()["_nowhere"] = 1
    try:
        assert held() == MISSED
    finally:
        del globals()["_nowhere"]
    assert held() == HELD
    inner.__kwdefaults__["z"] = 3
    assert held() == MISSED
    inner.__kwdefaults__["z"] = 2
    assert held() == HELD
    inner.__defaults__ = (2,)
    assert held() == MISSED
    inner = outer(5)
    segment = chain(inner)
    assert held() == HELD
    inner.__code__ = outer(5).__code__.replace(co_name="other")
    assert held() == MISSED


def test_unbound_locals_and_the_stack():
    m = Maker()
    m.guard("Absent", m.local(1))
    m.guard("Equal", m.source("Stack", index=1), "s")
    segment = m.finish()
    assert always(segment, 1, ..., stack=[0, "s"]) == HELD
    assert always(segment, 1, stack=[0, "s"]) == HELD
    assert always(segment, 1, 2, stack=[0, "s"]) == MISSED
    assert always(segment, 1, stack=[0]) == MISSED


def tensors():
    base = torch.randn(4, 6)
    p = torch.nn.Parameter(torch.randn(4, 6))
    yield "plain", base, True
    yield "other values", torch.randn(4, 6), True
    yield "dtype", base.double(), False
    yield "same bytes", base.view(torch.int32), False
    yield "shape", torch.randn(4, 5), False
    yield "rank", torch.randn(4, 6, 1), False
    yield "strides", torch.randn(6, 4).t(), False
    yield "offset", torch.randn(30)[6:].view(4, 6), False
    yield "requires grad", torch.randn(4, 6).requires_grad_(), False
    yield "parameter", p, False
    yield "result", p * 1, False
    yield "view of a result", (p * 1)[:], False
    yield "detached", p.detach(), True
    yield "meta", torch.empty(4, 6, device="meta"), False
    yield "sparse", torch.eye(4, 6).to_sparse(), False
    yield "conjugate", torch.randn(4, 6, dtype=torch.complex64).conj(), False
    yield "no tensor", 3, False
    with torch.inference_mode():
        inference = torch.randn(4, 6)
    yield "inference", inference, False


@pytest.fixture(params=[True, False], ids=["in place", "official"])
def reading(request):
    _C.set_torch_raw(request.param)
    yield
    _C.set_torch_raw(True)


def test_tensors(reading):
    for mode in (lambda t: t, lambda t: t.requires_grad_()):
        m = Maker()
        m.guard("Tensor", m.local(), tensor=mode(torch.randn(4, 6)))
        segment = m.finish()
        for name, t, same in tensors():
            if mode(torch.zeros(1)).requires_grad:
                same = name == "requires grad"
            assert always(segment, t) == (HELD if same else MISSED), name


def test_tensors_that_require_grad_differ_by_being_leaves(reading):
    p = torch.nn.Parameter(torch.randn(3))
    for example, other in ((p, torch.nn.Parameter(torch.zeros(3))), (p * 1, p + 2)):
        m = Maker()
        m.guard("Tensor", m.local(), tensor=example)
        segment = m.finish()
        assert always(segment, other) == HELD
    base = torch.zeros(4, 3)
    view = base[1]
    assert always(segment, view) == MISSED  # requires no grad yet
    base.mul_(p)
    assert always(segment, base[2]) == always(segment, view) == MISSED  # other offsets


def test_tensors_changed_in_place(reading):
    changes = [lambda t: t.resize_(2, 2), lambda t: t.transpose_(0, 1), lambda t: t.requires_grad_(),
               lambda t: t.set_(torch.zeros(4, 6, dtype=torch.float32).t()), lambda t: setattr(t, "data", torch.zeros(2)),
               lambda t: t.as_strided_((4, 6), (6, 1), 0).unsqueeze_(0)]
    for change in changes:
        m = Maker()
        t = torch.randn(4, 6)
        m.guard("Tensor", m.local(), tensor=t)
        segment = m.finish()
        assert always(segment, t) == HELD
        change(t)
        assert always(segment, t) == MISSED


def test_many_dims(reading):
    t = torch.randn(2, 1, 2, 3, 2, 2, 2)
    m = Maker()
    m.guard("Tensor", m.local(), tensor=t)
    segment = m.finish()
    assert always(segment, t) == HELD
    assert always(segment, t.transpose(0, 6)) == MISSED
    assert always(segment, t.transpose(1, 0).contiguous()) == MISSED


def test_grad_of_a_parameter():
    p = torch.nn.Parameter(torch.ones(3))
    m = Maker()
    x = m.local()
    m.guard("Tensor", x, tensor=p)
    m.guard("Equal", m.source("Getter", x, key="grad"), None)
    segment = m.finish()
    assert always(segment, p) == HELD
    p.grad = torch.ones(3)
    assert always(segment, p) == MISSED
    m = Maker()
    x = m.local()
    m.guard("Tensor", m.source("Getter", x, key="grad"), tensor=p.grad)
    segment = m.finish()
    assert always(segment, p) == HELD
    p.grad = None
    assert always(segment, p) == MISSED


def test_two_sources():
    def made(check):
        m = Maker()
        x, y = m.local(0), m.local(1)
        m.guard(check, x, other=y)
        return m.finish()

    a, b = torch.zeros(4), torch.zeros(4)
    assert always(made("Same"), a, a) == HELD and always(made("Same"), a, b) == MISSED
    assert always(made("Distinct"), a, b) == HELD and always(made("Distinct"), a, a) == MISSED
    apart = made("NoOverlap")
    assert always(apart, a, b) == HELD
    assert always(apart, a[:2], a[2:]) == HELD
    assert always(apart, a[:3], a[2:]) == MISSED
    assert always(apart, torch.zeros(2, dtype=torch.complex64)[:1], a) == HELD
    memory = a.numpy()
    assert always(apart, torch.from_numpy(memory), a) == MISSED


@pytest.mark.parametrize("manager", [torch.no_grad, torch.inference_mode, lambda: torch.autocast("cpu"), torch._C.DisableTorchFunction])
def test_state_of_torch(manager):
    segment = Maker().finish()
    assert always(segment) == HELD
    with manager():
        assert always(segment) == MISSED
        inside = Maker().finish()
        assert always(inside) == HELD
    assert always(inside) == MISSED and always(segment) == HELD


def test_autocast_to_another_type():
    with torch.autocast("cpu", torch.bfloat16):
        segment = Maker().finish()
        assert always(segment) == HELD
    with torch.autocast("cpu", torch.float16):
        assert always(segment) == MISSED


def test_modules_are_held_weakly():
    net = torch.nn.Linear(2, 2)
    m = Maker()
    x = m.local()
    m.guard("Identity", x, net)
    m.guard("Type", x, torch.nn.Linear)
    segment = m.finish()
    assert always(segment, net) == HELD and not segment.dead
    gone = weakref.ref(net)
    del net, m
    gc.collect()
    assert gone() is None and segment.dead
    assert always(segment, torch.nn.Linear(2, 2)) == MISSED


def test_nested_modules():
    net = torch.nn.Sequential(*[torch.nn.Linear(3, 3) for _ in range(4)])
    m = Maker()
    x = m.local()
    segment = module_tree(m, x, net)
    assert always(segment, net) == HELD
    changes = [
        (lambda: setattr(net[2], "weight", torch.nn.Parameter(torch.zeros(3, 3))), True),
        (lambda: setattr(net[2], "weight", torch.nn.Parameter(torch.zeros(3, 2))), False),
        (lambda: setattr(net[2], "weight", torch.nn.Parameter(torch.zeros(3, 3))), True),
        (lambda: net[1].register_buffer("extra", torch.zeros(1)), True),
        (lambda: net[3].train(False), False),
        (lambda: net[3].train(True), True),
        (lambda: net[0].weight.requires_grad_(False), False),
        (lambda: net[0].weight.requires_grad_(True), True),
        (lambda: setattr(net, "1", torch.nn.Linear(3, 3)), False),
    ]
    for number, (change, held) in enumerate(changes):
        change()
        assert always(segment, net) == (HELD if held else MISSED), number


def module_tree(m, x, net):
    """The guards that a forward of a tree of modules leaves."""

    def visit(source, module):
        m.guard("Identity", source, module)
        m.guard("Type", source, type(module))
        m.guard("Equal", m.attr(source, "training"), module.training)
        for name in ("_forward_hooks", "_backward_hooks"):
            hooks = m.attr(source, name)
            m.guard("Type", hooks, type(module.__dict__[name]))
            m.guard("Length", hooks, index=0)
        parameters = m.attr(source, "_parameters")
        m.guard("Type", parameters, dict)
        for name, p in module._parameters.items():
            m.guard("Tensor", m.source("DictItem", parameters, key=name), tensor=p)
        modules = m.attr(source, "_modules")
        m.guard("Type", modules, dict)
        m.guard("Keys", modules, tuple(module._modules))
        for name, child in module._modules.items():
            visit(m.source("DictItem", modules, key=name), child)

    visit(x, net)
    return m.finish()


def test_texts():
    net = torch.nn.Sequential(torch.nn.Linear(3, 3))
    m = Maker()
    segment = module_tree(m, m.local(), net)
    texts = [text for text, where in segment.describe()["guards"]]
    assert "x.0.weight is torch.nn.Parameter float32[3, 3] requires_grad" in [t.replace("Parameter ", "torch.nn.Parameter ") for t in texts] or \
        "x.0.weight is Parameter float32[3, 3] requires_grad" in texts, texts
    assert "type(x) is Sequential, unchanged" in texts, texts
    assert "len(x._forward_hooks) == 0" in texts


def test_broken_traces_are_refused():
    m = Maker()
    m.guard("Type", m.local(), 3)
    with pytest.raises(ValueError, match="without a type"):
        m.finish()
    m = Maker()
    m.guard("Keys", m.local(), [1])
    with pytest.raises(ValueError, match="no tuple"):
        m.finish()
