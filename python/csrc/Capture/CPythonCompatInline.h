//===- CPythonCompatInline.h - Hot accessors of CPython ----------- C++ -*-===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of CPythonCompat that runs per instruction or per call.  It sees the
// structures of CPython's core, so only .cpp files of Capture include it.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_PYTHON_CAPTURE_CPYTHONCOMPATINLINE_H
#define DYNAMO_PYTHON_CAPTURE_CPYTHONCOMPATINLINE_H

#include "Capture/CPythonCompat.h"

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030C0000
#error "capture is written for CPython 3.11"
#endif

#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#define DYNAMO_DEFINED_BUILD_CORE
#endif
#include <cassert>
#include <internal/pycore_frame.h>
#ifdef DYNAMO_DEFINED_BUILD_CORE
#undef Py_BUILD_CORE
#undef DYNAMO_DEFINED_BUILD_CORE
#endif

/// CPython's tables of opcodes; CPythonOpcodes.c.
extern "C" const uint8_t *const dynamoOpcodeDeopt;
extern "C" const uint8_t *const dynamoOpcodeCaches;

namespace dynamo::capture::compat {

inline _PyInterpreterFrame *raw(Frame *frame) {
  return reinterpret_cast<_PyInterpreterFrame *>(frame);
}
inline const _PyInterpreterFrame *raw(const Frame *frame) {
  return reinterpret_cast<const _PyInterpreterFrame *>(frame);
}

//===----------------------------------------------------------------------===//
// Code objects
//===----------------------------------------------------------------------===//

/// Instructions, two bytes each: opcode, then argument.
inline uint16_t *units(PyCodeObject *code) { return _PyCode_CODE(code); }
inline int numUnits(PyCodeObject *code) {
  return static_cast<int>(Py_SIZE(code));
}
/// The generic opcode of a specialised one.
inline int genericOpcode(int opcode) { return dynamoOpcodeDeopt[opcode]; }
/// The generic opcode at a unit, which may be an EXTENDED_ARG.
inline int opcodeAt(PyCodeObject *code, int unit) {
  return dynamoOpcodeDeopt[_Py_OPCODE(units(code)[unit])];
}
/// The byte of argument at a unit, without prefixes.
inline int opargAt(PyCodeObject *code, int unit) {
  return _Py_OPARG(units(code)[unit]);
}
/// Units of inline cache behind a (generic) opcode.
inline int cacheUnits(int opcode) { return dynamoOpcodeCaches[opcode]; }
/// What lies before this unit makes cells and generators and has no events.
inline int firstTraceable(PyCodeObject *code) {
  return code->_co_firsttraceable;
}
inline int numLocals(PyCodeObject *code) { return code->co_nlocalsplus; }
inline int stackSize(PyCodeObject *code) { return code->co_stacksize; }
inline bool isGenerator(PyCodeObject *code) {
  return code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR);
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

inline Frame *frameOf(PyFrameObject *object) {
  return reinterpret_cast<Frame *>(object->f_frame);
}
/// Borrowed.  A copy of the frame's code while the driver runs one.
inline PyCodeObject *code(const Frame *frame) { return raw(frame)->f_code; }
/// Replaces the code by one of the same layout at the same instruction, without
/// touching reference counts: who does this undoes it before the frame is left.
inline void swapCode(Frame *frame, PyCodeObject *to) {
  _PyInterpreterFrame *f = raw(frame);
  f->prev_instr = _PyCode_CODE(to) + (f->prev_instr - _PyCode_CODE(f->f_code));
  f->f_code = to;
}
/// The function that runs; borrowed.
inline PyObject *function(const Frame *frame) {
  return reinterpret_cast<PyObject *>(raw(frame)->f_func);
}
/// Borrowed.
inline PyObject *globals(const Frame *frame) { return raw(frame)->f_globals; }
inline PyObject *builtins(const Frame *frame) { return raw(frame)->f_builtins; }
/// The namespace of a class body or module; borrowed, may be null.
inline PyObject *namespaceOf(const Frame *frame) {
  return raw(frame)->f_locals;
}
/// The frame below; at a frame's own entry into the hook not yet set.
inline Frame *previous(const Frame *frame) {
  return reinterpret_cast<Frame *>(raw(frame)->previous);
}
/// True if C code lies between this frame and the one below.
inline bool isEntry(const Frame *frame) { return raw(frame)->is_entry; }
inline bool ownedByGenerator(const Frame *frame) {
  return raw(frame)->owner == FRAME_OWNED_BY_GENERATOR;
}
/// True before the first RESUME: cells and the generator are being made.
inline bool isIncomplete(const Frame *frame) {
  const _PyInterpreterFrame *f = raw(frame);
  return f->owner != FRAME_OWNED_BY_GENERATOR &&
         f->prev_instr <
             _PyCode_CODE(f->f_code) + f->f_code->_co_firsttraceable;
}
/// Borrowed; null if none has been made.
inline PyFrameObject *frameObjectIfAny(const Frame *frame) {
  return raw(frame)->frame_obj;
}

/// At an opcode event: the unit that is about to run.  Elsewhere the last unit
/// before the next instruction, perhaps one of a cache; -1 at the start.
inline int lastUnit(const Frame *frame) {
  return static_cast<int>(raw(frame)->prev_instr -
                          _PyCode_CODE(raw(frame)->f_code));
}
inline void setLastUnit(Frame *frame, int unit) {
  raw(frame)->prev_instr = _PyCode_CODE(raw(frame)->f_code) + unit;
}

/// Locals, cells and free variables, in slots; null: unbound.
inline PyObject **locals(Frame *frame) { return raw(frame)->localsplus; }
inline int numLocals(const Frame *frame) {
  return raw(frame)->f_code->co_nlocalsplus;
}
/// The value stack, 0 is the bottom; a slot may be null (PUSH_NULL).
inline PyObject **stack(Frame *frame) {
  return raw(frame)->localsplus + raw(frame)->f_code->co_nlocalsplus;
}
/// Values on the stack.  Known at events and while the frame does not run,
/// negative otherwise.
inline int stackDepth(const Frame *frame) {
  return raw(frame)->stacktop - raw(frame)->f_code->co_nlocalsplus;
}
inline void setStackDepth(Frame *frame, int depth) {
  raw(frame)->stacktop = raw(frame)->f_code->co_nlocalsplus + depth;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// The innermost frame, perhaps an incomplete one.
inline Frame *currentFrame(PyThreadState *thread) {
  return reinterpret_cast<Frame *>(thread->cframe->current_frame);
}
/// Makes a frame that is not being evaluated visible as the innermost one, and
/// takes it away again (`leaveFrame`); in pairs.
inline void enterFrame(PyThreadState *thread, Frame *frame) {
  raw(frame)->previous = thread->cframe->current_frame;
  thread->cframe->current_frame = raw(frame);
}
inline void leaveFrame(PyThreadState *thread, Frame *frame) {
  thread->cframe->current_frame = raw(frame)->previous;
}
inline Py_tracefunc traceFunction(PyThreadState *thread) {
  return thread->c_tracefunc;
}
inline PyObject *traceArgument(PyThreadState *thread) {
  return thread->c_traceobj;
}
inline Py_tracefunc profileFunction(PyThreadState *thread) {
  return thread->c_profilefunc;
}
/// True inside a trace or profile function.
inline bool insideTrace(PyThreadState *thread) { return thread->tracing; }

//===----------------------------------------------------------------------===//
// Versions and instances
//===----------------------------------------------------------------------===//

/// Changes with every change of the dict; no two dicts share one.
inline uint64_t dictVersion(PyObject *dict) {
  return reinterpret_cast<PyDictObject *>(dict)->ma_version_tag;
}
/// The version that a type has now; 0 if it has none.
inline uint32_t currentTypeVersion(PyTypeObject *type) {
  return PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG)
             ? type->tp_version_tag
             : 0;
}
/// Changes when code, defaults or keyword defaults of a function are set.  Only
/// CPython assigns one (when it specialises a call of the function); 0: none
/// now.
inline uint32_t currentFunctionVersion(PyFunctionObject *function) {
  return function->func_version;
}
/// The inline values of an instance, indexed by `inlineIndex`; null where its
/// attributes are in a dict or it has none.
inline PyObject **inlineValues(PyObject *object) {
  if (!PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT))
    return nullptr;
  return reinterpret_cast<PyObject ***>(object)[-4];
}

} // namespace dynamo::capture::compat

#endif // DYNAMO_PYTHON_CAPTURE_CPYTHONCOMPATINLINE_H
