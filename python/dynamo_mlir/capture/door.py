# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The door of capture: what `dynamo_mlir.compile` puts in front of a function or a module.

The object in front of a function is C++ (Capture/CompiledFunction.cpp); it asks its `Door` to compile a record and tells it
what happened. Nothing that fails here reaches the user's program, unless `strict` or `fullgraph` ask for it.
"""
import copy
import dataclasses
import functools
import logging
import time
import types
import weakref

import torch

from .. import _C, reports
from ..errors import CompileError, InternalCompilerError
from ..options import log_kinds

log = logging.getLogger("dynamo_mlir")

_C_capture = _C.capture
_doors = weakref.WeakSet()  # compiled functions, for reset()


def supported():
    """(whether capture works here, why not)"""
    return _C_capture.supported()


def name_of(function):
    return f"{function.__qualname__} ({function.__code__.co_filename}:{function.__code__.co_firstlineno})"


def line_of(file, line):
    import linecache

    text = linecache.getline(file, line).strip() if file else ""
    return f"{file}:{line}" + (f": {text}" if text else "") if file else "an unknown line"


class Door:
    """What one compiled function asks and tells. `history` is for explain: (kind, text) in order."""

    def __init__(self, options, fullgraph, dynamo=False):
        from .record import Record

        self.dynamo = dynamo
        self.options = options
        self.fullgraph = fullgraph
        self.record_class = Record
        self.history = []
        self.seconds = {}

    def note(self, kind, text):
        self.history.append((kind, text))
        del self.history[:-200]
        if kind in log_kinds():
            log.warning("%s: %s", kind, text)

    def program(self, record):
        """The tensor program of a record, None where it holds no operator."""
        from .program import compile_record

        start = time.perf_counter()
        try:
            if not record.calls and not record.outputs and not record.reason:
                return None
            return compile_record(record, self.options)
        finally:
            self.seconds["compile"] = self.seconds.get("compile", 0.0) + time.perf_counter() - start

    def otherwise(self, function):
        """What is called from now on where the function can't be recorded: torch.compile's version, or None for itself."""
        if not self.dynamo:
            return None
        from ..backend import compile_fx

        self.note("segments", f"{name_of(function)} goes to torch.compile")
        options = {name: value for name, value in dataclasses.asdict(self.options).items()}
        return torch.compile(function, backend=compile_fx, fullgraph=self.fullgraph, options=options)

    def raise_if_strict(self, error):
        if self.dynamo:
            return
        if self.options.strict or self.fullgraph and isinstance(error, CompileError):
            error._dynamo_mlir_strict = True
            raise error

    def on_segment(self, function, segment):
        described = segment.describe()
        self.note("segments", f"{name_of(function)}: {described['instructions']} instructions of {described['frames']} frames, "
                  f"{len(described['guards'])} guards in {described['steps']} steps")
        if "guards" in log_kinds():
            self.note("guards", "\n".join(f"  {text}" + (f"    # {where}" if where else "") for text, where in described["guards"]))
        if "timing" in log_kinds():
            self.note("timing", f"{name_of(function)}: " + ", ".join(f"{k} {v:.3f} s" for k, v in self.seconds.items()))

    def on_break(self, function, reason, advice, file, line):
        text = f"{reason} at {line_of(file, line)}" + (f"; {advice}" if advice else "")
        self.note("breaks", f"{name_of(function)}: {text}")
        self.fall_back(CompileError(reason + (f"; {advice}" if advice else ""), file=file or None, line=line))

    def on_failure(self, function, failure):
        if not isinstance(failure, Exception):
            failure = InternalCompilerError(f"{name_of(function)}: {failure}")
        elif not isinstance(failure, (CompileError, InternalCompilerError)):
            log.debug("compiling failed", exc_info=failure)
            failure = InternalCompilerError(f"{name_of(function)}: {type(failure).__name__}: {failure}")
        self.note("failures", str(failure))
        self.fall_back(failure)

    def fall_back(self, error):
        if self.dynamo:
            log.debug("not recorded: %s", error)
            return
        if reports.add_fallback(str(error)):
            log.warning("a function runs in eager PyTorch: %s", error)
        self.raise_if_strict(error)

    def on_recompile(self, function, missed):
        self.note("recompiles", f"{name_of(function)} is recorded again, as this does not hold: {missed}")

    def on_limit(self, function, misses):
        lines = "\n".join(f"  {text}" for text in misses)
        text = (f"{name_of(function)} has {len(misses) + 1} segments, the limit (recompile_limit): other arguments run in eager "
                f"PyTorch from now on. What did not hold each time:\n{lines}")
        self.note("recompiles", text)
        if "recompiles" not in log_kinds():
            log.warning("%s", text)
        self.raise_if_strict(CompileError(text))


def compile_function(function, options, fullgraph, dynamo=False):
    compiled = _C_capture.CompiledFunction(function, Door(options, fullgraph, dynamo), options.recompile_limit)
    _doors.add(compiled)
    return compiled


def compile_any(target, options, fullgraph=False, dynamo=False):
    """A compiled stand-in for a function, method, module or other callable. `dynamo`: what can't be recorded goes to
    torch.compile, else it runs in eager."""
    if isinstance(target, _C_capture.CompiledFunction):
        return target
    if isinstance(target, torch.nn.Module):
        return compile_module(target, options, fullgraph, dynamo)
    if isinstance(target, types.FunctionType):
        return compile_function(target, options, fullgraph, dynamo)
    if isinstance(target, types.MethodType) and isinstance(target.__func__, types.FunctionType):
        return types.MethodType(compile_function(target.__func__, options, fullgraph, dynamo), target.__self__)
    if not callable(target):
        raise TypeError(f"compile takes a function or a module, got {type(target).__name__}")

    def call(*args, **kwargs):
        return target(*args, **kwargs)

    functools.update_wrapper(call, target, updated=())
    return compile_function(call, options, fullgraph, dynamo)


# Modules -------------------------------------------------------------------------------------------------------------


class _Original:
    """Holds a module without becoming its submodule."""

    __slots__ = ("module", "call", "settings")


_classes = weakref.WeakKeyDictionary()


def _itself(module):
    return module


def _class_for(kind):
    """A class like `kind` whose instances are called through their compiled call."""
    made = _classes.get(kind)
    if made is not None:
        return made

    def __call__(self, *args, **kwargs):
        return self._dynamo_mlir_original.call(*args, **kwargs)

    def __deepcopy__(self, memo):
        held = self._dynamo_mlir_original
        return compile_module(copy.deepcopy(held.module, memo), *held.settings)

    def __reduce_ex__(self, protocol):
        # What is stored is the module as it was: compile it again where it is loaded.
        return _itself, (self._dynamo_mlir_original.module,)

    def __setattr__(self, name, value):
        setattr(self._dynamo_mlir_original.module, name, value)

    def __delattr__(self, name):
        delattr(self._dynamo_mlir_original.module, name)

    body = {"__slots__": ("_dynamo_mlir_original",), "__call__": __call__, "__deepcopy__": __deepcopy__,
            "__reduce_ex__": __reduce_ex__, "__setattr__": __setattr__, "__delattr__": __delattr__, "__module__": kind.__module__,
            "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    made = _classes[kind] = type(kind)(kind.__name__, (kind,), body)
    return made


def _original_of(module):
    return getattr(type(module), "_dynamo_mlir_original", None) and module._dynamo_mlir_original


def compile_module(module, options, fullgraph, dynamo=False):
    """A module that shares everything with the given one (parameters, buffers, attributes, hooks), but is called compiled."""
    held = _original_of(module)
    if held is not None:
        module = held.module
    kind = type(module)
    call = kind.__call__
    if not isinstance(call, types.FunctionType):  # an instance of a class compiled as a whole, or of C
        def call(self, *args, **kwargs):
            return kind.__call__(self, *args, **kwargs)
    held = _Original()
    held.module, held.settings = module, (options, fullgraph, dynamo)
    held.call = types.MethodType(compile_function(call, options, fullgraph, dynamo), module)
    made = object.__new__(_class_for(kind))
    object.__setattr__(made, "__dict__", module.__dict__)
    object.__setattr__(made, "_dynamo_mlir_original", held)
    return made


def compiled_function_of(target):
    """The C++ object behind what compile_any made, or None."""
    if isinstance(target, torch.nn.Module):
        held = _original_of(target)
        target = held.call if held is not None else None
    if isinstance(target, types.MethodType):
        target = target.__func__
    return target if isinstance(target, _C_capture.CompiledFunction) else None


# Switches ------------------------------------------------------------------------------------------------------------

class disabled:
    """`with dynamo_mlir.disabled():` compiled functions run as they are written, on this thread."""

    def __enter__(self):
        _C_capture.push_disabled()
        return self

    def __exit__(self, *raised):
        _C_capture.pop_disabled()

    def __call__(self, function):
        return disable(function)


def disable(function):
    """A function that is never compiled, nor anything that it calls."""
    if isinstance(function, torch.nn.Module):
        function.forward = disable(function.forward)
        return function

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with disabled():
            return function(*args, **kwargs)

    wrapper._dynamo_mlir_disabled = True
    return wrapper


def reset():
    """Drops all that was compiled: every compiled function starts anew."""
    for compiled in list(_doors):
        compiled._capture_reset()
