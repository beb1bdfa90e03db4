//===- OpenMP.cpp - Threads of the OpenMP library in the process ----------===//
//
// Part of Dynamo-MLIR, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch runs its operators on an OpenMP library that comes with it.  The
// entry point that compilers call for `#pragma omp parallel` is found in the
// loaded library; nothing is linked and nothing gets loaded.
//
//===----------------------------------------------------------------------===//

#include "TileJob.h"
#include "dynamo/Runtime/Fork.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <dlfcn.h>
#include <string>

#ifdef __linux__
#include <link.h>
#endif

using namespace dynamo::runtime;

namespace {
class OpenMP final : public ParallelFor {
public:
  bool bind(void *library) {
    parallel = reinterpret_cast<ParallelFn>(dlsym(library, "GOMP_parallel"));
    threadNumber =
        reinterpret_cast<QueryFn>(dlsym(library, "omp_get_thread_num"));
    maxThreads =
        reinterpret_cast<QueryFn>(dlsym(library, "omp_get_max_threads"));
    inParallel = reinterpret_cast<QueryFn>(dlsym(library, "omp_in_parallel"));
    return parallel && threadNumber && maxThreads && inParallel;
  }

  void run(int team, int active, int64_t range, TileFn body,
           void *context) override {
    if (range <= 0)
      return;
    if (team <= 0)
      team = defaultTeam();
    active = static_cast<int>(
        std::min<int64_t>({team, active, range, TileJob::kMaxWorkers}));
    if (active <= 1 || TileJob::inside() || inParallel() || !stackSuffices())
      return runSerial(range, body, context);
    struct Region {
      OpenMP *self;
      TileJob job;
    } region{this, {active, range, body, context}};
    parallel(
        [](void *data) {
          auto *region = static_cast<Region *>(data);
          int worker = region->self->threadNumber();
          if (worker < region->job.workers())
            region->job.work(worker);
        },
        &region, team, /*flags=*/0);
  }

  int defaultTeam() const override { return std::max(1, maxThreads()); }

private:
  using ParallelFn = void (*)(void (*body)(void *), void *data,
                              unsigned threads, unsigned flags);
  using QueryFn = int (*)();
  ParallelFn parallel = nullptr;
  QueryFn threadNumber = nullptr, maxThreads = nullptr, inParallel = nullptr;
};

/// What one walk over the loaded libraries finds.
struct Loaded {
  unsigned long long adds = 0; ///< libraries ever loaded, or 0 if unknown
  std::string torch, openmp;
};
} // namespace

#ifdef __linux__
static int visitLibrary(dl_phdr_info *info, size_t size, void *data) {
  auto *loaded = static_cast<Loaded *>(data);
  if (size >= offsetof(dl_phdr_info, dlpi_subs))
    loaded->adds = info->dlpi_adds;
  const char *path = info->dlpi_name ? info->dlpi_name : "";
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  auto is = [&](const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
  };
  if (is("libtorch_cpu.so"))
    loaded->torch = path;
  else if (loaded->openmp.empty() &&
           (is("libgomp") || is("libiomp5") || is("libomp")))
    loaded->openmp = path;
  return 0;
}
#endif

static unsigned long long librariesLoaded() {
  unsigned long long adds = 0;
#ifdef __linux__
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t size, void *data) {
        if (size >= offsetof(dl_phdr_info, dlpi_subs))
          *static_cast<unsigned long long *>(data) = info->dlpi_adds;
        return 1;
      },
      &adds);
#endif
  return adds;
}

/// Two libraries in a process are possible (another package brings one): what
/// libtorch_cpu itself resolves comes first.
static OpenMP *findOpenMP() {
#ifdef __linux__
  Loaded loaded;
  dl_iterate_phdr(visitLibrary, &loaded);
  for (const std::string &path : {loaded.torch, loaded.openmp}) {
    if (path.empty())
      continue;
    // The handle is kept: the library then stays.
    void *library = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
    if (!library)
      continue;
    auto *found = new OpenMP;
    if (found->bind(library))
      return found;
    delete found;
    dlclose(library);
  }
#endif
  return nullptr;
}

ParallelFor *ParallelFor::openMP() {
  if (forkGeneration() != 0)
    return nullptr;
  static std::atomic<OpenMP *> known{nullptr};
  static std::atomic<unsigned long long> lookedAt{0};
  if (OpenMP *found = known.load(std::memory_order_acquire))
    return found;
  // Not there before: look again only after more libraries were loaded.
  unsigned long long adds = librariesLoaded();
  if (adds != 0 && adds == lookedAt.load(std::memory_order_relaxed))
    return nullptr;
  OpenMP *found = findOpenMP();
  OpenMP *none = nullptr;
  if (found && !known.compare_exchange_strong(none, found)) {
    delete found;
    found = none;
  }
  lookedAt.store(adds, std::memory_order_relaxed);
  return found;
}

ParallelFor *ParallelFor::get(DynamoThreading threading) {
  switch (threading) {
  case DYNAMO_THREADS_SERIAL:
    return nullptr;
  case DYNAMO_THREADS_OWN:
    return &own();
  case DYNAMO_THREADS_AUTO:
  case DYNAMO_THREADS_OPENMP:
    break;
  }
  ParallelFor *found = openMP();
  return found ? found : &own();
}
