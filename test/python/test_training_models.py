# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole training steps of small models: losses, gradients, parameters and statistics follow eager.

The rule: close to eager, or as close to a float64 run as eager is, within a factor of two.
"""
import copy

import pytest
import torch
import torch.nn.functional as F

import dynamo_mlir

STEPS = 5


def bert():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(hidden_size=128, num_hidden_layers=4, num_attention_heads=4, intermediate_size=256, vocab_size=500,
                                     max_position_embeddings=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, num_labels=4)
    model = transformers.BertForSequenceClassification(config)

    def batch():
        mask = torch.ones(4, 24, dtype=torch.long)
        mask[1, 18:] = 0
        return dict(input_ids=torch.randint(0, 500, (4, 24)), attention_mask=mask), torch.randint(0, 4, (4,))

    return model, batch


def resnet():
    transformers = pytest.importorskip("transformers")
    config = transformers.ResNetConfig(embedding_size=16, hidden_sizes=[16, 32], depths=[2, 2], layer_type="basic", num_labels=4)
    model = transformers.ResNetForImageClassification(config)
    return model, lambda: (dict(pixel_values=torch.randn(4, 3, 32, 32)), torch.randint(0, 4, (4,)))


class Run:
    """One model with its optimizer; `step` returns all that must agree."""

    def __init__(self, model, optimizer, compiled=False):
        self.model = model
        self.optimizer = optimizer(model.parameters())
        self.call = torch.compile(model, backend="dynamo_mlir") if compiled else model

    def step(self, inputs, labels):
        dtype = next(self.model.parameters()).dtype
        inputs = {k: v.to(dtype) if v.is_floating_point() else v for k, v in inputs.items()}
        self.optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(self.call(**inputs).logits, labels)
        loss.backward()
        values = {"loss": loss.detach()}
        values.update((f"gradient of {n}", p.grad.clone()) for n, p in self.model.named_parameters() if p.grad is not None)
        self.optimizer.step()
        values.update((f"{n} after the step", p.detach().clone()) for n, p in self.model.named_parameters())
        values.update((f"{n} after the step", b.clone()) for n, b in self.model.named_buffers())
        return values


def follows(ours, eager, golden):
    if ours.shape != eager.shape or ours.dtype != eager.dtype:
        return False
    if not ours.is_floating_point():
        return torch.equal(ours, eager)
    if torch.allclose(ours, eager, rtol=1e-3, atol=1e-3):
        return True
    error = lambda t: (t.double() - golden.double()).square().mean().sqrt().item()
    return error(ours) <= 2 * error(eager) + 1e-4


OPTIMIZERS = {"SGD": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9), "AdamW": lambda p: torch.optim.AdamW(p, 1e-3)}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("build", [bert, resnet], ids=lambda f: f.__name__)
def test_steps_follow_eager(build, optimizer):
    model, batch = build()
    model.train()
    make = OPTIMIZERS[optimizer]
    golden = Run(copy.deepcopy(model).double(), make)
    ours = Run(copy.deepcopy(model), make, compiled=True)
    eager = Run(model, make)
    for step in range(STEPS):
        inputs, labels = batch()
        expected, actual, exact = (run.step(inputs, labels) for run in (eager, ours, golden))
        assert expected.keys() == actual.keys()
        wrong = [name for name in expected if not follows(actual[name], expected[name], exact[name])]
        assert not wrong, f"step {step}: {wrong}"
    assert actual["loss"].item() > 0
    changed = [name for name, p in eager.model.named_parameters() if p.grad is not None and p.grad.abs().sum() > 0]
    assert len(changed) > 20
    assert not dynamo_mlir.report().fallbacks
    assert {graph.kind for graph in dynamo_mlir.report().graphs} == {"forward", "backward"}
