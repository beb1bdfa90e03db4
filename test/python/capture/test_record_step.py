# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole training steps in one record: forward, backward() and the optimizer, several steps long, held against eager PyTorch."""
import copy

import pytest
import torch
import torch.nn.functional as F

from dynamo_mlir.capture.program import compile_record
from dynamo_mlir.capture.record import Record


class Observer:
    """Knows a list of tensors, and finds the .grad of those."""

    def __init__(self, tensors):
        self.tensors = tensors

    def input_of(self, tensor):
        for i, known in enumerate(self.tensors):
            if known is tensor:
                return i
        return -1

    def input_of_grad(self, number):
        self.tensors.append(self.tensors[number].grad)
        return len(self.tensors) - 1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 8)
        self.norm = torch.nn.BatchNorm1d(8)
        self.second = torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.second(F.relu(self.norm(self.first(x))))


def batch(n):
    generator = torch.Generator().manual_seed(n)
    return torch.randn(5, 4, generator=generator), torch.randint(0, 3, (5,), generator=generator)


def state_of(model, optimizer):
    """Everything that a step reads and writes."""
    tensors = [*model.parameters(), *model.buffers()]
    for group in optimizer.param_groups:
        for p in group["params"]:
            tensors += [v for v in optimizer.state.get(p, {}).values() if isinstance(v, torch.Tensor)]
    return tensors


def step(model, optimizer, x, t, zero=True):
    if zero:
        optimizer.zero_grad()
    loss = F.cross_entropy(model(x), t)
    loss.backward()
    optimizer.step()
    return loss


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "nesterov, foreach": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, foreach=True),
}


@pytest.mark.parametrize("zero", (True, False), ids=("grads set to None", "grads accumulated"))
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name, zero):
    model = Net()
    optimizer = OPTIMIZERS[name](model.parameters())
    step(model, optimizer, *batch(0))  # makes the optimizer's state
    theirs, ours = copy.deepcopy((model, optimizer)), copy.deepcopy((model, optimizer))
    for a, b in ((model, theirs[0]), (model, ours[0])):
        for p, q in zip(a.parameters(), b.parameters()):
            q.grad = None if p.grad is None else p.grad.clone()

    if zero:
        optimizer.zero_grad()
    x, t = batch(1)
    tensors = [x, t, *state_of(model, optimizer)]
    known = len(tensors)
    observer = Observer(tensors)
    with Record(observer) as record:
        loss = step(model, optimizer, x, t, zero)
        place = record.output_of(loss)
        grads = [(n, record.output_of(g)) for n, g in record.grads_written()]
        read = record.grads_read()
    assert not record.void, record.reason
    assert len(grads) == (6 if zero else 0) and len(read) == 6 and all(had != zero for _, had in read)
    grad_inputs = [[i for i, p in enumerate(tensors) if p.requires_grad and p.grad is tensors[n]][0] for n in range(known, len(tensors))]
    program = compile_record(record)

    for n in range(1, 4):
        x, t = batch(n)
        expected = step(*theirs, x, t, zero)
        if zero:
            ours[1].zero_grad()
        inputs = [x, t, *state_of(*ours)]
        inputs += [inputs[i].grad for i in grad_inputs]
        results = program.run(inputs)
        for number, result in grads:
            inputs[number].grad = results[result]
        torch.testing.assert_close(results[place], expected)
        assert results[place].requires_grad and results[place].grad_fn is not None
        for a, b in zip(state_of(*theirs), state_of(*ours)):
            torch.testing.assert_close(b, a, rtol=1e-4, atol=1e-5)
        for p, q in zip(theirs[0].parameters(), ours[0].parameters()):
            torch.testing.assert_close(q.grad, p.grad, rtol=1e-4, atol=1e-5)
    for result in (expected, results[place]):
        with pytest.raises(RuntimeError, match="second time"):
            result.backward()


# With retain_graph the result's graph is still of use: not recorded.
def test_kept_graph_is_refused():
    w = torch.randn(3, requires_grad=True)
    with Record(Observer([w])) as record:
        loss = (w * w).sum()
        loss.backward(retain_graph=True)
        assert record.output_of(loss) == -1
    assert "graph" in record.reason


# Gradients of gradients are operators like others.
def test_gradient_penalty():
    def function(x, w):
        y = (x * w).tanh().sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (g.square().sum() + y).backward()
        return w.grad

    x, w = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    with Record(Observer([x, w])) as record:
        grad = function(x, w)
        places = [(n, record.output_of(g)) for n, g in record.grads_written()]
    assert not record.void, record.reason
    results = compile_record(record).run([x, w])
    for number, place in places:
        torch.testing.assert_close(results[place], (x, w)[number].grad)
    assert any(number == 1 for number, _ in places) and grad is w.grad
