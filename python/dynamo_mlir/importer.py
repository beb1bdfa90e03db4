# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FX graphs of ATen operators to the aten dialect.

Every operator becomes the aten operation that the table generated from the dialect names for its overload, or else
`aten.extern`. Values that are not tensors (sizes, scalars) are constants here: a graph is imported for one set of sizes,
given by `values` (node to fake tensor or number).

Strides never enter the IR. A permuted-dense input comes in as its physical shape and `aten.permute`; what leaves is the
physical, row-major value, and `Output` says how the caller must show it.
"""
import dataclasses
import functools
import json
import linecache
import math
import operator
import os
import re
import types

import torch

from . import _C
from .errors import CompileError
from .layout import dense_strides, inverse, permutation, same_layout

DTYPES = {
    torch.uint8: 0,
    torch.int8: 1,
    torch.int16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.float16: 5,
    torch.float32: 6,
    torch.float64: 7,
    torch.bool: 11,
    torch.bfloat16: 15,
}

# Arguments that the result's type or the strides of the caller's tensors say already.
DROPPED = frozenset(("dtype", "layout", "device", "pin_memory", "memory_format", "non_blocking", "generator"))

# Checks that tracing has answered, and notes to other compilers.
NO_EFFECT = frozenset(("aten._assert_tensor_metadata.default", "aten._assert_scalar.default", "aten.sym_constrain_range.default",
                       "aten.sym_constrain_range_for_size.default"))

# The value is its operand's.
IDENTITY = frozenset(("aten.alias.default", "aten.detach.default", "aten.lift_fresh.default", "aten.lift_fresh_copy.default",
                      "aten.lift.default"))


@functools.cache
def op_table():
    with open(os.path.join(os.path.dirname(__file__), "_aten_ops.json")) as file:
        return json.load(file)


@dataclasses.dataclass(frozen=True)
class Input:
    """An argument of the program. `strides` is the layout that it must have; if `repack`, the caller may copy another
    layout into that, else other strides need another program. `value` is the tensor itself for a constant of the graph."""

    sizes: tuple
    strides: tuple
    dtype: int
    repack: bool
    position: int = -1
    value: object = None


@dataclasses.dataclass(frozen=True)
class Output:
    """One value of the graph's result.

    kind: `const` (value), `arg` (argument number index), `arg-view` (a view into that argument's storage), `buffer` (the
    program's output number index shown with these strides), `spread` (that output, dense, to be copied into a layout with
    gaps), `view` (a view into the storage of result number index).
    """

    kind: str
    index: int = -1
    sizes: tuple = ()
    strides: tuple = ()
    offset: int = 0
    dtype: int = -1
    value: object = None


@dataclasses.dataclass
class Imported:
    module: object
    inputs: list
    outputs: list
    buffers: list  # (dtype, sizes) of the program's outputs
    externs: dict  # overload name to number of calls that have no aten operation
    flops: dict  # overload name to (calls, operations)
    num_ops: int


def position_of(node):
    """(file, line, column) of the user's line that made a node, or (None, 0, 0)."""
    trace = node.meta.get("stack_trace") or ""
    frames = re.findall(r'File "(.+?)", line (\d+)', trace)
    if not frames:
        return None, 0, 0
    file, line = frames[-1][0], int(frames[-1][1])
    text = linecache.getline(file, line)
    return file, line, len(text) - len(text.lstrip()) + 1


def unsupported(reason, node=None, op=None):
    file, line, _ = position_of(node) if node is not None else (None, 0, 0)
    return CompileError(reason, op or (str(node.target) if node is not None else None), file, line)


def static(value, node):
    """A size or scalar as a plain number."""
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        known = value.node.maybe_as_int() if isinstance(value, torch.SymInt) else None
        if known is None:
            raise unsupported("the size depends on data or is not known yet", node)
        return known
    return value


def qualified(overload):
    """"aten::add.Tensor"; the default overload has no suffix."""
    name = overload._schema.name
    return f"{name}.{overload._schema.overload_name}" if overload._schema.overload_name else name


def overload_named(name):
    """The OpOverload of "aten.permute.default"."""
    return functools.reduce(getattr, name.split("."), torch.ops)


class Importer:
    def __init__(self, graph_module, values=None, device="cpu"):
        self.device = device
        self.graph_module = graph_module
        self.values = values
        self.builder = _C.GraphBuilder()
        self.env = {}
        self.numbers = {}
        self.inputs, self.placeholders = [], []
        self.externs, self.flops = {}, {}
        self.num_ops = 0
        self.table = op_table()

    # Values ----------------------------------------------------------------------------------------------------------

    def value_of(self, node):
        if not isinstance(node, torch.fx.Node):
            return node.value
        if self.values is not None:
            return self.values[node]
        return node.meta.get("val")

    def tensor(self, value, node):
        """(dtype number, sizes, strides) of a fake tensor; what is not a plain CPU tensor is not compiled."""
        if value.layout != torch.strided or value.is_quantized:
            raise unsupported(f"tensors of layout {value.layout} are not compiled", node)
        if value.device.type != self.device and value.device.type != "cpu":
            raise unsupported(f"tensors on {value.device} are not compiled", node)
        number = DTYPES.get(value.dtype)
        if number is None:
            raise unsupported(f"{value.dtype} is not compiled", node)
        sizes = tuple(static(n, node) for n in value.shape)
        strides = tuple(static(n, node) for n in value.stride())
        return number, sizes, strides

    def add_input(self, value, node, position=-1, constant=None):
        dtype, sizes, strides = self.tensor(value, node)
        if value.is_neg() or value.is_conj():
            raise unsupported("lazily negated or conjugated tensors are not compiled", node)
        expanded = [i for i, (n, s) in enumerate(zip(sizes, strides)) if n > 1 and s == 0]
        reduced = tuple(1 if i in expanded else n for i, n in enumerate(sizes))
        order = permutation(reduced, strides)
        if order is None:
            # Not dense even so: the caller makes it contiguous.
            expanded, reduced, order = [], sizes, list(range(len(sizes)))
            strides = tuple(dense_strides(sizes))
        self.inputs.append(Input(sizes, strides, dtype, not expanded, position, constant))
        physical = [reduced[d] for d in order]
        number = self.builder.add_input(dtype, physical)
        where = ("", 0, 0, node.name)
        if order != sorted(order):
            number = self.emit("aten.permute.default", [number], {"dims": ("ints", inverse(order))}, [(dtype, reduced)], where)
        if expanded:
            number = self.emit("aten.expand.default", [number], {"size": ("ints", sizes)}, [(dtype, sizes)], where)
        return number

    def number(self, value, node):
        """An arith.constant of a Python number, made once."""
        value = static(value, node)
        if isinstance(value, complex):
            raise unsupported("complex numbers are not compiled", node)
        key = (type(value), math.copysign(1, value) if isinstance(value, float) else 0, repr(value))
        if key not in self.numbers:
            if isinstance(value, bool):
                made = self.builder.add_bool(value)
            elif isinstance(value, int):
                if not -(2**63) <= value < 2**63:
                    raise unsupported(f"the number {value} has more than 64 bits", node)
                made = self.builder.add_int(value)
            else:
                made = self.builder.add_float(float(value))
            self.numbers[key] = made
        return self.numbers[key]

    # Operations ------------------------------------------------------------------------------------------------------

    def emit(self, overload, operands, attributes, results, where):
        """An operation that the graph does not have, by overload, all operands single. Returns the first result's number."""
        entry = self.table[overload]
        target = overload_named(overload)
        attributes = {**attributes, "aten.overload": qualified(target), "aten.schema": [a.name for a in target._schema.arguments]}
        return self.builder.op("aten." + entry["mnemonic"], operands, attributes, results, where)

    def result_types(self, node):
        """Types of an operator's results, None where it returns none, and whether it returns one bare tensor."""
        value = self.value_of(node)
        single = isinstance(value, torch.Tensor)
        values = [value] if single else [] if value is None else list(value)
        results = []
        for v in values:
            if v is None:
                results.append(None)
            elif isinstance(v, torch.Tensor):
                results.append(self.tensor(v, node)[:2])
            else:
                raise unsupported("the operator returns something that is not a tensor", node)
        return results, single

    def call(self, node):
        target = node.target
        value = self.value_of(node)
        if target is operator.getitem:
            return self.env[node.args[0]][node.args[1]]
        if isinstance(value, (int, float, bool, torch.SymInt, torch.SymFloat, torch.SymBool)):
            return None  # a constant; users read it through value_of
        if getattr(target, "__name__", None) == "with_effects":
            # (token, operator, its arguments) -> (token, results): calls that are extern keep their order anyway.
            # Tokens that say so have no value: AOTAutograd passes None at run time.
            _, inner, *args = node.args
            rest = value[1:] if len(value) != 2 else value[1]
            call = types.SimpleNamespace(target=inner, args=args, kwargs=node.kwargs, meta=node.meta, name=node.name, value=rest)
            made = self.call(call)
            return [None, *(made if isinstance(made, list) else [made])]
        if not isinstance(target, torch._ops.OpOverload):
            raise unsupported(f"{getattr(target, '__name__', target)} is not an operator of the dispatcher", node)
        name = str(target)
        if name in NO_EFFECT:
            return None
        if name in IDENTITY:
            return self.env[node.args[0]]
        bound = self.bind(node)
        if depends_on_strides(target):
            bound = self.by_storage(node, bound)
        results, single = self.result_types(node)
        file, line, column = position_of(node)
        where = (file or "", line, column, node.name)
        self.num_ops += 1
        self.count_flops(node, qualified(target))
        entry = self.table.get(name)
        made = None
        if entry is not None and not draws_random_numbers(target, bound):
            made = self.call_aten(node, entry, bound, results, where)
        if made is None:
            made = self.call_extern(node, bound, results, where)
        return made[0] if single else made

    def bind(self, node):
        """Arguments of a node by schema name, in schema order, defaults filled in."""
        schema = node.target._schema
        bound, positional = {}, list(node.args)
        for i, argument in enumerate(schema.arguments):
            if i < len(positional) and not argument.kwarg_only:
                bound[argument.name] = positional[i]
            elif argument.name in node.kwargs:
                bound[argument.name] = node.kwargs[argument.name]
            elif argument.has_default_value():
                bound[argument.name] = argument.default_value
            else:
                raise unsupported(f"argument {argument.name} is missing", node)
        return bound

    def resolve(self, argument):
        """An FX argument with nodes that are numbers replaced by the numbers."""
        if isinstance(argument, torch.fx.Node):
            value = self.value_of(argument)
            return argument if isinstance(value, torch.Tensor) else static(value, argument)
        if isinstance(argument, (list, tuple)):
            return [self.resolve(a) for a in argument]
        return argument

    def operand(self, argument, node):
        """Number of an SSA value: a tensor or a Python number."""
        argument = self.resolve(argument)
        if isinstance(argument, torch.fx.Node):
            return self.env[argument]
        if isinstance(argument, (bool, int, float, complex)) or isinstance(argument, (torch.SymInt, torch.SymFloat)):
            return self.number(argument, node)
        raise unsupported(f"{argument!r} is neither a tensor nor a number", node)

    def call_aten(self, node, entry, bound, results, where):
        """The results of the table's operation, or None if this use of the overload does not fit it."""
        left = dict(bound)
        operands, segments, attributes = [], [], {}
        for spec in entry["operands"]:
            name, kind = spec["name"], spec["kind"]
            argument = self.resolve(left.pop(name, spec.get("default")))
            if kind == "variadic":
                items = argument or []
                if name == "indices":  # Tensor?[]: which entries are there
                    attributes["indices_present"] = ("bools", [a is not None for a in items])
                    items = [a for a in items if a is not None]
                    if any(self.value_of(a).dtype in (torch.bool, torch.uint8) for a in items):
                        return None  # how many elements a mask chooses depends on values
                numbers = [self.operand(a, node) for a in items]
            elif argument is None:
                if kind != "optional":
                    return None
                numbers = []
            elif isinstance(argument, (list, str)) or (kind == "tensor" and not isinstance(argument, torch.fx.Node)):
                return None
            else:
                numbers = [self.operand(argument, node)]
            operands += numbers
            segments.append(len(numbers))
        schema = {a.name: a for a in node.target._schema.arguments}
        for spec in entry["attrs"]:
            name = spec["name"]
            if name not in left:
                if name in attributes or spec["optional"] or "default" in spec:
                    continue
                return None
            argument = self.resolve(left.pop(name))
            if argument is None:
                if spec["optional"]:
                    continue
                if "default" not in spec:
                    return None
                argument = spec["default"]
            made = attribute(spec["kind"], argument, schema[name])
            if made is None:
                return None
            attributes[name] = made
        ignored = {}
        for name, argument in left.items():
            argument = self.resolve(argument)
            # What the operator ignores is kept for the case that it is called after all; None too where that is no default.
            needed = name in entry["ignored"] and not schema[name].has_default_value()
            if name in DROPPED or (same_as_default(argument, schema[name]) and not needed):
                continue
            if name not in entry["ignored"]:
                return None
            ignored[name] = argument
        if entry["segments"]:
            attributes["operandSegmentSizes"] = ("int32s", segments)
        # Results: None is an absent optional one.
        present = [t for t in results if t is not None]
        specs = entry["results"]
        if len(specs) == 1 and specs[0]["kind"] == "variadic":
            result_segments = [len(present)]
        elif len(specs) != len(results):
            return None
        else:
            result_segments = [int(t is not None) for t in results]
            if any(t is None and spec["kind"] != "optional" for t, spec in zip(results, specs)):
                return None
        if entry["result_segments"]:
            attributes["resultSegmentSizes"] = ("int32s", result_segments)
        attributes["aten.overload"] = qualified(node.target)
        attributes["aten.schema"] = list(schema)
        if ignored and all(v is None or isinstance(v, (bool, int, float, str, list)) for v in ignored.values()):
            attributes["aten.ignored"] = ignored
        first = self.builder.op("aten." + entry["mnemonic"], operands, attributes, present, where)
        return number_results(results, first)

    def call_extern(self, node, bound, results, where):
        schema = node.target._schema
        if schema.is_mutable:
            raise unsupported("an operator that writes into its arguments is not compiled", node)
        for argument in schema.arguments:
            if argument.name == "generator" and bound.get("generator") is not None:
                raise unsupported("a generator of the user's own is not compiled", node)
        operands = []

        def convert(argument):
            if isinstance(argument, torch.fx.Node):
                operands.append(self.env[argument])
                return _C.Operand(len(operands) - 1)
            if isinstance(argument, list):
                return [convert(a) for a in argument]
            if argument is None or isinstance(argument, (bool, int, float, str)):
                return argument
            if isinstance(argument, (torch.dtype, torch.layout, torch.memory_format, torch.device)):
                return str(argument)
            raise unsupported(f"an argument of type {type(argument).__name__} is not compiled", node)

        args, kwargs = [], {}
        for argument in schema.arguments:
            value = convert(self.resolve(bound[argument.name]))
            if argument.kwarg_only:
                kwargs[argument.name] = value
            else:
                args.append(value)
        name = qualified(node.target)
        self.externs[name] = self.externs.get(name, 0) + 1
        attributes = {"name": name, "args": args, "kwargs": kwargs}
        present = [t for t in results if t is not None]
        first = self.builder.op("aten.extern", operands, attributes, present, where)
        return number_results(results, first)

    def by_storage(self, node, bound):
        """as_strided addresses memory, so its operand must lie in memory as in eager."""
        source = self.resolve(bound["self"])
        value = self.value_of(source)
        _, sizes, strides = self.tensor(value, node)
        if not same_layout(sizes, strides, dense_strides(sizes)):
            raise unsupported("as_strided of a tensor that is not contiguous is not compiled", node)
        start = static(value.storage_offset(), node)
        offset = bound.get("storage_offset")
        offset = start if offset is None else self.resolve(offset)
        size, stride = self.resolve(bound["size"]), self.resolve(bound["stride"])
        last = offset + sum((n - 1) * s for n, s in zip(size, stride)) if 0 not in size else offset
        if offset < start or last >= start + max(math.prod(sizes), 1):
            raise unsupported("as_strided reaches beyond its operand", node)
        return dict(bound, storage_offset=offset - start)

    def count_flops(self, node, name):
        from torch.utils.flop_counter import flop_registry

        formula = flop_registry.get(node.target._overloadpacket)
        calls, total = self.flops.get(name, (0, 0))
        work = 0
        if formula is not None:
            fakes = lambda tree: torch.fx.map_arg(tree, self.value_of)
            try:
                work = int(formula(*fakes(node.args), **fakes(node.kwargs), out_val=self.value_of(node)))
            except Exception:  # a formula that does not know this use: counts as no arithmetic
                work = 0
        self.flops[name] = (calls + 1, total + work)

    # The whole graph -------------------------------------------------------------------------------------------------

    def run(self):
        result = None
        for node in self.graph_module.graph.nodes:
            if node.op == "placeholder":
                position = len(self.placeholders)
                self.placeholders.append(node)
                value = self.value_of(node)
                if is_token(node):
                    self.env[node] = None
                elif isinstance(value, torch.Tensor) and node.users:
                    self.env[node] = self.add_input(value, node, position)
            elif node.op == "get_attr":
                value = functools.reduce(getattr, node.target.split("."), self.graph_module)
                if not isinstance(value, torch.Tensor):
                    raise unsupported(f"{node.target} is not a tensor", node)
                node.meta.setdefault("val", value)
                if self.values is not None:
                    self.values[node] = value
                self.env[node] = self.add_input(value, node, constant=value)
            elif node.op == "call_function":
                self.env[node] = self.call(node)
            elif node.op == "output":
                result = node.args[0]
            else:
                raise unsupported(f"{node.op} nodes are not compiled", node)
        outputs, returned, buffers = self.plan_outputs(list(result) if isinstance(result, (list, tuple)) else [result])
        module = self.builder.finish(returned)
        return Imported(module, self.inputs, outputs, buffers, self.externs, self.flops, self.num_ops)

    def plan_outputs(self, results):
        storage = lambda value: value.untyped_storage()._cdata
        no_value = lambda r: isinstance(r, torch.fx.Node) and r.op == "call_function" and self.env[r] is None and isinstance(self.value_of(r), torch.Tensor)
        results = [None if no_value(r) else r for r in results]  # tokens of effects
        of_argument = {}
        for i, node in enumerate(self.placeholders):
            value = self.value_of(node)
            if isinstance(value, torch.Tensor):
                of_argument.setdefault(storage(value), i)
        # A result that spans its whole storage is the base of the others there.
        bases = {}
        for i, node in enumerate(results):
            value = self.value_of(node) if isinstance(node, torch.fx.Node) else None
            if isinstance(value, torch.Tensor) and storage(value) not in of_argument:
                _, sizes, strides = self.tensor(value, node)
                spans = value.storage_offset() == 0 and permutation(sizes, strides) is not None
                if spans and value.untyped_storage().nbytes() == value.numel() * value.element_size():
                    bases.setdefault(storage(value), i)
        outputs, returned, buffers = [], [], []
        for i, node in enumerate(results):
            if not isinstance(node, torch.fx.Node):
                outputs.append(Output("const", value=node))
                continue
            value = self.value_of(node)
            if not isinstance(value, torch.Tensor):
                outputs.append(Output("const", value=None if value is None else static(value, node)))
                continue
            dtype, sizes, strides = self.tensor(value, node)
            offset = static(value.storage_offset(), node)
            argument = of_argument.get(storage(value))
            base = bases.get(storage(value), i)
            if node.op == "placeholder":
                outputs.append(Output("arg", self.placeholders.index(node)))
            elif argument is not None:
                source = self.value_of(self.placeholders[argument])
                shift = offset - static(source.storage_offset(), node)
                outputs.append(Output("arg-view", argument, sizes, strides, shift, dtype))
            elif base != i:
                outputs.append(Output("view", base, sizes, strides, offset, dtype))
            else:
                number = self.env[node]
                order = permutation(sizes, strides)
                where = ("", 0, 0, node.name)
                if order is None:
                    outputs.append(Output("spread", len(returned), sizes, strides, 0, dtype))
                    physical = sizes
                else:
                    outputs.append(Output("buffer", len(returned), sizes, strides, 0, dtype))
                    physical = tuple(sizes[d] for d in order)
                    if order != sorted(order):
                        number = self.emit("aten.permute.default", [number], {"dims": ("ints", order)}, [(dtype, physical)], where)
                returned.append(number)
                buffers.append((dtype, physical))
        return outputs, returned, buffers


def is_token(node):
    """A placeholder that only orders operators with effects."""
    return bool(node.users) and all(getattr(user.target, "__name__", None) == "with_effects" and user.args[0] is node for user in node.users)


def draws_random_numbers(overload, bound):
    """Then it is called as it is, so that the numbers equal eager's for the same seed."""
    return torch.Tag.nondeterministic_seeded in overload.tags and bound.get("dropout_p") != 0.0


def depends_on_strides(overload):
    return overload._schema.name in ("aten::as_strided", "aten::as_strided_copy", "aten::as_strided_scatter")


def same_as_default(argument, schema):
    return argument is None or (schema.has_default_value() and argument == schema.default_value)


def number_results(results, first):
    """Numbers of the results that are there, None for the others."""
    numbers = []
    for t in results:
        numbers.append(None if t is None else first)
        first += t is not None
    return numbers


def attribute(kind, argument, schema):
    """An attribute of the table's type, or None if the argument is not of that kind."""
    if kind == "int":
        return int(argument) if isinstance(argument, (int, bool)) else None
    if kind == "float":
        return float(argument) if isinstance(argument, (int, float)) else None
    if kind == "bool":
        return bool(argument) if isinstance(argument, (int, bool)) else None
    if kind == "str":
        return argument if isinstance(argument, str) else None
    items = list(argument) if isinstance(argument, (list, tuple)) else [argument] * (schema.N or 1)
    numbers = {"ints": int, "bools": bool, "floats": (int, float)}.get(kind)
    if numbers is None or not all(isinstance(item, numbers) for item in items):
        return None
    return (kind, items)


def import_graph(graph_module, values=None, device="cpu"):
    """`device`: where the values lie that stand for tensors on the CPU; capture has meta tensors for them."""
    return Importer(graph_module, values, device).run()
