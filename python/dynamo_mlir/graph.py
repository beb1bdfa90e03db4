# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph from AOTAutograd as something to call: compiled for the sizes that it meets, else run in eager PyTorch."""
import logging
import os
import tempfile
import threading
import time

import torch

from . import reports
from .errors import CompileError, InternalCompilerError, Refused
from .externs import has_effects
from .importer import import_graph, qualified
from .runtime import Program

log = logging.getLogger("dynamo_mlir")

# Different sizes that one graph is compiled for; further ones run in eager PyTorch.
MAX_VARIANTS = 8


def note_fallback(error):
    """One warning per reason and place, however often it happens."""
    text = str(error)
    if reports.add_fallback(text):
        log.warning("a graph runs in eager PyTorch: %s", text)


def is_dynamic(values):
    """Whether some size or number among these is a symbol."""
    for value in values:
        parts = [value] if not isinstance(value, torch.Tensor) else [*value.shape, *value.stride(), value.storage_offset()]
        for part in parts:
            if isinstance(part, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                if not isinstance(part, torch.SymInt) or part.node.maybe_as_int() is None:
                    return True
    return False


class Propagate(torch.fx.Interpreter):
    """Runs a graph on fake tensors of concrete sizes and records what each node gives."""

    def __init__(self, graph_module):
        super().__init__(graph_module, garbage_collect_values=False)
        self.values = {}

    def run_node(self, node):
        value = super().run_node(node)
        self.values[node] = value
        return value


def concrete_values(graph_module, args):
    """Node to fake tensor or number, for these arguments."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fakes = [mode.from_tensor(a, static_shapes=True) if isinstance(a, torch.Tensor) else a for a in args]
    propagate = Propagate(graph_module)
    with mode, torch.no_grad():
        propagate.run(*fakes)
    return propagate.values


class Repeat(torch.fx.Interpreter):
    """Runs a graph in eager PyTorch after the compiled program refused to: the right exception is raised at the right
    operator. What has run already and has effects gives the result that it gave."""

    def __init__(self, graph_module, done):
        super().__init__(graph_module)
        self.extra_traceback = False  # the text is the user's to see
        self.done = list(done)

    def call_function(self, target, args, kwargs):
        with_effects = getattr(target, "__name__", None) == "with_effects"
        op = args[1] if with_effects else target
        if self.done and isinstance(op, torch._ops.OpOverload) and has_effects(op) and self.done[0][0] == qualified(op):
            out = self.done.pop(0)[1]
            if not with_effects:
                return out
            return (args[0], *(out if isinstance(out, (list, tuple)) else (out,)))
        return super().call_function(target, args, kwargs)


class Variant:
    """The graph compiled for one set of sizes, strides and numbers."""

    def __init__(self, program, numbers):
        self.program = program
        self.numbers = numbers  # (position, value) of the arguments that are no tensors

    def run(self, args):
        for position, value in self.numbers:
            if type(args[position]) is not type(value) or args[position] != value:
                return None
        return self.program.run(args)


class Graph:
    """Called with one list of arguments, which it empties (`boxed`), so that they can be freed early."""

    def __init__(self, graph_module, kind, options):
        self.graph_module = graph_module
        self.kind = kind
        self.options = options
        self.variants = []
        self.eager = False
        self.error = None  # with strict=True: what every call raises
        self.lock = threading.Lock()
        values = [n.meta.get("val") for n in graph_module.graph.nodes if n.op == "placeholder"]
        if not is_dynamic(values):
            numbers = [(i, v) for i, v in enumerate(values) if not isinstance(v, torch.Tensor) and v is not None]
            self.guarded(lambda: self.add_variant(None, numbers))

    def guarded(self, build):
        """Builds, or turns this graph to eager for good."""
        try:
            build()
        except CompileError as error:
            if self.options.strict:
                # Raised by the call: from here Dynamo would wrap it in an exception of its own.
                self.error = error
            self.fall_back(error)
        except InternalCompilerError as error:
            self.fall_back(error)
        except Exception as error:  # a fault of ours must not reach the user's program
            log.debug("compiling failed", exc_info=True)
            self.fall_back(InternalCompilerError(f"{type(error).__name__}: {error}"))

    def fall_back(self, error):
        note_fallback(error)
        self.eager = True
        self.variants = []

    def add_variant(self, values, numbers):
        seconds = {}
        start = time.perf_counter()
        imported = import_graph(self.graph_module, values)
        seconds["import"] = time.perf_counter() - start
        program = build_program(imported, self.kind, self.options, seconds)
        self.variants.append(Variant(program, numbers))

    def specialise(self, args):
        """A variant for arguments that no variant fits; the lock is held."""
        if len(self.variants) >= MAX_VARIANTS:
            def build():
                raise CompileError(f"more than {MAX_VARIANTS} different sizes of one {self.kind} graph")

            self.guarded(build)
            return

        def build():
            values = concrete_values(self.graph_module, args)
            numbers = [(i, a) for i, a in enumerate(args) if not isinstance(a, torch.Tensor) and a is not None]
            self.add_variant(values, numbers)

        self.guarded(build)

    def __call__(self, args):
        held = list(args)
        if isinstance(args, list):
            args.clear()
        try:
            if self.error is not None:
                raise self.error
            for variant in self.variants:
                results = variant.run(held)
                if results is not None:
                    return results
            if not self.eager:
                with self.lock:
                    # Another thread may have built it meanwhile: then this builds it twice, which is only slow.
                    self.specialise(held)
                    built = self.variants[-1:]
                if self.error is not None:
                    raise self.error
                if built:
                    results = built[0].run(held)
                    if results is not None:
                        return results
                    self.fall_back(InternalCompilerError("a graph compiled for its arguments refuses them"))
        except Refused as refused:
            done = refused.done
        except InternalCompilerError as error:
            self.fall_back(error)
            return self.graph_module(*held)
        else:
            return self.graph_module(*held)
        # Outside of the handler: the user's exception has no context.
        return Repeat(self.graph_module, done).run(*held) if done else self.graph_module(*held)


def boxed(graph):
    """A graph as AOTAutograd wants it: a function that says that it takes its arguments in one list."""

    def call(args):
        return graph(args)

    call._boxed_call = True
    return call


def failure_folder(options):
    folder = options.dump or os.path.join(tempfile.gettempdir(), f"dynamo_mlir-{os.getuid()}")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder


def build_program(imported, kind, options, seconds):
    """Compiles an imported graph; a failure names the saved IR and the command that shows it again."""
    text = None
    if options.dump:
        os.makedirs(options.dump, exist_ok=True)
        handle, path = tempfile.mkstemp(".mlir", f"{kind}-", options.dump)
        with os.fdopen(handle, "w") as file:
            file.write(imported.module.print(True))
    text = imported.module.print(True) if not options.dump else None
    try:
        program = Program(imported, options, seconds)
    except InternalCompilerError as error:
        folder = failure_folder(options)
        if text is not None:
            handle, path = tempfile.mkstemp(".mlir", f"{kind}-", folder)
            with os.fdopen(handle, "w") as file:
                file.write(text)
        raise InternalCompilerError(str(error), folder, f"dynamo-opt --compile-to=llvm {path}") from None
    reports.add_graph(program.report(kind, seconds))
    return program
