//===- TorchLayout.cpp - Tensor metadata and thread state, read in place --===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Guards compare sizes, strides, dtype and the like of hundreds of tensors at
// each call: six C calls per tensor are too many.  So where these fields lie
// in a TensorImpl is found at start-up, by searching known tensors for values
// that only the right field can hold, and everything is then checked against
// Python's answers on other tensors.  If any step fails, the official ways are
// used.  torch's state per thread is compared as the words in which torch
// itself keeps it.
//
//===----------------------------------------------------------------------===//

#include "TorchShim.h"

#include <cstring>
#include <dlfcn.h>

namespace py = pybind11;
using namespace dynamo::python;

/// Bytes of a TensorImpl that are searched.
static constexpr int32_t kImplBytes = 192;
/// Bytes of autograd's metadata that are searched.
static constexpr int32_t kMetaBytes = 136;

template <typename T> static T readAt(const char *from, int32_t offset) {
  T value;
  std::memcpy(&value, from + offset, sizeof(T));
  return value;
}

/// The offsets, a multiple of `step`, at which `holds(offset)`; exactly one
/// must be left. -1 if not.
template <typename Predicate>
static int32_t findOne(int32_t bytes, int32_t step, Predicate holds) {
  int32_t found = -1;
  for (int32_t at = 0; at + step <= bytes; at += step) {
    if (!holds(at))
      continue;
    if (found >= 0)
      return -1;
    found = at;
  }
  return found;
}

/// The byte of `memory` that differs between on and off, and comes back.
template <typename Switch>
static int32_t findFlag(const void *memory, int32_t bytes, Switch turn) {
  std::string seen[3];
  for (int32_t i = 0; i < 3; ++i) {
    turn(i != 1);
    seen[i].assign(static_cast<const char *>(memory), bytes);
  }
  return findOne(bytes, 1, [&](int32_t at) {
    return seen[0][at] != seen[1][at] && seen[0][at] == seen[2][at];
  });
}

bool TorchShim::findOffsets(py::list &probes) {
  auto implOf = [&](const py::object &tensor) {
    return *reinterpret_cast<char **>(reinterpret_cast<char *>(tensor.ptr()) +
                                      handleOffset);
  };
  py::object zeros = torch.attr("zeros"), empty = torch.attr("empty");
  auto strided = [&](py::tuple sizes, py::tuple strides, int64_t offset) {
    return zeros(20000).attr("as_strided")(sizes, strides, offset);
  };
  py::object five = strided(py::make_tuple(6, 5, 4, 3, 2),
                            py::make_tuple(1201, 207, 61, 17, 7), 911);
  py::object six = strided(py::make_tuple(2, 3, 2, 5, 2, 3),
                           py::make_tuple(1203, 209, 67, 19, 5, 3), 853);
  probes.append(five);
  probes.append(six);
  const int64_t inlined[] = {5, 6, 5, 4, 3, 2, 1201, 207, 61, 17, 7};
  const int64_t outside[] = {2, 3, 2, 5, 2, 3, 1203, 209, 67, 19, 5, 3};
  const char *a = implOf(five), *b = implOf(six);
  offsets.rank = findOne(kImplBytes - sizeof(inlined), 8, [&](int32_t at) {
    return std::memcmp(a + at, inlined, sizeof(inlined)) == 0 &&
           readAt<int64_t>(b, at) == 6;
  });
  if (offsets.rank < 0 || std::memcmp(readAt<const char *>(b, offsets.rank + 8),
                                      outside, sizeof(outside)) != 0)
    return false;
  offsets.offset = findOne(kImplBytes, 8, [&](int32_t at) {
    return readAt<int64_t>(a, at) == 911 && readAt<int64_t>(b, at) == 853;
  });
  py::object keysOf = torch.attr("_C").attr("_dispatch_keys");
  auto keys = [&](const py::object &tensor) {
    return py::cast<uint64_t>(keysOf(tensor).attr("raw_repr")());
  };
  py::object meta = empty(3, py::arg("device") = "meta");
  offsets.keys = findOne(kImplBytes, 8, [&](int32_t at) {
    return readAt<uint64_t>(a, at) == keys(five) &&
           readAt<uint64_t>(implOf(meta), at) == keys(meta);
  });
  py::list all;
  std::vector<int32_t> numbers = {0, 1, 2, 3, 4, 5, 6, 7, 11, 15};
  for (int32_t number : numbers)
    all.append(zeros(1, py::arg("dtype") = dtypeObject(number)));
  offsets.dtype = findOne(kImplBytes, 2, [&](int32_t at) {
    for (size_t i = 0; i < numbers.size(); ++i)
      if (readAt<uint16_t>(implOf(all[i]), at) != numbers[i])
        return false;
    return true;
  });
  // A device is its type and its index, -1 for "the CPU"; torch's number of
  // meta is known from a function of its own.
  auto *metaType = reinterpret_cast<int32_t (*)()>(
      dlsym(RTLD_DEFAULT, "aoti_torch_device_type_meta"));
  int32_t metaNumber = -1;
  void *handle = reinterpret_cast<char *>(meta.ptr()) + handleOffset;
  if (metaType)
    metaNumber = metaType();
  else if (getDeviceType(handle, &metaNumber))
    return false;
  offsets.device = findOne(kImplBytes, 2, [&](int32_t at) {
    return readAt<int8_t>(a, at) == 0 && readAt<int8_t>(a, at + 1) == -1 &&
           readAt<int8_t>(implOf(meta), at) == metaNumber;
  });
  // Tensors that share a storage and nothing else, and one that does not.
  py::object shares = zeros(4), view = shares.attr("data"), other = zeros(4);
  offsets.storage = findOne(kImplBytes, 8, [&](int32_t at) {
    uintptr_t word = readAt<uintptr_t>(implOf(shares), at);
    return at > 8 && word > 4096 &&
           word == readAt<uintptr_t>(implOf(view), at) &&
           word != readAt<uintptr_t>(implOf(other), at);
  });
  // Autograd's metadata exists for a parameter and not for a plain tensor; the
  // flag in it follows requires_grad_.
  py::object parameter = torch.attr("nn").attr("Parameter")(zeros(4));
  for (const py::object &probe : {shares, view, other, parameter})
    probes.append(probe);
  offsets.autograd = findOne(kImplBytes, 8, [&](int32_t at) {
    uintptr_t word = readAt<uintptr_t>(implOf(parameter), at);
    return word > 4096 && readAt<uintptr_t>(implOf(other), at) == 0 &&
           readAt<uintptr_t>(implOf(five), at) != word;
  });
  rawReason = "the place of a tensor's autograd metadata can't be told";
  if (offsets.autograd < 0)
    return false;
  const char *flags = readAt<const char *>(implOf(parameter), offsets.autograd);
  offsets.requiresGrad = findFlag(flags, kMetaBytes, [&](bool on) {
    parameter.attr("requires_grad_")(on);
  });
  // The node behind a result is the only owner that its metadata has and a
  // parameter's lacks: a pointer that two results of one node share.
  py::object pair = (parameter * py::int_(2)).attr("unbind")();
  py::tuple results(
      py::reinterpret_steal<py::object>(PySequence_Tuple(pair.ptr())));
  const char *first =
      readAt<const char *>(implOf(results[0]), offsets.autograd);
  py::object product = parameter * py::int_(2);
  probes.append(product);
  const char *made = readAt<const char *>(implOf(product), offsets.autograd);
  if (!first || !made)
    return false;
  offsets.gradFn = findOne(kMetaBytes, 8, [&](int32_t at) {
    return at > 0 && readAt<uintptr_t>(made, at) > 4096 &&
           readAt<uintptr_t>(flags, at) == 0;
  });
  // The reason names what is missing.
  for (auto &[name, at] :
       {std::make_pair("storage offset", offsets.offset),
        std::make_pair("dispatch keys", offsets.keys),
        std::make_pair("dtype", offsets.dtype),
        std::make_pair("device", offsets.device),
        std::make_pair("storage", offsets.storage),
        std::make_pair("requires_grad", offsets.requiresGrad),
        std::make_pair("grad_fn", offsets.gradFn)})
    if (at < 0) {
      rawReason =
          std::string("the place of a tensor's ") + name + " can't be told";
      return false;
    }
  return true;
}

void TorchShim::calibrateRaw() {
  rawReason.clear();
  auto fail = [&](const char *what) { rawReason = what; };
  if (!requiresGradC)
    return fail("torch has no TensorImpl::requires_grad");
  // Bytes that no field uses may hold anything, so that a second place looks
  // right: then other tensors, in other memory, are tried.
  py::list probes;
  bool found = false;
  for (int attempt = 0; attempt < 10 && !found; ++attempt)
    found = findOffsets(probes);
  if (!found)
    return;
  rawReason.clear();
  // Other tensors than those that the fields were found by.
  py::object ones = torch.attr("ones"),
             parameter = torch.attr("nn").attr("Parameter");
  py::object leaf = parameter(ones(3, 4));
  py::object frozen = parameter(ones(2), py::arg("requires_grad") = false);
  py::object result = leaf.attr("t")() + py::int_(1);
  py::object base = ones(4, 4);
  py::object view = base.attr("__getitem__")(2);
  base.attr("mul_")(leaf.attr("sum")()); // now the view requires grad as well
  probes = py::list();
  for (const py::object &probe :
       {leaf, frozen, result, base, view, leaf.attr("t")(),
        leaf.attr("detach")(),
        ones(2, 3, 4, 5, 6, 7, 2).attr("transpose")(1, 4),
        torch.attr("arange")(6).attr("__getitem__")(py::slice(2, 6, 3)),
        torch.attr("empty")(2, 0, py::arg("device") = "meta"),
        torch.attr("tensor")(1.5, py::arg("dtype") = torch.attr("complex64"))
            .attr("conj")()})
    probes.append(probe);
  py::object keysOf = torch.attr("_C").attr("_dispatch_keys");
  for (py::handle probe : probes) {
    RawTensor seen = rawTensor(probe.ptr());
    py::tuple shape(probe.attr("shape")), strides(probe.attr("stride")());
    bool good = seen.rank() == static_cast<int64_t>(shape.size());
    for (size_t i = 0; good && i < shape.size(); ++i)
      good = seen.sizes()[i] == py::cast<int64_t>(shape[i]) &&
             seen.strides()[i] == py::cast<int64_t>(strides[i]);
    py::object number = dtypes.attr("get")(probe.attr("dtype"), seen.dtype());
    py::object device = probe.attr("device");
    py::object index = device.attr("index");
    good =
        good && seen.dtype() == py::cast<int32_t>(number) &&
        seen.storageOffset() ==
            py::cast<int64_t>(probe.attr("storage_offset")()) &&
        (seen.deviceType() == 0) ==
            (py::cast<std::string>(device.attr("type")) == "cpu") &&
        seen.deviceIndex() ==
            (index.is_none() ? -1 : py::cast<int32_t>(index)) &&
        seen.keys() == py::cast<uint64_t>(keysOf(probe).attr("raw_repr")()) &&
        requiresGrad(seen) == py::cast<bool>(probe.attr("requires_grad"));
    // Whether a view has a node is settled when it is asked for one.
    bool hasNode = !probe.attr("grad_fn").is_none();
    if (!good || rawTensor(probe.ptr()).hasGradFn() != hasNode)
      return fail("a tensor read in place differs from Python's view of it");
  }
  rawKnown = true;
}

void TorchShim::loadState() {
  if (!core || !dlsym(core, "_ZN3c104impl26raw_local_dispatch_key_setE") ||
      !autogradState || !functionModes || !functionsDisabled ||
      !globalContext || !deterministic || !deterministicWarns || !defaultDtype)
    return;
  stateKnown = true;
  // Grad mode and inference mode are bits of one byte of torch's state.
  py::object setGrad = torch.attr("_C").attr("_set_grad_enabled");
  bool gradWas = py::cast<bool>(torch.attr("is_grad_enabled")());
  autogradByte = findFlag(autogradState(), 40, setGrad);
  setGrad(gradWas);
  stateKnown = autogradByte >= 0;
  // Each word must move when the state that it holds does, and move back.
  TorchWords plain, changed, back;
  words(plain);
  auto moves = [&](py::object manager, uint64_t TorchWords::*word) {
    manager.attr("__enter__")();
    words(changed);
    manager.attr("__exit__")(py::none(), py::none(), py::none());
    words(back);
    return !(changed.*word == plain.*word) && back == plain;
  };
  bool inference = py::cast<bool>(torch.attr("is_inference_mode_enabled")());
  bool autocast = py::cast<bool>(torch.attr("is_autocast_enabled")("cpu"));
  py::object mode = torch.attr("overrides").attr("TorchFunctionMode")();
  stateKnown =
      stateKnown &&
      moves(torch.attr("set_grad_enabled")(!gradWas), &TorchWords::autograd) &&
      moves(torch.attr("inference_mode")(!inference), &TorchWords::autograd) &&
      moves(torch.attr("autocast")("cpu", py::arg("enabled") = !autocast),
            &TorchWords::excluded) &&
      moves(mode, &TorchWords::functions);
}

bool TorchShim::words(TorchWords &out) const {
  if (!stateKnown)
    return false;
  // dlsym finds the calling thread's copy.
  static thread_local const uint64_t *keys = nullptr;
  static thread_local const uint8_t *autograd = nullptr;
  if (!keys) {
    keys = static_cast<const uint64_t *>(
        dlsym(core, "_ZN3c104impl26raw_local_dispatch_key_setE"));
    autograd = static_cast<const uint8_t *>(autogradState()) + autogradByte;
  }
  out.autograd = *autograd;
  out.included = keys[0];
  out.excluded = keys[1];
  out.functions = static_cast<uint64_t>(functionModes()) << 8 |
                  static_cast<uint8_t>(functionsDisabled());
  const void *context = globalContext();
  out.process = static_cast<uint64_t>(defaultDtype()) << 2 |
                deterministic(context) << 1 | deterministicWarns(context);
  return true;
}
