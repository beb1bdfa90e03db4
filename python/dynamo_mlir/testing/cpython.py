# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPython's own tests, run with capture forced on.

    python -m dynamo_mlir.testing.cpython [--stops every|random:4|none] [--record] [module ...]

Each module runs twice, in processes of their own: as it is, and with every frame of the process stopped at every
instruction (`--stops every`) or at a random one in four of them. `--record` lets the observer watch every frame too and
drops what it recorded. What passed without must pass with; each difference is printed, and makes the exit code 1.
"""
import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import time

MODULES = """
test_generators test_genexps test_listcomps test_setcomps test_dictcomps test_with test_contextlib test_exceptions
test_except_star test_raise test_scope test_funcattrs test_call test_extcall test_keywordonlyarg test_positional_only_arg
test_unpack test_unpack_ex test_iter test_itertools test_functools test_operator test_collections test_dict test_list
test_tuple test_set test_deque test_ordered_dict test_defaultdict test_userdict test_enum test_dataclasses test_descr
test_property test_super test_class test_metaclass test_typing test_patma test_fstring test_format test_string
test_unicode test_bytes test_int test_long test_float test_complex test_bool test_math test_cmath test_decimal
test_fractions test_statistics test_sort test_heapq test_bisect test_copy test_pickle test_weakref test_gc test_threading
test_coroutines test_asyncgen test_asyncio test_sys_settrace test_pdb test_traceback test_inspect test_logging test_json
test_re
""".split()

# Differences that are none, with recording only: pattern of the test's id, why.
KNOWN = {
    "*.FinalizationTest.test_frame_resurrect": "a recording holds what it has seen until it ends, so destructors run later",
    "*.FinalizationTest.test_refcycle": "a recording holds what it has seen until it ends, so destructors run later",
}


def known(test, record):
    return next((why for pattern, why in KNOWN.items() if record and fnmatch.fnmatch(test, pattern)), None)


def _child(module, stops, record, seed, path, torch):
    """Runs one module here and writes what became of each test."""
    import importlib
    import io
    import unittest

    if torch:
        importlib.import_module("torch")
    tests = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(f"test.{module}"))
    runner = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0)
    count = recordings = traces = 0
    if stops == "none" and not record:
        result = runner.run(tests)
    else:
        from dynamo_mlir import _C

        capture = _C.capture
        started, reason = capture.start_driver()
        if not started:
            raise SystemExit(reason)
        capture.torture(-1 if stops == "none" else int(stops.partition(":")[2] or 0), record, seed)
        capture.hold_hook()
        try:
            result = runner.run(tests)
        finally:
            capture.release_hook()
            capture.torture(-1)
        count = capture.stops()
        recordings, traces = capture.recordings()
    bad = {test.id(): text.strip().splitlines()[-1] for test, text in result.failures + result.errors}
    bad.update((test.id(), "unexpected success") for test in result.unexpectedSuccesses)
    with open(path, "w") as file:
        json.dump({"run": result.testsRun, "skipped": len(result.skipped), "bad": bad, "stops": count,
                   "recordings": recordings, "traces": traces}, file)


def run(module, stops="none", record=False, seed=1, timeout=600, torch=False):
    """What became of a module: {"run", "skipped", "bad": {test: last line}, "stops", ...}, or {"died": how}.

    `torch`: it is imported before, as recording does; a few tests find other things then.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        command = [sys.executable, "-m", __spec__.name if __name__ == "__main__" else __name__, "--child", path,
                   "--stops", stops, "--seed", str(seed), *(["--record"] if record else []), *(["--torch"] if torch or record else []), module]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(os.path.abspath(p) for p in sys.path if p))
        try:
            done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=timeout,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        except subprocess.TimeoutExpired:
            return {"died": f"not done after {timeout} s"}
        if not os.path.exists(path):
            how = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
            return {"died": f"{how}: {done.stdout.strip()[-2000:]}"}
        with open(path) as file:
            return json.load(file)


def differences(plain, ours, record=False):
    """What is wrong with `ours`: [(test or None, what, why it is known or None)]."""
    if "died" in plain:
        return []
    if "died" in ours:
        return [(None, ours["died"], None)]
    found = [(test, text, known(test, record)) for test, text in ours["bad"].items() if test not in plain["bad"]]
    found += [(test, "passes", known(test, record)) for test in plain["bad"] if test not in ours["bad"]]
    for what in ("run", "skipped"):
        if plain[what] != ours[what]:
            found.append((None, f"{what}: {ours[what]} tests, {plain[what]} without", None))
    return found


def expand(module):
    """The modules of a package of tests, one by one: what one of them does to the process is not the others' matter."""
    import importlib.util
    import pkgutil

    package = importlib.util.find_spec(f"test.{module}")
    if package is None or not package.submodule_search_locations:
        return [module]
    return [f"{module}.{info.name}" for info in pkgutil.iter_modules(package.submodule_search_locations)
            if info.name.startswith("test_") and "windows" not in info.name]


def available():
    """Why the tests can't run, or None."""
    try:
        import test.support  # noqa: F401
    except ImportError:
        return "this Python has no package `test`; install its test suite (Debian: libpython3-testsuite)"
    return None


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m dynamo_mlir.testing.cpython", description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", help="names as test_dict; default: all that are known to make sense")
    parser.add_argument("--stops", default="every", help="every (default), random:N for one in N, none")
    parser.add_argument("--record", action="store_true", help="observe every frame")
    parser.add_argument("--seed", type=int, default=1, help="of random stops")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds for one module")
    parser.add_argument("--torch", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.stops not in ("every", "none") and not options.stops.startswith("random:"):
        parser.error("--stops is every, random:N or none")
    if options.child:
        return _child(options.modules[0], options.stops, options.record, options.seed, options.child, options.torch)
    reason = available()
    if reason:
        print(reason, file=sys.stderr)
        return 2
    wrong = 0
    for module in [one for name in options.modules or MODULES for one in expand(name)]:
        begun = time.monotonic()
        plain = run(module, timeout=options.timeout, torch=options.record)
        if "died" in plain:
            print(f"{module}: skipped, it fails without us: {plain['died']}", flush=True)
            continue
        middle = time.monotonic()
        ours = run(module, options.stops, options.record, options.seed, options.timeout)
        ended = time.monotonic()
        found = differences(plain, ours, options.record)
        new = [entry for entry in found if not entry[2]]
        wrong += len(new)
        print(f"{module}: {plain['run']} tests, {len(plain['bad'])} bad without us, {len(ours.get('bad', ()))} with; "
              f"{ours.get('stops', 0)} stops, {ours.get('traces', 0)} traces of {ours.get('recordings', 0)} recordings; {middle - begun:.1f} s and {ended - middle:.1f} s; "
              f"{len(new)} differences, {len(found) - len(new)} known", flush=True)
        for test, what, why in found:
            print(f"    {test or module}: {what}" + (f" (known: {why})" if why else ""), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
