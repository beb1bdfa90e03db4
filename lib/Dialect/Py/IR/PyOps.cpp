//===- PyOps.cpp - operation classes of the py dialect
//------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The generated code, apart from what is written by hand: it takes the longest
// to compile.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/IR/Py.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace dynamo::py;

#include "dynamo/Dialect/Py/IR/PyInterfaces.cpp.inc"

/// `[%x, unbound, %y]`
static ParseResult
parseSlots(OpAsmParser &parser,
           SmallVectorImpl<OpAsmParser::UnresolvedOperand> &values,
           DenseBoolArrayAttr &bound) {
  SmallVector<bool> flags;
  auto slot = [&]() -> ParseResult {
    flags.push_back(failed(parser.parseOptionalKeyword("unbound")));
    return flags.back() ? parser.parseOperand(values.emplace_back())
                        : ParseResult(success());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, slot))
    return failure();
  bound = parser.getBuilder().getDenseBoolArrayAttr(flags);
  return success();
}

static void printSlots(OpAsmPrinter &printer, Operation *, OperandRange values,
                       DenseBoolArrayAttr bound) {
  printer << "[";
  unsigned next = 0;
  llvm::interleaveComma(bound.asArrayRef(), printer, [&](bool isBound) {
    if (isBound && next < values.size())
      printer << values[next++];
    else
      printer << "unbound";
  });
  printer << "]";
}

#define GET_OP_CLASSES
#include "dynamo/Dialect/Py/IR/PyOps.cpp.inc"
