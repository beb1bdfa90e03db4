# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records whose results carry gradients: replayed under AOTAutograd, which gives a forward and a backward graph.

The record lies below autograd, so its operators are those that have eager's derivatives. Replayed above autograd, in-place
operators and switches of grad mode included, they build the graph that eager built. Where they don't (a custom
autograd.Function, detach_(), requires_grad_()), some argument or result requires grad in one and not in the other: this is
compared on fake tensors before anything is compiled.
"""
import time
from unittest import mock

import torch
from .. import decompositions
from ..errors import CompileError
from ..graph import Graph, boxed
from . import variants
from .overlap import written_is_shared
from .record import Tensor, facts_of

aten = torch.ops.aten


def written_inputs(record, silently):
    """Numbers of the inputs that the record writes into; `silently`: where version counters don't see it."""
    numbers = set()

    def add(tree):
        for tensor in variants.tensors_in(tree):
            if tensor.storage.root.kind == "input":
                numbers.add(tensor.storage.root.source)

    for call in record.calls:
        if silently:
            if call.func is aten.native_batch_norm.default and variants.bind(call)["training"]:
                bound = variants.bind(call)
                add([bound["running_mean"], bound["running_var"]])
        elif facts_of(call.func).mutable:
            bound = variants.bind(call)
            for argument in call.func._schema.arguments:
                if argument.alias_info is not None and argument.alias_info.is_write:
                    add(bound[argument.name])
    return numbers


def written_with_gradient(record):
    """Whether an input is written so that it carries a gradient afterwards."""
    for call in record.calls:
        if call.grad_mode and any(call.grads) and facts_of(call.func).mutable:
            bound = variants.bind(call)
            for argument in call.func._schema.arguments:
                if argument.alias_info is not None and argument.alias_info.is_write:
                    if any(t.storage.root.kind == "input" for t in variants.tensors_in(bound[argument.name])):
                        return True
    return False


def needs_gradients(record):
    """Whether something that leaves has a gradient: a result, or an input that was written with one."""
    return any(tensor.requires_grad and not tensor.spent for tensor in record.outputs) or written_with_gradient(record)


def replayed(call):
    """(operator, args) to run above autograd in place of a call that hides what it does."""
    if call.func is aten.native_batch_norm.default:
        bound = variants.bind(call)
        if bound["training"]:  # the schema of this one says that it writes
            args = [bound[name] for name in ("input", "weight", "bias", "running_mean", "running_var", "training", "momentum", "eps")]
            if bound["running_mean"] is None:
                return aten._native_batch_norm_legit.no_stats, args[:3] + args[5:]
            return aten._native_batch_norm_legit.default, args
    return call.func, call.args


class Spent(torch.autograd.Function):
    """A result whose graph backward() has used up already: it requires grad, and going through it again raises."""

    @staticmethod
    def forward(ctx, value, anchor):
        return value.detach()

    @staticmethod
    def backward(ctx, grad):
        raise RuntimeError(
            "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
            "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
            "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
            "after calling backward.")


def spent(value):
    with torch.enable_grad():
        return Spent.apply(value, torch.empty(0, requires_grad=True))


class Replay(torch.nn.Module):
    """The record as a function of its inputs: its results, then what the inputs `written` hold at the end. It writes into
    none of them. `check`: whether gradients are needed must be as it was."""

    def __init__(self, record, written, check):
        super().__init__()
        self.record = record
        self.written = written
        self.check = check
        self.steps = [(*replayed(call), call) for call in record.calls]
        constants = {}
        for call in record.calls:
            for tensor in variants.tensors_in([call.args, list(call.kwargs.values())]):
                if tensor.kind == "constant" and tensor not in constants:
                    constants[tensor] = f"constant{len(constants)}"
                    self.register_buffer(constants[tensor], tensor.value)
        self.constants = constants

    def forward(self, *inputs):
        values = {tensor: inputs[number] for number, tensor in self.record.inputs.items()}
        for number in self.written:
            values[self.record.inputs[number]] = aten.clone.default(inputs[number])
        for tensor, name in self.constants.items():
            values[tensor] = aten.clone.default(getattr(self, name))  # the record may write into it
        before = torch.is_grad_enabled()
        try:
            for step in self.steps:
                self.run(values, *step)
        finally:
            torch._C._set_grad_enabled(before)
        results = [values[tensor] for tensor in self.record.outputs]
        if self.check:
            for tensor, value in zip(self.record.outputs, results):
                if tensor.requires_grad != value.requires_grad:
                    raise CompileError("a result's gradient comes by a way that is not compiled: a custom autograd.Function, "
                                       "detach_() or requires_grad_()")
        return results + [values[self.record.inputs[number]] for number in self.written]

    def run(self, values, func, args, call):
        found = []

        def fill(tree):
            if type(tree) is Tensor:
                found.append(values[tree])
                return values[tree]
            if isinstance(tree, list):
                return [fill(item) for item in tree]
            return tree

        args, kwargs = fill(args), {k: fill(v) for k, v in call.kwargs.items()}
        if self.check and func is call.func and [t.requires_grad for t in found] != call.grads:
            file, line = call.location or (None, None)
            raise CompileError("an argument's gradient comes by a way that is not compiled: a custom autograd.Function, "
                               "detach_() or requires_grad_()", str(func), file, line)
        if torch.is_grad_enabled() != call.grad_mode:
            torch._C._set_grad_enabled(call.grad_mode)
        out = func(*args, **kwargs)
        out = (out,) if isinstance(out, torch.Tensor) else out or ()
        for tensor, value in zip(call.results, out):
            if tensor is not None and value is not None:
                values[tensor] = value


def example_inputs(record, count):
    """Fake tensors like the inputs; None where there is none."""
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    made = [None] * count
    for number, tensor in record.inputs.items():
        meta = torch.empty_strided(tensor.sizes, tensor.strides, dtype=tensor.dtype, device="meta")
        fake = FakeTensor(mode, meta, torch.device("cpu"))
        if tensor.requires_grad:
            fake.requires_grad_(True)
            if not tensor.is_leaf:
                with mode, torch.enable_grad():
                    fake = aten.alias.default(fake) if fake.is_contiguous() else aten.clone.default(fake)
        made[number] = fake
    return mode, made


class GradProgram:
    """A TensorProgram whose results carry gradients."""

    plain, runner = False, None

    def __init__(self, record, options):
        from torch._functorch.aot_autograd import aot_module_simplified
        from torch._functorch.partitioners import min_cut_rematerialization_partition

        if record.has_backward:
            raise CompileError("gradients leave it, and it runs backward()")
        start = time.perf_counter()
        self.record = record
        self.graphs = []
        self.num_inputs = max(record.inputs, default=-1) + 1
        if written_with_gradient(record):
            # Its old value may be saved for backward(), and a write would spoil that.
            raise CompileError("an input is written in a way that gradients follow")
        counted = written_inputs(record, False)
        self.written = sorted(counted | written_inputs(record, True))
        self.counted = [number in counted for number in self.written]
        if any(t.storage.root.kind == "input" and t.storage.root.source in self.written for t in record.outputs):
            raise CompileError("a view of a written input leaves together with gradients")
        self.random = any(facts_of(call.func).random and variants.bind(call).get("dropout_p") != 0.0 for call in record.calls)
        # Without gaps: AOTAutograd takes tensors only.
        self.positions = sorted(record.inputs)
        if self.positions != list(range(self.num_inputs)):
            raise CompileError("an input takes no part in what carries gradients")
        mode, fakes = example_inputs(record, self.num_inputs)
        with torch.enable_grad(), torch.random.fork_rng(devices=[]):
            with mode:
                Replay(record, self.written, True)(*fakes)
            mode, fakes = example_inputs(record, self.num_inputs)

            def compiler(kind):
                def compile_graph(graph, inputs):
                    made = Graph(graph, kind, options)
                    self.graphs.append(made)
                    return boxed(made)

                return compile_graph

            # No buffer may be given away: backward may run again with retain_graph=True.
            with mock.patch("torch._functorch._aot_autograd.graph_compile.collect_bw_donated_buffer_idxs", lambda *_, **__: []):
                self.function = aot_module_simplified(
                    Replay(record, self.written, False), fakes, fw_compiler=compiler("forward"), bw_compiler=compiler("backward"),
                    inference_compiler=compiler("inference"), partition_fn=min_cut_rematerialization_partition,
                    decompositions=decompositions.table())
        self.seconds = {"autograd": time.perf_counter() - start}

    def run(self, inputs):
        inputs = inputs[:self.num_inputs]
        if self.written and written_is_shared(inputs, self.written):
            return None
        given = inputs
        if self.written:
            # backward() needs the old value; that it is overwritten must not be seen there.
            given = list(inputs)
            for number in self.written:
                given[number] = inputs[number].clone()
        state = torch.get_rng_state() if self.random else None
        try:
            results = list(self.function(*given))
        except BaseException:
            if state is not None:
                torch.set_rng_state(state)
            raise
        if self.written:
            count = len(self.written)
            with torch.no_grad():
                for number, value, counted in zip(self.written, results[-count:], self.counted):
                    (inputs[number] if counted else inputs[number].data).copy_(value)
            del results[-count:]
        return results

    def report(self):
        """Of the forward graph."""
        for graph in self.graphs:
            for variant in graph.variants:
                return variant.program.report(graph.kind, self.seconds)
        return None
