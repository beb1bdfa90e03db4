# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that are not compiled: called by name through torch's dispatcher in the middle of a program.

Operands are tensors over the program's own memory, valid for the call only. Results go back as dense row-major tensors that
own their memory.
"""
import torch

from . import _C
from .errors import InternalCompilerError

# Operators of torch itself do not keep their arguments after they return; others might.
TRUSTED = frozenset(("aten", "prims"))


def overload_of(name):
    """The OpOverload of "aten::add.Tensor" or "aten::relu"."""
    namespace, _, rest = name.partition("::")
    base, _, suffix = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), base), suffix or "default")


def has_effects(op):
    """Whether a second call would not be the same as the first: it draws random numbers, or nothing is known of it."""
    return op.namespace not in TRUSTED or torch.Tag.nondeterministic_seeded in op.tags


def from_text(value, kind):
    """A parsed attribute as the Python value that an argument of this schema type takes."""
    if isinstance(value, str) and "str" not in kind:
        if value.startswith("torch."):
            return getattr(torch, value[len("torch."):])
        return torch.device(value)
    if isinstance(value, list):
        return [from_text(v, kind) for v in value]
    return value


class Extern:
    """One operator call of a program, with its arguments parsed once."""

    def __init__(self, name, args, kwargs, results):
        self.name = name
        self.op = overload_of(name)
        self.results = [(dtype, tuple(sizes)) for dtype, sizes in results]
        schema = self.op._schema.arguments
        kinds = {a.name: str(a.real_type) for a in schema}
        positional = [a for a in schema if not a.kwarg_only]
        self.args = [from_text(v, str(a.real_type)) for v, a in zip(_C.parse_attribute(args), positional)]
        self.kwargs = {k: from_text(v, kinds[k]) for k, v in _C.parse_attribute(kwargs).items()}
        self.copies = self.op.namespace not in TRUSTED
        self.has_effects = has_effects(self.op)

    def __call__(self, operands, done=None):
        """The results as the program wants them; what the operator itself returned is appended to `done`."""
        if self.copies:
            operands = [t.clone() for t in operands]

        def fill(value):
            if isinstance(value, _C.Operand):
                return operands[value.index]
            if isinstance(value, list):
                return [fill(v) for v in value]
            return value

        with torch.no_grad():
            out = self.op(*[fill(v) for v in self.args], **{k: fill(v) for k, v in self.kwargs.items()})
            if done is not None:
                done.append((self.name, out))
            returned = [out] if isinstance(out, torch.Tensor) else [r for r in out or () if r is not None]
            if len(returned) != len(self.results):
                raise InternalCompilerError(f"{self.name} returned {len(returned)} tensors where the graph has {len(self.results)}")
            return [self.own(t, operands, spec) for t, spec in zip(returned, self.results)]

    def own(self, tensor, operands, spec):
        dtype, sizes = spec
        if tuple(tensor.shape) != sizes or tensor.dtype != dtype:
            raise InternalCompilerError(f"{self.name} returned {tensor.dtype} {list(tensor.shape)} where the graph has {dtype} {list(sizes)}")
        tensor = tensor.resolve_conj().resolve_neg().contiguous()
        # A view into an operand would see the program reuse that memory.
        place = tensor.untyped_storage().data_ptr()
        if place and any(place == t.untyped_storage().data_ptr() for t in operands):
            tensor = tensor.clone(memory_format=torch.contiguous_format)
        return tensor
