//===- PyToLLVMTest.cpp - Runs compiled guards
//--------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A guard function through the JIT over objects of the test's own, which stand
// in for CPython behind the functions of GuardAbi.h.
//
//===----------------------------------------------------------------------===//

#include "dynamo/Conversion/Passes.h"
#include "dynamo/ExecutionEngine/Jit.h"
#include "dynamo/InitAll.h"
#include "dynamo/Runtime/GuardAbi.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <gtest/gtest.h>
#include <map>

namespace {

/// A Python object of the test's. The type lies first, as an offset tells.
struct Fake {
  Fake *type = nullptr;
  uint64_t version = 0; ///< of a dict or a class
  int64_t number = 0;
  std::string text;
  std::map<std::string, Fake *> attributes, entries;
  std::vector<Fake *> items;
};

Fake *fake(void *object) { return static_cast<Fake *>(object); }
int dictReads = 0;

void *find(const std::map<std::string, Fake *> &in, void *name) {
  auto it = in.find(fake(name)->text);
  return it == in.end() ? nullptr : it->second;
}

} // namespace

#pragma clang diagnostic ignored "-Wmissing-prototypes"
extern "C" {
void *dynamoPyInstanceAttr(void *object, void *name) {
  return find(fake(object)->attributes, name);
}
void *dynamoPyDictItem(void *object, void *key) {
  ++dictReads;
  return find(fake(object)->entries, key);
}
void *dynamoPyItem(void *object, int64_t index) {
  auto &items = fake(object)->items;
  return index < int64_t(items.size()) ? items[index] : nullptr;
}
int32_t dynamoPyIsType(void *object, void *type) {
  return fake(object)->type == type;
}
int32_t dynamoPyHasVersion(void *type, int64_t version) {
  return int64_t(fake(type)->version) == version;
}
int32_t dynamoPyIsEqual(void *object, void *constant) {
  return fake(object)->number == fake(constant)->number;
}
int64_t dynamoPyLength(void *object) { return fake(object)->items.size(); }
int32_t dynamoPyIsTensor(void *object, const void *spec) {
  return fake(object)->number == *static_cast<const int64_t *>(spec);
}
uint64_t dynamoPyDictVersion(void *object) { return fake(object)->version; }
int64_t dynamoPyUnboxInt(void *object) { return fake(object)->number; }
}

namespace {

constexpr const char *kGuard = R"(
py.func guard @guard_under_test() -> (!py.object, !py.object) attributes {inputs = 1} {
  %self = py.arg 0
  py.guard.type %self is #py.ref<0> version 7
  %x = py.attr %self "x"
  py.guard.tensor %x like #py.spec<!py.tensor<4xf32>, python_type = <1>>
  %n = py.arg 1
  py.guard.equal %n, 3
  %list = py.attr %self "list"
  py.guard.length %list is 2
  %second = py.item %list[1]
  py.guard.is %second is #py.ref<1>
  %gone = py.attr %self "gone"
  py.guard.absent %gone
  %dict = py.attr %self "dict"
  py.guard.present %dict
  %a = py.guard.dict_version %dict {
    %0 = py.dict_item %dict["a"]
    %1 = py.dict_item %dict["b"]
    py.guard.is %1 is #py.ref<2>
    py.yield %0
  } : !py.object
  %u = py.unbox %n : i64
  %two = arith.constant 2 : i64
  %c = arith.cmpi sgt, %u, %two : i64
  py.guard.true %c
  py.return %x, %a : !py.object, !py.object
}
)";

class Guard : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    mlir::DialectRegistry registry;
    dynamo::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(kGuard, &context);
    ASSERT_TRUE(module);
    mlir::PassManager passes(&context);
    dynamo::ConvertPyToLLVMPassOptions options;
    if (std::string(GetParam()) == "raw") {
      options.typeOffset = offsetof(Fake, type);
      options.dictVersionOffset = offsetof(Fake, version);
    }
    passes.addPass(dynamo::createConvertPyToLLVMPass(options));
    passes.addPass(mlir::createArithToLLVMConversionPass());
    ASSERT_TRUE(succeeded(passes.run(*module)));
    compile();
    describeTables();
    makeWorld();
  }

  void compile() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
    ASSERT_TRUE(static_cast<bool>(builder));
    builder->setRelocationModel(llvm::Reloc::PIC_);
    auto machine = builder->createTargetMachine();
    ASSERT_TRUE(static_cast<bool>(machine));
    // Attributes of ours are no business of the translation.
    constants = (*module)->getAttrOfType<mlir::ArrayAttr>("py.constants");
    specs = (*module)->getAttrOfType<mlir::ArrayAttr>("py.specs");
    llvm::LLVMContext llvmContext;
    auto code = mlir::translateModuleToLLVMIR(*module, llvmContext);
    ASSERT_TRUE(code);
    code->setTargetTriple((*machine)->getTargetTriple());
    code->setDataLayout((*machine)->createDataLayout());
    // Every test has a function of its own.
    static int number = 0;
    std::string name = "guard_under_test_" + std::to_string(number++);
    code->getFunction("guard_under_test")->setName(name);
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager codegen;
    ASSERT_FALSE((*machine)->addPassesToEmitFile(
        codegen, stream, nullptr, llvm::CodeGenFileType::ObjectFile));
    codegen.run(*code);
    auto linked = dynamo::engine::linkObject(
        std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), name,
                                                        false),
        name);
    ASSERT_TRUE(linked.ok()) << linked.status().ToString();
    jit = std::move(*linked);
    guard = reinterpret_cast<decltype(guard)>(jit->address());
  }

  void describeTables() {
    auto function =
        module->lookupSymbol<mlir::LLVM::LLVMFuncOp>("guard_under_test");
    for (mlir::Attribute name :
         function->getAttrOfType<mlir::ArrayAttr>("py.guards"))
      names.push_back(mlir::cast<mlir::StringAttr>(name).str());
    memory.assign(
        function->getAttrOfType<mlir::IntegerAttr>("py.memory_words").getInt(),
        0);
  }

  /// A world in which everything holds.
  void makeWorld() {
    for (mlir::Attribute entry : constants) {
      Fake *object = make();
      if (auto text = mlir::dyn_cast<mlir::StringAttr>(entry))
        object->text = text.str();
      else
        object->number = mlir::cast<mlir::IntegerAttr>(entry).getInt();
      constantTable.push_back(object);
    }
    ASSERT_EQ(specs.size(), 1u);
    model = make();
    model->version = 7;
    second = make();
    b = make();
    references = {model, second, b};
    self = make();
    self->type = model;
    x = self->attributes["x"] = make();
    x->number = spec;
    list = self->attributes["list"] = make();
    list->items = {make(), second};
    dict = self->attributes["dict"] = make();
    dict->version = 100;
    a = dict->entries["a"] = make();
    dict->entries["b"] = b;
    n = make();
    n->number = 3;
  }

  /// The name of the guard that fails, "" if none does.
  std::string run() {
    void *locals[] = {self, n};
    const void *specTable[] = {&spec};
    values[0] = values[1] = nullptr;
    DynamoGuardFrame frame = {};
    frame.locals = locals;
    frame.references = references.data();
    frame.constants = constantTable.data();
    frame.specs = specTable;
    frame.memory = memory.data();
    frame.values = values;
    int32_t failed = guard(&frame);
    return failed == 0 ? "" : names.at(failed - 1);
  }

  Fake *make() {
    objects.push_back(std::make_unique<Fake>());
    return objects.back().get();
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::ArrayAttr constants, specs;
  std::unique_ptr<dynamo::engine::JitCode> jit;
  int32_t (*guard)(const DynamoGuardFrame *) = nullptr;
  std::vector<std::string> names;
  std::vector<uint64_t> memory;
  std::vector<void *> references, constantTable;
  std::vector<std::unique_ptr<Fake>> objects;
  void *values[2];
  int64_t spec = 55;
  Fake *self, *model, *second, *x, *list, *dict, *a, *b, *n;
};

TEST_P(Guard, HoldsAndHandsOver) {
  EXPECT_EQ(run(), "");
  EXPECT_EQ(values[0], x);
  EXPECT_EQ(values[1], a);
}

TEST_P(Guard, NamesWhatFails) {
  model->version = 8;
  EXPECT_EQ(run(), "type");
  model->version = 7;
  self->type = second;
  EXPECT_EQ(run(), "type");
  self->type = model;
  x->number = 56;
  EXPECT_EQ(run(), "tensor");
  x->number = 55;
  n->number = 4;
  EXPECT_EQ(run(), "equal");
  n->number = 3;
  list->items.push_back(a);
  EXPECT_EQ(run(), "length");
  list->items = {a, a};
  EXPECT_EQ(run(), "is");
  list->items = {a, second};
  self->attributes["gone"] = a;
  EXPECT_EQ(run(), "absent");
  self->attributes.erase("gone");
  EXPECT_EQ(run(), "");
}

// A place where nothing is fails the guard behind it; nothing is read from
// there.
TEST_P(Guard, NothingThere) {
  self->attributes.erase("dict");
  EXPECT_EQ(run(), "present");
  self->attributes.erase("list");
  EXPECT_EQ(run(), "length");
  self->attributes.erase("x");
  EXPECT_EQ(run(), "tensor");
  n = nullptr;
  self = nullptr;
  EXPECT_EQ(run(), "type");
}

// While a dict's version stays, it is not read; a body that fails is not
// remembered.
TEST_P(Guard, RemembersDicts) {
  dictReads = 0;
  EXPECT_EQ(run(), "");
  EXPECT_EQ(dictReads, 2);
  EXPECT_EQ(run(), "");
  EXPECT_EQ(dictReads, 2);
  EXPECT_EQ(values[1], a);
  Fake *other = dict->entries["a"] = make();
  dict->version = 101;
  EXPECT_EQ(run(), "");
  EXPECT_EQ(dictReads, 4);
  EXPECT_EQ(values[1], other);
  dict->entries["b"] = a;
  dict->version = 102;
  EXPECT_EQ(run(), "is");
  EXPECT_EQ(run(), "is");
  dict->entries["b"] = b;
  dict->entries.erase("a");
  dict->version = 103;
  EXPECT_NE(run(), "");
}

INSTANTIATE_TEST_SUITE_P(Access, Guard, ::testing::Values("calls", "raw"),
                         [](const auto &info) { return info.param; });

} // namespace
