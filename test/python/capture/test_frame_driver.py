# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The frame driver: stops, what a handler may do at one, and that a frame is whole again whenever it is left.

Handlers here are Python functions of (code, unit, locals, stack), see DriverTesting.cpp.
"""
import asyncio
import contextlib
import dis
import gc
import sys
import threading
import traceback
import weakref

import pytest

from dynamo_mlir import _C

capture = _C.capture
NULL = capture.NULL


@pytest.fixture(autouse=True)
def _hook():
    assert capture.start_driver() == (True, "")
    capture.hold_hook()
    yield
    capture.release_hook()


def units(function, name, value=None):
    """The units of the instructions of this name, perhaps only of those with this argument."""
    found = [i.offset // 2 for i in dis.get_instructions(function)
             if i.opname == name and (value is None or i.argval == value)]
    assert found
    return found


def unit(function, name, value=None):
    return units(function, name, value)[0]


def after(function, at):
    return next(i.offset // 2 for i in dis.get_instructions(function) if i.offset // 2 > at)


def every_stop(function):
    code = function.__code__
    return [i.offset // 2 for i in dis.get_instructions(code) if capture.can_stop(code, i.offset // 2)]


def slots(function, locals, **values):
    code = function.__code__
    names = code.co_varnames + tuple(n for n in code.co_cellvars if n not in code.co_varnames) + code.co_freevars
    changed = list(locals)
    for name, value in values.items():
        changed[names.index(name)] = value
    return tuple(changed)


@contextlib.contextmanager
def planned(function, stops, handler):
    capture.plan(function.__code__, stops, handler)
    try:
        yield
    finally:
        capture.remove_plan(function.__code__)


def ignore(code, at, locals, stack):
    return None


# --- where frames can stop


def test_no_stop_inside_a_call_group():
    def f(g, x):
        return g(x, key=1)

    code = f.__code__
    start = unit(f, "KW_NAMES")
    assert capture.can_stop(code, start)
    for name in ("PRECALL", "CALL"):
        assert not capture.can_stop(code, unit(f, name))
        assert capture.stop_before(code, unit(f, name)) == start
    assert not capture.can_stop(code, unit(f, "RETURN_VALUE"))


def test_no_stop_behind_an_extended_argument():
    names = ", ".join(f"a{i}" for i in range(300))
    scope = {}
    exec(f"def f({names}): return a299", scope)
    f = scope["f"]
    prefix = unit(f, "EXTENDED_ARG")
    assert capture.can_stop(f.__code__, prefix) and not capture.can_stop(f.__code__, prefix + 1)
    with planned(f, [prefix], ignore):
        assert f(*range(300)) == 299


def test_a_generator_has_no_stop_at_its_entry():
    def g():
        yield 1

    assert not capture.can_stop(g.__code__, capture.entry_unit(g.__code__))


# --- what a handler may do


def test_every_stop_is_seen_once_and_in_order_with_its_stack():
    def f(a, b):
        return [a, (b, a + b)]

    seen = []
    with planned(f, every_stop(f), lambda code, at, locals, stack: seen.append((code, at, locals, stack))):
        assert f(1, 2) == [1, (2, 3)]
    assert [at for _, at, _, _ in seen] == every_stop(f)
    assert all(code is f.__code__ and locals == (1, 2) for code, _, locals, _ in seen)
    assert seen[-1][3] == ([1, (2, 3)],) if seen[-1][1] == unit(f, "BUILD_LIST") + 1 else seen[-1][3] == (1, (2, 3))


def test_resume_at_the_end_of_a_loop():
    def f(n):
        total = 0
        for i in range(n):
            total += i * i
        return total, i

    end = next(i.argval for i in dis.get_instructions(f) if i.opname == "FOR_ITER") // 2

    def finish(code, at, locals, stack):
        iterator, now = stack
        values = [now, *iterator]
        return "resume", end, slots(f, locals, total=sum(v * v for v in values), i=values[-1]), ()

    with planned(f, [unit(f, "STORE_FAST", "i")], finish):
        assert f(10) == (285, 9)


def test_return_from_the_entry_with_cells_made():
    def outer(free):
        def f(a, b):
            def g():
                return b + free

            return g

        return f

    f = outer(5)
    seen = []

    def handler(code, at, locals, stack):
        seen.append(locals)
        return "return", ("done", locals[1].cell_contents)

    with planned(f, [capture.entry_unit(f.__code__)], handler):
        assert f(1, 2) == ("done", 2)
    assert seen[0][0] == 1 and seen[0][-1].cell_contents == 5 and seen[0][2] is NULL
    with planned(f, [capture.entry_unit(f.__code__)], ignore):
        assert f(1, 2)() == 7


def test_raise_finds_the_handler_of_the_unit():
    def f(x):
        try:
            return len(x)
        except TypeError as error:
            return "caught", error.__traceback__.tb_lineno - f.__code__.co_firstlineno
        finally:
            log.append("finally")

    log = []
    at = unit(f, "LOAD_GLOBAL", "len")
    with planned(f, [at], lambda code, at, locals, stack: ("raise", at, TypeError("from a segment"))):
        assert f([1]) == ("caught", 2)
        assert log == ["finally"]


def test_raise_without_a_handler_leaves_the_frame_whole():
    def f(x):
        y = x
        return y

    def boom(code, at, locals, stack):
        raise KeyError("boom")

    with planned(f, [unit(f, "LOAD_FAST", "y")], boom):
        with pytest.raises(KeyError) as raised:
            f(1)
    frame = raised.traceback[-2].frame.raw if raised.traceback[-1].name == "boom" else raised.traceback[-1].frame.raw
    assert frame.f_code is f.__code__ and frame.f_locals == {"x": 1, "y": 1}


def test_leave_runs_the_rest_without_stops():
    def f(n):
        for i in range(n):
            pass
        return n

    seen = []

    def handler(code, at, locals, stack):
        seen.append(at)
        return ("leave",)

    with planned(f, every_stop(f), handler):
        assert f(5) == 5
    assert len(seen) == 1


def test_single_steps_ask_again_wherever_the_instruction_leads():
    def f(x):
        try:
            if x:
                raise KeyError(x)
        except KeyError:
            return [helper(key=x)]
        return 0

    def helper(key):
        return key + 1

    seen = []

    def handler(code, at, locals, stack):
        seen.append(at)
        return ("single",)

    for x, result in ((0, 0), (4, [5])):
        seen.clear()
        with planned(f, [capture.entry_unit(f.__code__)], handler):
            assert f(x) == result
        stops = every_stop(f)
        assert seen[0] == capture.entry_unit(f.__code__) and set(seen) < set(stops)
        raised = unit(f, "PUSH_EXC_INFO") in seen
        assert raised == bool(x) and (unit(f, "KW_NAMES") in seen) == bool(x)


def test_an_end_where_no_instruction_starts_is_an_error():
    def f(x):
        return len(x)

    at = unit(f, "LOAD_GLOBAL")
    with planned(f, [at], lambda code, at, locals, stack: ("resume", at + 1, locals, stack)):
        with pytest.raises(SystemError, match="no instruction starts"):
            f([])


def test_with_block_entered_by_a_handler():
    log = []

    class Manager:
        def __enter__(self):
            log.append("enter")
            return self

        def __exit__(self, *raised):
            log.append(raised[0])
            return True

    def f(manager, x):
        with manager as same:
            1 / x
        return "after", same is manager

    at = unit(f, "BEFORE_WITH")

    def handler(code, at, locals, stack):
        manager = stack[-1]
        return "resume", after(f, at), locals, stack[:-1] + (manager.__exit__, manager.__enter__())

    with planned(f, [at], handler):
        assert f(Manager(), 0) == ("after", True)
    assert log == ["enter", ZeroDivisionError]


def test_generator_skips_a_yield_and_coroutine_an_await():
    def g():
        a = yield 1
        b = yield 2
        c = yield 3
        return a, b, c

    with planned(g, [unit(g, "LOAD_CONST", 2)],
                 lambda code, at, locals, stack: ("resume", unit(g, "STORE_FAST", "b"), locals, stack + ("B",))):
        run = g()
        assert [next(run), run.send("A")] == [1, 3]
        with pytest.raises(StopIteration) as stopped:
            run.send("C")
    assert stopped.value.value == ("A", "B", "C")

    async def c():
        x = await asyncio.sleep(5, "slow")
        y = await asyncio.sleep(0, "y")
        return x, y

    with planned(c, [unit(c, "LOAD_GLOBAL", "asyncio")],
                 lambda code, at, locals, stack: ("resume", unit(c, "STORE_FAST", "x"), locals, ("fast",))):
        assert asyncio.run(c()) == ("fast", "y")


def test_what_a_handler_replaces_dies_at_once():
    class Token:
        pass

    def f(holder):
        a = holder.pop()
        b = [a]
        a = None
        return len(b)

    token = Token()
    watch = weakref.ref(token)
    holder = [token]
    del token

    def handler(code, at, locals, stack):
        return "resume", unit(f, "LOAD_GLOBAL"), slots(f, locals, a=None, b=()), ()

    alive = []
    with planned(f, [unit(f, "LOAD_CONST", None), unit(f, "LOAD_GLOBAL")],
                 lambda *given: handler(*given) if given[1] == unit(f, "LOAD_CONST", None)
                 else alive.append(watch() is not None)):
        assert f(holder) == 0
    assert alive == [False]


# --- plans that change while frames run


def test_a_stop_that_is_added_while_the_frame_runs():
    def f(n):
        for i in range(n):
            change(i)
        return i

    at = unit(f, "LOAD_GLOBAL", "change")
    seen = []
    f.__globals__["change"] = lambda i: i == 3 and capture.add_stop(f.__code__, at)
    # A plan with another stop, so that the frame runs in a copy.
    other = unit(f, "GET_ITER")
    with planned(f, [other], lambda code, at, locals, stack: seen.append(at)):
        assert f(6) == 5
    assert seen == [other, at, at]


def test_stops_and_plans_that_go_while_the_frame_stands_at_one():
    def f(n):
        for i in range(n):
            i + 1
        return i

    at = unit(f, "LOAD_FAST", "i")
    seen = []

    def remove_stop(code, at, locals, stack):
        seen.append(at)
        capture.remove_stop(code, at)

    def remove_plan(code, at, locals, stack):
        seen.append(at)
        capture.remove_plan(code)

    for handler in (remove_stop, remove_plan):
        capture.plan(f.__code__, [at], handler)
        assert f(5) == 4
        assert f(5) == 4
        capture.remove_plan(f.__code__)
    assert seen == [at, at]


def test_a_handler_may_be_replaced_from_inside_itself():
    def f(n):
        for i in range(n):
            i + 1
        return i

    at = unit(f, "LOAD_FAST", "i")
    seen = []

    def first(code, at, locals, stack):
        seen.append("first")
        capture.plan(code, [at], second)
        gc.collect()

    def second(code, at, locals, stack):
        seen.append("second")

    with planned(f, [at], first):
        assert f(3) == 2
    assert seen == ["first", "second", "second"]


def test_a_plan_dies_with_its_code():
    class Callback:
        def __call__(self, *given):
            return None

    scope = {}
    exec("def f(n):\n for i in range(n): pass\n return n", scope)
    callback = Callback()
    watch = weakref.ref(callback)
    capture.plan(scope["f"].__code__, every_stop(scope["f"]), callback)
    del callback
    assert scope["f"](10) == 10
    assert watch() is not None
    scope.clear()
    gc.collect()
    assert watch() is None


def test_nothing_leaks():
    def f(n):
        for i in range(n):
            try:
                [i, str(i)]
                if i % 2:
                    raise ValueError(i)
            except ValueError:
                pass
        return n

    def once():
        code = f.__code__.replace(co_name="g")
        g = type(f)(code, f.__globals__)
        with planned(g, every_stop(g), ignore):
            g(4)

    for _ in range(20):
        once()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(300):
        once()
    gc.collect()
    assert abs(sys.getallocatedblocks() - before) < 100


# --- what others see


def test_python_sees_the_original_code_and_lines():
    def f(n):
        frame = sys._getframe()
        codes.add(frame.f_code)
        for i in range(n):
            codes.add(frame.f_code)
        lines.append(frame.f_lineno - f.__code__.co_firstlineno)
        raise RuntimeError

    codes, lines = set(), []
    with planned(f, every_stop(f), ignore):
        try:
            f(2)
        except RuntimeError as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
    assert codes == {f.__code__} and next(iter(codes)) is f.__code__
    assert lines == [5] and last.lineno == f.__code__.co_firstlineno + 6


def test_the_frame_is_the_innermost_one_for_its_handler():
    def f(x):
        y = x + 1
        return y

    seen = []

    def handler(code, at, locals, stack):
        back = sys._getframe().f_back
        seen.append((back.f_code is f.__code__, back.f_back.f_code is sys._getframe(2).f_code, back.f_lasti // 2 == at))

    with planned(f, every_stop(f), handler):
        f(1)
    assert len(seen) > 3 and set(seen) == {(True, True, True)}


@pytest.mark.parametrize("install", [sys.settrace, sys.setprofile, threading.settrace])
def test_a_tracer_that_comes_while_a_frame_runs_in_a_copy(install):
    def f(n):
        total = 0
        for i in range(n):
            if i == 3:
                install(tracer)
            total += i
        install(None)
        return total

    events = []

    def tracer(frame, event, argument):
        events.append((frame.f_code, event))
        return tracer

    capture.plan(f.__code__, every_stop(f), ignore)
    try:
        before = capture.stops()
        assert f(10) == 45
        first = capture.stops() - before
        assert f(10) == 45  # Stops are back for the next call.
        assert capture.stops() - before > first > 10
    finally:
        capture.remove_plan(f.__code__)
    if install is sys.settrace:
        assert all(code is not f.__code__ or event != "return" for code, event in events)


def test_traced_threads_run_originals():
    def f(n):
        for i in range(n):
            pass
        return n

    seen, lines = [], []

    def tracer(frame, event, argument):
        if frame.f_code is f.__code__:
            lines.append(event)
            return tracer

    with planned(f, every_stop(f), lambda *given: seen.append(given[1])):
        sys.settrace(tracer)
        try:
            f(3)
        finally:
            sys.settrace(None)
        assert not seen and lines.count("line") > 3
        f(3)
        assert seen


def test_recursion_threads_and_the_recursion_limit():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    def deep(n):
        return deep(n + 1)

    with planned(fib, every_stop(fib), ignore), planned(deep, every_stop(deep), ignore):
        results = []
        old = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            threads = [threading.Thread(target=lambda: results.append(fib(13))) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(old)
        assert results == [233] * 4
        with pytest.raises(RecursionError):
            deep(0)


def test_two_threads_in_one_generator_function():
    def g(n):
        for i in range(n):
            yield i

    with planned(g, every_stop(g), ignore):
        results = []
        old = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            threads = [threading.Thread(target=lambda: results.append(list(g(2000)))) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(old)
        assert results == [list(range(2000))] * 4


# --- observing


def test_observation_until_the_handler_is_asked_again():
    def helper(x):
        return x * 2

    def f(n):
        a = helper(n)
        b = a + 1
        c = b + 1
        return c

    events, asked = [], []
    end = unit(f, "STORE_FAST", "b")

    def watcher(event, code, at):
        events.append((event, code, at))
        return code is f.__code__ and at == end

    def handler(code, at, locals, stack):
        asked.append((at, locals, stack))
        return ("observe", watcher) if at == capture.entry_unit(code) else None

    with planned(f, [capture.entry_unit(f.__code__)], handler):
        assert f(5) == 12
        assert capture.observations(f.__code__) == 1
    assert [at for at, _, _ in asked] == [capture.entry_unit(f.__code__), end]
    assert asked[1][1][:4] == (5, 10, NULL, NULL) and asked[1][2] == (11,)
    assert (0, helper.__code__, capture.entry_unit(helper.__code__)) in events
    assert {code for _, code, _ in events} == {f.__code__, helper.__code__}
    assert events[-1] == (7, f.__code__, end)
    assert sys.gettrace() is None


def test_observation_that_ends_inside_a_call_group_comes_back_before_it():
    class Counter:
        def method(self, x, *, key):
            return x + key

    def f(counter):
        bound = counter.method
        return bound(1, key=2), counter.method(3, key=4)

    for nth, end in enumerate(units(f, "CALL")):
        asked = []

        def handler(code, at, locals, stack):
            asked.append(at)
            return ("observe", lambda event, code, at: event == 7 and at == end) if len(asked) == 1 else None

        with planned(f, [capture.entry_unit(f.__code__)], handler):
            assert f(Counter()) == (3, 7)
        assert asked == [capture.entry_unit(f.__code__), units(f, "KW_NAMES")[nth]]


def test_observation_that_ends_in_a_callee_comes_back_at_the_next_stop():
    def helper(x):
        return x * 2

    def f(n):
        total = 0
        for i in range(n):
            total += helper(i)
        return total

    at = unit(f, "STORE_FAST", "i")
    asked = []

    def handler(code, at, locals, stack):
        asked.append(stack[-1])
        return ("observe", lambda event, code, at: code is helper.__code__ and event == 7) if len(asked) == 2 else None

    with planned(f, [at], handler):
        assert f(5) == 20
        assert capture.observations(f.__code__) == 1
    assert asked == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("how", ["returns", "raises", "yields"])
def test_observation_to_the_end_of_the_frame(how):
    def f(x):
        y = x
        if how == "raises":
            raise KeyError(y)
        return y

    def g(x):
        y = x
        yield y
        yield y

    function = g if how == "yields" else f
    events = []

    def watcher(event, code, at):
        events.append(event)
        return False

    with planned(function, [unit(function, "LOAD_FAST", "x")], lambda *given: ("observe", watcher)):
        if how == "raises":
            with pytest.raises(KeyError):
                f(1)
        else:
            assert (f(1) if how == "returns" else list(g(1))) == (1 if how == "returns" else [1, 1])
        assert capture.observations(function.__code__) == 1
    assert sys.gettrace() is None
    assert 7 in events and events.count(3) == 1
    # Nothing of the observation is left in frames that are made later.
    assert len(events) < 20


def test_an_observer_that_the_program_replaces_stays_replaced():
    def f(x):
        sys.settrace(mine)
        return x

    def mine(frame, event, argument):
        return None

    try:
        with planned(f, [capture.entry_unit(f.__code__)], lambda *given: ("observe", lambda *event: False)):
            assert f(3) == 3
        assert sys.gettrace() is mine
    finally:
        sys.settrace(None)


# --- together with TorchDynamo, which has an evaluation hook of its own


def test_torch_compile_inside_and_around():
    import torch

    def inner(x):
        return (x + 1).relu()

    compiled = torch.compile(inner, backend="eager")

    def f(x):
        total = x
        for _ in range(3):
            total = total + compiled(total)
        return total

    x = torch.randn(4)
    seen = []
    expected = f(x)
    with planned(f, every_stop(f), lambda *given: seen.append(given[1])):
        assert torch.equal(f(x), expected)
        assert len(seen) > 20
        # Dynamo's hook goes above ours and comes off again.
        capture.release_hook()
        torch._dynamo.reset()
        assert torch.equal(f(x), expected)
        capture.hold_hook()
        seen.clear()
        assert torch.equal(f(x), expected)
        assert len(seen) > 20
        # A planned function below a compiled one.
        seen.clear()

        @torch.compile(backend="eager")
        def outer(x):
            torch._dynamo.graph_break()
            return f(x) * 2

        assert torch.equal(outer(x), expected * 2)
    assert torch.equal(f(x), expected)
