# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled graph on torch tensors: results with eager's sizes, strides and aliasing."""
import threading

import torch

from . import _C
from .errors import Refused
from .externs import Extern
from .importer import DTYPES
from .layout import dense_strides
from .reports import GraphReport

BY_NUMBER = {number: dtype for dtype, number in DTYPES.items()}


def repack(tensor, sizes, strides):
    """A copy of a tensor in another layout."""
    with torch.no_grad():
        return torch.empty_strided(sizes, strides, dtype=tensor.dtype).copy_(tensor)


def spread(tensor, sizes, strides):
    """A dense tensor's values in a layout with gaps or with dims of stride 0."""
    index = tuple(slice(0, 1) if s == 0 else slice(None) for s in strides)
    small = tensor[index]
    return torch.empty_strided(small.shape, strides, dtype=tensor.dtype).copy_(small).expand(sizes)


class Program:
    def __init__(self, imported, options, seconds):
        self.outputs = imported.outputs
        self.imported_externs = imported.externs
        self.flops = imported.flops
        self.num_ops = imported.num_ops
        shown = {o.index: o for o in imported.outputs if o.kind == "buffer"}
        fresh = []
        for i, (dtype, sizes) in enumerate(imported.buffers):
            shape, strides = (shown[i].sizes, shown[i].strides) if i in shown else (sizes, dense_strides(sizes))
            fresh.append((dtype, list(shape), list(strides)))
        inputs = [(i.position, list(i.sizes), list(i.strides), i.dtype, i.repack, i.value) for i in imported.inputs]
        self.runner = _C.compile(imported.module, inputs, fresh, self.call_extern, repack, options.threads, options.target,
                                 options.dump)
        self.externs = [Extern(name, args, kwargs, [(BY_NUMBER[d], s) for d, s in results])
                        for name, args, kwargs, results in self.runner.externs()]
        seconds.update(self.runner.seconds())
        # A refused run is repeated in eager PyTorch, where what these did must not happen twice.
        self.records = self.runner.conditions() > 0 and any(e.has_effects for e in self.externs)
        self.calls = threading.local()
        # The common case: every result is a buffer, in order.
        self.plain = all(o.kind == "buffer" and o.index == i for i, o in enumerate(self.outputs))

    def call_extern(self, number, operands):
        extern = self.externs[number]
        return extern(operands, self.calls.done if self.records and extern.has_effects else None)

    def run_recorded(self, args):
        """The same as the runner's run; a `Refused` holds what has run."""
        outer = getattr(self.calls, "done", None)  # an operator may call the program that it is part of
        self.calls.done = []
        try:
            return self.runner.run(args)
        except Refused as refused:
            refused.done = self.calls.done
            raise
        finally:
            self.calls.done = outer

    def run(self, args):
        """The graph's results, or None if the arguments are not what this was compiled for. Raises `Refused`."""
        buffers = self.run_recorded(args) if self.records else self.runner.run(args)
        if buffers is None or self.plain:
            return buffers
        results = []
        with torch.no_grad():
            for o in self.outputs:
                if o.kind == "buffer":
                    results.append(buffers[o.index])
                elif o.kind == "arg":
                    results.append(args[o.index])
                elif o.kind == "arg-view":
                    source = args[o.index]
                    results.append(source.as_strided(o.sizes, o.strides, source.storage_offset() + o.offset))
                elif o.kind == "spread":
                    results.append(spread(buffers[o.index], o.sizes, o.strides))
                elif o.kind == "view":
                    results.append(None)  # its base may come later
                else:
                    results.append(o.value)
            for i, o in enumerate(self.outputs):
                if o.kind == "view":
                    results[i] = results[o.index].as_strided(o.sizes, o.strides, o.offset)
        return results

    def report(self, kind, seconds):
        made = GraphReport(kind, self.num_ops, dict(self.runner.kernels()), self.runner.launches(), seconds=dict(seconds))
        for extern in self.externs:
            made.externs[extern.name] = made.externs.get(extern.name, 0) + 1
        for name, (calls, flops) in self.flops.items():
            made.flops += flops
            # Calls of one overload share its work evenly: exact where all or none of them are extern.
            made.flops_extern += flops * min(made.externs.get(name, 0), calls) // calls
        return made
