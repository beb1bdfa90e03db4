# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A just-in-time compiler for PyTorch programs.

    import torch
    model = torch.compile(model, backend="dynamo_mlir")   # or dynamo_mlir.compile(model)

This module imports nothing heavy: torch, MLIR and the compiler are loaded when the first function is compiled.
"""
import sys as _sys

__version__ = "0.1.0"
__all__ = ["compile", "disable", "disabled", "enable", "explain", "reset", "report", "reset_report", "CompileError", "InternalCompilerError"]

_HOMES = {
    "CompileError": "errors",
    "InternalCompilerError": "errors",
    "disable": "capture.door",
    "disabled": "capture.door",
    "enable": "process",
    "explain": "capture.explain",
    "report": "reports",
    "reset": "capture.door",
    "reset_report": "reports",
}


def __getattr__(name):
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, **options):
    """Compiles a function or a module; use it as a decorator too.

    fullgraph: raise CompileError where the function can't be compiled as a whole. dynamic: accepted as torch.compile has it.
    backend: "capture" (CPython runs the first call under observation; what can't be recorded runs in eager PyTorch), "dynamo"
    (torch.compile) or "auto" (capture, and torch.compile for functions that can't be recorded); DYNAMO_MLIR_BACKEND sets the
    default. options: `threads` (int, default torch.get_num_threads() at each call), `target` (name of a machine model,
    default the host), `dump` (folder that receives the IR of every graph), `strict` (bool: raise CompileError where the
    program would otherwise fall back to eager PyTorch), `recompile_limit` (int: kinds of arguments that one function is
    compiled for).
    """
    if model is None:
        return lambda f: compile(f, fullgraph=fullgraph, dynamic=dynamic, backend=backend, **options)
    import os

    from .options import Options, switched_off

    parsed = Options.parse(options)  # A wrong name fails here rather than inside Dynamo.
    backend = backend or os.environ.get("DYNAMO_MLIR_BACKEND") or "auto"
    if backend not in ("auto", "capture", "dynamo"):
        raise ValueError(f"backend must be 'auto', 'capture' or 'dynamo', got {backend!r}")
    if switched_off():
        return model
    if backend != "dynamo":
        from .capture import door

        good, reason = door.supported()
        if good:
            return door.compile_any(model, parsed, fullgraph, dynamo=backend == "auto")
        from .graph import note_fallback

        note_fallback(f"capture does not work here, torch.compile is used: {reason}")
    import torch

    from .backend import compile_fx

    return torch.compile(model, backend=compile_fx, fullgraph=fullgraph, dynamic=dynamic, options=options or None)


def _register():
    """Makes the backend's name known to a torch._dynamo that looked for entry points before we were on the path."""
    registry = _sys.modules.get("torch._dynamo.backends.registry")
    if registry is not None and "dynamo_mlir" not in registry._BACKENDS:
        from importlib.metadata import EntryPoint

        registry._BACKENDS["dynamo_mlir"] = EntryPoint("dynamo_mlir", "dynamo_mlir.backend:compile_fx", "torch_dynamo_backends")


_register()
