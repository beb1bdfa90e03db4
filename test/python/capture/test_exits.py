# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exits of traces made by hand: objects come back with their types, sharing and cycles; effects happen, in order, after all else."""
import collections
import gc
import signal
import weakref

import pytest
import torch

from dynamo_mlir import _C

if not _C.capture.supported()[0]:
    pytest.skip("capture does not know this Python", allow_module_level=True)


def f(x):
    return x


class Maker:
    def __init__(self):
        self.t = _C.capture.TraceMaker(f.__code__)
        self.value, self.effect, self.contents = self.t.value, self.t.effect, self.t.contents

    def const(self, object):
        return self.value("Constant", object)

    def consts(self, *objects):
        return [self.const(o) for o in objects]

    def outside(self, index=0):
        return self.value("Source", source=self.t.source("Local", index=index))

    def run(self, result, *args, program=None):
        self.t.returns(result)
        segment = self.t.segment(program)
        outcome = [segment.run(list(args)) for _ in range(2)]
        assert [o[0] for o in outcome] == ["done", "done"], outcome
        return outcome[1][1]


class MyList(list):
    def __init__(self, *args):
        raise AssertionError("the user's code ran")

    append = extend = __init__


class MyDict(dict):
    def __new__(cls, *args):
        raise AssertionError("the user's code ran")

    __init__ = __setitem__ = __new__


class MySet(set):
    pass


class MyFrozen(frozenset):
    def __new__(cls, *args):
        raise AssertionError("the user's code ran")


class MyDeque(collections.deque):
    def __init__(self, *args):
        raise AssertionError("the user's code ran")


class MyOrdered(collections.OrderedDict):
    def __setitem__(self, key, value):
        raise AssertionError("the user's code ran")


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize("kind,type", [("List", list), ("List", MyList), ("Tuple", tuple), ("Tuple", Point), ("Set", set), ("Set", MySet),
                                       ("Set", frozenset), ("Set", MyFrozen), ("Deque", collections.deque), ("Deque", MyDeque)])
def test_sequences(kind, type):
    m = Maker()
    made = m.run(m.value(kind, type=type, items=m.consts("a", 2)))
    assert made.__class__ is type
    assert list(made) == ["a", 2] if kind != "Set" else set(made) == {"a", 2}
    if type is Point:
        assert made.y == 2 and made._fields == ("x", "y")


@pytest.mark.parametrize("type", [dict, MyDict, collections.OrderedDict, MyOrdered, collections.Counter])
def test_dicts(type):
    m = Maker()
    made = m.run(m.value("Dict", type=type, items=m.consts("b", 1, "a", 2)))
    assert made.__class__ is type and list(dict.items(made)) == [("b", 1), ("a", 2)]
    if issubclass(type, collections.OrderedDict):
        assert list(reversed(made)) == ["a", "b"]
        made.move_to_end("b")
        assert list(made) == ["a", "b"]


def test_defaultdict_keeps_its_factory():
    m = Maker()
    d = m.value("Dict", type=collections.defaultdict)
    m.contents(d, items=m.consts("a", 1), slots=[(collections.defaultdict.default_factory, m.const(list))])
    made = m.run(d)
    assert made["new"] == [] and made["a"] == 1


def test_maxlen_of_a_deque():
    m = Maker()
    assert m.run(m.value("Deque", 2, type=collections.deque, items=m.consts(1, 2))).maxlen == 2


def test_struct_sequences_of_torch():
    kind = type(torch.zeros(2).max(0))
    m = Maker()
    made = m.run(m.value("Tuple", type=kind, items=m.consts("v", "i")))
    assert type(made) is kind and made.values == "v" and made.indices == "i"


class Thing:
    kind = 1

    def __init__(self):
        raise AssertionError("the user's code ran")

    def __setattr__(self, name, value):
        raise AssertionError("the user's code ran")

    @property
    def shadowed(self):
        return "property"


class Slotted:
    __slots__ = ("a", "__dict__")


def test_instances():
    m = Maker()
    x = m.value("Object", type=Thing)
    m.contents(x, attributes=[("a", m.const(1)), ("b", x), ("shadowed", m.const(3))])
    made = m.run(x)
    assert type(made) is Thing and made.a == 1 and made.b is made and made.shadowed == "property"
    assert list(made.__dict__) == ["a", "b", "shadowed"] and made.__dict__["shadowed"] == 3
    m = Maker()
    x = m.value("Object", type=Slotted)
    m.contents(x, attributes=[("more", m.const(2))], slots=[(Slotted.a, m.const(1))])
    made = m.run(x)
    assert made.a == 1 and made.more == 2


def test_sharing_and_cycles():
    m = Maker()
    shared = m.value("List", type=list)
    outer = m.value("Tuple", type=tuple, items=[shared, shared])
    d = m.value("Dict", type=dict, items=[m.const("t"), outer])
    m.contents(shared, items=[outer, d, m.outside()])
    arg = object()
    made = m.run(outer, arg)
    assert made[0] is made[1] and made[0][0] is made and made[0][1]["t"] is made and made[0][2] is arg


def test_a_cycle_of_tuples_is_refused():
    m = Maker()
    t = m.value("Tuple", type=tuple)
    m.contents(t, items=[t])
    m.t.returns(t)
    with pytest.raises(ValueError, match="cycle"):
        m.t.segment()


def test_keys_with_a_hash_of_the_users_are_refused():
    class Key:
        def __hash__(self):
            raise AssertionError("the user's code ran")

    m = Maker()
    m.t.returns(m.value("Set", type=set, items=[m.value("Object", type=Key)]))
    with pytest.raises(ValueError, match="hash"):
        m.t.segment()


def test_functions_cells_methods_slices():
    def outer(v):
        """outer's"""

        def inner(a, b=2, *, c=3):
            """inner's"""
            nonlocal v
            v += a
            return v, b, c

        return inner

    template = outer(object())
    template.tag = 1
    m = Maker()
    cell = m.value("Cell", items=m.consts(10))
    function = m.value("Function", template, items=[cell])
    other = m.value("Function", template, items=[cell])
    thing = m.value("List", type=list)
    method = m.value("BoundMethod", items=[function, m.const(1)])
    made = m.run(m.value("Tuple", type=tuple, items=[function, other, method, m.value("Slice", items=m.consts(1, None, 2)), m.value("Cell"), thing]))
    a, b, bound, part, empty, _ = made
    assert a(1) == (11, 2, 3) and b(1, c=5) == (12, 2, 5) and bound() == (13, 2, 3)
    assert part == slice(1, None, 2) and a is not b
    assert (a.__name__, a.__qualname__, a.__doc__, a.__module__) == ("inner", template.__qualname__, "inner's", __name__)
    a.__kwdefaults__["c"] = 9
    assert b(0)[2] == 3 == template.__kwdefaults__["c"]
    with pytest.raises(ValueError):
        empty.cell_contents


def test_a_template_keeps_nothing_of_the_first_call():
    class Big:
        pass

    def outer(v):
        return lambda: v

    big = Big()
    gone = weakref.ref(big)
    m = Maker()
    m.t.returns(m.value("Function", outer(big), items=[m.value("Cell", items=m.consts(1))]))
    segment = m.t.segment()
    del big, m
    gc.collect()
    assert gone() is None and segment.run([])[1]() == 1


class Target:
    pass


def test_effects_happen_in_order():
    target, d, items = Target(), {"old": 1}, [1, 2, 3]
    cell = (lambda v: lambda: v)(1).__closure__[0]
    queue = collections.deque([1, 2])
    ordered = collections.OrderedDict(a=1)
    m = Maker()
    t, dd, ll, cc, qq, oo = (m.outside(i) for i in range(6))
    fresh = m.value("List", type=list, items=m.consts("in"))
    m.effect("SetAttr", t, "a", m.consts(1))
    m.effect("SetAttr", t, "a", [fresh])
    m.effect("SetItem", dd, operands=[m.const("k"), fresh])
    m.effect("DelItem", dd, operands=m.consts("old"))
    m.effect("SetItem", dd, operands=m.consts("old", 2))  # behind "k" now
    m.effect("SetItem", ll, operands=m.consts(-1, 9))
    m.effect("Call", ll, "append", m.consts(4))
    m.effect("Call", ll, "reverse")
    m.effect("SetCell", cc, operands=m.consts(7))
    m.effect("SetItem", qq, operands=m.consts(1, 8))
    m.effect("SetItem", oo, operands=m.consts("b", 2))
    m.effect("SetAttr", t, "gone", m.consts(1))
    m.effect("DelAttr", t, "gone")
    m.t.returns(fresh)
    segment = m.t.segment()
    outcome, result = segment.run([target, d, items, cell, queue, ordered])
    assert target.a is result and d["k"] is result and result == ["in"]
    assert list(d) == ["k", "old"] and d["old"] == 2
    assert items == [4, 9, 2, 1] and cell.cell_contents == 7 and list(queue) == [1, 8] and list(ordered) == ["a", "b"]
    assert not hasattr(target, "gone")


def test_tensor_and_mode_effects():
    p = torch.nn.Parameter(torch.zeros(2))
    m = Maker()
    m.effect("CopyTensor", m.outside(), operands=[m.value("Tensor", index=0)])
    m.effect("GradMode", operands=m.consts(False))
    m.t.returns(m.const(None))
    segment = m.t.segment(Program([torch.ones(2)]))
    try:
        assert segment.run([p])[0] == "done"
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    assert p.tolist() == [1, 1] and p.requires_grad and p.is_leaf and p._version == 1


class Program:
    """What compile_record gives, made by hand."""

    plain = False
    runner = None

    def __init__(self, results, arguments=0):
        self.results, self.seen = results, []

    def run(self, arguments):
        self.seen.append(list(arguments))
        if isinstance(self.results, BaseException):
            raise self.results
        return self.results


def tensor_segment(program):
    m = Maker()
    x = m.t.source("Local", index=0)
    m.t.guard("Tensor", x, tensor=torch.zeros(2))
    m.t.input(x)
    target = m.value("Source", source=x)
    m.effect("SetAttr", target, "touched", m.consts(True))
    m.t.returns(m.value("Tuple", type=tuple, items=[m.value("Tensor", index=1), m.value("Tensor", index=0), target]))
    return m.t.segment(program)


def test_tensors_go_in_and_out():
    program = Program([torch.ones(1), torch.ones(2)])
    segment = tensor_segment(program)
    x = torch.zeros(2)
    result = segment.run([x])[1]
    assert result[0] is program.results[1] and result[1] is program.results[0] and result[2] is x and x.touched
    assert program.seen[0][0] is x


@pytest.mark.parametrize("failure", [None, IndexError("out of range"), [], [torch.ones(1)], 3], ids=repr)
def test_refused_work_leaves_no_trace(failure):
    segment = tensor_segment(Program(failure))
    x = torch.zeros(2)
    for _ in range(2):
        assert segment.run([x])[0] == "refused"
    assert not hasattr(x, "touched")
    if isinstance(failure, IndexError):
        assert segment.describe()["refusal"] == "IndexError: out of range"


def test_an_interrupt_is_not_lost():
    segment = tensor_segment(Program(KeyboardInterrupt()))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            assert segment.run([torch.zeros(2)])[0] == "refused"
            for _ in range(1000):
                pass
    finally:
        signal.signal(signal.SIGINT, before)


def test_frames_that_go_on():
    m = Maker()
    made = m.value("List", type=list)
    m.contents(made, items=[m.outside(1)])
    m.t.goes_on(7, [made, -1, m.outside(0)], [m.outside(1), made])
    segment = m.t.segment()
    a, b, dropped = object(), object(), Target()
    gone = weakref.ref(dropped)
    stack = [dropped, 1, 2]
    outcome, unit, local, left = segment.run([a, b, None], stack)
    assert (outcome, unit) == ("done", 7)
    assert local[0] == [b] and local[1] is ... and local[2] is a and left[0] is b and left[1] is local[0]
    del dropped, stack
    assert gone() is None


def test_nothing_leaks():
    m = Maker()
    inner = m.value("List", type=list, items=[m.outside()])
    m.effect("SetAttr", m.outside(1), "a", [inner])
    m.t.returns(m.value("Tuple", type=tuple, items=[inner, m.value("Dict", type=dict, items=[m.const("k"), inner])]))
    segment = m.t.segment()

    class Arg:
        pass

    target = Target()
    for _ in range(3):
        arg = Arg()
        gone = weakref.ref(arg)
        segment.run([arg, target])
        del target.a, arg
        gc.collect()
        assert gone() is None
