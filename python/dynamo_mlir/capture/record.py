# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that ran while a stretch of Python was observed.

A dispatch mode sits below autograd: it runs every ATen operator as it comes and notes the call, with tensors replaced by
`Tensor` records. Real tensors are held by weak reference only, so the first call's memory peak is eager's; what is needed
of them (sizes, strides, storage) is noted at once as plain data. A record that meets something which later calls could not
repeat is void: it says why, and goes on running operators.
"""
import functools
import weakref

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Values of Python data that are kept with the program (torch.tensor([...])).
MAX_CONSTANT = 1 << 16

# Layouts and storages change under the tensor's other users, or bits that we don't follow.
REFUSED = frozenset(("aten::set_", "aten::resize_", "aten::resize_as_", "aten::_conj", "aten::_neg_view", "aten::_conj_physical_",
                     "aten::view_as_complex", "aten::view_as_real", "aten::_fw_primal", "aten::_make_dual", "aten::pin_memory",
                     "aten::_pin_memory", "aten::record_stream", "aten::_resize_output_", "aten::rename_", "aten::swapdims_"))

# Change the layout of the tensor itself: the same as the view with a new name.
RESHAPING = {"aten::t_": "t", "aten::transpose_": "transpose", "aten::unsqueeze_": "unsqueeze", "aten::squeeze_": "squeeze",
             "aten::as_strided_": "as_strided"}

INDEXING = frozenset(("aten::index", "aten::_unsafe_index"))

TENSOR = torch._C.TensorType.get()

CLASSES = frozenset((torch.Tensor, torch.nn.Parameter))


# Their results hold what the memory held before.
UNSET = ("aten::empty", "aten::new_empty", "aten::empty_like", "aten::empty_strided", "aten::new_empty_strided")


class Storage:
    """Memory that tensors of a record share; `root` is the first of them."""

    __slots__ = ("root", "identity", "varies")

    def __init__(self, root, identity, varies):
        self.root = root
        self.identity = identity  # torch's own number: it may come again after the storage has died
        self.varies = varies  # other calls may find other values there


class Tensor:
    """One tensor of a record: an input, a constant or the result of an operator."""

    __slots__ = ("kind", "source", "dtype", "sizes", "strides", "offset", "requires_grad", "is_leaf", "spent", "storage", "value", "number")

    def __init__(self, kind, source, real, number):
        self.kind = kind  # input, constant, result
        self.source = source  # the input's number, or the Call
        self.dtype = real.dtype
        self.sizes = tuple(real.size())
        self.strides = real.stride()
        self.offset = real.storage_offset()
        self.requires_grad = False  # of inputs and of what leaves
        self.is_leaf = True
        self.spent = False  # leaves with a graph that backward() has used up
        self.storage = None
        self.value = None  # a constant's
        self.number = number

    def layout(self):
        return self.dtype, self.sizes, self.strides, self.offset

    def __repr__(self):
        return f"%{self.number}"


class Call:
    """One operator that ran. `results` has a Tensor or None for each tensor that it returned; `single`: it returned a bare one."""

    __slots__ = ("func", "args", "kwargs", "results", "single", "grad_mode", "grads", "in_backward", "location")

    def __init__(self, func, args, kwargs, grad_mode, grads, in_backward, location):
        self.func = func
        self.args = args
        self.kwargs = kwargs
        self.results = ()
        self.single = True
        self.grad_mode = grad_mode
        self.grads = grads  # requires_grad of the tensor arguments, in order
        self.in_backward = in_backward
        self.location = location  # (file, line) or None


class Facts:
    """What an operator's schema and tags say, looked up once."""

    __slots__ = ("ignored", "refusal", "takes_values", "settled", "reshapes", "indexing", "mutable", "random", "foreach")

    def __init__(self, func):
        schema = func._schema
        name = schema.name
        self.ignored = schema.name.startswith("profiler::")
        self.refusal = None
        self.takes_values = None
        self.mutable = schema.is_mutable
        self.random = torch.Tag.nondeterministic_seeded in func.tags
        self.indexing = name in INDEXING
        self.foreach = name.startswith("aten::_foreach_")
        self.reshapes = getattr(getattr(torch.ops.aten, RESHAPING[name]), func._overloadname) if name in RESHAPING else None
        if name in REFUSED:
            self.refusal = "changes a tensor's storage or layout"
        elif torch.Tag.data_dependent_output in func.tags:
            self.takes_values = "takes a value out of a tensor"
        elif torch.Tag.dynamic_output_shape in func.tags and not self.indexing:
            self.takes_values = "gives a size that depends on values"
        # From settled values it makes settled values.
        self.settled = name.startswith("aten::") and not self.random and name not in UNSET


@functools.cache
def facts_of(func):
    return Facts(func)


class Record(TorchDispatchMode):
    """`with Record(observer)` around the real call.

    The observer answers `input_of(tensor)`: the number of the input that a tensor is, or -1 if nobody knows it. It may have
    - `location()`: (file, line) of the user's code;
    - `refuse(reason)`: called once, when the record becomes void;
    - `input_of_grad(number)`: the number that the .grad of input `number` has as an input, or -1. The engine of autograd
      reads it without any Python that the observer could see.
    """

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else each operator would go through a wrapper of Dynamo's

    def __init__(self, observer):
        super().__init__()
        self.observer = observer
        self.location = getattr(observer, "location", None)
        self.calls = []
        self.inputs = {}  # number to Tensor
        self.outputs = []
        self.reason = None  # why it is void
        self.has_backward = False
        self._known = {}  # id to (weak reference, Tensor)
        self._leaves = []  # (input number, weak reference to the tensor, id of its .grad)
        self._count = 0
        self._made_by_output = {}

    @property
    def void(self):
        return self.reason is not None

    def set_grad_mode(self, enabled):
        """A switch seen by the observer; each call notes the mode that it ran in, so nothing more is needed."""

    def refuse(self, reason):
        if self.reason is None:
            self.reason = reason
            tell = getattr(self.observer, "refuse", None)
            if tell is not None:
                tell(reason)

    def __exit__(self, *raised):
        result = super().__exit__(*raised)
        self.observer = self.location = None
        self._known = {}
        self._leaves = []
        return result

    # Tensors ---------------------------------------------------------------------------------------------------------

    def _note(self, kind, source, real):
        if real.layout is not torch.strided or not real.is_cpu or real.is_quantized:
            self.refuse(f"a tensor of layout {real.layout} on {real.device} takes part")
            return None
        tensor = Tensor(kind, source, real, self._count)
        self._count += 1
        self._known[id(real)] = (weakref.ref(real), tensor)
        return tensor

    def _find(self, real):
        entry = self._known.get(id(real))
        if entry is not None and entry[0]() is real:
            return entry[1]
        return None

    def _input(self, real):
        """The Tensor of an argument that no operator of the record made; None: void."""
        if type(real) not in CLASSES:
            self.refuse(f"a tensor of class {type(real).__name__} takes part")
            return None
        number = self.observer.input_of(real)
        if number < 0:
            number = self._input_of_grad(real)
        if number < 0:
            self.refuse("a tensor takes part whose origin is not known")
            return None
        if real.is_conj() or real.is_neg():
            self.refuse("a lazily conjugated or negated tensor takes part")
            return None
        known = self.inputs.get(number)
        if known is not None:  # its object has changed hands meanwhile
            self._known[id(real)] = (weakref.ref(real), known)
            return known
        tensor = self._note("input", number, real)
        if tensor is None:
            return None
        tensor.storage = Storage(tensor, real.untyped_storage()._cdata, True)
        tensor.requires_grad, tensor.is_leaf = real.requires_grad, real.is_leaf
        self.inputs[number] = tensor
        if tensor.requires_grad and tensor.is_leaf:
            self._leaves.append((number, weakref.ref(real), real.grad))
        return tensor

    def _input_of_grad(self, real):
        ask = getattr(self.observer, "input_of_grad", None)
        if ask is not None:
            for number, reference, before in self._leaves:
                if before is real:
                    return ask(number)
        return -1

    def _constant(self, real):
        """A tensor that torch.tensor has just made of Python data. It is copied: the program may write into its own."""
        if not real.untyped_storage().resizable() or real.numel() > MAX_CONSTANT:
            self.refuse("a large tensor, or one that shares memory with others, is made from Python data")
            return None
        tensor = self._note("constant", None, real)
        if tensor is not None:
            tensor.storage = Storage(tensor, real.untyped_storage()._cdata, False)
            tensor.value = real.detach().clone()
        return tensor

    def _references(self, value, found):
        """`value` with tensors replaced; these are added to `found` with their real tensors."""
        if isinstance(value, torch.Tensor):
            tensor = self._find(value) or self._input(value)
            found.append((tensor, value))
            return tensor
        kind = type(value)
        if kind is list or kind is tuple:
            return [self._references(item, found) for item in value]
        return value

    # The mode --------------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.reason is not None:
            return func(*args, **kwargs)
        if not isinstance(func, torch._ops.OpOverload):
            self.refuse(f"{func} is not an operator of the dispatcher")
            return func(*args, **kwargs)
        facts = facts_of(func)
        if facts.ignored:
            return func(*args, **kwargs)
        if facts.refusal is not None:
            self.refuse(f"{func} {facts.refusal}")
            return func(*args, **kwargs)
        found = []
        if func is torch.ops.aten.lift_fresh.default and self._find(args[0]) is None:
            made = self._constant(args[0]) if self.observer.input_of(args[0]) < 0 else self._input(args[0])
            noted, named = [made], {}
            found.append((made, args[0]))
        else:
            noted = [self._references(a, found) for a in args]
            named = {k: self._references(v, found) for k, v in kwargs.items()}
        takes_values, read = facts.takes_values, found
        if facts.indexing:
            read = [(t, None) for t in noted[1] if t is not None and t.dtype in (torch.bool, torch.uint8)]
            if read:
                takes_values = "by a mask gives a size that depends on values"
        if takes_values is not None and self.reason is None:
            if any(t.storage.varies for t, _ in read):
                self.refuse(f"{func} {takes_values}")
            elif facts.takes_values is not None and not func._schema.returns[0].type.isSubtypeOf(TENSOR):
                return func(*args, **kwargs)  # the same number at each call
        if self.reason is not None:
            return func(*args, **kwargs)
        in_backward = torch._C._current_graph_task_id() != -1
        self.has_backward |= in_backward
        call = Call(func, noted, named, torch.is_grad_enabled(), [real.requires_grad for _, real in found], in_backward,
                    self.location() if self.location is not None else None)
        out = func(*args, **kwargs)
        self._results(call, facts, found, out)
        return out

    def _results(self, call, facts, found, out):
        varies = not facts.settled or any(t.storage.varies for t, _ in found)
        if out is None:
            call.single = False
        elif isinstance(out, torch.Tensor):
            call.results = (self._result(call, facts, found, out, varies),)
        elif isinstance(out, (list, tuple)):
            call.single = False
            call.results = tuple(None if t is None else self._result(call, facts, found, t, varies) for t in out)
        else:
            self.refuse(f"{call.func} returns something that is not a tensor")
        if facts.mutable:
            for tensor, real in found:
                tensor.storage.varies |= varies  # whichever of them is written
                if tensor.sizes != real.shape or tensor.strides != real.stride():
                    if facts.reshapes is None or tensor.kind == "input":
                        self.refuse(f"{call.func} changes the layout of a tensor")
        self.calls.append(call)

    def _result(self, call, facts, found, real, varies):
        if not isinstance(real, torch.Tensor):
            self.refuse(f"{call.func} returns something that is not a tensor")
            return None
        known = self._find(real)
        if known is not None:
            if facts.reshapes is None:
                return known
            if known.kind == "input":
                self.refuse(f"{call.func} changes the layout of an input")
                return known
            call.func = facts.reshapes
        elif type(real) is not torch.Tensor:
            self.refuse(f"{call.func} returns a tensor of class {type(real).__name__}")
            return None
        tensor = self._note("result", call, real)
        if tensor is None:
            return None
        identity = real.untyped_storage()._cdata
        for argument, _ in found:
            if argument.storage.identity == identity:
                tensor.storage = argument.storage
                break
        else:
            tensor.storage = Storage(tensor, identity, varies)
        return tensor

    def settled(self, real):
        """Whether a tensor has been computed from constants of the program alone: its values are the same at each call, so
        they may be taken out."""
        tensor = self._find(real)
        return tensor is not None and not tensor.storage.varies

    # The end ---------------------------------------------------------------------------------------------------------

    def output_of(self, real):
        """The number of the program's result that gives this tensor; -1: the record is void."""
        if self.reason is not None:
            return -1
        tensor = self._find(real)
        if tensor is None:
            tensor = self._input(real)
            if tensor is None:
                return -1
        number = self._made_by_output.get(tensor)
        if number is None:
            if tensor.kind != "input":
                tensor.requires_grad, tensor.is_leaf = real.requires_grad, real.is_leaf
                if self.has_backward and real.requires_grad:
                    if not is_spent(real.grad_fn):
                        self.refuse("a result keeps its graph after backward()")
                        return -1
                    tensor.spent = True
            number = self._made_by_output[tensor] = len(self.outputs)
            self.outputs.append(tensor)
        return number

    def grads_written(self):
        """[(number of the input, its new .grad)] of the leaves whose .grad is another tensor than before. To be asked for
        before the mode is left."""
        changed = []
        for number, reference, before in self._leaves:
            real = reference()
            if real is not None and real.grad is not before:
                changed.append((number, real.grad))
        return changed

    def grads_read(self):
        """[(number of the input, whether its .grad was a tensor)] of the leaves that backward() may have reached: what later
        calls must find there."""
        return [(number, before is not None) for number, _, before in self._leaves] if self.has_backward else []


def is_spent(node):
    """Whether backward() has freed what a graph had saved: going through it again raises."""
    seen, waiting = set(), [node]
    with torch.utils._python_dispatch._disable_current_modes():
        while waiting:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            for name in dir(node):
                if name.startswith("_saved_"):
                    try:
                        saved = getattr(node, name)
                    except RuntimeError:
                        return True
                    if isinstance(saved, torch.Tensor):
                        return False
            waiting += [n for n, _ in node.next_functions]
    return False
