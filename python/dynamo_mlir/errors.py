# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two kinds of failure: the user's program, and ourselves.

Neither reaches the user unless `strict=True`: a graph that can't be compiled runs in eager PyTorch.
"""
import linecache


class CompileError(RuntimeError):
    """Something in the user's program that is not compiled. `file`, `line` and `op` say where, if known."""

    def __init__(self, reason, op=None, file=None, line=None):
        self.reason, self.op, self.file, self.line = reason, op, file, line
        super().__init__(self._text())

    def where(self):
        return f"{self.file}:{self.line}" if self.file else "an unknown line"

    def _text(self):
        text = f"{self.reason}"
        if self.op:
            text = f"{self.op}: {text}"
        if self.file:
            text += f" (at {self.where()})"
            excerpt = linecache.getline(self.file, self.line).rstrip()
            if excerpt:
                text += f"\n{self.line:6d} | {excerpt}"
        return text


class Refused(Exception):
    """The data is such that an operator raises in eager PyTorch: the graph must run there. Never reaches the user.

    `done` lists (name, result) of the operators with effects that have run already and must not run again, in order.
    """

    done = ()


class InternalCompilerError(RuntimeError):
    """A fault of ours. `folder` holds the graph's IR, `command` reproduces the failure without Python."""

    def __init__(self, message, folder=None, command=None):
        self.folder, self.command = folder, command
        if command:
            message += f"\nthe IR is saved; to reproduce:\n  {command}"
        super().__init__(message)
