# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A record as a graph of operators on values.

Tensors that share memory form a family: its root, and views that are chains of view operators from there. The newest value of
the root is what the memory holds; a view is computed anew from its parent where it was written since. A write into a view
becomes a value of its parent (slice_scatter and the like), up to the root. What inputs hold at the end is written back by
the caller, as one copy each.

Operators that the aten dialect lacks are decomposed as for torch.compile's door. Nodes carry meta tensors with the sizes and
strides that the real ones had (fake tensors would load TorchDynamo first); no operator runs again on these, but for the few
whose result type is not clear.
"""
import dataclasses
import operator

import torch
from .. import decompositions
from ..errors import CompileError
from ..importer import op_table
from ..layout import dense_strides, inverse, permutation
from . import variants
from .record import facts_of

aten = torch.ops.aten


@dataclasses.dataclass
class Result:
    """How the caller makes one result: tensor number `index` of the program (`buffer`), a view into it (`view`), or into
    argument number `index` (`arg-view`; `arg-chain`: by these operators)."""

    kind: str
    index: int
    dtype: object = None
    sizes: tuple = ()
    strides: tuple = ()
    offset: int = 0  # of arg-view: added to the argument's own
    chain: tuple = ()
    spent: bool = False  # it carries a graph that backward() has used up


@dataclasses.dataclass
class Functional:
    module: object  # GraphOnly
    num_inputs: int
    results: list
    writes: list  # (input number, number of the program's tensor that it must hold, whether version counters see it)
    random: bool


class Family:
    """Tensors of one storage."""

    __slots__ = ("root", "version", "written", "counted")

    def __init__(self, root):
        self.root = root
        self.version = 0
        self.written = False
        self.counted = False  # seen by version counters


class State:
    """What is known of one tensor: its value at `version` of the family, and how to make it from its parent."""

    __slots__ = ("node", "version", "family", "parent", "view", "layout")

    def __init__(self, family, layout, node=None, parent=None, view=None):
        self.family = family
        self.node = node
        self.version = family.version if node is not None else -1
        self.parent = parent
        self.view = view  # (operator, arguments behind the first)
        self.layout = layout  # dtype, sizes, strides, offset


def on_device(kwargs, device):
    return {**kwargs, "device": device} if kwargs.get("device") is not None else kwargs


class GraphOnly:
    """A graph and its constants, as the importer takes them: without the Python code that a GraphModule makes at once."""

    def __init__(self, graph, attributes):
        self.graph = graph
        self.attributes = attributes
        self.__dict__.update(attributes)

    def module(self):
        root = torch.nn.Module()
        for name, value in self.attributes.items():
            root.register_buffer(name, value)
        return torch.fx.GraphModule(root, self.graph)


class Functionalize:
    def __init__(self, record):
        self.record = record
        self.graph = torch.fx.Graph()
        self.attributes = {}
        self.states = {}
        self.families = {}  # Storage to Family
        self.table = op_table()
        self.location = None
        self.random = False
        self.constants = 0

    # Nodes -----------------------------------------------------------------------------------------------------------

    def fake(self, dtype, sizes, strides):
        return torch.empty_strided(sizes, strides, dtype=dtype, device="meta")

    def fake_like(self, layout):
        return self.fake(*layout[:3])

    def node(self, func, args, kwargs, value):
        made = self.graph.create_node("call_function", func, tuple(args), kwargs or {})
        made.meta["val"] = value
        if self.location is not None:
            made.meta["stack_trace"] = 'File "%s", line %d, in ?' % self.location
        return made

    def emit(self, func, args, kwargs=None, layout=None):
        """An operator of one result, of this layout (dtype, sizes, ...) or, without one, as meta tensors say."""
        return self.emit_all(func, args, kwargs, None if layout is None else [layout], True)[0]

    def emit_all(self, func, args, kwargs, layouts, single):
        """The results of an operator: nodes, or None."""
        kwargs = kwargs or {}
        if self.decomposes(func):
            return self.inline(func, args, kwargs)
        if layouts is None:
            out = self.run_fake(func, args, kwargs)
            values = [out] if isinstance(out, torch.Tensor) else list(out)
        else:
            values = [None if layout is None else self.fake_like(layout) for layout in layouts]
        if single:
            return [self.node(func, args, kwargs, values[0])]
        made = self.node(func, args, kwargs, tuple(values))
        return [None if v is None else self.node(operator.getitem, (made, i), None, v) for i, v in enumerate(values)]

    def decomposes(self, func):
        return str(func) not in self.table and func in decompositions.table()

    def run_fake(self, func, args, kwargs):
        value = lambda tree: torch.fx.map_arg(tree, lambda n: n.meta["val"])
        with torch.no_grad():
            return func(*value(tuple(args)), **on_device(value(kwargs), torch.device("meta")))

    def inline(self, func, args, kwargs):
        """The decomposition of an operator, traced on meta tensors and copied into the graph."""
        from torch.fx.experimental.proxy_tensor import make_fx

        nodes = []
        torch.fx.map_arg((tuple(args), kwargs), lambda n: nodes.append(n) or n)
        nodes = list(dict.fromkeys(nodes))

        def rule(*tensors):
            given = dict(zip(nodes, tensors))
            fill = lambda tree: torch.fx.map_arg(tree, given.__getitem__)
            return func(*fill(tuple(args)), **on_device(fill(kwargs), torch.device("meta")))

        fakes = [self.fake_like((n.meta["val"].dtype, tuple(n.meta["val"].shape), n.meta["val"].stride())) for n in nodes]
        with torch.no_grad(), torch.utils._python_dispatch._disable_current_modes():
            traced = make_fx(rule, decomposition_table=decompositions.table())(*fakes)
        env = {}
        inputs = iter(nodes)
        for n in traced.graph.nodes:
            if n.op == "placeholder":
                env[n] = next(inputs)
            elif n.op == "get_attr":
                env[n] = self.constant(getattr(traced, n.target))
            elif n.op == "call_function":
                if n.target in variants.IDENTITY:
                    env[n] = env[n.args[0]]
                    continue
                fill = lambda tree: torch.fx.map_arg(tree, env.__getitem__)
                env[n] = self.node(n.target, fill(n.args), on_device(fill(n.kwargs), torch.device("cpu")), n.meta["val"])
            else:
                out = n.args[0]
        if isinstance(out, torch.fx.Node):
            return [env[out]]
        return [None if n is None else env[n] for n in out]

    def constant(self, value):
        name = f"constant{self.constants}"
        self.constants += 1
        self.attributes[name] = value
        made = self.graph.create_node("get_attr", name)
        made.meta["val"] = self.fake(value.dtype, tuple(value.shape), value.stride())
        return made

    def fail(self, reason, func=None):
        file, line = self.location or (None, None)
        return CompileError(reason, None if func is None else str(func), file, line)

    # Tensors ---------------------------------------------------------------------------------------------------------

    def family(self, storage):
        found = self.families.get(storage)
        if found is None:
            found = self.families[storage] = Family(storage.root)
        return found

    def define(self, tensor, node):
        """A tensor with memory of its own."""
        family = self.family(tensor.storage)
        family.root = tensor
        self.states[tensor] = State(family, tensor.layout(), node)

    def state(self, tensor):
        found = self.states.get(tensor)
        if found is None:
            if tensor.kind != "constant":
                raise self.fail("a tensor is used that was not recorded")
            self.define(tensor, self.constant(tensor.value))
            found = self.states[tensor]
        return found

    def value(self, tensor):
        """The node of what a tensor holds now."""
        return self.current(self.state(tensor))

    def current(self, state):
        if state.version != state.family.version:
            func, rest = state.view
            base = self.current(state.parent)
            state.node = base if func in variants.IDENTITY else self.emit(func, (base, *rest), None, state.layout)
            state.version = state.family.version
        return state.node

    def values(self, tree):
        if isinstance(tree, list):
            return [self.values(item) for item in tree]
        return self.value(tree) if type(tree).__name__ == "Tensor" else tree

    def view(self, tensor, parent, func, rest):
        """`tensor` shares memory with `parent` (a State)."""
        self.states[tensor] = State(parent.family, tensor.layout(), None, parent, (func, rest))

    def write(self, state, node, silent=False):
        """The memory of a tensor gets a new value; `silent`: its version counter does not see it."""
        if state.parent is None:
            state.family.version += 1
            state.family.written = True
            state.family.counted |= not silent
        else:
            func, rest = state.view
            parent = state.parent
            self.write(parent, self.written_parent(func, rest, parent, state, node), silent)
        state.node = node
        state.version = state.family.version

    def written_parent(self, func, rest, parent, state, node):
        """The value of a view's parent, once the view holds `node`."""
        if func in variants.IDENTITY:
            return node
        layout = parent.layout
        back = variants.inverse_view(func, rest, layout, state.layout)
        if back is None:
            raise self.fail("a write through this view is not compiled", func)
        func, arguments, scatters = back
        if scatters:
            return self.emit(func, (self.current(parent), node, *arguments), None, layout)
        return self.emit(func, (node, *arguments), None, layout)

    # Calls -----------------------------------------------------------------------------------------------------------

    def call(self, call):
        func, facts = call.func, facts_of(call.func)
        self.location = call.location
        self.random |= facts.random and variants.bind(call).get("dropout_p") != 0.0
        special = variants.SPECIAL.get(func)
        if special is not None and special(self, call) is not False:
            return
        if facts.foreach:
            return variants.foreach(self, call)
        if facts.mutable:
            return variants.mutation(self, call)
        viewed = self.viewed(call)
        if viewed is not None:
            return self.record_view(call, viewed)
        layouts = [None if t is None else t.layout() for t in call.results]
        nodes = self.emit_all(func, self.values(call.args), {k: self.values(v) for k, v in call.kwargs.items()}, layouts, call.single)
        for tensor, node in zip(call.results, nodes):
            if tensor is not None and tensor not in self.states:
                self.define(tensor, node)

    def viewed(self, call):
        """The argument whose memory the results share, or None."""
        shared = [t for t in call.results if t is not None and t.source is not call or t is not None and t.storage.root is not t]
        # Results that are views of a result before them (which no operator of torch's gives) count as shared, too.
        if not shared:
            return None
        if len(shared) != len([t for t in call.results if t is not None]):
            raise self.fail("some of its results are views", call.func)
        for argument in call.args:
            if type(argument).__name__ == "Tensor" and argument.storage is shared[0].storage:
                return argument
        raise self.fail("its result shares memory with something unknown", call.func)

    def record_view(self, call, parent):
        func = call.func
        if call.single and call.results[0] is parent:
            return
        base = self.state(parent)
        rest = list(call.args[1:])
        if call.kwargs:
            rest, kwargs = variants.positional(func, call)
        for index, tensor in enumerate(call.results):
            if tensor in self.states:
                continue
            single, arguments = (func, rest) if call.single else variants.part_of(self, call, index)
            if single is aten.as_strided.default:
                self.view_strided(tensor, base, arguments)
            else:
                self.view(tensor, base, variants.VIEW_ALIASES.get(single, single), arguments)

    def view_strided(self, tensor, base, rest):
        """as_strided looks at memory: of the root, in the order in which it lies there."""
        root = base
        while root.parent is not None:
            root = root.parent
        dtype, sizes, strides, offset = root.layout
        if base.layout[0] is not dtype:
            raise self.fail("as_strided of a view of another dtype is not compiled")
        order = permutation(sizes, strides)
        if order is None:
            raise self.fail("as_strided of a tensor with gaps is not compiled")
        if order != sorted(order):
            physical = tuple(sizes[d] for d in order)
            layout = (dtype, physical, tuple(dense_strides(physical)), offset)
            root = State(root.family, layout, None, root, (aten.permute.default, [order]))
        arguments = list(tensor.sizes), list(tensor.strides), tensor.offset - offset
        self.states[tensor] = State(root.family, tensor.layout(), None, root, (aten.as_strided.default, list(arguments)))

    # The whole record ------------------------------------------------------------------------------------------------

    def run(self):
        record = self.record
        count = max(record.inputs, default=-1) + 1
        for number in range(count):
            made = self.graph.create_node("placeholder", f"input{number}", (), {}, f"input{number}")
            tensor = record.inputs.get(number)
            made.meta["val"] = None if tensor is None else self.fake_like(tensor.layout())
            if tensor is not None:
                self.define(tensor, made)
        for call in record.calls:
            self.call(call)
        self.location = None
        self.check_inputs()
        self.returned = []
        self.taken = set()
        results = self.results()
        writes = []
        for tensor in record.inputs.values():
            family = self.states[tensor].family
            if family.written:
                writes.append((tensor.source, self.give(self.value(tensor), tensor.layout()), family.counted))
        self.graph.output(tuple(self.returned))
        self.graph.eliminate_dead_code()
        return Functional(GraphOnly(self.graph, self.attributes), count, results, writes, self.random)

    def check_inputs(self):
        """A written input must share its memory with no other."""
        by_memory = {}
        for tensor in self.record.inputs.values():
            by_memory.setdefault(tensor.storage.identity, []).append(tensor)
        for tensors in by_memory.values():
            if len(tensors) > 1 and any(self.states[t].family.written for t in tensors):
                raise self.fail("inputs that share memory are written")
            for t in tensors:
                if self.states[t].family.written and variants.overlaps_itself(t.sizes, t.strides):
                    raise self.fail("an input that overlaps itself is written")

    def give(self, node, layout):
        """Number of the program's tensor that gets this value; each is new memory."""
        dtype, sizes, strides, _ = layout
        as_stored = any(user.target is aten.as_strided.default for user in node.users)
        if node.op == "call_function" and node not in self.taken and not as_stored:
            if node.meta["val"].stride() != strides:
                node.meta["val"] = self.fake(dtype, sizes, strides)
        else:
            node = self.node(aten.clone.default, (node,), None, self.fake(dtype, sizes, strides))
        self.taken.add(node)
        self.returned.append(node)
        return len(self.returned) - 1

    def chain(self, tensor):
        """The view operators that lead from an input to a tensor."""
        state, chain = self.state(tensor), []
        while state.parent is not None:
            if state.view[0] is aten.as_strided.default:
                raise self.fail("a view of an input in another dtype leaves")
            chain.insert(0, state.view)
            state = state.parent
        return chain

    def results(self):
        outputs = self.record.outputs
        members = {}
        for tensor in outputs:
            members.setdefault(self.state(tensor).family, []).append(tensor)
        if any(tensor.spent and tensor.storage.root.kind == "input" for tensor in outputs):
            raise self.fail("a view of an input leaves with a graph that was used up")
        bases, results = {}, []
        for tensor in outputs:
            family = self.state(tensor).family
            root = family.root
            if root.kind == "input":
                if tensor.dtype is not root.dtype:
                    results.append(Result("arg-chain", root.source, chain=self.chain(tensor)))
                    continue
                results.append(Result("arg-view", root.source, tensor.dtype, tensor.sizes, tensor.strides, tensor.offset - root.offset))
            elif len(members[family]) == 1:
                results.append(Result("buffer", self.give(self.value(tensor), tensor.layout())))
            else:
                if family not in bases:
                    if permutation(root.sizes, root.strides) is None:
                        raise self.fail("results that share a memory with gaps leave")
                    bases[family] = self.give(self.value(root), root.layout())
                if tensor.layout() == root.layout():
                    results.append(Result("buffer", bases[family]))
                else:
                    results.append(Result("view", bases[family], *tensor.layout()))
            results[-1].spent = tensor.spent
        return results


def functionalize(record):
    """The record as values; raises CompileError if something in it can't be told that way."""
    if record.void:
        raise CompileError(record.reason)
    return Functionalize(record).run()
