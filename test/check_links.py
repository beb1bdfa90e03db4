#!/usr/bin/env python3
"""Checks that links and paths named in the Markdown pages exist, and that no page or source names a machine path."""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = "include|lib|tools|python|test|docs|examples|cmake|\\.ci|\\.github"


def main():
    faults = []
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True).stdout.splitlines()
    for name in listed:
        page = ROOT / name
        if not page.exists() or page.suffix not in {".md", ".py", ".cpp", ".h", ".td", ".txt", ".cmake", ".mlir", ""}:
            continue
        text = page.read_text(errors="replace")
        for line, content in enumerate(text.splitlines(), 1):
            if re.search(r"(?<![\w.])/(work|root|home)/\w", content) and name != "test/check_links.py":
                faults.append(f"{name}:{line}: names a machine path")
        if page.suffix != ".md":
            continue
        for m in re.finditer(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not re.match(r"[a-z]+:", m[1]) and not (page.parent / m[1]).exists():
                faults.append(f"{name}: link to {m[1]} which does not exist")
        for m in re.finditer(rf"`((?:{PLACES})/[\w./-]*[\w/])`", text):
            if not (ROOT / m[1]).exists():
                faults.append(f"{name}: names {m[1]} which does not exist")
    print("\n".join(faults) or "links and paths are right")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
