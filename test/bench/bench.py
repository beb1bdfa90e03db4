#!/usr/bin/env python3
"""Small programs timed in turns in one process: eager, torch.compile (Inductor) and Dynamo-MLIR.

    ./dev bench [--only NAME,...] [--seconds 3] [--threads N] [--no-inductor] [--json FILE]

Prints per program the median times, the speed-up over eager (median of the ratios within one turn, so that noise meets all alike), the first call,
and the rate against the machine's measured peak: the best copy rate for memory-bound programs, the best matrix product for compute-bound ones.
Models are measured by the acceptance script of the same form. Units: milliseconds, GB/s (10^9), GFLOP/s.
"""
import argparse
import json
import os
import sys
import time

for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402


def chain(x):
    y = torch.tanh(torch.exp(x * 0.1)) * x
    return torch.relu(torch.tanh((torch.sigmoid(y) + x) * 0.5))


def programs():
    """name: (function, inputs, bytes moved at least, floating-point operations or 0)"""
    wide, rows = torch.randn(1024, 4096), torch.randn(4096, 1024)
    residual, weight, bias = torch.randn(4096, 1024), torch.randn(1024), torch.randn(1024)
    size = wide.numel() * 4

    def norm_softmax(x, r, w, b):
        y = F.layer_norm(x + r, (1024,), w, b) + r
        return y, torch.softmax(y, -1)

    table = {
        "tiny (x*2+1).relu()": (lambda x: (x * 2 + 1).relu(), [torch.randn(16)], 128, 0),
        "pointwise chain 1024x4096": (chain, [wide], 2 * size, 0),
        "cheap chain 1024x4096": (lambda x: torch.relu(x * x * 0.5 + x), [wide], 2 * size, 0),
        "layer norm + softmax 4096x1024": (norm_softmax, [rows, residual, weight, bias], 4 * size, 0),
        "softmax 4096x1024": (lambda x: torch.softmax(x, -1), [rows], 2 * size, 0),
        "sum over rows 4096x1024": (lambda x: x.sum(0), [rows], size, 0),
        "sum of everything": (lambda x: x.sum(), [rows], size, 0),
    }
    for m, k, n in ((128, 768, 768), (128, 768, 3072), (128, 3072, 768), (1, 768, 3072), (1024, 1024, 1024)):
        inputs = [torch.randn(m, k), torch.randn(n, k), torch.randn(n)]
        table[f"linear + gelu {m}x{k}x{n}"] = (lambda x, w, b: F.gelu(F.linear(x, w, b)), inputs, 4 * (m * k + k * n + m * n), 2 * m * k * n)
    return table


def median(values):
    return sorted(values)[len(values) // 2]


def peaks():
    """Best copy rate in GB/s and best product rate in GFLOP/s."""
    a, b = torch.empty(1 << 24), torch.empty(1 << 24)
    m = torch.randn(1024, 1024)
    copy = product = 1e9
    for _ in range(10):
        t = time.perf_counter()
        b.copy_(a)
        copy = min(copy, time.perf_counter() - t)
        t = time.perf_counter()
        m @ m
        product = min(product, time.perf_counter() - t)
    return 2 * a.numel() * 4 / copy * 1e-9, 2 * 1024**3 / product * 1e-9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="programs whose name contains one of these")
    parser.add_argument("--seconds", type=float, default=3, help="per program")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--no-inductor", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    copy, product = peaks()
    print(f"{torch.get_num_threads()} threads; best copy {copy:.1f} GB/s, best product {product:.0f} GFLOP/s", flush=True)
    forms = {"ours": lambda f: torch.compile(f, backend="dynamo_mlir")}
    if not options.no_inductor:
        forms["inductor"] = torch.compile
    results = []
    with torch.no_grad():
        for name, (function, inputs, moved, flops) in programs().items():
            if options.only and not any(o in name for o in options.only.split(",")):
                continue
            runs, first = {"eager": function}, {}
            expected = function(*inputs)
            for form, wrap in forms.items():
                torch._dynamo.reset()
                compiled = wrap(function)
                t = time.perf_counter()
                got = compiled(*inputs)
                first[form] = time.perf_counter() - t
                torch.testing.assert_close(got, expected, rtol=1e-3, atol=1e-3)
                runs[form] = compiled
            times = {k: [] for k in runs}
            end = time.perf_counter() + options.seconds
            while time.perf_counter() < end or len(times["eager"]) < 10:
                for k, f in runs.items():
                    t = time.perf_counter()
                    f(*inputs)
                    times[k].append(time.perf_counter() - t)
            row = {"name": name, "eager_ms": 1e3 * median(times["eager"])}
            text = f"{name:32} eager {row['eager_ms']:8.3f}"
            for form in forms:
                ratio = median([e / o for e, o in zip(times["eager"], times[form])])
                ms = 1e3 * median(times[form])
                row[form] = {"ms": ms, "x_eager": ratio, "first_s": first[form]}
                text += f" | {form} {ms:8.3f} {ratio:6.2f}x first {first[form]:6.2f} s"
            best = min(times["ours"])
            text += f" | ours best {flops / best * 1e-9:7.1f} GFLOP/s" if flops else f" | ours best {moved / best * 1e-9:7.1f} GB/s"
            print(text, flush=True)
            results.append(row)
    if options.json:
        with open(options.json, "w") as f:
            json.dump(results, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
