# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a user may set, and the switch that turns everything off."""
import dataclasses
import os


@dataclasses.dataclass(frozen=True)
class Options:
    threads: int = 0  # 0: torch.get_num_threads() at each call
    target: str = "host"
    dump: str = ""
    strict: bool = False
    recompile_limit: int = 8

    @staticmethod
    def parse(options):
        known = {field.name: field.type for field in dataclasses.fields(Options)}
        for name in options or {}:
            if name not in known:
                raise ValueError(f"unknown option {name!r}; known are {', '.join(sorted(known))}")
        made = Options(**(options or {}))
        if not isinstance(made.threads, int) or made.threads < 0:
            raise ValueError(f"threads must be a number of threads or 0, got {made.threads!r}")
        if not isinstance(made.recompile_limit, int) or made.recompile_limit < 0:
            raise ValueError(f"recompile_limit must be a number of segments, got {made.recompile_limit!r}")
        return made


def log_kinds():
    """What DYNAMO_LOGS asks for: guards, breaks, recompiles, segments, timing, failures; or all."""
    kinds = {kind.strip() for kind in os.environ.get("DYNAMO_LOGS", "").split(",")}
    return _KINDS if "all" in kinds else kinds


_KINDS = frozenset(("guards", "breaks", "recompiles", "segments", "timing", "failures"))


def switched_off():
    """Read at each compile, not at import: tests and notebooks set it late."""
    return any(os.environ.get(name, "0") not in ("", "0") for name in ("NO_TORCH_COMPILE", "TORCH_COMPILE_DISABLE"))
