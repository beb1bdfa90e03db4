//===- dynamo-reduce.cpp - makes a failing module small -------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-reduce with this project's dialects: given a module and a script that
// exits with 1 while the module is still interesting, it deletes what it can.
//
//   dynamo-reduce bad.mlir --reduction-tree='traversal-mode=0
//   test=still-bad.sh'
//
//===----------------------------------------------------------------------===//

#include "dynamo/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  dynamo::registerAllDialects(registry);
  dynamo::registerAllPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
