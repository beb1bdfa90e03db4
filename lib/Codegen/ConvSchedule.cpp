//===- ConvSchedule.cpp - Tile sizes of convolutions ----------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvSchedule.h"

#include <algorithm>

using namespace dynamo;

int64_t codegen::chooseWidth(int64_t width, int64_t most) {
  // Measured shares of the peak.
  auto share = [](int64_t w) {
    static constexpr double kShare[] = {1, 0.25, 0.5, 0.75, 0.95, 0.97, 1.0};
    return w > 6 ? 1.0 : kShare[w];
  };
  int64_t best = 1;
  double bestCost = 1e30;
  for (int64_t w = std::min(most, width); w >= 1; --w) {
    int64_t rest = width % w;
    // A second body for the rest must be worth its code.
    double cost = (width - rest) / share(w) +
                  (rest ? rest / share(rest) + 0.03 * width : 0);
    if (cost < bestCost - 1e-9)
      best = w, bestCost = cost;
  }
  return best;
}

int64_t codegen::chooseChannels(int64_t channels) {
  for (int64_t t : {16, 8, 4, 2})
    if (channels % t == 0)
      return t;
  return channels <= 32 ? channels : 1;
}

std::pair<int64_t, int64_t>
codegen::chooseDepthwiseTile(int64_t channels, int64_t rows, int64_t images) {
  constexpr int64_t kEnoughTiles = 16;
  int64_t block = channels;
  for (int64_t b : {64, 48, 32, 16})
    if (channels % b == 0) {
      block = b;
      break;
    }
  int64_t tiles = images * (channels / block);
  for (int64_t r = rows; r >= 1; --r)
    if (rows % r == 0 && tiles * (rows / r) >= kEnoughTiles)
      return {block, r};
  return {block, 1};
}
