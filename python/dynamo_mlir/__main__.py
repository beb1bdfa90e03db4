# Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs an unchanged program with everything that is warm in it compiled.

    python -m dynamo_mlir [options] script.py [arguments]
    python -m dynamo_mlir [options] -m module [arguments]

The program sees what it sees under `python script.py`: sys.argv, sys.path, the module `__main__`, tracebacks without
frames of ours, and the exit code.
"""
import argparse
import os
import sys
import types


def _options(arguments):
    """Our options, and the program: (options, is it a module, [name, arguments...])."""
    parser = argparse.ArgumentParser(prog="python -m dynamo_mlir", description=__doc__.split("\n")[0],
                                     usage="%(prog)s [options] (script.py | folder | -m module) [arguments]")
    parser.add_argument("--threads", type=int, default=0, help="default: as many as torch uses")
    parser.add_argument("--target", default="host", help="name of a machine model (default: host)")
    parser.add_argument("--dump", default="", help="folder that receives the IR of everything that is compiled")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if not options.program:
        parser.error("a script or -m and a module are needed")
    return options, options.module, options.program


def _fail(program, error):
    """As CPython does for a file that it can't open."""
    print(f"{sys.executable}: can't open file {program!r}: "
          f"[Errno {error.errno}] {os.strerror(error.errno)}", file=sys.stderr)
    sys.exit(2)


def _absolute(program):
    """As CPython makes it: joined to the working folder, not normalised."""
    if os.path.isabs(program):
        return program
    return os.path.join(os.getcwd(), program[2:] if program.startswith("./") else program)


def _script(program, main):
    """The function that runs a script, a folder or an archive."""
    program = _absolute(program)
    if os.path.isdir(program) or _is_archive(program):
        import runpy

        sys.path[0] = program
        return lambda: runpy._run_module_as_main("__main__", alter_argv=False)
    import importlib.machinery
    import io

    try:
        with io.open_code(program) as file:
            source = file.read()
    except OSError as error:
        _fail(program, error)
    sys.path[0] = os.path.dirname(os.path.realpath(program))
    if program.endswith(".pyc"):
        loader = importlib.machinery.SourcelessFileLoader("__main__", program)
    else:
        loader = importlib.machinery.SourceFileLoader("__main__", program)
    main.__dict__.update(__file__=program, __cached__=None, __loader__=loader)

    def run():
        code = loader.get_code("__main__") if program.endswith(".pyc") else compile(source, program, "exec", dont_inherit=True)
        exec(code, main.__dict__)

    return run


def _is_archive(program):
    try:
        with open(program, "rb") as file:
            if file.read(2) == b"#!" or os.path.splitext(program)[1] in (".py", ".pyc"):
                return os.path.splitext(program)[1] not in (".py", ".pyc") and _zip(program)
    except OSError:
        return False
    return _zip(program)


def _zip(program):
    import zipfile

    return zipfile.is_zipfile(program)


def main(arguments=None):
    options, is_module, program = _options(sys.argv[1:] if arguments is None else arguments)
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = sys.modules["builtins"]
    module.__dict__["__annotations__"] = {}
    if is_module:
        import runpy

        # While the module is looked for, as under `python -m`; the module's own path then stands there.
        sys.argv[:] = ["-m", *program[1:]]
        sys.path[0] = os.getcwd()

        def run():
            runpy._run_module_as_main(program[0])
    else:
        run = _script(program[0], module)
        sys.argv[:] = program
    sys.modules["__main__"] = module
    from .process import enable

    enable(threads=options.threads, target=options.target, dump=options.dump)
    _guarded(run)


def _guarded(run):
    """Runs the program; what it raises is shown without our frames, and ends the process as it would without us."""
    error = None
    try:
        run()
    except SystemExit as raised:
        raised.__traceback__ = None
        raise
    except BaseException as raised:
        error = raised
    if error is not None:  # Handled out here, so that it is no context of what an excepthook raises.
        _strip(error)
        _show(error)
        # CPython ends the process: with exit code 1, or by the signal of an interrupt.  It has been shown.
        sys.excepthook = lambda *raised: None
        raise error


def _strip(error):
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace


def _show(error):
    """As CPython does at its top level."""
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    second = None
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as raised:
        second = raised
    if second is not None:
        _strip(second)
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(second), second, second.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)


if __name__ == "__main__":
    main()
