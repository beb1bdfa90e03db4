//===- Module.cpp - The extension module dynamo_mlir._C -------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bindings only: what crosses from Python to the builder, the compiler and the
// runner, and how failures become exceptions.
//
//===----------------------------------------------------------------------===//

#include "Capture/Bindings.h"
#include "GraphBuilder.h"
#include "Runner.h"
#include "TorchShim.h"

#include "Pybind.h"

namespace py = pybind11;
using namespace dynamo::python;

namespace {
/// #aten.operand<index>
struct OperandIndex {
  int64_t index;
};
} // namespace

/// Python data to an attribute: None, numbers, str, Operand, list and dict as
/// they are; a pair of a kind and a list is a dense array.
static AttrValue toAttr(py::handle object) {
  AttrValue value;
  PyObject *p = object.ptr();
  if (object.is_none()) {
    value.kind = AttrValue::Unit;
  } else if (PyBool_Check(p)) {
    value.kind = AttrValue::Bool;
    value.b = p == Py_True;
  } else if (PyLong_Check(p)) {
    value.kind = AttrValue::Int;
    value.i = py::cast<int64_t>(object);
  } else if (PyFloat_Check(p)) {
    value.kind = AttrValue::Float;
    value.f = PyFloat_AS_DOUBLE(p);
  } else if (PyUnicode_Check(p)) {
    value.kind = AttrValue::Str;
    value.s = py::cast<std::string>(object);
  } else if (PyTuple_Check(p)) {
    auto pair = py::reinterpret_borrow<py::tuple>(object);
    std::string kind = py::cast<std::string>(pair[0]);
    if (kind == "floats") {
      value.kind = AttrValue::Floats;
      value.floats = py::cast<std::vector<double>>(pair[1]);
    } else {
      value.kind = kind == "ints"    ? AttrValue::Ints
                   : kind == "bools" ? AttrValue::Bools
                                     : AttrValue::Int32s;
      for (py::handle item : py::reinterpret_borrow<py::sequence>(pair[1]))
        value.ints.push_back(py::cast<int64_t>(item));
    }
  } else if (PyList_Check(p)) {
    value.kind = AttrValue::List;
    for (py::handle item : py::reinterpret_borrow<py::list>(object))
      value.list.push_back(toAttr(item));
  } else if (PyDict_Check(p)) {
    value.kind = AttrValue::Dict;
    for (auto item : py::reinterpret_borrow<py::dict>(object)) {
      value.keys.push_back(py::cast<std::string>(item.first));
      value.list.push_back(toAttr(item.second));
    }
  } else {
    value.kind = AttrValue::Operand;
    value.i = py::cast<OperandIndex>(object).index;
  }
  return value;
}

static py::object fromAttr(const AttrValue &value) {
  switch (value.kind) {
  case AttrValue::Unit:
    return py::none();
  case AttrValue::Bool:
    return py::bool_(value.b);
  case AttrValue::Int:
    return py::int_(value.i);
  case AttrValue::Float:
    return py::float_(value.f);
  case AttrValue::Str:
    return py::str(value.s);
  case AttrValue::Operand:
    return py::cast(OperandIndex{value.i});
  case AttrValue::Ints:
    return py::cast(value.ints);
  case AttrValue::Floats:
    return py::cast(value.floats);
  case AttrValue::List: {
    py::list list;
    for (const AttrValue &item : value.list)
      list.append(fromAttr(item));
    return list;
  }
  case AttrValue::Dict: {
    py::dict dict;
    for (size_t i = 0; i < value.keys.size(); ++i)
      dict[py::str(value.keys[i])] = fromAttr(value.list[i]);
    return dict;
  }
  default:
    throw CompilerFailure{"this kind of attribute is not read back"};
  }
}

static py::list externs(const Runner &runner) {
  const dynamo::runtime::Program &program = *runner.compiled().program;
  std::vector<py::list> results(program.externs.size());
  for (const auto &step : program.instructions) {
    if (step.kind != dynamo::runtime::Instruction::Extern ||
        !results[step.externId].empty())
      continue;
    for (const auto &spec : step.resultSpecs)
      results[step.externId].append(
          py::make_tuple(static_cast<int32_t>(spec.dtype), spec.sizes));
  }
  py::list list;
  for (size_t i = 0; i < results.size(); ++i)
    list.append(py::make_tuple(program.externs[i].name, program.externs[i].args,
                               program.externs[i].kwargs, results[i]));
  return list;
}

using TypeTuple = std::pair<int32_t, std::vector<int64_t>>;

PYBIND11_MODULE(_C, m) {
  m.doc() = "The compiler behind dynamo_mlir; not a public interface.";

  // Failures of ours are raised as InternalCompilerError; the Python side adds
  // where the IR is.
  py::register_exception_translator([](std::exception_ptr raised) {
    try {
      if (raised)
        std::rethrow_exception(raised);
    } catch (const CompilerFailure &failure) {
      py::object type = py::module_::import("dynamo_mlir.errors")
                            .attr("InternalCompilerError");
      PyErr_SetString(type.ptr(), failure.message.c_str());
    } catch (const Refused &) {
      py::object type =
          py::module_::import("dynamo_mlir.errors").attr("Refused");
      PyErr_SetNone(type.ptr());
    }
  });

  dynamo::capture::bindCapture(m);

  py::class_<OperandIndex>(m, "Operand")
      .def(py::init<int64_t>())
      .def_readonly("index", &OperandIndex::index);

  py::class_<Module, std::shared_ptr<Module>>(m, "Module")
      .def("__str__", [](const Module &self) { return self.print(false); })
      .def("print", &Module::print, py::arg("locations") = false)
      .def("verify", &Module::verify);

  py::class_<GraphBuilder>(m, "GraphBuilder")
      .def(py::init<>())
      .def("add_input",
           [](GraphBuilder &self, int32_t dtype, std::vector<int64_t> sizes) {
             return self.addInput({dtype, std::move(sizes)});
           })
      .def("add_float", &GraphBuilder::addFloat)
      .def("add_int", &GraphBuilder::addInt)
      .def("add_bool", &GraphBuilder::addBool)
      .def("op",
           [](GraphBuilder &self, const std::string &name,
              const std::vector<int64_t> &operands, const py::dict &attributes,
              const std::vector<TypeTuple> &results, const py::tuple &where) {
             std::vector<NamedAttrValue> attrs;
             for (auto item : attributes)
               attrs.emplace_back(py::cast<std::string>(item.first),
                                  toAttr(item.second));
             std::vector<TensorTypeDesc> types;
             for (const TypeTuple &type : results)
               types.push_back({type.first, type.second});
             Position position{
                 py::cast<std::string>(where[0]), py::cast<int32_t>(where[1]),
                 py::cast<int32_t>(where[2]), py::cast<std::string>(where[3])};
             return self.addOp(name, operands, attrs, types, position);
           })
      .def("finish", &GraphBuilder::finish);

  py::class_<Runner>(m, "Runner")
      .def("run", &Runner::run)
      .def(
          "run_profiled",
          [](const Runner &self, const py::sequence &arguments) {
            std::vector<int64_t> nanoseconds;
            py::object results = self.runProfiled(arguments, nanoseconds);
            py::list steps;
            const auto &instructions = self.compiled().program->instructions;
            for (size_t i = 0; i < instructions.size(); ++i)
              steps.append(
                  py::make_tuple(instructions[i].name, nanoseconds[i]));
            return py::make_tuple(results, steps);
          },
          "The results, and (name, nanoseconds) of each instruction.")
      .def("externs", &externs,
           "(name, args, kwargs, [(dtype, sizes) of results]) by extern id.")
      .def("kernels",
           [](const Runner &self) { return self.compiled().kernels; })
      .def("seconds",
           [](const Runner &self) { return self.compiled().seconds; })
      .def("notes", [](const Runner &self) { return self.compiled().notes; })
      .def("launches",
           [](const Runner &self) {
             int count = 0;
             for (const auto &step : self.compiled().program->instructions)
               count += step.kind == dynamo::runtime::Instruction::Launch;
             return count;
           })
      .def(
          "conditions",
          [](const Runner &self) {
            int count = 0;
            for (const auto &step : self.compiled().program->instructions)
              count += step.kind == dynamo::runtime::Instruction::RefuseIf;
            return count;
          },
          "How many conditions on the data a run may be refused for.")
      .def("arena_bytes", [](const Runner &self) {
        return self.compiled().program->arenaBytes;
      });

  m.def("compile", [](Module &module, const py::list &inputs,
                      const py::list &outputs, py::object callExtern,
                      py::object repack, int threads, const std::string &target,
                      const std::string &dumpDir) {
    std::vector<InputPlan> in;
    for (py::handle item : inputs) {
      auto t = py::reinterpret_borrow<py::tuple>(item);
      in.push_back(
          {py::cast<int64_t>(t[0]), py::cast<std::vector<int64_t>>(t[1]),
           py::cast<std::vector<int64_t>>(t[2]), py::cast<int32_t>(t[3]),
           py::cast<bool>(t[4]), py::reinterpret_borrow<py::object>(t[5])});
    }
    std::vector<OutputPlan> out;
    for (py::handle item : outputs) {
      auto t = py::reinterpret_borrow<py::tuple>(item);
      OutputPlan plan;
      plan.dtype = py::cast<int32_t>(t[0]);
      plan.sizes = py::cast<std::vector<int64_t>>(t[1]);
      plan.strides = py::cast<std::vector<int64_t>>(t[2]);
      out.push_back(std::move(plan));
    }
    Compiled compiled;
    {
      py::gil_scoped_release release;
      compiled = compileModule(module, target, dumpDir);
    }
    return std::make_unique<Runner>(std::move(compiled), std::move(in),
                                    std::move(out), std::move(callExtern),
                                    std::move(repack), threads);
  });

  m.def("parse_attribute",
        [](const std::string &text) { return fromAttr(parseAttribute(text)); });

  // The torch side, for tests and reports.
  m.def(
      "torch_shim",
      [] {
        const TorchShim &shim = TorchShim::get();
        return py::make_tuple(shim.fast(), shim.whyNotFast());
      },
      "Whether tensors are reached through torch's C functions, and if not, "
      "why.");
  m.def(
      "torch_raw",
      [] {
        const TorchShim &shim = TorchShim::get();
        TorchWords words;
        return py::make_tuple(shim.raw() != nullptr, shim.whyNotRaw(),
                              shim.words(words));
      },
      "Whether tensors' metadata is read in place, why not, and whether "
      "torch's "
      "state is.");
  m.def("set_torch_raw", [](bool on) { TorchShim::get().setRaw(on); });
  m.def("torch_words", [] {
    TorchWords words;
    TorchShim::get().words(words);
    return py::make_tuple(words.autograd, words.included, words.excluded,
                          words.functions, words.process);
  });
  m.def("set_torch_shim", [](bool on) { TorchShim::get().setFast(on); });
  m.def("describe_tensor", [](py::object tensor) {
    TensorView view;
    TorchShim::get().view(tensor, view);
    if (!view.cpuStrided)
      view.rank = 0;
    return py::make_tuple(
        reinterpret_cast<uintptr_t>(view.data), view.dtype, view.cpuStrided,
        std::vector<int64_t>(view.sizes, view.sizes + view.rank),
        std::vector<int64_t>(view.strides, view.strides + view.rank));
  });
  m.def("empty_tensor", [](std::vector<int64_t> sizes,
                           std::vector<int64_t> strides, int32_t dtype) {
    void *data;
    return TorchShim::get().empty(sizes, strides, dtype, data);
  });
}
