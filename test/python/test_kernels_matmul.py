"""Matmul and attention kernels at sizes that leave rests in every tile, against float64."""
import pytest
import torch
import torch.nn.functional as F

import dynamo_mlir


def against_double(function, *args, tolerance):
    compiled = dynamo_mlir.compile(function, fullgraph=True)
    compiled(*args)  # may be the recording
    actual = compiled(*args)
    expected = function(*(a.double() if a.is_floating_point() else a for a in args))
    torch.testing.assert_close(actual.double(), expected, rtol=tolerance, atol=tolerance)
    (graph,) = dynamo_mlir.report().graphs
    assert not graph.externs, graph.externs
    return graph


# Rows, columns, depth: one row, few rows, rests of 1 to 5 rows, panels of less than 16 columns, several blocks of k.
SIZES = [(1, 768, 768), (1, 50, 33), (7, 16, 27), (8, 100, 64), (13, 17, 19), (49, 49, 32), (128, 2, 96), (130, 40, 1033), (197, 65, 800), (300, 33, 40)]


@pytest.mark.parametrize("m,n,k", SIZES)
def test_linear_with_epilogue(m, n, k):
    scale = k**-0.5
    against_double(
        lambda x, w, b, r: F.gelu(F.linear(x, w, b)) + r,
        torch.randn(m, k), torch.randn(n, k) * scale, torch.randn(n), torch.randn(m, n), tolerance=1e-5)


@pytest.mark.parametrize("m,n,k", SIZES)
def test_weight_by_columns(m, n, k):
    against_double(lambda x, w: x @ w, torch.randn(m, k), torch.randn(k, n) * k**-0.5, tolerance=1e-5)


@pytest.mark.parametrize("dtype,tolerance", [(torch.float16, 4e-3), (torch.bfloat16, 3e-2), (torch.float64, 1e-12)])
def test_types(dtype, tolerance):
    against_double(F.linear, torch.randn(45, 70).to(dtype), (torch.randn(50, 70) / 8).to(dtype), torch.randn(50).to(dtype), tolerance=tolerance)


# Queries, keys, features: more or fewer queries than keys, rests of blocks of 64, one query.
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("queries,keys,features", [(1, 70, 64), (3, 7, 5), (49, 49, 32), (130, 130, 36), (64, 200, 24)])
def test_attention(queries, keys, features, causal):
    def attend(q, k, v):
        q, k, v = (t.unflatten(-1, (3, features)).transpose(1, 2) for t in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2).flatten(2)

    graph = against_double(attend, *(torch.randn(2, n, 3 * features) for n in (queries, keys, keys)), tolerance=1e-5)
    assert graph.kernels == {"attention": 1}


def test_attention_mask_of_rows_without_keys():
    mask = torch.zeros(1, 1, 70, 70)
    mask[..., 50:] = -torch.inf
    mask[..., 3, :] = -torch.inf
    q = torch.randn(1, 2, 70, 16)
    compiled = dynamo_mlir.compile(lambda q, m: F.scaled_dot_product_attention(q, q, q, m), fullgraph=True)
    expected = F.scaled_dot_product_attention(q, q, q, mask)
    torch.testing.assert_close(compiled(q, mask), expected, rtol=1e-5, atol=1e-5, equal_nan=True)
