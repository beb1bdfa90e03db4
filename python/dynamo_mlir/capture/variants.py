# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operator on values stands for one that writes, and how a write into a view is a value of what it views.

In-place, out= and foreach operators are found by their schemas; the few that have no counterpart with the same arguments are
written out here.
"""
import functools

import torch

from ..errors import CompileError
from ..layout import inverse, permutation
from .record import Tensor

aten = torch.ops.aten

# The view has its parent's value.
IDENTITY = frozenset((aten.detach.default, aten.alias.default, aten.lift_fresh.default))

# Share memory though their schemas don't say so, or say it with strides.
VIEW_ALIASES = {aten._unsafe_view.default: aten.view.default}

RESHAPES = frozenset((aten.view.default, aten._unsafe_view.default, aten._reshape_alias.default, aten.unsqueeze.default,
                      aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims))

# Their results are of another type than what they write into.
PREDICATES = ("aten::eq", "aten::ne", "aten::lt", "aten::le", "aten::gt", "aten::ge", "aten::logical_", "aten::isin")


def overlaps_itself(sizes, strides):
    """Whether two elements may lie in one place."""
    step = 1
    for stride, size in sorted((s, n) for n, s in zip(sizes, strides) if n > 1):
        if stride < step:
            return True
        step = stride * (size - 1) + step
    return False


def bind(call):
    """Arguments of a call by schema name, in schema order, defaults filled in."""
    bound, args = {}, call.args
    for i, argument in enumerate(call.func._schema.arguments):
        if i < len(args) and not argument.kwarg_only:
            bound[argument.name] = args[i]
        elif argument.name in call.kwargs:
            bound[argument.name] = call.kwargs[argument.name]
        else:
            bound[argument.name] = argument.default_value
    return bound


# Views ---------------------------------------------------------------------------------------------------------------

def part_of(f, call, index):
    """One result of a view operator with several, as a view operator of one: (operator, arguments behind the first)."""
    name = call.func._schema.name
    bound = bind(call)
    tensor = call.args[0]
    dim = bound.get("dim", 0)
    dim += len(tensor.sizes) if dim < 0 else 0
    if name == "aten::unbind":
        return aten.select.int, [dim, index]
    if name in ("aten::split", "aten::split_with_sizes", "aten::unsafe_split", "aten::unsafe_split_with_sizes", "aten::chunk",
                "aten::unsafe_chunk"):
        start = sum(t.sizes[dim] for t in call.results[:index])
        return aten.slice.Tensor, [dim, start, start + call.results[index].sizes[dim], 1]
    raise f.fail("results that are views are not compiled", call.func)


def inverse_view(func, rest, parent, view):
    """(operator, arguments, whether it also takes the parent's value) that gives a view's parent, or None."""
    sizes = parent[1]
    if func in RESHAPES:
        return aten.view.default, [list(sizes)], False
    if func is aten.permute.default:
        return aten.permute.default, [inverse([d % len(sizes) for d in rest[0]])], False
    if func in (aten.transpose.int, aten.t.default):
        return func, rest, False
    if func is aten.slice.Tensor:
        return aten.slice_scatter.default, rest, True
    if func is aten.select.int:
        return aten.select_scatter.default, rest, True
    if func is aten.diagonal.default:
        return aten.diagonal_scatter.default, rest, True
    if func is aten.as_strided.default and not overlaps_itself(view[1], view[2]):
        return aten.as_strided_scatter.default, rest, True
    if func is aten.view.dtype:
        return aten.view.dtype, [parent[0]], False
    if func is aten.expand.default and view[1] == sizes:
        return aten.view.default, [list(sizes)], False
    return None


# Writes --------------------------------------------------------------------------------------------------------------

@functools.cache
def counterpart(func):
    """(operator on values, names of the written arguments in the order of its results), or None."""
    schema = func._schema
    written = tuple(a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write)
    name = schema.name
    if func is aten.normal_.default:
        return aten.normal_functional.default, written
    if func is aten._native_batch_norm_legit.default:
        return None
    if name.endswith("_") and written == ("self",):
        wanted, base = [a.name for a in schema.arguments], name[:-1]
    else:
        wanted, base = [a.name for a in schema.arguments if a.name not in written], name
    namespace, _, plain = base.partition("::")
    packet = getattr(getattr(torch.ops, namespace), plain, None)
    if packet is None:
        return None
    candidates = [getattr(packet, overload) for overload in packet.overloads()]
    candidates.sort(key=lambda c: c._overloadname != func._overloadname)
    for candidate in candidates:
        other = candidate._schema
        if not other.is_mutable and [a.name for a in other.arguments] == wanted and len(other.returns) == len(written):
            kinds = {a.name: str(a.type) for a in schema.arguments}
            if all(str(a.type) == kinds[a.name] for a in other.arguments):
                return candidate, written
    return None


def fit(f, node, target):
    """A value as `target` (a Tensor) holds it: of its dtype and sizes."""
    value = node.meta["val"]
    dtype, sizes = value.dtype, tuple(value.shape)
    if dtype is not target.dtype:
        node = f.emit(aten._to_copy.default, (node,), {"dtype": target.dtype}, (target.dtype, sizes, value.stride(), 0))
    if sizes != target.sizes:
        strides = (0,) * (len(target.sizes) - len(sizes)) + tuple(0 if n == 1 else s for n, s in zip(sizes, value.stride()))
        node = f.emit(aten.expand.default, (node, list(target.sizes)), None, (target.dtype, target.sizes, strides, 0))
    return node


def keeps_type(func, target, tensors):
    """Whether the result is surely of the target's dtype, without asking."""
    if not target.dtype.is_floating_point or func._schema.name.startswith(PREDICATES):
        return False
    return all(t.dtype is target.dtype or not (t.dtype.is_floating_point or t.dtype.is_complex) for t in tensors)


def tensors_in(tree):
    if type(tree) is Tensor:
        return [tree]
    if isinstance(tree, (list, tuple)):
        return [t for item in tree for t in tensors_in(item)]
    return []


def mutation(f, call):
    """An operator that writes into its arguments."""
    func = call.func
    found = counterpart(func)
    if found is None:
        raise f.fail("an operator that writes into its arguments and has no form that returns them", func)
    pure, written = found
    bound = bind(call)
    targets = [bound[name] for name in written]
    if not all(type(t) is Tensor for t in targets):
        raise f.fail("an operator that writes into lists of tensors", func)
    names = [(a.name, a.kwarg_only) for a in pure._schema.arguments]
    args = [f.values(bound[name]) for name, keyword in names if not keyword]
    kwargs = {name: f.values(bound[name]) for name, keyword in names if keyword}
    around = memory_order(targets[0]) if torch.Tag.nondeterministic_seeded in func.tags else None
    if around is not None:
        args[0] = f.emit(aten.permute.default, (args[0], around), None, permuted(targets[0], around))
    sure = len(targets) == 1 and keeps_type(func, targets[0], tensors_in(list(bound.values())))
    layouts = None
    if sure:
        layouts = [targets[0].layout() if around is None else permuted(targets[0], around)]
    nodes = f.emit_all(pure, args, kwargs, layouts, len(targets) == 1)
    if around is not None:
        nodes = [f.emit(aten.permute.default, (nodes[0], inverse(around)), None, targets[0].layout())]
    for target, node in zip(targets, nodes):
        f.write(f.state(target), fit(f, node, target))


def memory_order(tensor):
    """Dims in the order in which random numbers are drawn into a tensor, or None for the plain one."""
    order = permutation(tensor.sizes, tensor.strides)
    return None if order is None or order == sorted(order) else order


def permuted(tensor, order):
    return tensor.dtype, tuple(tensor.sizes[d] for d in order), tuple(tensor.strides[d] for d in order), 0


def element_operator(name, kinds):
    """The operator that a foreach one applies to each element; `kinds` tells of each argument whether it is a tensor or a number."""
    packet = getattr(aten, name, None)
    candidates = [] if packet is None else [getattr(packet, overload) for overload in packet.overloads()]
    for candidate in sorted(candidates, key=lambda c: c._overloadname):
        arguments = [a for a in candidate._schema.arguments if not a.kwarg_only]
        wanted = ["number" if str(a.type) in ("number", "Scalar", "Optional[number]", "Optional[Scalar]") else str(a.type) for a in arguments]
        if candidate._schema.is_mutable or len(arguments) < len(kinds):
            continue
        given = [*kinds, *wanted[len(kinds):]]
        if wanted == given and all(a.has_default_value() for a in arguments[len(kinds):]):
            return candidate
    return None


def foreach(f, call):
    """A foreach operator, element by element."""
    schema = call.func._schema
    name = schema.name[len("aten::_foreach_"):]
    writes = name.endswith("_")
    name = name.rstrip("_")
    bound = bind(call)
    lists = {a.name for a in schema.arguments if isinstance(bound[a.name], list) and str(a.real_type) != "List[int]"}
    selves = bound["self"]
    found = []
    for i, target in enumerate(selves):
        args, kwargs, kinds = [], {}, []
        for a in schema.arguments:
            value = bound[a.name][i] if a.name in lists else bound[a.name]
            if a.kwarg_only or a.name in ("value", "alpha", "scalars") and name in ("addcmul", "addcdiv"):
                kwargs["value" if a.name == "scalars" else a.name] = value
            else:
                args.append(value)
                kinds.append("Tensor" if type(value) is Tensor else "number")
        found.append((target, args, kwargs, kinds))
    # One after the other, as they run: a list may hold what an element before it has written.
    for i, (target, args, kwargs, kinds) in enumerate(found):
        if name == "copy":
            node = f.value(args[1])
        elif name == "zero":
            node = full(f, target, 0)
        else:
            func = element_operator(name, kinds)
            if func is None:
                raise f.fail("a foreach operator without a form for one tensor", call.func)
            layout = [target.layout()] if keeps_type(func, target, tensors_in(args)) else None
            node = f.emit_all(func, f.values(args), {k: f.values(v) for k, v in kwargs.items()}, layout, True)[0]
        if writes:
            f.write(f.state(target), fit(f, node, target))
        else:
            f.define(call.results[i], node)


# Written out -----------------------------------------------------------------------------------------------------------

def full(f, target, value):
    if target.dtype is torch.bool:
        value = bool(value)
    elif not target.dtype.is_floating_point and not target.dtype.is_complex:
        value = int(value)
    kwargs = {"dtype": target.dtype}
    return f.emit(aten.full.default, (list(target.sizes), value), kwargs, target.layout())


def copy_(f, call):
    target, source = call.args[0], call.args[1]
    f.write(f.state(target), fit(f, f.value(source), target))


def fill_(f, call):
    target, value = call.args
    node = fit(f, f.value(value), target) if type(value) is Tensor else full(f, target, value)
    f.write(f.state(target), node)


def zero_(f, call):
    f.write(f.state(call.args[0]), full(f, call.args[0], 0))


def batch_norm(f, call):
    """native_batch_norm writes into its statistics, which its schema does not say."""
    bound = bind(call)
    x, mean, var = bound["input"], bound["running_mean"], bound["running_var"]
    fixed = [f.values(bound[name]) for name in ("input", "weight", "bias")]
    rest = [bound["momentum"], bound["eps"]]
    layouts = [t.layout() for t in call.results]
    training = bound["training"]
    if training and mean is not None:
        func, args = aten._native_batch_norm_legit_functional.default, (*fixed, f.value(mean), f.value(var), True, *rest)
        layouts += [mean.layout(), var.layout()]
    elif training:
        func, args = aten._native_batch_norm_legit.no_stats, (*fixed, True, *rest)
    else:
        func, args = aten._native_batch_norm_legit_no_training.default, (*fixed, f.value(mean), f.value(var), *rest)
    nodes = f.emit_all(func, args, None, layouts, False)
    for tensor, node in zip(call.results, nodes):
        f.define(tensor, node)
    if len(nodes) == 5:
        # The version counters don't see this in eager, if the schema does not tell of it.
        f.write(f.state(mean), nodes[3], not call.func._schema.is_mutable)
        f.write(f.state(var), nodes[4], not call.func._schema.is_mutable)


def index_put(f, call):
    """By a mask, with values that are the same for each place, it chooses between two values."""
    bound = bind(call)
    target, indices, values = bound["self"], bound["indices"], bound["values"]
    masks = [i for i, t in enumerate(indices) if t is not None]
    mask = indices[masks[0]] if len(masks) == 1 else None
    behind = 0 if mask is None else len(target.sizes) - masks[0] - len(mask.sizes)
    same_everywhere = values.sizes[:-behind or None] in ((), (1,)) if len(values.sizes) > behind else True
    if mask is None or mask.dtype is not torch.bool or masks[0] != len(indices) - 1 or not same_everywhere:
        return False
    if masks[0] > 0 and len(values.sizes) > behind + 1:
        return False
    old, new, chosen = f.value(target), f.value(values), f.value(mask)
    if bound["accumulate"]:
        new = f.emit(aten.add.Tensor, (old, new), None, None)
    shape = [*mask.sizes, *[1] * behind]
    strides = (*mask.strides, *[1] * behind)
    if behind:
        chosen = f.emit(aten.view.default, (chosen, shape), None, (torch.bool, tuple(shape), strides))
    node = f.emit(aten.where.self, (chosen, new, old), None, target.layout())
    if call.func._schema.is_mutable:
        f.write(f.state(target), node)
    else:
        f.define(call.results[0], node)
    return True


SPECIAL = {
    aten.index_put_.default: index_put,
    aten.index_put.default: index_put,
    aten._index_put_impl_.default: index_put,
    aten.copy_.default: copy_,
    aten.fill_.Scalar: fill_,
    aten.fill_.Tensor: fill_,
    aten.zero_.default: zero_,
    aten.native_batch_norm.default: batch_norm,
    aten._native_batch_norm_legit.default: batch_norm,
}
