//===- NpyTest.cpp - Well-formed and malformed .npy files -----------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Support/Npy.h"

#include "gtest/gtest.h"

#include <cstring>
#include <unistd.h>

using namespace dynamo;
using dynamo::runtime::DType;

/// A version 1 file with this header and payload.
static std::vector<char> file(const std::string &header,
                              const std::string &data) {
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8);
  bytes += char(header.size() & 0xff);
  bytes += char(header.size() >> 8);
  bytes += header + data;
  return {bytes.begin(), bytes.end()};
}

static std::string header(const std::string &descr, const std::string &shape,
                          const std::string &order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order +
         ", 'shape': " + shape + ", }   \n";
}

// Every element type and rank survives a round trip through a file.
TEST(Npy, RoundTrip) {
  std::string path =
      testing::TempDir() + "npy-" + std::to_string(getpid()) + ".npy";
  for (DType dtype : {DType::UInt8, DType::Int8, DType::Int16, DType::Int32,
                      DType::Int64, DType::Float16, DType::Float32,
                      DType::Float64, DType::Bool, DType::BFloat16})
    for (std::vector<int64_t> sizes :
         {std::vector<int64_t>{}, {3}, {2, 3}, {2, 0, 4}, {1, 2, 3, 4}}) {
      runtime::TensorSpec spec{dtype, sizes};
      std::vector<char> data(spec.bytes());
      for (size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<char>(i * 7);
      ASSERT_TRUE(writeNpy(path, spec, data.data()).ok());
      absl::StatusOr<NpyArray> read = readNpy(path);
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(read->spec.dtype, dtype);
      EXPECT_EQ(read->spec.sizes, sizes);
      EXPECT_EQ(read->data, data);
    }
  unlink(path.c_str());
}

// Fortran order becomes row-major: element (i, j) of a 2x3 array is 10*i+j.
TEST(Npy, FortranOrder) {
  std::string columns("\x00\x0a\x01\x0b\x02\x0c", 6);
  absl::StatusOr<NpyArray> array =
      parseNpy(file(header("|u1", "(2, 3)", "True"), columns));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->data, (std::vector<char>{0, 1, 2, 10, 11, 12}));
}

// A file cut at any byte, with a byte too many, or with a header that is not
// what NumPy writes is an error that says what is wrong.
TEST(Npy, Malformed) {
  std::vector<char> good = file(header("<f4", "(2,)"), std::string(8, 1));
  ASSERT_TRUE(parseNpy(good).ok());
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(parseNpy(llvm::ArrayRef<char>(good).take_front(length)).ok());
  good.push_back(0);
  EXPECT_FALSE(parseNpy(good).ok());

  auto rejected = [](const std::vector<char> &bytes, const char *reason) {
    absl::StatusOr<NpyArray> array = parseNpy(bytes);
    ASSERT_FALSE(array.ok());
    EXPECT_NE(array.status().message().find(reason), absl::string_view::npos)
        << array.status();
  };
  rejected(file(header(">f4", "(2,)"), std::string(8, 0)), "'>f4'");
  rejected(file(header("<c8", "(1,)"), std::string(8, 0)), "'<c8'");
  rejected(file(header("<U3", "(1,)"), std::string(12, 0)), "'<U3'");
  rejected(file(header("", "(2,)"), std::string(8, 0)), "not accepted");
  rejected(file(header("<f4", "(-2,)"), ""), "natural number");
  rejected(file(header("<f4", "2"), std::string(8, 0)), "not a tuple");
  rejected(file(header("<f4", "(2 3)"), std::string(24, 0)), "not a tuple");
  rejected(file(header("<f4", "(2,)", "Maybe"), std::string(8, 0)),
           "neither True nor False");
  rejected(file(header("<f8", "(4611686018427387904, 4)"), ""), "too large");
  rejected(file("{'descr': '<f4'}", ""), "needs 'descr'");
  rejected(file("{'descr': '<f4', 'descr': '<f4'}", ""), "twice");
  rejected(file("{'color': 1}", ""), "unknown key 'color'");
  rejected(file("[]", ""), "not a dict");
  rejected(file("{'descr': [('a', '<f4')]}", ""), "structured");
  rejected({'h', 'e', 'l', 'l', 'o'}, "NumPy's mark");
}

// A missing file and a folder that is not there are errors with the name.
TEST(Npy, Paths) {
  EXPECT_NE(readNpy("no/such.npy").status().message().find("no/such.npy"),
            absl::string_view::npos);
  float value = 1;
  EXPECT_FALSE(writeNpy("no/such.npy", {DType::Float32, {1}}, &value).ok());
}
