//===- EffectOps.cpp - effects, functions, calls and exits
//--------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/IR/Py.h"

#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace dynamo::py;

bool dynamo::py::isEffect(Operation *op) {
  return isa<SetAttrOp, DelAttrOp, SetItemOp, DelItemOp, SetCellOp, MutateOp,
             CopyTensorOp, GradModeOp>(op);
}

LogicalResult MutateOp::verify() {
  if (getMethod().empty())
    return emitOpError("C1: names no method");
  return success();
}

//===----------------------------------------------------------------------===//
// py.func and py.invoke
//===----------------------------------------------------------------------===//

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                   FunctionKind kind, FunctionType type) {
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addAttribute(getKindAttrName(state.name),
                     FunctionKindAttr::get(builder.getContext(), kind));
  Block &body = state.addRegion()->emplaceBlock();
  for (Type input : type.getInputs())
    body.addArgument(input, state.location);
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<FunctionKind> kind = symbolizeFunctionKind(keyword);
  if (!kind)
    return parser.emitError(loc, "unknown kind of function '")
           << keyword << "', accepted are segment, unit, guard and exit";
  result.addAttribute(getKindAttrName(result.name),
                      FunctionKindAttr::get(parser.getContext(), *kind));
  auto type = [](Builder &builder, ArrayRef<Type> inputs,
                 ArrayRef<Type> results, function_interface_impl::VariadicFlag,
                 std::string &) {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), type,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyFunctionKind(getKind());
  // The kind is printed; parseFunctionOp's counterpart would print it again.
  printer << " ";
  if (std::optional<StringRef> visibility = getSymVisibility())
    printer << *visibility << " ";
  printer.printSymbolName(getSymName());
  function_interface_impl::printFunctionSignature(
      printer, *this, getArgumentTypes(), /*isVariadic=*/false,
      getResultTypes());
  function_interface_impl::printFunctionAttributes(
      printer, *this,
      {getFunctionTypeAttrName(), getKindAttrName(), getArgAttrsAttrName(),
       getResAttrsAttrName(), getSymVisibilityAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/true);
}

LogicalResult FuncOp::verify() {
  if (!getBody().hasOneBlock() || !getBody().front().mightHaveTerminator() ||
      !isa<ReturnOp, ExitOp>(getBody().front().back())) // C1
    return emitOpError(
        "C1: is not one block that ends with py.return or py.exit");
  FunctionKind kind = getKind();
  bool reachesFrame =
      kind == FunctionKind::Segment || kind == FunctionKind::Guard;
  if (reachesFrame && getNumArguments() != 0) // C2, C3
    return emitOpError(isSegment() ? "C2: a segment" : "C3: a guard function")
           << " takes no arguments, its sources reach the frame";
  if ((kind == FunctionKind::Guard) != getInputs().has_value() ||
      (getInputs() && *getInputs() > getResultTypes().size())) // C3
    return emitOpError("C3: 'inputs' is the number of results of a guard "
                       "function that are tensors, and stands only there");
  Operation &last = getBody().front().back();
  if (isa<ExitOp>(last) && kind != FunctionKind::Segment &&
      kind != FunctionKind::Exit) // C4
    return emitOpError("C4: py.exit stands in segments and exit functions");
  if (isa<ReturnOp>(last) &&
      last.getOperandTypes() != TypeRange(getResultTypes())) // C4
    return emitOpError("C4: returns values of other types than its results");
  if (isSegment() &&
      (getResultTypes().size() != 1 || !isa<ObjectType>(getResultTypes()[0])))
    return emitOpError("C2: a segment has one object as its result");
  if (!reachesFrame) // C5
    for (Operation &op : getBody().front())
      if (isa<ArgOp, StackOp, FunctionOp, GlobalOp, FreeOp>(op)) {
        InFlightDiagnostic diag = emitOpError(
            "C5: only segments and guard functions reach the frame");
        diag.attachNote(op.getLoc()) << "here";
        return diag;
      }
  return success();
}

LogicalResult InvokeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee || callee.getKind() != FunctionKind::Unit)
    return emitOpError("C1: @") << getCallee() << " is not a unit";
  if (TypeRange(callee.getArgumentTypes()) != TypeRange(getInputs()) ||
      TypeRange(callee.getResultTypes()) != TypeRange(getResults()))
    return emitOpError("C1: has other types than @")
           << getCallee() << ": " << callee.getFunctionType();
  return success();
}

//===----------------------------------------------------------------------===//
// Exits
//===----------------------------------------------------------------------===//

template <typename OpTy> static LogicalResult verifyExit(OpTy op) {
  if (static_cast<int64_t>(op.getNext()) < 0)
    return op.emitOpError("C1: goes on at unit ")
           << static_cast<int64_t>(op.getNext()) << ", 0 or more is accepted";
  size_t bound = llvm::count(op.getBound(), true);
  if (bound != op.getLocals().size())
    return op.emitOpError("C2: has ")
           << op.getLocals().size() << " objects for " << bound
           << " bound locals";
  return success();
}

LogicalResult ExitOp::verify() { return verifyExit(*this); }
LogicalResult SideExitOp::verify() { return verifyExit(*this); }
