//===- AtenCall.h - From an operator's name and arguments to aten
//-------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_DIALECT_PY_TRANSFORMS_ATENCALL_H
#define DYNAMO_LIB_DIALECT_PY_TRANSFORMS_ATENCALL_H

#include "dynamo/Dialect/Py/IR/Py.h"

namespace dynamo::py {

/// The functional form of an operator: its schema name without the underscore
/// of in-place ones, "aten.add.Tensor" for "aten::add_.Tensor".
std::string functionalOverload(llvm::StringRef name);

/// Makes the call on values: an operation of aten if there is one for it, else
/// aten.extern.  `values` are the call's operands as values or numbers, `types`
/// the results.  Fails with a diagnostic on the call.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
emitAten(mlir::OpBuilder &builder, TorchCallOp call, mlir::ValueRange values,
         mlir::TypeRange types);

/// An aten operation of one operand and one result.
mlir::Value emitAten(mlir::OpBuilder &builder, mlir::Location loc,
                     llvm::StringRef op, mlir::ValueRange operands,
                     mlir::Type type,
                     llvm::ArrayRef<mlir::NamedAttribute> attrs);

} // namespace dynamo::py

#endif // DYNAMO_LIB_DIALECT_PY_TRANSFORMS_ATENCALL_H
