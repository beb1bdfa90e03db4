# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A sample of CPython's own tests with every frame stopped; `python -m dynamo_mlir.testing.cpython` runs them all."""
import pytest

from dynamo_mlir.testing import cpython

pytestmark = pytest.mark.skipif(cpython.available() is not None, reason=str(cpython.available()))


@pytest.mark.parametrize("module", ["test_generators", "test_with", "test_raise", "test_scope", "test_extcall", "test_unpack_ex"])
@pytest.mark.parametrize("stops", ["every", "random:4"])
def test_module(module, stops):
    plain, ours = cpython.run(module), cpython.run(module, stops)
    assert plain["run"] and ours["stops"] > 1000
    assert cpython.differences(plain, ours) == []
