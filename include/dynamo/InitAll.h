//===- InitAll.h - the only registration lists
//--------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_INITALL_H
#define DYNAMO_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace dynamo {

/// Adds every dialect, interface implementation and translation that any phase
/// needs: ours and the upstream ones we use.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers every pass and pipeline, ours and upstream's, by flag.
void registerAllPasses();

} // namespace dynamo

#endif // DYNAMO_INITALL_H
