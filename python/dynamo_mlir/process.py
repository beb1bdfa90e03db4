# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Capture for a whole process: `dynamo_mlir.enable()` and `python -m dynamo_mlir`.

What is warm and does tensor work is recorded and compiled, frame by frame; nothing is named and nothing changes in the
program. Capture/Heat.cpp decides what is warm.
"""
import logging
import os
import sys
import sysconfig

from .options import Options, log_kinds, switched_off

log = logging.getLogger("dynamo_mlir")


def _is_ours(filename):
    """Whether code of this file may be recorded: not the standard library's, nor what runs operators inside of torch."""
    if filename.startswith("<"):
        return not filename.startswith("<frozen")
    path = os.path.abspath(filename)
    if path.startswith(os.path.dirname(os.path.abspath(__file__)) + os.sep):
        return False
    torch = getattr(sys.modules.get("torch"), "__file__", None)
    if torch is not None:
        folder = os.path.dirname(torch)
        if path.startswith(folder + os.sep):
            modules = os.path.join(folder, "nn", "modules") + os.sep
            return path.startswith(modules) and not path.endswith(os.sep + "module.py")
    library = sysconfig.get_paths()["stdlib"] + os.sep
    return not path.startswith(library) or path.startswith(library + "site-packages" + os.sep)


class enable:
    """Captures everything that is warm in this process from now on.

    Options are those of `dynamo_mlir.compile`. The result ends it again, by `disable()` or at the end of a `with` block;
    segments that were compiled stay for the next time.
    """

    def __init__(self, **options):
        self.options = Options.parse(options)
        self.on = False
        if switched_off():
            return
        from . import _C

        self._door = None
        self.on, reason = _C.capture.enable(self._program, self._note, _is_ours, self.options.recompile_limit)
        if not self.on:
            log.warning("capture does not work here, the program runs as it is: %s", reason)

    def _program(self, record):
        if self._door is None:  # torch is there now
            from .capture.door import Door

            self._door = Door(self.options, False)
        return self._door.program(record)

    def _note(self, code, unit, text):
        if "breaks" in log_kinds():
            log.warning("breaks: %s (%s:%s), unit %s: %s", code.co_qualname, code.co_filename, code.co_firstlineno, unit, text)

    def disable(self):
        if self.on:
            from . import _C

            self.on = False
            _C.capture.disable()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.disable()
