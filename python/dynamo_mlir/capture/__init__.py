# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python side of capture (docs/Rationale/Capture.md): the door, and what becomes of a recording."""
