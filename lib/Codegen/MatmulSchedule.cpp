//===- MatmulSchedule.cpp - How a matmul kernel is cut --------------------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The register tile follows the classic analysis (Goto and van de Geijn,
// "Anatomy of high-performance matrix multiplication"): as many accumulators
// as registers allow, a panel of B that stays in L1 and a block of A that
// stays in L2 while panels pass.  Parallel tiles are sized to about 50 us so
// that threads balance and packing is not repeated too often.
//
//===----------------------------------------------------------------------===//

#include "MatmulSchedule.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace dynamo::codegen;

/// Operations (2 per multiply-add) in a parallel tile: about 50 us.
static constexpr int64_t targetWork = 5'000'000;
/// Fewer parallel tiles than this and threads stay idle.
static constexpr int64_t targetTiles = 32;
/// Bytes of B in a parallel tile of a kernel that is bound by memory.
static constexpr int64_t targetBytes = 256 * 1024;

/// The extent of a block when `extent` is cut into equal blocks of at most
/// `limit`, each a multiple of `step` (but one block is the whole extent).
static int64_t evenBlock(int64_t extent, int64_t limit, int64_t step) {
  if (extent <= limit)
    return extent;
  int64_t blocks = llvm::divideCeil(extent, limit);
  return llvm::alignTo(llvm::divideCeil(extent, blocks), step);
}

/// As evenBlock, but prefers a block that divides the extent.
static int64_t dividingBlock(int64_t extent, int64_t limit, int64_t step) {
  if (extent <= limit)
    return extent;
  for (int64_t block = limit / step * step; 2 * block >= limit; block -= step)
    if (extent % block == 0)
      return block;
  return evenBlock(extent, limit, step);
}

namespace {
class Scheduler {
public:
  Scheduler(const Contraction &c, const dynamo::target::MachineModel &machine)
      : c(c), machine(machine) {}

  MatmulSchedule run() {
    int64_t bits = c.accType.getIntOrFloatBitWidth();
    s.lanes = machine.lanes(bits);
    s.nr = std::max<int64_t>(8, 2 * s.lanes);
    int64_t perRow = s.nr / s.lanes;
    s.mr =
        std::max<int64_t>(1, (machine.vectorRegisters - perRow - 1) / perRow);
    s.tile = c.extents;
    m = c.extent(c.m);
    n = c.extents[c.n];
    k = c.extents[c.k];
    rows = m;
    for (unsigned d : c.mOuter)
      rows *= c.extents[d];

    bool aAlongK = !c.a.innermostLoop() || c.a.innermostLoop() == c.k;
    bool bAlongK = c.b.innermostLoop() == c.k;
    bool bAlongN = c.b.innermostLoop() == c.n;
    if (aAlongK && bAlongK && c.kOuter.empty() && k >= 2 * s.lanes &&
        (rows <= 12 || n <= 4))
      scheduleDot();
    else if (bAlongN && c.kOuter.empty() && rows <= 8 && n >= 2 * s.nr)
      scheduleRows();
    else
      schedulePacked();
    tileOuter();
    finish();
    return s;
  }

private:
  const Contraction &c;
  const dynamo::target::MachineModel &machine;
  MatmulSchedule s;
  int64_t m, n, k, rows;

  int64_t accBytes() const { return c.accType.getIntOrFloatBitWidth() / 8; }

  void scheduleDot() {
    s.kind = MatmulSchedule::Dot;
    s.kBlock = k;
    // Accumulators, vectors of B and one of A fill the registers.
    s.mr = m == 1 ? 1 : m == 2 ? 2 : m == 3 || n == 1 ? 3 : 4;
    s.nr = s.mr <= 3 ? 4 : 3;
    int64_t limit = std::max<int64_t>(s.nr, targetBytes / (k * accBytes()));
    int64_t step = s.nr == 4 ? 16 : 48;
    s.tile[c.n] = evenBlock(n, llvm::alignTo(limit, step), step);
    // Many rows: n is small, the rows are what is cut.
    if (m > 12)
      s.tile[*c.m] = evenBlock(
          m,
          std::max<int64_t>(s.mr, targetBytes / (k * accBytes()) / s.mr * s.mr),
          s.mr);
  }

  void scheduleRows() {
    s.kind = MatmulSchedule::Rows;
    s.kBlock = k;
    s.mr = 1;
    s.nr = s.lanes;
    int64_t limit =
        std::clamp<int64_t>(targetBytes / (k * accBytes()), 64, 512);
    s.tile[c.n] = evenBlock(n, llvm::alignTo(limit, 64), 64);
  }

  void schedulePacked() {
    bool aAlongK = c.a.innermostLoop() == c.k || !c.a.innermostLoop();
    s.packA = !c.a.casts.empty() || !aAlongK;
    // A panel of 768 x 16 floats does not fit in L1, but streams from L2 at no
    // loss, and whole sums save a pass over the tile of C.
    s.kBlock = dividingBlock(k, (s.packA ? 384 : 768) * 4 / accBytes(), 8);

    // A block of A stays in L2 next to a panel of B.
    int64_t wanted = machine.l2Bytes * 6 / 10 / (s.kBlock * accBytes());
    int64_t limit = std::clamp<int64_t>(wanted, 96, 192) / s.mr * s.mr;
    if (s.packA)
      limit = std::max<int64_t>(
          s.mr,
          std::min(limit, 256 * 1024 / (s.kBlock * accBytes())) / s.mr * s.mr);
    if (c.m && rows > (s.packA ? limit : 256)) {
      s.tile[*c.m] = evenBlock(m, limit, s.mr);
      int64_t left = std::max<int64_t>(1, limit / s.tile[*c.m]);
      for (unsigned d : llvm::reverse(c.mOuter)) {
        s.tile[d] = std::min(c.extents[d], left);
        left = std::max<int64_t>(1, left / s.tile[d]);
      }
    }
    int64_t blockRows = tileOf(c.mOuter) * (c.m ? s.tile[*c.m] : 1);
    int64_t otherTiles = tilesOf(c.outer) * tilesOf(c.mOuter) *
                         (c.m ? llvm::divideCeil(m, s.tile[*c.m]) : 1);

    int64_t panels = llvm::divideCeil(n, s.nr);
    int64_t panelWork = 2 * blockRows * s.nr * k;
    int64_t perTile = std::max<int64_t>(1, targetWork / panelWork);
    // The C tile must stay in L1 or L2 too.
    perTile = std::min(
        perTile,
        std::max<int64_t>(1, 64 * 1024 / (blockRows * s.nr * accBytes())));
    if (s.packA || otherTiles >= targetTiles)
      perTile = std::max<int64_t>(perTile, 4);
    while (perTile > 1 && otherTiles * (panels / perTile) < targetTiles &&
           perTile * panelWork > targetWork / 2)
      --perTile;
    perTile = std::min(perTile, panels);
    s.tile[c.n] = evenBlock(n, perTile * s.nr, s.nr);
  }

  int64_t tileOf(ArrayRef<unsigned> loops) const {
    int64_t product = 1;
    for (unsigned d : loops)
      product *= s.tile[d];
    return product;
  }
  int64_t tilesOf(ArrayRef<unsigned> loops) const {
    int64_t product = 1;
    for (unsigned d : loops)
      product *= c.extents[d];
    return product;
  }

  /// Several matrices of a batch per parallel tile when they are small.
  void tileOuter() {
    int64_t work =
        2 * tileOf(c.mOuter) * (c.m ? s.tile[*c.m] : 1) * s.tile[c.n] * k;
    for (unsigned d : c.kOuter)
      work *= c.extents[d];
    int64_t left = std::max<int64_t>(1, targetWork / 2 / work);
    for (unsigned d : llvm::reverse(c.outer)) {
      s.tile[d] = evenBlock(c.extents[d], left, 1);
      left = std::max<int64_t>(1, left / s.tile[d]);
    }
  }

  void finish() {
    s.direct =
        s.kind == MatmulSchedule::Packed && c.epilogue.empty() &&
        s.kBlock == k && c.kOuter.empty() && c.results.size() == 1 &&
        cast<AffineDimExpr>(c.resultMap.getResults().back()).getPosition() ==
            c.n;
    int64_t step = llvm::bit_floor<uint64_t>(std::min<int64_t>(n, 64));
    if (s.tile[c.n] != n)
      while (s.tile[c.n] % step)
        step /= 2;
    s.epilogueCols = step;
  }
};
} // namespace

MatmulSchedule
dynamo::codegen::scheduleMatmul(const Contraction &c,
                                const target::MachineModel &machine) {
  return Scheduler(c, machine).run();
}
