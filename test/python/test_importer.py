# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FX graphs to the aten dialect: one test per kind of argument, result and layout."""
import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from dynamo_mlir import _C
from dynamo_mlir.errors import CompileError
from dynamo_mlir.importer import import_graph

aten = torch.ops.aten


def imported(function, *args):
    """The graph of a function over ATen operators, imported; the module must verify."""
    graph = make_fx(function, tracing_mode="fake")(*args)
    made = import_graph(graph)
    assert made.module.verify() == ""
    return made


def text(function, *args):
    return str(imported(function, *args).module)


x = torch.zeros(4, 6)


def test_tensors_and_numbers_are_operands():
    ir = text(lambda a: aten.add.Tensor(a, a, alpha=2), x)
    assert "arith.constant 2 : i64" in ir and "aten.add %arg0, %arg0, %c2_i64" in ir
    assert 'aten.overload = "aten::add.Tensor"' in ir and 'aten.schema = ["self", "other", "alpha"]' in ir


def test_scalars_keep_their_python_type():
    ir = text(lambda a: (aten.mul.Tensor(a, 2.5), aten.mul.Tensor(a, 3), aten.mul.Tensor(a, -0.0)), x)
    assert "arith.constant 2.500000e+00 : f64" in ir and "arith.constant 3 : i64" in ir and "-0.000000e+00 : f64" in ir


def test_special_floats():
    ir = text(lambda a: (aten.mul.Tensor(a, float("inf")), aten.mul.Tensor(a, float("nan")), aten.mul.Tensor(a, 0.1)), x)
    assert "0x7FF0000000000000 : f64" in ir and "0x7FF8000000000000 : f64" in ir and "1.000000e-01 : f64" in ir


def test_int_lists_floats_bools_and_strings_are_attributes():
    ir = text(lambda a: (aten.sum.dim_IntList(a, [0], True), aten.gelu(a, approximate="tanh"), aten.native_layer_norm(a, [6], None, None, 1e-5)), x)
    assert "dim = array<i64: 0>, keepdim = true" in ir and 'approximate = "tanh"' in ir and "eps = 1.000000e-05 : f64" in ir


def test_optional_tensors_have_segments():
    ir = text(lambda a, w: aten.native_layer_norm(a, [6], w, None, 1e-5), x, torch.zeros(6))
    assert "operandSegmentSizes = array<i32: 1, 1, 0>" in ir


def test_tensor_lists_and_multiple_results():
    ir = text(lambda a: aten.cat([*aten.split.Tensor(a, 2, 1)], 0), x)
    assert ir.count("tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>") >= 1 and "aten.cat" in ir


def test_optional_index_lists():
    ir = text(lambda a, i: aten.index.Tensor(a, [None, i]), x, torch.tensor([0, 1]))
    assert "indices_present = array<i1: false, true>" in ir


def test_absent_results():
    def f(g, a, w):
        return aten.convolution_backward(g, a, w, [3], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [False, True, False])[1]

    ir = text(f, torch.zeros(1, 3, 4, 4), torch.zeros(1, 2, 4, 4), torch.zeros(3, 2, 1, 1))
    assert "resultSegmentSizes = array<i32: 0, 1, 0>" in ir


def test_unknown_operators_are_extern():
    ir = text(lambda a: aten.special_bessel_j0(a), x)
    assert 'aten.extern "aten::special_bessel_j0"(%arg0) {args = [#aten.operand<0>]' in ir


def test_random_operators_are_extern_and_stay():
    ir = text(lambda a: (aten.bernoulli.p(a, 0.5), aten.rand_like(a, dtype=torch.float64))[1], x)
    assert 'aten.extern "aten::bernoulli.p"' in ir
    assert 'dtype = "torch.float64"' in ir


def test_extern_with_lists_and_none():
    ir = text(lambda a: aten.histc(aten.special_bessel_j0(a), 10, 0, 1), x)
    assert 'aten.extern "aten::histc"' in ir and "10, 0, 1]" in ir


def test_element_types():
    args = [torch.zeros(2, dtype=d) for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.bool)]
    ir = text(lambda *a: tuple(aten.clone(v) for v in a), *args)
    for name in ("ui8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "i1"):
        assert f"tensor<2x{name}>" in ir


def test_permuted_input_enters_as_its_physical_shape():
    made = imported(lambda a: aten.relu(a), torch.zeros(6, 4).t())
    ir = str(made.module)
    assert "%arg0: tensor<6x4xf32>" in ir and "aten.permute %arg0" in ir and "dims = array<i64: 1, 0>" in ir
    assert made.inputs[0].strides == (1, 4)
    # And leaves so: relu keeps strides.
    assert made.outputs[0].strides == torch.zeros(6, 4).t().stride() and "-> tensor<6x4xf32>" in ir


def test_channels_last():
    made = imported(lambda a: aten.relu(a), torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last))
    ir = str(made.module)
    assert "%arg0: tensor<2x4x5x3xf32>" in ir and "-> tensor<2x4x5x3xf32>" in ir


def test_input_with_gaps_is_made_contiguous_by_the_caller():
    made = imported(lambda a: aten.relu(a), torch.zeros(4, 12)[:, ::2])
    assert made.inputs[0].strides == (6, 1) and made.inputs[0].repack


def test_expanded_input_enters_small():
    made = imported(lambda a: aten.relu(a), torch.zeros(1, 6).expand(4, 6))
    ir = str(made.module)
    assert "%arg0: tensor<1x6xf32>" in ir and "aten.expand" in ir and not made.inputs[0].repack


def test_results_that_are_arguments_or_views_of_them_are_not_computed():
    made = imported(lambda a: (a, aten.t(a), aten.slice.Tensor(a, 1, 2, 4)), x)
    assert [o.kind for o in made.outputs] == ["arg", "arg-view", "arg-view"]
    assert made.outputs[2].offset == 2 and made.buffers == []


def test_results_that_share_memory():
    def f(a):
        y = aten.relu(a)
        return aten.slice.Tensor(y, 0, 1, 3), y

    made = imported(f, x)
    assert [o.kind for o in made.outputs] == ["view", "buffer"] and made.outputs[0].offset == 6 and len(made.buffers) == 1


def test_result_with_gaps():
    made = imported(lambda a: aten.slice.Tensor(aten.relu(a), 1, 0, 6, 2), x)
    assert made.outputs[0].kind == "spread" and made.outputs[0].strides == (6, 2)


def test_as_strided_of_an_offset_view():
    ir = text(lambda a: aten.add.Tensor(aten.as_strided(a, [2, 2], [6, 1], 8), 1), torch.zeros(6, 6)[1:])
    assert "storage_offset = 2 : i64" in ir


def test_places():
    ir = imported(lambda a: aten.relu(a), x).module.print(True)
    assert "test_importer.py" in ir or "unknown" in ir


@pytest.mark.parametrize("function, args, reason", [
    (lambda a: aten.add.Tensor(a, a), (torch.zeros(2, dtype=torch.complex64),), "complex64"),
    (lambda a: aten.add.Tensor(a, a), (torch.zeros(2, device="meta"),), "meta"),
    (lambda a: aten.as_strided(a, [2, 2], [1, 1], 0), (torch.zeros(3, 3).t(),), "not contiguous"),
], ids=["complex", "device", "as_strided"])
def test_what_is_not_compiled(function, args, reason):
    graph = make_fx(function, tracing_mode="fake")(*args)
    with pytest.raises(CompileError, match=reason):
        import_graph(graph)


def test_attributes_read_back():
    assert _C.parse_attribute('[1, 2.5, true, unit, "s", [#aten.operand<3>], 0x7FF0000000000000 : f64]')[:5] == [1, 2.5, True, None, "s"]
    value = _C.parse_attribute("[#aten.operand<3>, 0xFFF0000000000000 : f64, -7]")
    assert value[0].index == 3 and value[1] == -float("inf") and value[2] == -7
