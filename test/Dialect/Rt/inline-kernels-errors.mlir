// RUN: dynamo-opt %s -verify-diagnostics --rt-inline-kernels=kernels=k7

// expected-error @below {{there is no kernel @k7 on values}}
module {
}
