//===- CApi.cpp - The C boundary of the runtime ---------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Runtime/CApi.h"

#include "dynamo/Runtime/Executable.h"

using namespace dynamo::runtime;

static const Executable &unwrap(const DynamoExecutable *executable) {
  return *reinterpret_cast<const Executable *>(executable);
}

int32_t dynamoRun(const DynamoExecutable *executable,
                  const DynamoRunContext *context) {
  return unwrap(executable).run(*context);
}

int32_t dynamoNumInputs(const DynamoExecutable *executable) {
  return static_cast<int32_t>(unwrap(executable).program().inputs.size());
}

int32_t dynamoNumOutputs(const DynamoExecutable *executable) {
  return static_cast<int32_t>(unwrap(executable).program().outputs.size());
}

static int32_t specAt(const std::vector<TensorSpec> &specs, int32_t index,
                      DynamoOperand *spec) {
  if (index < 0 || index >= static_cast<int64_t>(specs.size()))
    return -1;
  *spec = {nullptr, specs[index].sizes.data(),
           static_cast<int32_t>(specs[index].sizes.size()),
           static_cast<int32_t>(specs[index].dtype)};
  return 0;
}

int32_t dynamoInputSpec(const DynamoExecutable *executable, int32_t index,
                        DynamoOperand *spec) {
  return specAt(unwrap(executable).program().inputs, index, spec);
}

int32_t dynamoOutputSpec(const DynamoExecutable *executable, int32_t index,
                         DynamoOperand *spec) {
  return specAt(unwrap(executable).program().outputs, index, spec);
}

const char *dynamoStatusText(int32_t status) {
  switch (status) {
  case DYNAMO_OK:
    return "ok";
  case DYNAMO_EXTERN_FAILED:
    return "an operator outside the compiled program failed";
  case DYNAMO_NO_EXTERN_HANDLER:
    return "the program calls operators that are not compiled, and there is "
           "no handler for them";
  case DYNAMO_REFUSED:
    return "the data is such that an operator of the program has to raise";
  case DYNAMO_OUT_OF_MEMORY:
    return "out of memory for intermediate buffers";
  }
  return "unknown status";
}
