# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call of compiled code costs around its kernels, in instructions: times are noise on a busy machine, these are not."""
import re
import shutil
import subprocess
import sys

import pytest

if not shutil.which("valgrind") or not shutil.which("callgrind_control"):
    pytest.skip("needs valgrind", allow_module_level=True)

CALLS = 400

PROGRAM = """
import sys, torch, dynamo_mlir
torch.set_num_threads(1)
torch.set_grad_enabled(False)
{setup}
def loop(n):
    for _ in range(n):
        f(x)
loop(4)
print("ready", flush=True)
sys.stdin.readline()
loop({calls})
"""

# Programs, and instructions per call at most: about a quarter more than they took when this was written. Some 2,500 of them are
# torch's, which makes the result.
PROGRAMS = {
    "one operator on 16 elements": ("""
f = dynamo_mlir.compile(lambda x: torch.relu(x * 2 + 1), backend="capture")
x = torch.randn(16)
""", 6500),
    "a module with 20 parameters": ("""
f = dynamo_mlir.compile(torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(10)]), backend="capture")
x = torch.randn(1, 4)
""", 30000),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_instructions_per_call(name, tmp_path):
    setup, limit = PROGRAMS[name]
    out = tmp_path / "callgrind.out"
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}", "--smc-check=all-non-file",
               "--toggle-collect=dynamo::capture::SegmentTable::run*", sys.executable, "-c", PROGRAM.format(setup=setup, calls=CALLS)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
            subprocess.run(["callgrind_control", "-i", "on", str(process.pid)], check=True, capture_output=True, timeout=60)
            _, errors = process.communicate("\n", timeout=300)
        finally:
            process.kill()
    per_call = int(re.search(r"Collected : (\d+)", errors)[1]) / CALLS
    print(f"{name}: {per_call:.0f} instructions per call")
    assert 0 < per_call <= limit
