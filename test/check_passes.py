#!/usr/bin/env python3
"""Checks that every pass is found where a reader looks for it.

For each pass of each Passes.td: a summary; a description with *Input*, *Output*, *Does not* and an example test that exists; a source file whose
DEBUG_TYPE is the flag; a positive test that runs the flag (named after the flag or the file) and, where the pass emits errors, an `-errors` test.
Exit status 1 and one line per fault.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def passes():
    for td in sorted((ROOT / "include").rglob("Passes.td")):
        text = td.read_text()
        for m in re.finditer(r'^def (\w+)\s*:\s*Pass<\s*"([^"]+)"(.*?)^}', text, re.M | re.S):
            yield td, m[1], m[2], m[3]


def main():
    faults = []
    sources = {p: p.read_text() for p in (ROOT / "lib").rglob("*.cpp")}
    tests = {p: p.read_text() for p in (ROOT / "test").rglob("*.mlir")}
    for td, name, flag, body in passes():
        where = f"{td.relative_to(ROOT)}: {flag}"
        if not re.search(r'let summary\s*=\s*"[^"]{8,}"', body):
            faults.append(f"{where}: no summary")
        for word in ("*Input*", "*Output*", "*Does not*"):
            if word not in body:
                faults.append(f"{where}: the description lacks {word}")
        example = re.search(r"Example(?: test)?:\s*`([^`]+)`", body)
        if not example:
            faults.append(f"{where}: no example test")
        elif not (ROOT / example[1]).exists():
            faults.append(f"{where}: example test {example[1]} does not exist")
        homes = [p for p, text in sources.items() if f'DEBUG_TYPE "{flag}"' in text]
        if len(homes) != 1:
            faults.append(f"{where}: {len(homes)} sources have DEBUG_TYPE \"{flag}\"")
        users = [p for p, text in tests.items() if re.search(rf"-{re.escape(flag)}\b", text)]
        if not users:
            faults.append(f"{where}: no .mlir test runs it")
        if homes and re.search(r"emit(Op)?Error\(|emitError\(", sources[homes[0]]) and not any(p.stem.endswith("-errors") for p in users):
            faults.append(f"{where}: emits errors but has no -errors test")
    print("\n".join(faults) or f"{len(list(passes()))} passes are documented and tested")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
