/*===- CPythonOpcodes.c - CPython's tables of opcodes ---------------------===*\
|*
|* Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===----------------------------------------------------------------------===*|
|*
|* The tables are written in a C that is not C++; CPythonCompatInline.h reads
|* them through these pointers.
|*
\*===----------------------------------------------------------------------===*/

#include <Python.h>

#define Py_BUILD_CORE 1
#define NEED_OPCODE_TABLES
#include <internal/pycore_opcode.h>

const uint8_t *const dynamoOpcodeDeopt = _PyOpcode_Deopt;
const uint8_t *const dynamoOpcodeCaches = _PyOpcode_Caches;
