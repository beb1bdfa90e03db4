# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models of transformers are recorded without a break: all their Python, down to the operators.

Each in a process of its own: where TorchDynamo was loaded before, torch itself takes other ways (weak references in its caches).
"""
import subprocess
import sys

import pytest
import torch

import dynamo_mlir  # noqa: F401
from dynamo_mlir import _C

transformers = pytest.importorskip("transformers")

SMALL = dict(num_hidden_layers=2, hidden_size=64, num_attention_heads=4, intermediate_size=128)


def make(name):
    ids = torch.randint(0, 100, (1, 16))
    image = torch.randn(1, 3, 64, 64)
    t = transformers
    if name == "bert":
        return t.BertModel(t.BertConfig(**SMALL, vocab_size=1000)), dict(input_ids=ids)
    if name == "gpt2":
        config = t.GPT2Config(n_layer=2, n_embd=64, n_head=4, vocab_size=1000, bos_token_id=1, eos_token_id=2)
        return t.GPT2Model(config), dict(input_ids=ids)
    if name == "vit":
        return t.ViTModel(t.ViTConfig(**SMALL, image_size=64)), dict(pixel_values=image)
    if name == "resnet":
        return t.ResNetModel(t.ResNetConfig(embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1])), dict(pixel_values=image)
    if name == "llama":
        return t.LlamaModel(t.LlamaConfig(**SMALL, num_key_value_heads=2, vocab_size=1000)), dict(input_ids=ids)
    if name == "t5":
        config = t.T5Config(num_layers=2, d_model=64, num_heads=4, d_kv=16, d_ff=128, vocab_size=1000)
        return t.T5Model(config), dict(input_ids=ids, decoder_input_ids=ids)
    if name == "swin":
        return t.SwinModel(t.SwinConfig(image_size=64, embed_dim=24, depths=[1, 1], num_heads=[2, 4])), dict(pixel_values=image)
    if name == "whisper":
        config = t.WhisperConfig(encoder_layers=2, decoder_layers=2, d_model=64, encoder_attention_heads=4,
                                 decoder_attention_heads=4, encoder_ffn_dim=128, decoder_ffn_dim=128, vocab_size=1000,
                                 max_source_positions=50, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
        return t.WhisperModel(config), dict(input_features=torch.randn(1, 80, 100), decoder_input_ids=ids)
    if name == "convnext":
        config = t.ConvNextConfig(hidden_sizes=[16, 32], depths=[1, 1], num_stages=2, image_size=64)
        return t.ConvNextModel(config), dict(pixel_values=image)
    return t.MobileNetV2Model(t.MobileNetV2Config(image_size=64)), dict(pixel_values=image)


def check(name):
    torch.manual_seed(0)
    model, inputs = make(name)
    model.eval()
    with torch.no_grad():
        expected = model(**inputs)
        recording = _C.capture.record(model, (), inputs)
    assert recording.complete, (recording.reason, recording.where)
    assert torch.equal(recording.result[0], expected[0])
    # Every input is a parameter, a buffer or an argument by name.
    returned = [line for line in recording.text.splitlines() if line.startswith("return ")]
    assert type(expected).__name__ in returned[0]


@pytest.mark.parametrize("name", ["bert", "gpt2", "vit", "resnet", "llama", "t5", "swin", "whisper", "convnext", "mobilenet"])
def test_recorded_whole(name):
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


if __name__ == "__main__":
    check(sys.argv[1])
