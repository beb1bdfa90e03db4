# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small programs, each about one part of Python, run eagerly and compiled through capture with several arguments:
results and what they change outside must agree, and the compiled form must have been used."""
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import itertools
import math
import operator
import types

import pytest
import torch

import dynamo_mlir
from dynamo_mlir import _C

torch.manual_seed(0)


def T(*sizes):
    return torch.randn(*sizes)


cases = []


def case(*argsets, state=None):
    def deco(f):
        cases.append((f, argsets, state))
        return f
    return deco


A = T(3, 4)
B = T(3, 4)
C3 = T(3, 4)


class Box:
    def __init__(self, **k):
        self.__dict__.update(k)


class Slots:
    __slots__ = ('a', 'b')

    def __init__(self, a, b):
        self.a = a
        self.b = b


@dataclasses.dataclass
class DC:
    x: object
    n: int = 2


class Color(enum.Enum):
    RED = 1
    BLUE = 2


NT = collections.namedtuple('NT', 'p q')


class Prop:
    def __init__(self):
        self._v = 2

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, x):
        self._v = x * 2

    @staticmethod
    def st(x):
        return x + 1

    @classmethod
    def cm(cls, x):
        return x * cls.K
    K = 3

    def __getattr__(self, n):
        if n.startswith('dyn'):
            return len(n)
        raise AttributeError(n)


class Sub(Prop):
    K = 5

    def cm2(self, x):
        return super().cm(x) + self.v


class CM:
    def __init__(self):
        self.log = []

    def __enter__(self):
        self.log.append('in')
        return self

    def __exit__(self, *a):
        self.log.append('out')
        return a[0] is ValueError


@case((A,), (B,))
def arith(x):
    return x * 2 + 1


@case((A, {'k': B, 'n': 2}), (A, {'k': C3, 'n': 2}), (A, {'k': C3, 'n': 3}), (A, {'n': 2, 'k': C3}))
def dict_in(x, d):
    r = x
    for k, v in d.items():
        r = r * v
    return (r, list(d))


@case((A, [B, C3]), (B, [A, A]), (A, [B]), (A, []))
def list_in(x, l):
    for y in l:
        x = x + y
    return (x, len(l))


@case((A, Box(w=B, s=2)), (A, Box(w=C3, s=2)), (A, Box(w=C3, s=4)))
def obj_in(x, o):
    return x * o.w + o.s


@case((A, Slots(B, 1)), (A, Slots(C3, 1)), (A, Slots(C3, 5)))
def slots_in(x, o):
    return x * o.a + o.b


@case((A,), (B,))
def dc_made(x):
    d = DC(x + 1)
    e = DC(x, n=3)
    return (d, e.n, dataclasses.replace(d, n=9).n)


@case((A, Color.RED), (A, Color.BLUE), (B, Color.RED))
def enum_in(x, c):
    return (x if c is Color.RED else -x, c == Color.RED, c.value)


@case((NT(A, 2),), (NT(B, 2),), (NT(B, 3),))
def nt(t):
    return NT(t.p * t.q, t.q + 1)


@case((A,), (B,))
def props(x):
    p = Prop()
    p.v = 5
    return (x * p.v, p.st(x), Prop.cm(x), Sub().cm2(x), p.dynabc)


@case((A,), (B,))
def closure(x):
    n = 1

    def inner(y):
        nonlocal n
        n += 1
        return y + n
    r = inner(x) + inner(x)
    return (r, n, [inner(x) for _ in range(2)])


@case((A,), (B,))
def gen(x):
    def g(k):
        for i in range(k):
            got = (yield (x * i))
            if got:
                yield (x + got)
    it = g(3)
    a = next(it)
    b = it.send(None)
    c = it.send(5)
    return (a, b, c, list(g(2)), sum((t for t in g(3))))


@case((A,), (B,))
def gen2(x):
    def d():
        r = (yield from (i for i in range(3)))
        return r
    return ([x + i for i in d()], {i: x * i for i in range(2)}, {i % 2 for i in range(5)}, tuple((x - i for i in
            range(2))))


@case((A,), (B,))
def tries(x):
    out = []
    for i in range(4):
        try:
            try:
                if i == 1:
                    raise ValueError(i)
                if i == 2:
                    raise KeyError('z')
                out.append(x + i)
            except ValueError as e:
                out.append(str(e))
            finally:
                out.append('f')
        except KeyError as e:
            out.append(e.args[0])
        else:
            out.append('e')
    return out


@case((A, {}), (B, {}), (B, {'q': 1}))
def keyerr(x, d):
    try:
        return x * d['q']
    except KeyError:
        return x


@case((A,), (B,))
def withs(x):
    c = CM()
    with c as q:
        x = x + 1
    with c:
        raise ValueError(3)
    with contextlib.suppress(TypeError):
        raise TypeError('a')
    with torch.no_grad():
        y = x * 2
    return (x, y, c.log)


@case((A,), (B,))
def ctxgen(x):
    @contextlib.contextmanager
    def m(v):
        yield (v + 1)
    with m(x) as y:
        z = y * 2
    return z


@case((A,), (B,))
def fstr(x):
    n = x.shape[0]
    return (x + len(f"{n:>5}{'a'!r}{n}"), '%d-%s' % (n, 'q'), '{} {}'.format(n, 2), ','.join((str(i) for i in range(n))))


@case((A,), (B,))
def builtins_(x):
    l = [3, 1, 2]
    return (x * max(l) + min(l, default=0) + sum(l), sorted(l, key=lambda q: -q), list(zip(l, range(3))),
            list(enumerate('ab')), list(map(lambda q: q + 1, l)), list(filter(None, [0, 1])), any(l), all((i for i in l)),
            list(reversed(l)), abs(-2), round(2.6), divmod(7, 2), isinstance(x, torch.Tensor), callable(len), hasattr(x,
            'foo'), getattr(x, 'bar', 7), type(x) is torch.Tensor, math.sqrt(4.0), operator.add(1, 2),
            functools.reduce(lambda a, b: a + b, l), list(itertools.chain([1], [2])), list(itertools.islice(range(9), 2)),
            issubclass(bool, int), int('3'), float(2), bool([]), str(3), repr('a'), hash('a') == hash('a'))


@case((A, functools.partial(torch.add, alpha=2)),
      (B, functools.partial(torch.add, alpha=2)),
      (B, functools.partial(torch.add, alpha=3)))
def part(x, f):
    return f(x, x)


@case((A,), (B,))
def part2(x):
    p = functools.partial(lambda a, b, c=1: a * b + c, x, c=2)
    return (p(3), p(x, c=5))


@case((A,), (B,))
def unpack(x):
    a, *b, c = [x, 1, 2, x + 1]
    (d, e), f = ((1, x), 2)

    def kw(*a, k=3, **r):
        return (a, k, sorted(r))
    return (b, c, d * e + f, kw(1, 2, z=5), kw(*[1, 2], **{'k': 1, 'y': 2}), {**{'a': 1}, 'b': 2}, [*range(2), *'ab'])


@case((A, None), (A, B), (B, None))
def opt(x, m=None):
    if m is not None:
        x = x + m
    return x if m is None else x * 2


@case((A, 2), (A, 3), (A, 2.0), (A, True))
def nums(x, n):
    return (x * n, n + 1, n > 2)


@case((A, 'relu'), (A, 'tanh'), (B, 'relu'))
def byname(x, s):
    return (getattr(torch, s)(x), getattr(x, s)())


@case((A,), (T(4, 3),), (T(2, 2, 2),))
def shapes(x):
    return (x.reshape(-1), x.size(0), x.dim(), x.numel(), tuple(x.shape), x.transpose(0, 1)[0:1], x.dtype, x.shape[-1])


@case((A,), (B,))
def alias(x):
    l = [x + 1]
    m = l
    m.append(x)
    d = {'a': l, 'b': l}
    return d


@case((A,), (B,))
def cyc(x):
    l = [x + 1]
    l.append(l)
    return (l[0], len(l))


@case((A,), (B,))
def strs(x):
    s = 'Hello World'
    return (x + s.count('o'), s.lower().split(), s.startswith('He'), '-'.join(['a', 'b']), s[1:3], 'ell' in s,
            s.replace('l', 'L'))


@case((A,), (B,))
def sets(x):
    s = {1, 2}
    s.add(3)
    s |= {4}
    t = frozenset([1])
    d = collections.OrderedDict(a=1)
    d['b'] = x
    d.move_to_end('a')
    q = collections.deque([1], maxlen=2)
    q.append(2)
    q.append(3)
    dd = collections.defaultdict(list)
    dd['z'].append(x)
    return (s, t, d, q, dd, 1 in s, s - {1})


@case((A,), (B,))
def lam(x):
    fs = [lambda y, i=i: y + i for i in range(3)]
    return [f(x) for f in fs]


@case((A,), (B,))
def matches(x):
    def m(v):
        match v:
            case [a, b]:
                return a + b
            case {'k': k}:
                return k
            case int():
                return 7
            case _:
                return 0
    return (x + m([1, 2]), m({'k': 3}), m(5), m('s'))


@case((A,), (B,))
def deleted(x):
    d = {'a': 1, 'b': 2}
    del d['a']
    l = [1, 2, 3]
    del l[0]
    y = x + 1
    del x
    b = Box(a=1, c=y)
    del b.a
    return (d, l, b)


@case((A,), (B,))
def inner_class_use(x):
    class L:
        def __init__(s):
            s.v = 2
    return x * L().v


@case((A, 1), (A, 1))
def defaults(x, n, *, k=2, lst=(1, 2)):
    return x * k + lst[0] + n


GL = [1]


@case((A,), (B,), (A,))
def glob_list(x):
    return x * GL[0] + len(GL)


CNT = 0


@case((A,), (B,), (A,), state=lambda: CNT)
def glob_write(x):
    global CNT
    CNT = 5
    return x + CNT


LOG = []


@case((A,), (B,), (A,), state=lambda: [len(l) for l in LOG])
def append_out(x):
    LOG.append([1, 2])
    return x + 1


HOLD = Box(v=1, l=[1], d={'a': 1})


@case((A,), (B,), (A,), state=lambda: (HOLD.v, list(HOLD.l), dict(HOLD.d)))
def effects(x):
    HOLD.v = HOLD.v and 7
    HOLD.d['b'] = 3
    HOLD.d.pop('a', None)
    return x + HOLD.v


@case((A.clone(),), (B.clone(),), state=None)
def inplace_local(x):
    y = x + 1
    y.add_(2)
    y[0] = 0
    y[:, 1] += 1
    return y


BUF = torch.zeros(3, 4)


@case((A,), (B,), (A,), state=lambda: BUF.clone())
def inplace_outside(x):
    BUF.add_(x)
    return BUF * 2


@case((A,), (B,))
def pr(x):
    y = x + 1
    print('', end='')
    return y * 2


@case((A,), (-A,))
def branch(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


@case((A,), (B,))
def item(x):
    return x * x.max().item()


@case((A, B), (A, A), (B, A))
def ident(x, y):
    return (x is y, x + y)


@case(([A, B], [A]))
def lists_same(a, b):
    return (a == [1] if False else len(a) + len(b), a[0] + b[0])


L1 = [A]


@case((L1, L1), (L1, [A]), ([A], [A]))
def list_alias(a, b):
    a.append(1) if False else None
    return (a is b, a[0] + b[0])


@case((A,), (B,))
def wrapped(x):
    @functools.wraps(torch.relu)
    def w(*a, **k):
        return torch.relu(*a, **k)
    return (w(x), w.__name__)


@case((A,), (B,))
def whileloop(x):
    i = 0
    while i < 4:
        i += 1
        if i == 2:
            continue
        if i == 4:
            break
        x = x + i
    else:
        x = x * 0
    return x


@case((A,), (B,))
def rec_fn(x):
    def f(n):
        return x if n == 0 else f(n - 1) * 2
    return f(3)


@case((A,), (B,))
def copied(x):
    b = Box(a=1, l=[1, 2])
    c = copy.copy(b)
    d = copy.deepcopy(b)
    d.l.append(3)
    return x + len(d.l) + len(c.l)


@case((A,), (B,))
def ty(x):
    return (types.SimpleNamespace, x.new_zeros(2), torch.zeros(2, dtype=x.dtype), torch.tensor([1.0, 2.0]),
            torch.arange(3), torch.full((2,), 3.0))


@case((A,), (B,))
def split(x):
    a, b = x.split(2, 1)
    m = x.max(0)
    v, i = x.sort(1)
    return (a, b, m.values, m[1], v, i, torch.stack([a, b]), [t for t in x], len(x))


# What ends a segment, by design or until it is recorded.
BREAKS = {"inner_class_use": "defines a class", "pr": "calls print", "branch": "branches on a tensor's value",
          "item": "takes values out of a tensor"}


def norm(v):
    """Something that can be compared, and that later changes do not reach."""
    if isinstance(v, torch.Tensor):
        return ("T", v.dtype, tuple(v.shape), v.stride(), v.detach().clone())
    if isinstance(v, dict):
        return (type(v).__name__, [(norm(k), norm(i)) for k, i in v.items()])
    if isinstance(v, (list, tuple, collections.deque)):
        return (type(v).__name__, [norm(i) for i in v])
    if isinstance(v, (set, frozenset)):
        return (type(v).__name__, sorted(map(repr, v)))
    if isinstance(v, (Box, DC)):
        return (type(v).__name__, norm(v.__dict__))
    return v


def equal(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple) and len(a) == 5 and a[0] == "T":
        return a[:4] == b[:4] and torch.allclose(a[4], b[4], equal_nan=True)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    return a == b


STATE = copy.deepcopy({name: globals()[name] for name in ("GL", "CNT", "LOG", "HOLD", "BUF")})


def run(function, argsets, state):
    for name, value in STATE.items():
        globals()[name] = copy.deepcopy(value)
    out = []
    for args in argsets:
        for _ in range(2):
            try:
                result = norm(function(*args))
            except Exception as error:
                result = (type(error).__name__, str(error))
            out.append((result, norm(state()) if state else None))
    return out


@pytest.mark.parametrize("name", [function.__name__ for function, _, _ in cases])
def test_program(name):
    function, argsets, state = next(case for case in cases if case[0].__name__ == name)
    with torch.no_grad():
        expected = run(function, argsets, state)
        compiled = dynamo_mlir.compile(function, backend="capture")
        actual = run(compiled, argsets, state)
    for e, a in zip(expected, actual):
        assert equal(e, a), (e, a)
    info = compiled._capture_info()
    if name in BREAKS:
        assert _C.capture.record(function, argsets[0]).reason.startswith(BREAKS[name])
        return
    hits = [segment.describe()["hits"] for segment in info["segments"]]
    assert sum(hits) >= len(argsets), (hits, info["misses"], info["why"])


@pytest.mark.parametrize("call", [
    "{}.__contains__()", "dict.__contains__()", "list.append([])", "list.append(3, 1)", "set.add(set())", "str.join()",
    "str.find('a')", "dict.get({})", "set.add([], 1)", "object.__getattribute__(x)", "isinstance(x)", "getattr(x)", "len()",
    "dict.setdefault(1, 2)", "[].__getitem__()", "tuple.index(())", "torch.Tensor.add()", "torch.relu()", "int.__add__(1)",
    "next()", "zip(1)", "sorted()", "super().__init__(1)", "math.sqrt()", "functools.partial()", "operator.add(1)",
    "{}.update(1, 2)", "(1).__add__()", "''.format_map()", "list.sort()", "collections.deque.append()", "set.union()",
])
def test_wrong_arguments_raise_as_without_us(call):
    """A C function called with too few arguments, or on another class's instance, raises; recording it must not crash."""
    import collections
    import functools
    import math
    import operator

    scope = dict(torch=torch, math=math, functools=functools, operator=operator, collections=collections)
    exec(f"def f(x):\n    y = x * 2\n    {call}\n    return y", scope)
    with pytest.raises(Exception) as eager:
        scope["f"](torch.ones(3))
    compiled = dynamo_mlir.compile(scope["f"], backend="capture")
    for _ in range(2):
        with pytest.raises(type(eager.value)) as ours:
            compiled(torch.ones(3))
        assert str(ours.value) == str(eager.value)
