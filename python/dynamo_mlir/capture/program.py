# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A record, compiled: what later calls run in place of its operators."""
import logging
import time

import torch

from ..errors import CompileError, InternalCompilerError
from ..graph import build_program
from ..importer import import_graph
from ..options import Options
from .aot import GradProgram, needs_gradients, spent
from .functionalize import functionalize
from .overlap import written_is_shared


log = logging.getLogger("dynamo_mlir")


class TensorProgram:
    """`run(inputs)` gives the results as a list, or None: refused, nothing has happened. Results alias inputs and each other
    as in eager, and what the record wrote into inputs has been written.

    `runner`, where `plain`: the C++ runner whose results are just these, and nothing is to be written.
    """

    def __init__(self, record, options):
        seconds = {}
        start = time.perf_counter()
        functional = functionalize(record)
        self.functional_module = functional.module
        imported = import_graph(functional.module, device="meta")
        seconds["import"] = time.perf_counter() - start
        self.program = build_program(imported, "segment", options, seconds)
        self.seconds = seconds
        self.num_inputs = functional.num_inputs
        self.results = functional.results
        self.writes = functional.writes
        self.written = frozenset(number for number, _, _ in self.writes)
        self.random = functional.random
        in_order = all(r.kind == "buffer" and r.index == i and not r.spent for i, r in enumerate(self.results))
        self.plain = in_order and not self.writes and not self.random and self.program.plain
        self.runner = self.program.runner if self.plain else None
        self.record = record

    def run(self, inputs):
        if self.written and written_is_shared(inputs[:self.num_inputs], self.written):
            return None
        if self.random:
            state = torch.get_rng_state()
            try:
                values = self.program.run(inputs)
            except BaseException:
                torch.set_rng_state(state)
                raise
        else:
            values = self.program.run(inputs)
        if values is None or self.plain:
            return values
        with torch.no_grad():
            if self.writes:
                targets = [inputs[number] if counted else inputs[number].data for number, _, counted in self.writes]
                torch._foreach_copy_(targets, [values[index] for _, index, _ in self.writes])
            return [self.result(r, inputs, values) for r in self.results]

    def result(self, r, inputs, values):
        value = self.plain_result(r, inputs, values)
        return spent(value) if r.spent else value

    def plain_result(self, r, inputs, values):
        if r.kind == "buffer":
            return values[r.index]
        if r.kind == "arg-view":
            source = inputs[r.index]
            return source.as_strided(r.sizes, r.strides, source.storage_offset() + r.offset)
        if r.kind == "arg-chain":
            result = inputs[r.index]
            for func, rest in r.chain:
                result = func(result, *rest)
            return result
        base = values[r.index]
        if r.dtype is base.dtype:
            return base.as_strided(r.sizes, r.strides, r.offset)
        return torch.empty(0, dtype=r.dtype).set_(base.untyped_storage(), r.offset, r.sizes, r.strides)

    def report(self):
        return self.program.report("segment", self.seconds)


def compile_record(record, options=None):
    """The record's tensor work as a program: CompileError says why it can't be one, InternalCompilerError is a fault of ours."""
    options = options or Options()
    if record.void:
        raise CompileError(record.reason)
    try:
        return (GradProgram if needs_gradients(record) else TensorProgram)(record, options)
    except (CompileError, InternalCompilerError):
        raise
    except Exception as error:  # must not reach the user's program
        log.debug("compiling a record failed", exc_info=True)
        raise InternalCompilerError(f"{type(error).__name__}: {error}") from error
