// Device-wide algorithms on a GPU: runtime::algorithms.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/algorithms/algorithms.hpp"

namespace sinter::cuda {

/// Where the algorithms of a device run: on the calling thread's current stream. Every call counts as one launch.
struct algorithm_target {
  int device = 0;
  int multiprocessors = 1;
  std::atomic<std::uint64_t>* launches = nullptr;
};
std::unique_ptr<runtime::algorithms> make_algorithms(const algorithm_target& target);

}  // namespace sinter::cuda
