//===- GuardAbi.h - What compiled guards call
//---------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract between guard functions that `convert-py-to-llvm` makes and the
// process that runs them.  Python objects are `void *` here, so that neither
// side of the wall includes the other's headers.
//
// A guard function is `int32_t f(const DynamoGuardFrame *frame)`.  It returns 0
// if all guards hold, k if the k-th one fails (they are counted in the order of
// its attribute `py.guards`), or one more than there are guards if an object to
// be handed over is not there.
//
// All functions: the GIL is held; they run no code of the user's, leave no
// exception set, and borrow: objects handed in stay the caller's, results
// belong to what they were read from.  Accesses return null where nothing is
// found, and where the object is not of the kind that they read.  Checks return
// 1 or 0.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_RUNTIME_GUARDABI_H
#define DYNAMO_RUNTIME_GUARDABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a guard function sees. Generated code relies on the order of fields.
struct DynamoGuardFrame {
  void *const *locals; ///< localsplus; null where unbound
  void *const *stack;  ///< value stack from its bottom
  void *function;      ///< the frame's function object
  /// The objects of #py.ref<n>, by n.
  void *const *references;
  /// Objects for the entries of the module attribute `py.constants`.
  void *const *constants;
  /// What the entries of the module attribute `py.specs` say, in a form of the
  /// runtime's.
  const void *const *specs;
  /// As many words as the function's `py.memory_words`, zero at first, kept
  /// between calls: versions of dicts, and the objects read from them.
  uint64_t *memory;
  /// Out: the objects that the guard function returns, if it holds.
  void **values;
};

// Accesses (python/csrc/Capture/Trace.h, Access).
void *dynamoPyGlobal(void *function, void *name);
void *dynamoPyInstanceAttr(void *object, void *name);
void *dynamoPyInstanceDict(void *object);
void *dynamoPyDictItem(void *object, void *key);
void *dynamoPyItem(void *object, int64_t index);
void *dynamoPyDequeItem(void *object, int64_t index);
void *dynamoPySlot(void *object, void *descriptor);
void *dynamoPyCell(void *object);
void *dynamoPyClosure(void *object, int64_t index);
void *dynamoPyTypeOf(void *object);
void *dynamoPyCode(void *object);
void *dynamoPyDefaults(void *object);
void *dynamoPyKwDefaults(void *object);
void *dynamoPyMethodSelf(void *object);
void *dynamoPyMethodFunc(void *object);
void *dynamoPyGetter(void *object, void *name);

// Checks.
/// type(object) is `type`.
int32_t dynamoPyIsType(void *object, void *type);
/// The version tag of a class.
int32_t dynamoPyHasVersion(void *type, int64_t version);
/// Same type and value, floats by their bits.
int32_t dynamoPyIsEqual(void *object, void *constant);
/// len() of a list, tuple, dict, set or deque, -1 of others.
int64_t dynamoPyLength(void *object);
/// Keys of a dict, elements of a set, in order, equal those of the tuple.
int32_t dynamoPyHasKeys(void *object, void *tuple);
int32_t dynamoPyIsTensor(void *object, const void *spec);
/// Code and defaults of a function are those of `like`.
int32_t dynamoPyIsFunction(void *object, void *like);
int32_t dynamoPyIsDisjoint(void *tensor, void *other);
int32_t dynamoPyIsState(void *state);
/// Changes with each change of the dict, and no two dicts have the same one; 0
/// if the object is no dict.
uint64_t dynamoPyDictVersion(void *object);

// Numbers, of objects that are known to be one.
int64_t dynamoPyUnboxInt(void *object);
int32_t dynamoPyUnboxBool(void *object);
double dynamoPyUnboxFloat(void *object);

#ifdef __cplusplus
}
#endif

#endif // DYNAMO_RUNTIME_GUARDABI_H
