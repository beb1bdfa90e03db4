"""Shared by every Python test: a fixed seed, and few threads."""
import pytest
import torch


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)
