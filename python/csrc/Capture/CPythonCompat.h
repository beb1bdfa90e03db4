//===- CPythonCompat.h - CPython beyond its stable API ------------ C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every access of capture to something of CPython's that is not stable API goes
// through this file: one function per field, so that a new CPython version is
// one file's work.  No header of CPython's core leaks from here; the functions
// that the observer and the hit path call per instruction are inline, in
// CPythonCompatInline.h, which only files of this folder include.
//
// All functions need the GIL.  "Borrowed" results are owned by what they were
// read from.  Functions that can fail say so; the others cannot.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_CPYTHONCOMPAT_H
#define DYNAMO_PYTHON_CAPTURE_CPYTHONCOMPAT_H

#include <Python.h>
#include <cstdint>
#include <string>

namespace dynamo::capture {

/// CPython's own record of a running function (`_PyInterpreterFrame`), handled
/// by pointer only.  Valid while the function runs, or its generator lives.
struct Frame;

namespace compat {

/// Whether this CPython is one that capture knows: the version, and the fields
/// below read on known objects.  Computed once; `reason` gets the first thing
/// that differs.  Nothing else of this file may be called if it is false.
bool supported(std::string *reason = nullptr);

//===----------------------------------------------------------------------===//
// Code objects
//===----------------------------------------------------------------------===//

/// One instruction with its EXTENDED_ARG prefixes.
struct Instruction {
  int opcode = 0; ///< the generic one, never a specialised form
  int oparg = 0;  ///< prefixes included
  int start = 0;  ///< unit of the first prefix, or of the opcode
  int unit = 0;   ///< unit of the opcode
  int next = 0;   ///< unit behind it and its cache
};

/// Decodes the instruction that starts at `unit` (a prefix or the opcode).
Instruction decode(PyCodeObject *code, int unit);

/// Name of local, cell or free variable `index`; borrowed.
PyObject *localName(PyCodeObject *code, int index);
/// What slot `index` of localsplus is; an argument that is captured is both a
/// local and a cell.
bool isLocal(PyCodeObject *code, int index);
bool isCell(PyCodeObject *code, int index);
bool isFree(PyCodeObject *code, int index);

/// A new code object that behaves as `code`.  `adaptive`: with its specialised
/// instructions and their caches, else as if it had never run.  Null with an
/// exception set on failure.
PyCodeObject *copyCode(PyCodeObject *code, bool adaptive);
/// Keeps a code object as it is: it will not specialise itself any more.
void stopWarmup(PyCodeObject *code);

/// Asks for an index of co_extra.  CPython calls `free` with null for code
/// objects where nothing was set under this index.  -1 if there is none left.
Py_ssize_t requestCodeExtra(void (*free)(void *));
/// Null where nothing was set.
void *codeExtra(PyCodeObject *code, Py_ssize_t index);
/// The old value is freed.  -1 with an exception set on failure.
int setCodeExtra(PyCodeObject *code, Py_ssize_t index, void *value);

//===----------------------------------------------------------------------===//
// Versions: what a guard compares
//===----------------------------------------------------------------------===//

/// Changes with every change of the type or one of its bases; assigned if it
/// has none.  0: CPython has run out of them, compare lookups instead.
uint32_t typeVersion(PyTypeObject *type);

/// What the class or one of its bases has under this name, without binding;
/// borrowed, null (without an exception) where there is nothing.
PyObject *typeLookup(PyTypeObject *type, PyObject *name);

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// The value of attribute `name` (str) in the instance's own storage, be it
/// inline values or a dict, borrowed; null where there is none.  Runs no Python
/// code.
PyObject *instanceAttribute(PyObject *object, PyObject *name);
/// The instance's dict where it exists already, borrowed; makes none.
PyObject *instanceDict(PyObject *object);
/// True if the instance's attributes lie in inline values: it has no dict yet.
bool hasInlineValues(PyObject *object);
/// Where instances of `type` keep `name` in inline values, -1 if not there.  It
/// stays as long as the type lives.
int inlineIndex(PyTypeObject *type, PyObject *name);
/// Calls `visit` for each attribute in the instance's own storage, in the order
/// in which they were made; both arguments are borrowed.  Stops at false.
bool forEachAttribute(PyObject *object, void *context,
                      bool (*visit)(void *context, PyObject *name,
                                    PyObject *value));

//===----------------------------------------------------------------------===//
// Frames and threads
//===----------------------------------------------------------------------===//

/// The Python object of a frame, borrowed; made if there is none yet.  Null
/// (without an exception if the frame has not reached its first RESUME).
PyFrameObject *frameObject(PyThreadState *thread, Frame *frame);
/// Which events the trace function gets for this frame.
void setEvents(PyFrameObject *frame, bool lines, bool opcodes);

/// The frame of a generator, coroutine or asynchronous generator that has not
/// ended, else null.
Frame *generatorFrame(PyObject *generator);
/// The generator that owns this frame, borrowed; null if none does.
PyObject *frameGenerator(Frame *frame);

/// Sets the C trace function of this thread without the audit event
/// `sys.settrace`; takes a reference to `argument`; both null: none.  Runs the
/// destructor of the former argument.
void setTrace(PyThreadState *thread, Py_tracefunc function, PyObject *argument);
/// As `setTrace`, the way CPython does it; -1 with an exception set if an audit
/// hook refuses.
int setTraceAudited(PyThreadState *thread, Py_tracefunc function,
                    PyObject *argument);

/// CPython's evaluator.  `throwflag`: an exception is set, and is raised at the
/// frame's instruction.  A new reference, or null with an exception set.
PyObject *evaluate(PyThreadState *thread, Frame *frame, bool throwflag);

using EvalHook = PyObject *(*)(PyThreadState *, Frame *, int throwflag);
/// Installs a function in the evaluator's place; null: CPython's own.  While
/// one is installed, Python-to-Python calls go through it and cost about 15 ns
/// more.
void setEvalHook(EvalHook hook);
/// Null if it is CPython's own.
EvalHook evalHook();

/// Replaces the getter behind `frame.f_code`; the former one is returned in
/// `old`.  -1 with an exception set on failure.
using CodeGetter = PyObject *(*)(PyObject * frame, void *closure);
int replaceFrameCodeGetter(CodeGetter getter, CodeGetter *old);

} // namespace compat
} // namespace dynamo::capture

#endif // DYNAMO_PYTHON_CAPTURE_CPYTHONCOMPAT_H
