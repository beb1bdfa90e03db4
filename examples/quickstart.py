#!/usr/bin/env python3
# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A real model, eager and compiled: do the answers agree, how long is the first call, how much faster are later ones?

    quickstart.py [--model bert|resnet] [--calls 20]

Weights are random; nothing is downloaded.
"""
import argparse
import copy
import time

import torch

import dynamo_mlir


def bert():
    from transformers import BertConfig, BertModel

    config = BertConfig(num_hidden_layers=4, hidden_size=256, num_attention_heads=4, intermediate_size=1024, vocab_size=5000)
    ids = torch.randint(0, 5000, (1, 64))
    return BertModel(config), lambda model, dtype: model(input_ids=ids).last_hidden_state


def resnet():
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(embedding_size=32, hidden_sizes=[64, 128, 256, 512], depths=[1, 1, 1, 1])
    pixels = torch.randn(1, 3, 128, 128)
    return ResNetForImageClassification(config), lambda model, dtype: model(pixel_values=pixels.to(dtype)).logits


def best(run, calls):
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=["bert", "resnet"], default="bert")
    parser.add_argument("--calls", type=int, default=20)
    options = parser.parse_args()

    torch.manual_seed(0)
    model, call = {"bert": bert, "resnet": resnet}[options.model]()
    model.eval()
    with torch.no_grad():
        exact = call(copy.deepcopy(model).double(), torch.float64)
        eager = call(model, torch.float32)

        compiled = dynamo_mlir.compile(model)  # or torch.compile(model, backend="dynamo_mlir")
        start = time.perf_counter()
        ours = call(compiled, torch.float32)
        first = time.perf_counter() - start

        def rmse(out):
            return (out.double() - exact).square().mean().sqrt().item()

        agree = torch.allclose(eager, ours, rtol=1e-3, atol=1e-3) or rmse(ours) <= 2 * rmse(eager) + 1e-4
        print(f"answers agree: {agree}")
        print(f"  largest difference to eager {(eager - ours).abs().max().item():.2e}")
        print(f"  error against float64: eager {rmse(eager):.2e}, compiled {rmse(ours):.2e}")
        print(f"first call: {first:.2f} s")

        slow = best(lambda: call(model, torch.float32), options.calls)
        fast = best(lambda: call(compiled, torch.float32), options.calls)
        print(f"later calls: eager {slow:.2f} ms, compiled {fast:.2f} ms: {slow / fast:.2f}x")
    print(f"\nwhat was compiled\n{dynamo_mlir.report()}")
    return 0 if agree else 1


if __name__ == "__main__":
    raise SystemExit(main())
