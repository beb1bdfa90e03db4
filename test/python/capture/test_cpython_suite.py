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


def test_a_package_is_run_module_by_module():
    names = cpython.expand("test_asyncio")
    assert "test_asyncio.test_tasks" in names and len(names) > 20
    assert cpython.expand("test_dict") == ["test_dict"]


# Every frame under observation.
@pytest.mark.parametrize("module", ["test_with"])
def test_recording_changes_no_result(module):
    plain, ours = cpython.run(module, torch=True), cpython.run(module, record=True)
    assert ours["recordings"] > 1000 and ours["traces"] > 100
    assert cpython.differences(plain, ours, record=True) == []
