//===- AtenDialect.cpp - the aten dialect
//-------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Aten/IR/Aten.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dynamo::aten;

#include "dynamo/Dialect/Aten/IR/AtenDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dynamo/Dialect/Aten/IR/AtenAttrs.cpp.inc"

void AtenDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dynamo/Dialect/Aten/IR/AtenAttrs.cpp.inc"
      >();
  registerActivationOps();
  registerBinaryOps();
  registerConvOps();
  registerExternOp();
  registerFactoryOps();
  registerIndexOps();
  registerLinearOps();
  registerNormOps();
  registerPoolOps();
  registerReductionOps();
  registerShapeOps();
  registerUnaryOps();
}
