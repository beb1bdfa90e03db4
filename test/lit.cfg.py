"""lit configuration: .mlir files under test/ run dynamo-opt, dynamo-run and FileCheck."""
import os

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
