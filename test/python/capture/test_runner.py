# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m dynamo_mlir program` does what `python program` does, to the byte of output and the exit code."""
import os
import pathlib
import signal
import subprocess
import sys
import zipfile

import pytest

import dynamo_mlir

PROGRAMS = {
    "plain": "import sys\nprint(sys.argv, __name__, __file__, sys.path[0], sorted(globals()))\n",
    "main": "import sys, __main__\nprint(__main__.__dict__ is globals(), sys.modules['__main__'] is __main__, __spec__, __package__)\n"
            "print(type(__loader__).__name__, __loader__.path, __doc__, __annotations__)\n",
    "raises": "def f(x):\n    return 1 / x\n\n\ntry:\n    f(0)\nexcept ZeroDivisionError as e:\n    raise ValueError('two') from e\n",
    "syntax": "def f(:\n    pass\n",
    "exits": "import sys\nsys.exit(7)\n",
    "message": "raise SystemExit('a message')\n",
    "atexit": "import atexit\natexit.register(print, 'bye')\n1 / 0\n",
    "hook": "import sys, traceback\n\n\ndef hook(*raised):\n    print('hook', raised[0].__name__, len(traceback.extract_tb(raised[2])))\n\n\n"
            "sys.excepthook = hook\n1 / 0\n",
    "badhook": "import sys\n\n\ndef hook(*raised):\n    raise KeyError(1)\n\n\nsys.excepthook = hook\n1 / 0\n",
    "interrupt": "raise KeyboardInterrupt\n",
    "killed": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n",
    "future": "from __future__ import annotations\nx: undefined = 3\nprint(__annotations__)\n",
    "encoding": "# -*- coding: latin-1 -*-\nprint(ascii('\u00e9'))\n",
    "pickles": "import pickle\n\n\nclass C:\n    pass\n\n\nprint(type(pickle.loads(pickle.dumps(C()))) is C)\n",
    "threads": "import threading, time\n\n\ndef late():\n    time.sleep(0.2)\n    print('late')\n\n\nthreading.Thread(target=late).start()\n",
    "spawns": "import multiprocessing\n\n\ndef work(x):\n    return x * x\n\n\nif __name__ == '__main__':\n"
              "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n        print(pool.map(work, [1, 2, 3]))\n",
    "warns": "import warnings\nwarnings.warn('look')\n",
}


def outcome(arguments, folder):
    environment = dict(os.environ, PYTHONPATH=str(pathlib.Path(dynamo_mlir.__file__).parent.parent))
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def both(folder, *arguments):
    plain, ours = outcome(arguments, folder), outcome(["-m", "dynamo_mlir", *arguments], folder)
    assert ours == plain
    return plain


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script(tmp_path, name):
    encoding = "latin-1" if name == "encoding" else "utf-8"
    (tmp_path / f"{name}.py").write_bytes(PROGRAMS[name].encode(encoding))
    code, _, errors = both(tmp_path, f"{name}.py", "one", "--two", "-m")
    expected = {"exits": 7, "message": 1, "interrupt": -signal.SIGINT, "killed": -signal.SIGTERM}
    assert code == expected.get(name, 1 if "Traceback" in errors or name in ("syntax", "hook") else 0)


def test_a_module_a_package_a_folder_and_an_archive(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    text = "import sys\nprint(sys.argv, __name__, __package__, __spec__ and __spec__.name, sys.path[0])\nimport helper\nhelper.f(0)\n"
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(text)
    for folder in (package, tmp_path):
        (folder / "helper.py").write_text("def f(x):\n    return 1 / x\n")
    (package / "module.py").write_text(text)
    with zipfile.ZipFile(tmp_path / "archive.pyz", "w") as archive:
        for name in ("__main__.py", "helper.py"):
            archive.write(package / name, name)
    for arguments in (["-m", "package", "x"], ["-m", "package.module", "--y"], ["package", "z"], ["archive.pyz"]):
        code, output, errors = both(tmp_path, *arguments)
        assert code == 1 and output and "ZeroDivisionError" in errors


def test_what_is_not_there(tmp_path):
    assert both(tmp_path, "absent.py")[0] == 2
    assert both(tmp_path, "-m", "absent_module")[0] == 1


def test_our_own_options_are_checked(tmp_path):
    code, _, errors = outcome(["-m", "dynamo_mlir"], tmp_path)
    assert code == 2 and "script" in errors
    code, _, errors = outcome(["-m", "dynamo_mlir", "--no-such-option", "x.py"], tmp_path)
    assert code == 2 and "--no-such-option" in errors
