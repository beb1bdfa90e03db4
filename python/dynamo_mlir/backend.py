# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The door of torch.compile(backend="dynamo_mlir").

TorchDynamo hands over a graph of the user's Python; AOTAutograd turns it into graphs of ATen operators on values (inference, or
forward and backward), and each of these is compiled by us.
"""
from .options import Options, switched_off


def compile_fx(graph_module, example_inputs, *, options=None, mode=None):
    """A backend in the sense of torch.compile. `mode` is accepted and means nothing here."""
    options = Options.parse(options)
    if switched_off():
        return graph_module.forward
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    from . import decompositions
    from .graph import Graph, boxed

    def compiler(kind):
        return lambda graph, inputs: boxed(Graph(graph, kind, options))

    return aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=min_cut_rematerialization_partition,
        decompositions=decompositions.table(),
    )(graph_module, example_inputs)
