//===- PyBuilderTest.cpp - Recordings as IR
//-----------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Dialect/Py/IR/PyBuilder.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>

using dynamo::py::PyBuilder;
using Constant = PyBuilder::Constant;

namespace {

PyBuilder::Look look(std::vector<int64_t> sizes, std::vector<int64_t> strides) {
  return {6, std::move(sizes), std::move(strides)};
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

// Every method emits its operation, and all of them together are a segment.
TEST(PyBuilder, EmitsEveryKind) {
  mlir::MLIRContext context;
  PyBuilder b(context);
  b.beginSegment("f", "Model.forward", 4);
  b.setLine("m.py", 12);
  PyBuilder::Reference cls{1, "Model"}, object{2, "model"};
  auto self = b.arg(0, "self");
  auto on = b.stack(1);
  auto function = b.function();
  b.guardIs(self, object);
  b.guardType(self, cls, 77);
  b.guardType(on, {3, "int", true}, std::nullopt);
  b.guardEqual(on, Constant::tuple(
                       {Constant::number(int64_t(3)), Constant::number(0.5),
                        Constant::none(), Constant::boolean(true),
                        Constant::string("a"), Constant::reference(object)}));
  auto x = b.attr(self, "x");
  auto d = b.instanceDict(self);
  b.guardKeys(d, {Constant::string("x")});
  b.guardLength(d, 1);
  auto y = b.dictItem(d, Constant::string("y"));
  b.guardAbsent(b.attr(self, "gone"));
  b.guardPresent(y);
  b.guardState({9, "grad mode"});
  b.guardFunction(b.global("helper"), {5, "helper"});
  b.cell(b.free(0, "scale"));
  b.cell(b.closure(function, 1));
  b.item(on, 0);
  b.dequeItem(on, 0);
  b.slot(on, {6, "S.a"});
  b.typeOf(on);
  b.code(function);
  b.defaults(function);
  b.kwDefaults(function);
  b.methodSelf(on);
  b.methodFunc(on);
  b.getter(x, "grad");
  PyBuilder::Spec spec{look({4, 8}, {1, 4}), {0, "torch.Tensor"}};
  spec.requiresGrad = true;
  b.guardTensor(x, spec);
  b.guardTensor(y, {look({8, 4}, {4, 1}), {0, "torch.Tensor"}});
  b.guardNoAlias(x, y);
  b.guardDistinct(x, y);
  b.guardSame(x, x);
  auto tx = b.unwrap(x, spec.look);
  auto ty = b.unwrap(y, look({8, 4}, {4, 1}));
  auto v =
      b.torchCall("aten::t", {{"self", tx}}, {look({8, 4}, {4, 1})}, {}, {tx})
          .front();
  b.torchCall(
      "aten::add_.Tensor",
      {{"self", v}, {"other", ty}, {"alpha", Constant::number(int64_t(2))}}, {},
      {v});
  auto c = b.torchCall("aten::cat",
                       {{"tensors", std::vector<PyBuilder::Argument>{v, ty, v}},
                        {"dim", Constant::number(int64_t(0))}},
                       {look({24, 4}, {4, 1})})
               .front();
  auto o = b.wrap(c);
  auto key = b.constant(Constant::string("k"));
  auto list = b.list({});
  b.fill(list, {list});
  auto made = b.object(cls);
  b.initAttr(made, "out", o);
  b.initSlot(made, {7, "Model.s"}, list);
  auto f = b.makeFunction({8, "inner"}, {b.makeCell(o), b.makeCell({})});
  auto all =
      b.tuple({list, made, b.boundMethod(f, made), b.slice(key, key, key),
               b.set({key}), b.dict({key, o}), b.deque({o}, 3)},
              &cls);
  b.setAttr(self, "n", all);
  b.delAttr(self, "m");
  b.setItem(d, key, o);
  b.delItem(d, key);
  b.setCell(b.cell(self), {});
  b.mutate("append", on, {o});
  b.copyTensor(y, c);
  b.gradMode(false);
  b.exit(24, {self, {}, o}, {all});
  absl::Status status = b.finish();
  ASSERT_TRUE(status.ok()) << status.ToString();

  std::string text = b.text();
  for (const char *part :
       {"py.func segment @f", "code = \"Model.forward\", start = 4",
        "version 77 {line = \"m.py:12\"}", "\"int\", fixed>",
        "[3, 5.000000e-01, unit, true, \"a\", #py.ref<2, \"model\">]",
        "!py.tensor<4x8xf32, [1, 4]>", "!py.tensor<8x4xf32>", "views [0]",
        "alpha = 2 : i64, other = #aten.operand<1>, self = #aten.operand<0>",
        "tensors = [#aten.operand<0>, #aten.operand<1>, #aten.operand<0>]",
        "py.exit 24 locals [%", ", unbound, %"})
    EXPECT_TRUE(contains(text, part)) << part << " is not in\n" << text;
}

// What is wrong is said once, at the end, and nothing is emitted from there.
TEST(PyBuilder, ReportsWrongCalls) {
  mlir::MLIRContext context;
  {
    PyBuilder b(context);
    b.beginSegment("f", "f", 0);
    b.ret({});
    EXPECT_TRUE(contains(b.finish().ToString(), "an object is null"));
  }
  {
    PyBuilder b(context);
    b.beginSegment("f", "f", 0);
    auto x = b.arg(0);
    b.unwrap(x, {12, {4}, {1}});
    b.ret(x);
    EXPECT_TRUE(contains(b.finish().ToString(), "element type 12"));
  }
  {
    PyBuilder b(context);
    b.arg(0);
    EXPECT_TRUE(contains(b.finish().ToString(), "there is no segment yet"));
  }
  {
    PyBuilder b(context);
    b.beginSegment("f", "f", 0);
    auto x = b.unwrap(b.arg(0), look({4}, {1}));
    b.torchCall("aten::zero_", {}, {}, {x});
    EXPECT_TRUE(
        contains(b.finish().ToString(), "writes or views a tensor that is no"));
  }
  { // the IR's own checks: a function without an end
    PyBuilder b(context);
    b.beginSegment("f", "f", 0);
    b.arg(0);
    EXPECT_TRUE(contains(b.finish().ToString(), "C1"));
  }
}

} // namespace
