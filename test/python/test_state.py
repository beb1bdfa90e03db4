# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights are read at every call: whichever way they change, the compiled module sees it."""
import multiprocessing

import numpy
import pytest
import torch

import dynamo_mlir


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(8, 8)

    def forward(self, a):
        return self.fc(a).relu() * 2


def optimizer_step(net):
    optimizer = torch.optim.SGD(net.parameters(), 0.5)
    with torch.enable_grad():
        net(torch.ones(2, 8)).sum().backward()
    optimizer.step()


def from_numpy(net):
    array = numpy.random.rand(8, 8).astype(numpy.float32)
    net.fc.weight = torch.nn.Parameter(torch.from_numpy(array))
    net.probe()
    array[:] = 3


def other_process(net):
    net.fc.weight.data.share_memory_()
    net.probe()
    process = multiprocessing.get_context("spawn").Process(target=fill, args=(net.fc.weight.data,))
    process.start()
    process.join()
    assert process.exitcode == 0


def fill(tensor):
    tensor.fill_(2.0)


def set_(net):
    with torch.no_grad():
        net.fc.weight.set_(torch.full((8, 8), 0.5))


def data_item(net):
    net.fc.weight.data[0] = 1


def numpy_view(net):
    net.fc.weight.detach().numpy()[:] = 4


def assign_data(net):
    net.fc.weight.data = torch.full((8, 8), 0.125)


def assign_transposed_data(net):
    net.fc.weight.data = torch.rand(8, 8).t()


def load_state_dict(net):
    net.load_state_dict(Net().state_dict())


def load_state_dict_assign(net):
    net.load_state_dict(Net().state_dict(), assign=True)


def foreach(net):
    with torch.no_grad():
        torch._foreach_mul_(list(net.parameters()), 3.0)


def in_place(net):
    with torch.no_grad():
        net.fc.weight.mul_(2).add_(0.5)
        net.fc.bias.copy_(torch.ones(8))


def data_mul(net):
    net.fc.weight.data.mul_(5)


def new_parameter(net):
    net.fc.weight = torch.nn.Parameter(torch.rand(8, 8))


@pytest.mark.parametrize("change", [optimizer_step, load_state_dict, load_state_dict_assign, in_place, data_mul, assign_data, assign_transposed_data,
                                    data_item, numpy_view, from_numpy, other_process, set_, foreach, new_parameter],
                         ids=lambda f: f.__name__)
@pytest.mark.parametrize("grad", [False, True], ids=["inference", "training"])
def test_change_is_seen(change, grad):
    net = Net()
    compiled = dynamo_mlir.compile(net)
    a = torch.randn(3, 8)
    net.probe = lambda: compiled(a)
    with torch.set_grad_enabled(grad):
        torch.testing.assert_close(compiled(a), net(a))
        before = compiled(a).detach().clone()
        change(net)
        torch.testing.assert_close(compiled(a), net(a))
        assert not torch.equal(compiled(a), before)
    assert not dynamo_mlir.report().fallbacks


def test_swapped_tensors():
    """torch refuses to swap a tensor that a guard refers to weakly, whatever the backend; where it does not, it is seen."""
    outcomes = []
    for backend in ("eager", "dynamo_mlir"):
        net = Net()
        compiled = torch.compile(net, backend=backend)
        a = torch.randn(3, 8)
        with torch.no_grad():
            compiled(a)
            try:
                torch.utils.swap_tensors(net.fc.weight, torch.nn.Parameter(torch.full((8, 8), 0.25)))
                outcomes.append("swapped")
            except RuntimeError as error:
                outcomes.append(str(error))
            torch.testing.assert_close(compiled(a), net(a))
    assert outcomes[0] == outcomes[1]


def broadcast_worker(rank, folder):
    """Rank 0's weights reach rank 1 by a collective that writes in place."""
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2)
    torch.manual_seed(rank)
    net = Net()
    compiled = dynamo_mlir.compile(net)
    a = torch.ones(3, 8)
    with torch.no_grad():
        compiled(a)  # may be the recording, in eager
        before = compiled(a).clone()
        for p in net.parameters():
            dist.broadcast(p.data, 0)
        after = compiled(a)
        torch.testing.assert_close(after, net(a))
        assert torch.equal(after, before) == (rank == 0)
    assert not dynamo_mlir.report().fallbacks
    dist.destroy_process_group()


def test_a_broadcast_between_processes_is_seen(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=broadcast_worker, args=(rank, str(tmp_path))) for rank in range(2)]
    for p in processes:
        p.start()
    for p in processes:
        p.join(120)
    assert [p.exitcode for p in processes] == [0, 0]


def test_batch_norm_statistics():
    ours, theirs = (torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    compiled = dynamo_mlir.compile(ours)
    for _ in range(3):
        a = torch.randn(2, 3, 8, 8)
        torch.testing.assert_close(compiled(a), theirs(a), rtol=1e-4, atol=1e-5)
    for (name, o), t in zip(ours.named_buffers(), theirs.buffers()):
        torch.testing.assert_close(o, t, msg=name)
    ours.eval(), theirs.eval()
    with torch.no_grad():
        torch.testing.assert_close(compiled(a), theirs(a), rtol=1e-4, atol=1e-5)
        ours[1].running_mean.fill_(3)
        theirs[1].running_mean.fill_(3)
        torch.testing.assert_close(compiled(a), theirs(a), rtol=1e-4, atol=1e-5)
