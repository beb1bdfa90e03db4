# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What became of a function: segments with their guards, breaks with reason and advice, kernels, times."""
import dataclasses

from ..options import Options
from . import door


@dataclasses.dataclass
class Segment:
    instructions: int
    frames: int
    guards: list  # (text, "file:line" or "")
    steps: int
    hits: int
    graph: object = None  # reports.GraphReport, where there is tensor work

    def __str__(self):
        text = f"segment: {self.instructions} instructions of {self.frames} frames; {len(self.guards)} guards in {self.steps} steps"
        return text + (f"\n  {self.graph}" if self.graph is not None else "\n  no tensor work")


@dataclasses.dataclass
class Break:
    reason: str
    advice: str
    file: str
    line: int

    def __str__(self):
        return f"break: {self.reason} at {door.line_of(self.file, self.line)}" + (f"\n  advice: {self.advice}" if self.advice else "")


@dataclasses.dataclass
class Explanation:
    name: str
    segments: list
    breaks: list
    misses: list  # which guard failed at each recompilation
    eager: bool
    why: str
    seconds: dict
    history: list
    result: object = None  # of the last call

    @property
    def guards(self):
        return [text for segment in self.segments for text, _ in segment.guards]

    def __str__(self):
        lines = [self.name]
        lines += [str(s) for s in self.segments] + [str(b) for b in self.breaks]
        if self.eager:
            lines.append(f"runs in eager PyTorch: {self.why}")
        lines += [f"recorded again: {text}" for text in self.misses]
        for segment in self.segments:
            lines += ["guards:"] + [f"  {text}" + (f"    # {where}" if where else "") for text, where in segment.guards]
        lines += [f"{phase}: {time:.3f} s" for phase, time in self.seconds.items()]
        return "\n".join(lines)

    __repr__ = __str__


def explanation(compiled, result=None):
    """The state of a compiled function."""
    info = compiled._capture_info()
    segments = []
    for segment in info["segments"]:
        d = segment.describe()
        graph = d["program"].report() if d["program"] is not None and hasattr(d["program"], "report") else None
        segments.append(Segment(d["instructions"], d["frames"], d["guards"], d["steps"], d["hits"], graph))
    function = compiled.__wrapped__
    held = info["door"]
    return Explanation(door.name_of(function), segments, [Break(*b) for b in info["breaks"]], info["misses"], info["eager"], info["why"],
                       dict(held.seconds), list(held.history), result)


def explain(target, **options):
    """`explain(f)(*args)` compiles f, calls it and says what happened; for a compiled f, `explain(f)()` its state."""
    compiled = door.compiled_function_of(target)

    def call(*args, **kwargs):
        if compiled is not None and not args and not kwargs:
            return explanation(compiled)
        made = target if compiled is not None else door.compile_any(target, Options.parse(options))
        result = made(*args, **kwargs)
        return explanation(door.compiled_function_of(made), result)

    return call

