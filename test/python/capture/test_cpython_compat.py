# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every field of CPython's that capture reads is where it is expected."""
from dynamo_mlir import _C


# `supported` reads each of them on objects with known content; where one differs, it names it.
def test_the_layouts_are_those_of_this_python():
    assert _C.capture.supported() == (True, "")
