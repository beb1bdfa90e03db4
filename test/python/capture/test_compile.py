# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiled function: answers and side effects are eager's, it passes for the function, and its failures are never the user's."""
import copy
import functools
import gc
import inspect
import pickle
import sys
import threading
import weakref

import pytest
import torch

import dynamo_mlir
from conftest import same
from dynamo_mlir import _C
from dynamo_mlir.capture import door
from dynamo_mlir.capture.explain import explanation

if not _C.capture.supported()[0]:
    pytest.skip("capture does not know this Python", allow_module_level=True)


@pytest.fixture(autouse=True)
def _no_grad():
    with torch.no_grad():
        yield


def captured(function, **options):
    return dynamo_mlir.compile(function, backend="capture", **options)


def state(compiled):
    return explanation(door.compiled_function_of(compiled))


def hits(compiled):
    return sum(s.hits for s in state(compiled).segments)


def poly(x):
    return torch.relu(x * 2 + 1)


def test_a_function():
    f = captured(poly)
    x = torch.randn(16)
    for _ in range(3):
        same(poly(x), f(x))
    assert hits(f) == 2 and len(state(f).segments) == 1


def test_other_shapes_and_types_are_recorded():
    f = captured(poly)
    for t in (torch.randn(3), torch.randn(4), torch.randn(3).double(), torch.randn(2, 2).t()):
        for _ in range(2):
            same(poly(t), f(t))
    assert hits(f) == 4 and len(state(f).misses) == 3
    assert "float32[3]" in state(f).misses[0] and "found Tensor float32[4]" in state(f).misses[0]


def test_every_way_to_pass_arguments():
    def f(a, b=2, /, c=3, *rest, d, e=5, **more):
        return a * b + c * d + e + sum(rest) + sum(more.values())

    g = captured(f)
    x = torch.randn(3)
    calls = [((x,), dict(d=1)), ((x, 4), dict(d=1, e=2)), ((x, 4, 5, 6, 7), dict(d=x)), ((x,), dict(c=1, d=2, z=3)), ((x,), dict(d=1, a=7))]
    for args, kwargs in calls:
        for _ in range(3):
            same(f(*args, **kwargs), g(*args, **kwargs))
    assert hits(g) == 2 * len(calls) or state(g).eager, state(g)
    for args, kwargs in [((), {}), ((x,), {}), ((x,), dict(d=1, b=2, c=3) | {"c": 1}), ((x, 1, 2), dict(c=3, d=1))]:
        try:
            expected = f(*args, **kwargs)
        except TypeError as error:
            with pytest.raises(TypeError) as caught:
                g(*args, **kwargs)
            assert str(caught.value) == str(error)
        else:
            same(expected, g(*args, **kwargs))


def test_cells():
    bias = torch.ones(3)

    def f(x, k):
        scaled = lambda: x * k
        return scaled() + bias

    g = captured(f)
    x = torch.randn(3)
    for _ in range(3):
        same(f(x, 2), g(x, 2))
    bias = torch.zeros(3)
    same(f(x, 2), g(x, 2))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 4)
        self.scale = 2
        self.calls = 0

    def forward(self, x, *, double=False):
        y = self.second(torch.relu(self.first(x))) * self.scale
        return y * 2 if double else y


def test_a_module():
    net = Net()
    compiled = captured(net)
    x = torch.randn(2, 8)
    for _ in range(3):
        same(net(x), compiled(x))
        same(net(x, double=True), compiled(x, double=True))
    assert hits(compiled) == 4
    assert isinstance(compiled, Net) and list(compiled.state_dict()) == list(net.state_dict())
    assert type(compiled).__name__ == "Net" and compiled.first is net.first
    assert [n for n, _ in compiled.named_modules()] == [n for n, _ in net.named_modules()]
    compiled.scale = 3
    assert net.scale == 3
    same(net(x), compiled(x))
    compiled.eval()
    assert not net.training and not net.first.training
    same(net(x), compiled(x))
    compiled.load_state_dict({k: torch.zeros_like(v) for k, v in net.state_dict().items()})
    assert compiled(x).abs().sum() == 0
    del compiled.scale
    assert not hasattr(net, "scale")


def test_a_module_in_containers_copies_and_files(tmp_path):
    net = Net()
    compiled = captured(net)
    x = torch.randn(2, 8)
    both = torch.nn.Sequential(compiled, torch.nn.ReLU())
    same(torch.relu(net(x)), both(x))
    other = copy.deepcopy(compiled)
    assert other.first is not net.first and isinstance(other, Net)
    same(net(x), other(x))
    same(net(x), other(x))
    assert hits(other) == 1 and type(other) is type(compiled)
    torch.save(compiled, tmp_path / "net.pt")
    same(net(x), torch.load(tmp_path / "net.pt", weights_only=False)(x))
    assert type(pickle.loads(pickle.dumps(compiled))) is Net


def test_hooks_run():
    net = Net()
    compiled = captured(net)
    x = torch.randn(2, 8)
    for _ in range(2):
        same(net(x), compiled(x))
    seen = []
    handle = net.first.register_forward_hook(lambda module, args, output: seen.append(1))
    compiled(x)
    assert seen == [1]
    handle.remove()
    handle = net.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    same(net(x), compiled(x))
    handle.remove()
    same(net(x), compiled(x))


def test_it_passes_for_the_function():
    @captured
    def f(a: int, b=2):
        """Doc."""
        return a

    f.tag = 5
    plain = f.__wrapped__
    assert (f.__name__, f.__doc__, f.__module__, f.__qualname__) == ("f", "Doc.", __name__, plain.__qualname__)
    assert inspect.signature(f) == inspect.signature(plain) and f.__defaults__ == (2,) and f.__code__ is plain.__code__
    assert f.tag == 5 and f.__annotations__ == {"a": int} and callable(f) and "compiled" in repr(f)
    with pytest.raises(AttributeError):
        f.nothing
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(f)
    assert copy.copy(f) is f and copy.deepcopy(f) is f and weakref.ref(f)() is f
    assert functools.wraps(f)(lambda: 1).__name__ == "f"
    f.__doc__ = "Other."
    assert plain.__doc__ == "Other."


def test_methods():
    class Thing:
        k = 3

        @captured
        def decorated(self, x):
            return x * self.k

        def plain(self, x):
            return x + self.k

    thing, x = Thing(), torch.randn(3)
    for _ in range(3):
        same(x * 3, thing.decorated(x))
        same(x * 3, Thing.decorated(thing, x))
    method = captured(thing.plain)
    for _ in range(3):
        same(x + 3, method(x))
    thing.k = 4
    same(x * 4, thing.decorated(x))
    same(x + 4, method(x))
    assert hits(Thing.__dict__["decorated"]) >= 5


def test_other_callables():
    x = torch.randn(3)
    for target in (functools.partial(torch.add, alpha=2), torch.sin):
        f = captured(target)
        args = (x, x) if isinstance(target, functools.partial) else (x,)
        for _ in range(3):
            same(target(*args), f(*args))
    with pytest.raises(TypeError, match="function or a module"):
        captured(3)


def test_exceptions_of_the_program():
    def f(x, i):
        y = x * 2
        if i > 1:
            raise KeyError(i)
        return y[i]

    g = captured(f)
    x = torch.randn(1, 3)
    for _ in range(2):
        same(f(x, 0), g(x, 0))
        with pytest.raises(IndexError) as caught:
            g(x, 1)
        assert caught.traceback[-1].name == "f" and caught.traceback[-1].frame.code.path.name == "test_compile.py"
        with pytest.raises(KeyError):
            g(x, 2)


def test_effects_and_identity():
    class Box:
        pass

    def f(box, x, log):
        box.last = x * 2
        log.append(box.last)
        box.count += 0
        return log, box.last, {"x": x, "list": [x, box.last]}

    def once(function):
        box, x, log = Box(), torch.ones(3), []
        box.count = 1
        results = [function(box, x, log) for _ in range(3)]
        for returned, last, d in results:
            assert returned is log and d["x"] is x and d["list"][1] is last
        assert results[-1][1] is box.last and len(log) == 3 and len({id(t) for t in log}) == 3
        return [t.tolist() for t in log]

    assert once(f) == once(captured(f))


def test_in_place_writes_and_views():
    def f(x, y):
        x.add_(1)
        y[0] *= 2
        return x.view(-1), y[1:], x

    g = captured(f)
    for _ in range(3):
        theirs, ours = (torch.ones(2, 2), torch.ones(3)), (torch.ones(2, 2), torch.ones(3))
        expected, actual = f(*theirs), g(*ours)
        same(expected, actual)
        same(theirs, ours)
        assert actual[2] is ours[0] and actual[0].data_ptr() == ours[0].data_ptr()
        assert actual[0]._base is ours[0] or actual[0]._base is None


def test_the_limit_and_its_notice(caplog):
    f = captured(lambda x, n: x * n, recompile_limit=3)
    x = torch.ones(2)
    for n in range(6):
        same(x * n, f(x, n))
    assert len(state(f).segments) == 3
    (notice,) = [r.getMessage() for r in caplog.records if "recompile_limit" in r.getMessage()]
    assert "n == 0, found 1" in notice and "test_compile.py" in notice


def test_breaks_are_told_once(caplog, capsys):
    def f(x):
        y = x * 2
        print("here")
        return y + 1

    g = captured(f)
    for _ in range(3):
        same(torch.ones(2) * 3, g(torch.ones(2)))
    assert capsys.readouterr().out == "here\n" * 3
    warnings = [r.getMessage() for r in caplog.records if r.name == "dynamo_mlir"]
    assert len(warnings) <= 1
    with pytest.raises(dynamo_mlir.CompileError) as caught:
        captured(f, fullgraph=True)(torch.ones(2))
    assert caught.value.file == __file__ and "print" in open(__file__).read().splitlines()[caught.value.line - 1]


def test_switches(monkeypatch):
    assert captured(poly) is not poly
    for name in ("NO_TORCH_COMPILE", "TORCH_COMPILE_DISABLE"):
        monkeypatch.setenv(name, "1")
        assert captured(poly) is poly
        monkeypatch.delenv(name)
    f = captured(poly)
    x = torch.randn(3)
    with dynamo_mlir.disabled():
        f(x)
        assert not state(f).segments
    f(x), f(x)
    assert hits(f) == 1
    with dynamo_mlir.disabled():
        f(x)
    assert hits(f) == 1
    dynamo_mlir.reset()
    assert not state(f).segments
    f(x), f(x)
    assert hits(f) == 1


def test_disable_a_function():
    inner_calls = []

    @dynamo_mlir.disable
    def inner(x):
        inner_calls.append(1)
        return x + 1

    f = captured(lambda x: inner(x * 2) * 3)
    for _ in range(3):
        same((torch.ones(2) * 2 + 1) * 3, f(torch.ones(2)))
    assert len(inner_calls) == 3 and inner.__name__ == "inner"


def test_tracers_see_the_program():
    f = captured(poly)
    x = torch.randn(3)
    f(x), f(x)
    before = hits(f)
    seen = []
    for install in (sys.settrace, sys.setprofile):
        install(lambda frame, event, arg: seen.append(frame.f_code.co_name))
        try:
            f(x)
        finally:
            install(None)
        assert "poly" in seen
        seen.clear()
    assert hits(f) == before


def test_recursion_and_reentrancy():
    @captured
    def down(x, n):
        return x if n == 0 else down(x * 2, n - 1) + 1

    def plain(x, n):
        return x if n == 0 else plain(x * 2, n - 1) + 1

    for n in (0, 3, 3, 2, 3):
        same(plain(torch.ones(2), n), down(torch.ones(2), n))

    inner = captured(lambda x: x + 1)
    outer = captured(lambda x: inner(x) * inner(x * 2))
    for _ in range(3):
        same(torch.ones(2) * 6, outer(torch.ones(2)))


def test_threads():
    def f(x, n):
        return (x * n).relu() + n

    g = captured(f)
    failures = []

    def work():
        try:
            with torch.no_grad():
                for i in range(60):
                    x = torch.randn(2 + i % 2)
                    same(f(x, i % 3), g(x, i % 3))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures, failures
    before = hits(g)
    work()
    assert not failures and hits(g) >= before + 54


def test_nothing_is_kept_alive():
    class Thing:
        pass

    net = Net()
    compiled = captured(net)
    compiled(torch.randn(2, 8))
    gone = weakref.ref(net.first.weight), weakref.ref(net)
    del net, compiled
    gc.collect()
    assert [g() for g in gone] == [None, None]

    thing = Thing()
    gone = weakref.ref(thing)
    f = captured(lambda x: (x + 1, thing))
    f(torch.ones(2))
    thing.f = f
    x = torch.ones(2)
    f(x)
    arg = weakref.ref(x)
    del thing, f, x
    gc.collect()
    assert gone() is None and arg() is None


def test_arguments_and_results_are_freed():
    f = captured(lambda x: [x * 2, x])
    for _ in range(3):
        x = torch.randn(4)
        made = f(x)
        refs = [weakref.ref(x), weakref.ref(made[0])]
        del x, made
        assert [r() for r in refs] == [None, None]


def test_generators_and_coroutines_run_as_they_are():
    def gen(x):
        yield x * 2
        yield x * 3

    async def coro(x):
        return x * 2

    assert [t.tolist() for t in captured(gen)(torch.ones(1))] == [[2.0], [3.0]]
    running = captured(coro)(torch.ones(1))
    with pytest.raises(StopIteration) as caught:
        running.send(None)
    assert caught.value.value == 2


def test_modes_of_the_user():
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Function(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append("function")
            return func(*args, **(kwargs or {}))

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append("dispatch")
            return func(*args, **(kwargs or {}))

    f = captured(poly)
    x = torch.randn(3)
    f(x), f(x)
    for mode in (Function, Dispatch):
        seen.clear()
        with mode():
            same(poly(x), f(x))
        assert len(seen) >= 6
    same(torch.func.vmap(poly)(torch.randn(2, 3).fill_(1)), torch.func.vmap(f)(torch.ones(2, 3)))
    with torch.enable_grad():
        same(torch.func.grad(lambda t: poly(t).sum())(x), torch.func.grad(lambda t: f(t).sum())(x))


def test_gradients():
    net = Net()
    compiled = captured(net)
    x = torch.randn(2, 8)
    with torch.enable_grad():
        for _ in range(3):
            net.zero_grad()
            net(x).sum().backward()
            expected = [p.grad.clone() for p in net.parameters()]
            net.zero_grad()
            compiled(x).sum().backward()
            for e, p in zip(expected, net.parameters()):
                torch.testing.assert_close(p.grad, e)


def test_explain():
    text = str(dynamo_mlir.explain(poly)(torch.randn(3)))
    assert "x is Tensor float32[3]" in text and "kernels" in text and "poly" in text
    def f(x):
        print(x.shape)
        return x

    broken = dynamo_mlir.explain(f)(torch.randn(3))
    assert broken.eager or broken.breaks and "print" in broken.breaks[0].reason


def test_logs(monkeypatch, caplog):
    monkeypatch.setenv("DYNAMO_LOGS", "guards,recompiles,segments,timing")
    f = captured(poly)
    f(torch.randn(3))
    f(torch.randn(4))
    text = "\n".join(r.getMessage() for r in caplog.records)
    for word in ("guards in", "x is Tensor float32[3]", "recorded again", "compile 0."):
        assert word in text, (word, text)


def test_what_is_not_recorded_goes_to_torch_compile():
    def f(x):
        y = x * 2
        print("here")
        return y + 1

    g = dynamo_mlir.compile(f, backend="auto")
    dynamo_mlir.reset_report()
    for _ in range(3):
        same(torch.ones(2) * 3, g(torch.ones(2)))
    assert state(g).eager and dynamo_mlir.report().graphs and not dynamo_mlir.report().fallbacks
    dynamo_mlir.reset()
    assert not state(g).eager
    same(torch.ones(2) * 3, g(torch.ones(2)))
