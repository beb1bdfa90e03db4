#!/usr/bin/env python3
# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pybind11 is included through python/csrc/Pybind.h alone: see there why."""
import pathlib
import re
import sys

csrc = pathlib.Path(__file__).resolve().parent.parent / "python" / "csrc"
wrong = [
    f"{path.relative_to(csrc.parent.parent)}:{number}: include \"Pybind.h\" instead of {line.strip()[9:]}"
    for path in sorted(csrc.rglob("*.[ch]*"))
    if path.name != "Pybind.h"
    for number, line in enumerate(path.read_text().splitlines(), 1)
    if re.match(r"#include <pybind11/(pybind11|stl)\.h>", line)
]
print("\n".join(wrong) if wrong else "includes: ok")
sys.exit(bool(wrong))
