/*===- CApi.h - The C boundary of the runtime ------------------------ C
-*-===*\
|*                                                                            *|
|* Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.   *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What an embedder (the Python extension, dynamo-run, a C program) hands to  *|
|* a run: buffers, threads and the handler of operators that are not          *|
|* compiled.  Plain C so that it can be called through ctypes or another      *|
|* compiler's runtime.                                                        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef DYNAMO_RUNTIME_CAPI_H
#define DYNAMO_RUNTIME_CAPI_H

#include <stdint.h>

#if defined(_WIN32)
#define DYNAMO_RUNTIME_EXPORT __declspec(dllexport)
#else
#define DYNAMO_RUNTIME_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What came of a run. */
enum DynamoStatus {
  DYNAMO_OK = 0,
  /** The extern handler returned nonzero; the embedder knows why. */
  DYNAMO_EXTERN_FAILED = 1,
  /** The program has extern calls, the context no handler. */
  DYNAMO_NO_EXTERN_HANDLER = 2,
  /** No memory for the arena. */
  DYNAMO_OUT_OF_MEMORY = 3,
  /** Eager would have raised because of what the data is (an index out of
   * range, an integer division by zero), so nothing in the outputs counts: run
   * the same work in another way, which raises. Of extern calls, those before
   * the check have run. */
  DYNAMO_REFUSED = 4,
};

/** Whose threads run the tiles of a kernel. */
enum DynamoThreading {
  /** OpenMP's if the process has loaded one, else our own. */
  DYNAMO_THREADS_AUTO = 0,
  DYNAMO_THREADS_OWN = 1,
  /** The OpenMP library already in the process; without one, our own. */
  DYNAMO_THREADS_OPENMP = 2,
  DYNAMO_THREADS_SERIAL = 3,
};

/** A dense row-major operand; everything is borrowed for the call. */
typedef struct DynamoOperand {
  void *data;
  const int64_t *sizes;
  int32_t rank;
  int32_t dtype; /**< numbered as torch's ScalarType */
} DynamoOperand;

/**
 * Result of an extern call. `data` is dense row-major in the sizes and type
 * that the program states and stays valid until `owner` is released. It may be
 * (part of) an operand's memory: the plan keeps operands as long as results.
 * After a failure nothing in the results is looked at or released.
 */
typedef struct DynamoExternResult {
  void *data;
  void *owner; /**< may be null: nothing to release */
} DynamoExternResult;

/** One run. All pointers are borrowed for the call. */
typedef struct DynamoRunContext {
  void *const *inputs;  /**< data pointers in the program's order */
  void *const *outputs; /**< likewise, allocated by the caller */
  int32_t numThreads;   /**< at most so many; 0: the library's choice */
  int32_t threading;    /**< DynamoThreading */

  void *context; /**< handed to the callbacks */
  /** Runs operator `id`, fills `results`; nonzero aborts the run. */
  int32_t (*callExtern)(void *context, int32_t id,
                        const DynamoOperand *operands, int32_t numOperands,
                        DynamoExternResult *results, int32_t numResults);
  /** Called once for each owner that callExtern returned, after its last use.
   */
  void (*release)(void *context, void *owner);
  /** Around stretches of kernels that take long (more than some 20 us), so that
   *  the embedder can give up a lock meanwhile. Either may be null. */
  void (*beginKernels)(void *context);
  void (*endKernels)(void *context);

  /** If not null: one counter per instruction; the nanoseconds that each took
   *  in this run are added. */
  int64_t *profile;
} DynamoRunContext;

typedef struct DynamoExecutable DynamoExecutable;

/** Runs it; any number of threads may do so at once. Returns DynamoStatus. */
DYNAMO_RUNTIME_EXPORT int32_t dynamoRun(const DynamoExecutable *executable,
                                        const DynamoRunContext *context);

/** Buffers in their order, with sizes borrowed from the executable and null
 *  data. Out-of-range indices return -1, else 0. */
DYNAMO_RUNTIME_EXPORT int32_t
dynamoNumInputs(const DynamoExecutable *executable);
DYNAMO_RUNTIME_EXPORT int32_t
dynamoNumOutputs(const DynamoExecutable *executable);
DYNAMO_RUNTIME_EXPORT int32_t dynamoInputSpec(
    const DynamoExecutable *executable, int32_t index, DynamoOperand *spec);
DYNAMO_RUNTIME_EXPORT int32_t dynamoOutputSpec(
    const DynamoExecutable *executable, int32_t index, DynamoOperand *spec);

/** Static text for a DynamoStatus. */
DYNAMO_RUNTIME_EXPORT const char *dynamoStatusText(int32_t status);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DYNAMO_RUNTIME_CAPI_H */
