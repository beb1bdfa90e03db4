# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What was compiled, and what was not: plain data only, so that a report keeps no program alive."""
import collections
import dataclasses
import threading


@dataclasses.dataclass
class GraphReport:
    kind: str  # inference, forward or backward
    ops: int = 0
    kernels: dict = dataclasses.field(default_factory=dict)  # strategy to number of different kernels
    launches: int = 0
    externs: dict = dataclasses.field(default_factory=dict)  # operator to number of calls
    flops: int = 0
    flops_extern: int = 0
    seconds: dict = dataclasses.field(default_factory=dict)  # phase to time

    @property
    def own_share(self):
        """Part of the arithmetic (matrix products, convolutions, attention) that runs in kernels of ours."""
        return 1.0 - self.flops_extern / self.flops if self.flops else 1.0

    def __str__(self):
        kernels = ", ".join(f"{n} {s}" for s, n in sorted(self.kernels.items())) or "none"
        text = f"{self.kind}: {self.ops} operators; kernels: {kernels} ({self.launches} launches); "
        text += f"{100 * self.own_share:.1f} % of {self.flops / 1e9:.2f} GFLOP in own kernels; "
        text += "compiled in " + ", ".join(f"{p} {t:.2f} s" for p, t in self.seconds.items())
        if self.externs:
            text += "\n  called as they are: " + ", ".join(f"{name} x{n}" for name, n in sorted(self.externs.items()))
        return text


@dataclasses.dataclass
class Fallback:
    reason: str
    count: int = 1


class Report:
    def __init__(self):
        self.graphs = collections.deque(maxlen=256)
        self.fallbacks = {}  # reason to Fallback
        self.lock = threading.Lock()

    def __str__(self):
        lines = [str(g) for g in self.graphs] or ["nothing was compiled"]
        lines += [f"ran in eager PyTorch ({f.count} x): {f.reason}" for f in self.fallbacks.values()]
        return "\n".join(lines)

    __repr__ = __str__


_current = Report()


def report():
    """The last compiled graphs and all fallbacks of this process; print it, or read .graphs and .fallbacks."""
    return _current


def reset_report():
    with _current.lock:
        _current.graphs.clear()
        _current.fallbacks.clear()


def add_graph(graph):
    with _current.lock:
        _current.graphs.append(graph)


def add_fallback(reason):
    """Counts it; true the first time."""
    with _current.lock:
        known = _current.fallbacks.get(reason)
        if known is not None:
            known.count += 1
            return False
        _current.fallbacks[reason] = Fallback(reason)
        return True
