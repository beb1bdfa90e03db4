//===- ConvSchedule.h - Tile sizes of convolutions ----------- C++ -*-----===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers that TileConv decides by, apart from the IR that it makes.
//
//===----------------------------------------------------------------------===//

#ifndef DYNAMO_LIB_CODEGEN_CONVSCHEDULE_H
#define DYNAMO_LIB_CODEGEN_CONVSCHEDULE_H

#include <cstdint>
#include <utility>

namespace dynamo::codegen {

/// What a packed block of the filter may take of a kernel's stack.
inline constexpr int64_t kMaxPackedBytes = 384 * 1024;

/// A packed filter of more than the first number leaves L1 from one few pixels
/// to the next. With as many pixels as this, blocks of it stay there instead.
inline constexpr int64_t kFarBytes = 48 * 1024;
inline constexpr int64_t kNearBytes = 20 * 1024;
inline constexpr int64_t kMinPixels = 64;
/// What the sums of a tile may take of the stack meanwhile.
inline constexpr int64_t kMaxSumBytes = 64 * 1024;
/// Pixels of a parallel tile where there is one row.
inline constexpr int64_t kMaxRow = 512;

/// Pixels per register tile: at most `most`, chosen so that the whole tiles and
/// the remainder of a row together cost least. Narrow tiles do not cover the
/// latency of the multiply-adds.
int64_t chooseWidth(int64_t width, int64_t most);

/// The largest of 16, 8, 4 ... that divides the channels.
int64_t chooseChannels(int64_t channels);

/// Channels and rows of a depthwise convolution's parallel tile. A tile packs
/// the filters of its channels, so it has few of those and many rows; whole
/// cache lines of them, so that two threads never write to one.
std::pair<int64_t, int64_t> chooseDepthwiseTile(int64_t channels, int64_t rows,
                                                int64_t images);

} // namespace dynamo::codegen

#endif // DYNAMO_LIB_CODEGEN_CONVSCHEDULE_H
