"""lit configuration: .mlir files under test/ run dynamo-opt, dynamo-run and FileCheck."""
import os
import sys

import lit.formats

config.name = "Dynamo-MLIR"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "python"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.dynamo_obj_root, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.dynamo_obj_root, "bin"), config.llvm_tools_dir, config.environment.get("PATH", os.environ["PATH"])]
)
config.substitutions += [
    ("%dynamo_src_root", config.dynamo_src_root),
    ("%dynamo_obj_root", config.dynamo_obj_root),
    ("%python", sys.executable),
]
