// src/backends/cuda/sparse: products of sparse matrices on a GPU by kernels of the library's own, systems by vendors'
// libraries: runtime::sparse.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/algorithms/sparse.hpp"

namespace sinter::cuda {

/// Where the products of a device run: on the calling thread's current stream. Every call counts as one launch.
struct sparse_target {
  int device = 0;
  int multiprocessors = 1;
  std::atomic<std::uint64_t>* launches = nullptr;
  std::function<void()> release_memory;  // gives cached memory back to the driver, which libraries allocate from
};
std::unique_ptr<runtime::sparse> make_sparse(const sparse_target& target);

}  // namespace sinter::cuda
