#!/usr/bin/env python3
"""Checks that every operation of the aten dialect occurs in a test of the dialect.

Reads the importer's table, which is made from the TableGen records:
ops_tested.py build/python/dynamo_mlir/_aten_ops.json.  Exit status 1 and
one line per operation that no test has.
"""
import json
import re
import sys
from pathlib import Path


def main():
    table = json.loads(Path(sys.argv[1]).read_text())
    operations = {entry["mnemonic"] for entry in table.values()} | {"extern"}
    tests = Path(__file__).resolve().parent
    used = set()
    for test in tests.glob("*.mlir"):
        used.update(re.findall(r"= aten\.(\w+)", test.read_text()))
    missing = sorted(operations - used)
    for name in missing:
        print(f"aten.{name}: no test in {tests.name} has it")
    if not missing:
        print(f"{len(operations)} operations are tested")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
