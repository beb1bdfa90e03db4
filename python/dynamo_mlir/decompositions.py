# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operators AOTAutograd takes apart.

What the aten dialect has an operation for stays whole: its kernel is better than its parts (a layer norm is one pass over
rows, an attention never makes its score matrix). What it lacks is decomposed to core ATen, and what is left after that is
called as it is.
"""
import functools

import torch

from .importer import op_table

# Whole as well: eager raises for some data (a class or index out of range, a probability above 1), and their parts do not, or
# say something else.
RAISING = frozenset(("aten.binary_cross_entropy.default", "aten.index_copy.default", "aten.index_fill.int_Scalar", "aten.index_fill.int_Tensor",
                     "aten.max_unpool2d.default", "aten.max_unpool3d.default", "aten.nll_loss2d_forward.default", "aten.take.default"))

# Decomposed all the same, though the dialect could say them: the parts fuse and the operator does not.
ALWAYS = ()


@functools.cache
def table():
    from torch._decomp import core_aten_decompositions

    known = op_table()

    def keep(overload):
        name = str(overload)
        # The parts of what draws random numbers draw others.
        random = torch.Tag.nondeterministic_seeded in overload.tags
        return random or name in RAISING or (name in known and name not in ALWAYS)

    return {overload: rule for overload, rule in core_aten_decompositions().items()
            if isinstance(overload, torch._ops.OpOverload) and not keep(overload)}
