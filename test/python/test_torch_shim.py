# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors through torch's C functions and through Python's: both roads must tell and make the same."""
import subprocess
import sys

import pytest
import torch

from dynamo_mlir import _C

DTYPES = {torch.uint8: 0, torch.int8: 1, torch.int16: 2, torch.int32: 3, torch.int64: 4, torch.float16: 5, torch.float32: 6,
          torch.float64: 7, torch.bool: 11, torch.bfloat16: 15}


@pytest.fixture(params=[True, False], ids=["C", "Python"])
def road(request):
    _C.set_torch_shim(request.param)
    yield request.param
    _C.set_torch_shim(True)


def test_calibrated():
    assert _C.torch_shim() == (True, "")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_description(road, dtype):
    base = torch.zeros(3, 4, 5, dtype=dtype)
    for t in (base, base[1:, ::2], base.permute(2, 0, 1), base[0, 0, 0], base[:0], torch.nn.Buffer(base)):
        assert _C.describe_tensor(t) == (t.data_ptr(), DTYPES[dtype], True, list(t.shape), list(t.stride()))


def test_parameter_and_subclass(road):
    class Mine(torch.Tensor):
        pass

    for t in (torch.nn.Parameter(torch.zeros(2, 3)), torch.zeros(2, 3).as_subclass(Mine)):
        assert _C.describe_tensor(t)[0] == t.data_ptr()


def test_other_layouts_are_told_apart(road):
    assert not _C.describe_tensor(torch.zeros(2, 2).to_sparse())[2]
    assert not _C.describe_tensor(torch.empty(2, 2, device="meta"))[2]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_new_tensors(road, dtype):
    t = _C.empty_tensor([4, 3], [1, 4], DTYPES[dtype])
    assert (t.dtype, tuple(t.shape), t.stride(), t.requires_grad, t._version) == (dtype, (4, 3), (1, 4), False, 0)
    t.fill_(1)
    assert t.sum() == 12
    assert _C.empty_tensor([0, 3], [3, 1], 6).shape == (0, 3)


def test_inference_tensors_under_inference_mode(road):
    with torch.inference_mode():
        assert _C.empty_tensor([2], [1], 6).is_inference()


def test_metadata_and_state_are_read_in_place():
    assert _C.torch_raw() == (True, "", True)


def test_words_follow_the_state():
    def words():
        return _C.torch_words()

    plain = words()
    for manager in (torch.no_grad(), torch.inference_mode(), torch.autocast("cpu"), torch.overrides.TorchFunctionMode(),
                    torch.utils._python_dispatch.TorchDispatchMode(), torch._C.DisableTorchFunction()):
        with manager:
            assert words() != plain, manager
        assert words() == plain, manager
    torch.set_default_dtype(torch.float64)
    try:
        assert words() != plain
    finally:
        torch.set_default_dtype(torch.float32)
    torch.use_deterministic_algorithms(True)
    try:
        assert words() != plain
    finally:
        torch.use_deterministic_algorithms(False)
    assert words() == plain


@pytest.mark.parametrize("state", ["torch.no_grad()", "torch.inference_mode()", "torch.autocast('cpu')", "torch.device('meta')",
                                   "torch._subclasses.FakeTensorMode()", "dtype"])
def test_calibration_in_any_state(state):
    """The first use may come anywhere; a process each."""
    enter = "torch.set_default_dtype(torch.float64)" if state == "dtype" else f"{state}.__enter__()"
    code = f"import torch; from dynamo_mlir import _C; {enter}; print(_C.torch_shim(), _C.torch_raw())"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert out.stdout.strip() == "(True, '') (True, '', True)", (out.stdout, out.stderr[-2000:])
