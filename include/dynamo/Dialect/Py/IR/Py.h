//===- Py.h - the py dialect
//--------------------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_DIALECT_PY_IR_PY_H
#define DYNAMO_DIALECT_PY_IR_PY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dynamo/Dialect/Py/IR/PyDialect.h.inc"
#include "dynamo/Dialect/Py/IR/PyEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dynamo/Dialect/Py/IR/PyTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dynamo/Dialect/Py/IR/PyAttrs.h.inc"

namespace dynamo::py {

/// The effect of a guard: control may leave the segment.  Neither a read (a
/// guard without uses stays) nor a write (reads are merged across guards).
struct MayLeave : mlir::MemoryEffects::Effect::Base<MayLeave> {};

/// Whether the attribute stands for a Python object: a value without identity
/// or a #py.ref.
bool isConstant(mlir::Attribute attr);

/// The constant that an object is; null if it is none.
mlir::Attribute getConstant(mlir::Value object);

/// Whether two constants are certainly different objects and values.
bool areDifferent(mlir::Attribute a, mlir::Attribute b);

/// Row-major strides; `?` behind a size that is not known.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> shape);

} // namespace dynamo::py

#include "dynamo/Dialect/Py/IR/PyInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dynamo/Dialect/Py/IR/PyOps.h.inc"

namespace dynamo::py {

/// Whether the guard holds whatever the world is.
bool isAlwaysTrue(mlir::Operation *guard);
/// Whether two guards say the same of the same objects.
bool areSameGuard(mlir::Operation *a, mlir::Operation *b);
/// Whether the object was made in the segment (py.list, py.object, ...).
bool isFresh(mlir::Value object);
/// Whether the operation is an effect on the outside world.
bool isEffect(mlir::Operation *op);
/// Whether the operation makes or fills an object, or an exit needs it.
bool isContainer(mlir::Operation *op);

} // namespace dynamo::py

#endif // DYNAMO_DIALECT_PY_IR_PY_H
