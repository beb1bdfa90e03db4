//===- TraceText.cpp - Traces as text -------------------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What explain, logs and tests show: one line for each guard, input, effect
// and for the exit, in Python's own notation where there is one.
//
//===----------------------------------------------------------------------===//

#include "Capture/CPythonCompat.h"
#include "Capture/Observer.h"
#include "Capture/TorchState.h"

#include <map>

namespace py = pybind11;
using namespace dynamo;
using namespace dynamo::capture;

static std::string text(const Ref &object) {
  if (!object)
    return "null";
  if (PyUnicode_Check(object.ptr()))
    return py::cast<std::string>(object);
  return describe(object.ptr());
}

std::string capture::sourceText(const Trace &trace, const Source *source) {
  auto *code = reinterpret_cast<PyCodeObject *>(trace.code.ptr());
  std::string parent =
      source->parent ? sourceText(trace, source->parent) : std::string();
  auto item = [&](const std::string &what) {
    return parent + "[" + what + "]";
  };
  switch (source->access) {
  case Access::Local:
    return py::cast<std::string>(
        py::handle(compat::localName(code, static_cast<int>(source->index))));
  case Access::Stack:
    return "stack[" + std::to_string(source->index) + "]";
  case Access::Function:
    return "function";
  case Access::Constant:
    return "<" + text(source->key) + ">";
  case Access::Type:
    return "type(" + parent + ")";
  case Access::InstanceAttr:
    return parent + "." + text(source->key);
  case Access::InstanceDict:
    return parent + ".__dict__";
  case Access::DictItem:
    if (source->parent->access == Access::Constant &&
        PyUnicode_Check(source->key.ptr()) &&
        PyDict_Check(source->parent->key.ptr()))
      return text(source->key); // a global
    return item(describe(source->key.ptr()));
  case Access::Item:
  case Access::DequeItem:
    return item(std::to_string(source->index));
  case Access::Slot:
    return parent + "." +
           py::cast<std::string>(py::handle(source->key).attr("__name__"));
  case Access::CellContents:
    return parent + ".cell_contents";
  case Access::Closure:
    return parent + ".__closure__[" + std::to_string(source->index) + "]";
  case Access::Code:
    return parent + ".__code__";
  case Access::Globals:
    return parent + ".__globals__";
  case Access::Defaults:
    return parent + ".__defaults__";
  case Access::KwDefaults:
    return parent + ".__kwdefaults__";
  case Access::MethodSelf:
    return parent + ".__self__";
  case Access::MethodFunc:
    return parent + ".__func__";
  case Access::Getter:
    return parent + "." + text(source->key);
  }
  return "?";
}

static std::string guardText(const Trace &trace, const Guard &guard) {
  std::string source = sourceText(trace, guard.source);
  std::string object = guard.object ? describe(guard.object.ptr()) : "";
  switch (guard.check) {
  case Check::Type:
    return "type(" + source + ") is " + object;
  case Check::Identity:
    return source + " is " + object;
  case Check::Equal:
    return source + " == " + object;
  case Check::Absent:
    return "no " + source;
  case Check::Present:
    return "some " + source;
  case Check::Class:
    return source + " is unchanged";
  case Check::Length:
    return "len(" + source + ") == " + std::to_string(guard.index);
  case Check::Keys:
    return "keys of " + source + " == " + object;
  case Check::Tensor:
    return source + ": " + tensorText(*guard.tensor);
  case Check::Function:
    return "code of " + source + " is unchanged";
  case Check::Same:
    return source + " is " + sourceText(trace, guard.other);
  case Check::Distinct:
    return source + " is not " + sourceText(trace, guard.other);
  case Check::NoOverlap:
    return source + " shares no memory with " + sourceText(trace, guard.other);
  }
  return "?";
}

namespace {
struct ValuePrinter {
  const Trace &trace;
  std::map<const Value *, int> open = {};
  int next = 0;

  std::string list(const std::vector<Value *> &items) {
    std::string result;
    for (Value *item : items)
      result += (result.empty() ? "" : ", ") + print(item);
    return result;
  }
  std::string attributes(const Value &value) {
    std::string result;
    for (auto *group : {&value.attributes, &value.slots})
      for (auto &[name, item] : *group) {
        std::string key = PyUnicode_Check(name.ptr())
                              ? text(name)
                              : py::cast<std::string>(name.attr("__name__"));
        result += ", " + key + "=" + print(item);
      }
    return result;
  }
  std::string print(const Value *value) {
    if (!value)
      return "unbound";
    if (open.count(value))
      return "^" + text(value->type);
    switch (value->kind) {
    case Value::Constant:
      return describe(value->object.ptr());
    case Value::Source:
      return sourceText(trace, value->source);
    case Value::Tensor:
      return "%" + std::to_string(value->index);
    default:
      break;
    }
    open[value] = next++;
    std::string result = inside(*value);
    open.erase(value);
    return result;
  }
  std::string inside(const Value &value) {
    std::string type = value.type ? describe(value.type.ptr()) : "";
    switch (value.kind) {
    case Value::List:
      if (type == "list")
        return "[" + list(value.items) + "]";
      break;
    case Value::Tuple:
      if (type == "tuple")
        return "(" + list(value.items) + (value.items.size() == 1 ? ",)" : ")");
      break;
    case Value::Dict: {
      std::string items;
      for (size_t i = 0; i + 1 < value.items.size(); i += 2)
        items += (i ? ", " : "") + print(value.items[i]) + ": " +
                 print(value.items[i + 1]);
      if (type == "dict")
        return "{" + items + "}";
      return type + "({" + items + "}" + attributes(value) + ")";
    }
    case Value::Cell:
      return "cell(" + list(value.items) + ")";
    case Value::Function:
      return "function " + describe(value.object.ptr()) + "(" +
             list(value.items) + ")";
    case Value::BoundMethod:
      return "method(" + list(value.items) + ")";
    case Value::Slice:
      return "slice(" + list(value.items) + ")";
    case Value::Object: {
      std::string inner = attributes(value);
      return type + "(" + (inner.empty() ? inner : inner.substr(2)) + ")";
    }
    default:
      break;
    }
    return type + "([" + list(value.items) + "]" + attributes(value) + ")";
  }
};
} // namespace

static std::string effectText(const Trace &trace, const Effect &effect) {
  ValuePrinter printer{trace};
  std::string target = effect.target ? printer.print(effect.target) : "";
  std::string operands = printer.list(effect.operands);
  switch (effect.kind) {
  case Effect::SetAttr:
    return target + "." + text(effect.name) + " = " + operands;
  case Effect::DelAttr:
    return "del " + target + "." + text(effect.name);
  case Effect::SetItem:
    return target + "[" + printer.print(effect.operands[0]) +
           "] = " + printer.print(effect.operands[1]);
  case Effect::DelItem:
    return "del " + target + "[" + operands + "]";
  case Effect::SetCell:
    return target + ".cell_contents = " + operands;
  case Effect::Call:
    return target + "." + text(effect.name) + "(" + operands + ")";
  case Effect::CopyTensor:
    return target + ".copy_(" + operands + ")";
  case Effect::GradMode:
    return "torch.set_grad_enabled(" + operands + ")";
  }
  return "?";
}

std::string capture::traceText(const Trace &trace) {
  std::string result;
  auto line = [&](const char *kind, const std::string &text) {
    result += std::string(kind) + " " + text + "\n";
  };
  for (const Guard &guard : trace.guards)
    line("guard", guardText(trace, guard));
  for (const Source *input : trace.inputs)
    line("input", sourceText(trace, input));
  for (const Effect &effect : trace.effects)
    line("effect", effectText(trace, effect));
  ValuePrinter printer{trace};
  if (trace.exit.returns) {
    line("return", printer.print(trace.exit.result));
    return result;
  }
  auto *code = reinterpret_cast<PyCodeObject *>(trace.code.ptr());
  for (size_t i = 0; i < trace.exit.locals.size(); ++i)
    if (trace.exit.locals[i])
      line("local", py::cast<std::string>(py::handle(
                        compat::localName(code, static_cast<int>(i)))) +
                        " = " + printer.print(trace.exit.locals[i]));
  for (Value *value : trace.exit.stack)
    line("stack", value ? printer.print(value) : "null");
  std::string why = trace.ended ? trace.ended->reason : "";
  line("goto", std::to_string(trace.exit.next) + ": " + why);
  return result;
}
