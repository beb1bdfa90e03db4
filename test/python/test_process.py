# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads, memory, forks: what surrounds a call."""
import gc
import os
import subprocess
import sys
import threading
import weakref

import torch

import dynamo_mlir


def test_many_threads_call_one_function():
    f = dynamo_mlir.compile(lambda a, b: torch.softmax(a @ b, -1).relu() + 1)
    b = torch.randn(64, 64)
    inputs = [torch.randn(32, 64) for _ in range(8)]
    with torch.no_grad():
        f(inputs[0], b)
    failures = []

    def work(a):
        try:
            with torch.no_grad():
                expected = torch.softmax(a @ b, -1).relu() + 1
                for _ in range(20):
                    torch.testing.assert_close(f(a, b), expected)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(a,)) for a in inputs]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures, failures


def test_many_threads_train_and_infer_with_one_model():
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    compiled = dynamo_mlir.compile(net)
    compiled(torch.randn(8, 16)).sum().backward()
    failures = []

    def work(seed):
        try:
            x = torch.randn(8, 16, generator=torch.Generator().manual_seed(seed))
            for i in range(20):
                theirs, ours = x.clone().requires_grad_(), x.clone().requires_grad_()
                expected = torch.autograd.grad(net(theirs).square().sum(), [theirs, *net.parameters()])
                actual = torch.autograd.grad(compiled(ours).square().sum(), [ours, *net.parameters()])
                torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failures, failures


def test_ten_processes_compile_at_once():
    program = """
import torch, dynamo_mlir
a = torch.randn(33, 17)
f = lambda a: (a @ a.t()).softmax(-1).relu() + 1
torch.testing.assert_close(dynamo_mlir.compile(f)(a), f(a))
assert not dynamo_mlir.report().fallbacks and dynamo_mlir.report().graphs
"""
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    processes = [subprocess.Popen([sys.executable, "-c", program], env=environment) for _ in range(10)]
    assert [p.wait(timeout=300) for p in processes] == [0] * 10


def test_an_exception_in_the_middle_leaves_everything_usable():
    """An operator that fails half way, many times: memory is given back, the next call is right."""

    @torch.library.custom_op("dynamo_mlir_test::picky", mutates_args=())
    def picky(x: torch.Tensor) -> torch.Tensor:
        if x.flatten()[0] > 0.5:
            raise ValueError("too large")
        return x * 2

    picky.register_fake(lambda x: torch.empty_like(x))

    f = dynamo_mlir.compile(lambda a: picky((a @ a).relu() * 0 + a) + a.softmax(-1))
    good, bad = torch.zeros(512, 512), torch.ones(512, 512)
    expected = f(good)
    for i in range(80):
        if i % 5 == 0:
            gc.collect()  # tracebacks are cycles
        if i == 40:
            start = resident()
        with_error = None
        try:
            f(bad)
        except ValueError as error:
            with_error = str(error)
        assert with_error == "too large"
        del with_error
        assert torch.equal(f(good), expected)
    gc.collect()
    assert resident() - start < 24 << 20


def test_threads_option_and_torch_setting():
    a = torch.randn(256, 256)
    before = torch.get_num_threads()
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            f = dynamo_mlir.compile(lambda a: (a @ a).relu(), threads=threads)
            torch.testing.assert_close(f(a), (a @ a).relu(), rtol=1e-4, atol=1e-3)
    finally:
        torch.set_num_threads(before)


def test_a_dropped_model_is_freed():
    net = torch.nn.Linear(512, 512)
    weight = weakref.ref(net.weight)
    f = dynamo_mlir.compile(net)
    with torch.no_grad():
        f(torch.randn(2, 512))
    del net, f
    torch._dynamo.reset()
    gc.collect()
    assert weight() is None


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_calls_do_not_leak():
    f = dynamo_mlir.compile(lambda a: torch.special.bessel_j0(a * 2).relu() + 1)
    a = torch.randn(256, 1024)
    with torch.no_grad():
        for _ in range(200):  # the allocator of the system settles at first
            f(a)
        start = resident()
        for _ in range(200):
            f(a)
    assert resident() - start < 32 << 20


def test_a_forked_child_can_call():
    f = dynamo_mlir.compile(lambda a: (a @ a).relu() + 1)
    a = torch.randn(128, 128)
    expected = f(a)
    pid = os.fork()
    if pid == 0:
        torch.set_num_threads(1)
        os._exit(0 if torch.allclose(f(a), expected) else 1)
    assert os.waitpid(pid, 0)[1] == 0
