//===- MachineModel.cpp - What code generation knows of a CPU -------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Target/MachineModel.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace dynamo::target;

// The feature lists name every instruction set that generated code may use:
// the psABI levels x86-64-v3 and v4 without what we never emit.
static MachineModel makeAVX2() {
  MachineModel m;
  m.name = "avx2";
  m.vectorBits = 256;
  m.vectorRegisters = 16;
  m.hasFMA = true;
  m.hasF16C = true;
  m.tileRows = 6;
  m.tileCols = 16;
  m.cpu = "x86-64-v3";
  m.features = "+avx2,+fma,+f16c,+bmi,+bmi2,+lzcnt,+popcnt";
  return m;
}

static MachineModel makeAVX512() {
  MachineModel m = makeAVX2();
  m.name = "avx512";
  m.vectorBits = 512;
  m.vectorRegisters = 32;
  m.tileRows = 14;
  m.tileCols = 32;
  m.l1Bytes = 48 * 1024;
  m.l2Bytes = 1024 * 1024;
  m.cpu = "x86-64-v4";
  m.features += ",+avx512f,+avx512bw,+avx512dq,+avx512vl,-prefer-256-bit";
  return m;
}

/// The x86-64 baseline; elsewhere LLVM's own baseline of the architecture.
static MachineModel makeGeneric() {
  MachineModel m;
  m.name = "generic";
#if defined(__x86_64__) || defined(_M_X64)
  m.cpu = "x86-64";
#else
  m.cpu = "generic";
#endif
  return m;
}

static MachineModel detectHost() {
#if defined(__x86_64__) || defined(_M_X64)
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto hasAll = [&](std::initializer_list<llvm::StringRef> names) {
    for (llvm::StringRef name : names)
      if (!features.lookup(name))
        return false;
    return true;
  };
  bool avx2 = hasAll(
      {"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "popcnt", "movbe"});
  if (avx2 &&
      hasAll({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}))
    return makeAVX512();
  if (avx2)
    return makeAVX2();
#endif
  return makeGeneric();
}

static MachineModel getHost() {
  static const MachineModel host = detectHost();
  return host;
}

namespace {
struct NamedTarget {
  llvm::StringRef name;
  MachineModel (*make)();
};
} // namespace

/// In the order in which errors list them.
static constexpr NamedTarget kTargets[] = {{"host", getHost},
                                           {"generic", makeGeneric},
                                           {"avx2", makeAVX2},
                                           {"avx512", makeAVX512}};

std::optional<MachineModel>
dynamo::target::getMachineModel(llvm::StringRef name) {
  for (const NamedTarget &target : kTargets)
    if (target.name == name)
      return target.make();
  return std::nullopt;
}

std::string dynamo::target::describeUnknownTarget(llvm::StringRef name) {
  std::string text = "unknown target '" + name.str() + "', accepted are ";
  for (const NamedTarget &target : kTargets) {
    if (&target != kTargets)
      text += ", ";
    text += target.name;
  }
  return text;
}
