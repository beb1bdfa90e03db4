// RUN: dynamo-opt %s -convert-py-to-llvm -verify-diagnostics

py.func guard @f.guard() attributes {inputs = 0} {
  %x = py.arg 0
  // expected-error @below {{can't be lowered: guard functions hold sources, guards and numbers only}}
  py.del_attr %x "a"
  py.return
}
