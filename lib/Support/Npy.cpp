//===- Npy.cpp - Arrays in NumPy's file format ----------------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dynamo/Support/Npy.h"

#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <optional>

using namespace dynamo;
using dynamo::runtime::DType;
using dynamo::runtime::TensorSpec;
using llvm::StringRef;

constexpr llvm::StringLiteral kMagic = "\x93NUMPY";

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

static absl::Status malformed(const llvm::Twine &what) {
  return absl::InvalidArgumentError("malformed .npy file: " + what.str());
}

static std::optional<DType> parseDescr(StringRef descr) {
  // '=' is the byte order of the writer, '|' none at all.
  if (descr.starts_with(">") && descr.size() == 3 && descr.back() != '1')
    return std::nullopt;
  if (descr.empty() || !StringRef("<>=|").contains(descr.front()))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<DType>>(descr.drop_front())
      .Case("b1", DType::Bool)
      .Case("u1", DType::UInt8)
      .Case("i1", DType::Int8)
      .Case("i2", DType::Int16)
      .Case("i4", DType::Int32)
      .Case("i8", DType::Int64)
      .Case("f2", DType::Float16)
      .Case("f4", DType::Float32)
      .Case("f8", DType::Float64)
      .Case("u2", DType::BFloat16)
      .Default(std::nullopt);
}

static StringRef descrOf(DType dtype) {
  switch (dtype) {
  case DType::Bool:
    return "|b1";
  case DType::UInt8:
    return "|u1";
  case DType::Int8:
    return "|i1";
  case DType::Int16:
    return "<i2";
  case DType::Int32:
    return "<i4";
  case DType::Int64:
    return "<i8";
  case DType::Float16:
    return "<f2";
  case DType::Float32:
    return "<f4";
  case DType::Float64:
    return "<f8";
  case DType::BFloat16:
    return "<u2";
  }
  return "";
}

namespace {
/// The header is a Python dict literal of a string, a bool and a tuple of ints.
class HeaderParser {
public:
  explicit HeaderParser(StringRef text) : text(text) {}

  absl::Status parse();

  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;

private:
  bool consume(char expected) {
    text = text.ltrim();
    if (text.empty() || text.front() != expected)
      return false;
    text = text.drop_front();
    return true;
  }
  std::optional<std::string> string() {
    char quote = consume('\'') ? '\'' : consume('"') ? '"' : 0;
    size_t end = quote ? text.find(quote) : StringRef::npos;
    if (end == StringRef::npos)
      return std::nullopt;
    std::string result = text.take_front(end).str();
    text = text.drop_front(end + 1);
    return result;
  }
  absl::Status value(StringRef key);

  StringRef text;
};
} // namespace

absl::Status HeaderParser::value(StringRef key) {
  if (key == "descr") {
    std::optional<std::string> parsed = string();
    if (!parsed)
      return absl::InvalidArgumentError(
          "structured element types are not accepted");
    descr = *parsed;
    return absl::OkStatus();
  }
  if (key == "fortran_order") {
    text = text.ltrim();
    fortran = text.consume_front("True");
    if (!fortran && !text.consume_front("False"))
      return malformed("'fortran_order' is neither True nor False");
    return absl::OkStatus();
  }
  if (key != "shape")
    return malformed("unknown key '" + key + "'");
  if (!consume('('))
    return malformed("'shape' is not a tuple");
  while (!consume(')')) {
    text = text.ltrim();
    int64_t size = 0;
    if (text.consumeInteger(10, size) || size < 0)
      return malformed("a size in 'shape' is not a natural number");
    shape.push_back(size);
    if (!consume(',') && !text.ltrim().starts_with(")"))
      return malformed("'shape' is not a tuple");
  }
  return absl::OkStatus();
}

absl::Status HeaderParser::parse() {
  if (!consume('{'))
    return malformed("the header is not a dict");
  std::vector<std::string> keys;
  while (!consume('}')) {
    std::optional<std::string> key = string();
    if (!key || !consume(':'))
      return malformed("the header is not a dict of strings");
    if (llvm::is_contained(keys, *key))
      return malformed("key '" + *key + "' twice");
    if (absl::Status status = value(*key); !status.ok())
      return status;
    keys.push_back(std::move(*key));
    if (!consume(',') && !text.ltrim().starts_with("}"))
      return malformed("the header is not a dict");
  }
  if (keys.size() != 3)
    return malformed("the header needs 'descr', 'fortran_order' and 'shape'");
  return absl::OkStatus();
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// From the first index fastest to the last index fastest.
static std::vector<char> toRowMajor(llvm::ArrayRef<char> from,
                                    llvm::ArrayRef<int64_t> sizes,
                                    int64_t elementSize) {
  std::vector<char> to(from.size());
  std::vector<int64_t> index(sizes.size(), 0);
  for (size_t at = 0; at < to.size(); at += elementSize) {
    int64_t source = 0;
    for (size_t dim = sizes.size(); dim-- > 0;)
      source = source * sizes[dim] + index[dim];
    memcpy(&to[at], from.data() + source * elementSize, elementSize);
    for (size_t dim = sizes.size(); dim-- > 0;) {
      if (++index[dim] < sizes[dim])
        break;
      index[dim] = 0;
    }
  }
  return to;
}

absl::StatusOr<NpyArray> dynamo::parseNpy(llvm::ArrayRef<char> bytes) {
  StringRef text(bytes.data(), bytes.size());
  if (!text.consume_front(kMagic))
    return malformed("it does not start with NumPy's mark");
  if (text.size() < 4)
    return malformed("it ends in the header");
  unsigned major = static_cast<unsigned char>(text[0]);
  if (major < 1 || major > 3)
    return malformed("version " + llvm::Twine(major) + " is not known");
  size_t lengthBytes = major == 1 ? 2 : 4;
  text = text.drop_front(2);
  if (text.size() < lengthBytes)
    return malformed("it ends in the header");
  size_t length = 0;
  for (size_t i = lengthBytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(text[i]);
  text = text.drop_front(lengthBytes);
  if (text.size() < length)
    return malformed("it ends in the header");
  HeaderParser header(text.take_front(length));
  if (absl::Status status = header.parse(); !status.ok())
    return status;
  text = text.drop_front(length);

  std::optional<DType> dtype = parseDescr(header.descr);
  if (!dtype)
    return absl::InvalidArgumentError(absl::StrCat(
        "element type '", header.descr,
        "' is not accepted: little-endian b1, u1, i1, i2, i4, i8, f2, f4, f8 "
        "and u2 (bfloat16) are"));
  int64_t size = runtime::elementSize(*dtype);
  for (int64_t dim : header.shape)
    if (llvm::MulOverflow(size, dim, size))
      return malformed("the shape is too large");
  if (static_cast<uint64_t>(size) != text.size())
    return malformed("it holds " + llvm::Twine(text.size()) +
                     " bytes of data, its shape needs " + llvm::Twine(size));
  NpyArray array;
  array.spec = {*dtype, std::move(header.shape)};
  if (header.fortran && array.spec.sizes.size() > 1)
    array.data = toRowMajor({text.data(), text.size()}, array.spec.sizes,
                            runtime::elementSize(*dtype));
  else
    array.data.assign(text.begin(), text.end());
  return array;
}

absl::StatusOr<NpyArray> dynamo::readNpy(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return absl::NotFoundError(
        absl::StrCat(path.str(), ": ", file.getError().message()));
  StringRef bytes = (*file)->getBuffer();
  absl::StatusOr<NpyArray> array = parseNpy({bytes.data(), bytes.size()});
  if (!array.ok())
    return absl::Status(
        array.status().code(),
        absl::StrCat(path.str(), ": ", array.status().message()));
  return array;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

absl::Status dynamo::writeNpy(StringRef path, const TensorSpec &spec,
                              const void *data) {
  std::string header = absl::StrCat("{'descr': '", descrOf(spec.dtype).str(),
                                    "', 'fortran_order': False, 'shape': (");
  for (int64_t size : spec.sizes)
    absl::StrAppend(&header, size, spec.sizes.size() == 1 ? "," : ", ");
  if (spec.sizes.size() > 1)
    header.resize(header.size() - 2);
  header += "), }";
  // The data starts at a multiple of 64 bytes.
  size_t prefix = kMagic.size() + 4;
  header.resize(llvm::alignTo(prefix + header.size() + 1, 64) - prefix - 1,
                ' ');
  header += '\n';

  auto fail = [&](llvm::Error error) {
    return absl::UnavailableError(
        absl::StrCat(path.str(), ": ", llvm::toString(std::move(error))));
  };
  auto file = llvm::sys::fs::TempFile::create(
      path + ".%%%%%%", llvm::sys::fs::all_read | llvm::sys::fs::all_write);
  if (!file)
    return fail(file.takeError());
  bool written;
  {
    llvm::raw_fd_ostream out(file->FD, /*shouldClose=*/false);
    out << kMagic << char(1) << char(0) << char(header.size() & 0xff)
        << char(header.size() >> 8) << header;
    out.write(static_cast<const char *>(data), spec.bytes());
    out.flush();
    written = !out.has_error();
    out.clear_error();
  }
  if (!written) {
    llvm::consumeError(file->discard());
    return absl::UnavailableError(
        absl::StrCat(path.str(), ": cannot write ", spec.bytes(), " bytes"));
  }
  if (llvm::Error error = file->keep(path))
    return fail(std::move(error));
  return absl::OkStatus();
}
