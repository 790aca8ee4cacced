// Factorisations of matrices on a GPU, runtime::solvers: cuSOLVER, and cuBLAS for many small ones.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/algorithms/solvers.hpp"
#include "runtime/backend.hpp"

namespace sinter::cuda {

/// The context of a device's factorisations, which run on the calling thread's current stream. Every library call
/// counts as one launch.
struct solver_target {
  runtime::backend* owner = nullptr;  // source of scratch memory
  int device = 0;
  int multiprocessors = 1;
  std::atomic<std::uint64_t>* launches = nullptr;
  std::function<void()> release_memory;  // gives cached memory back to the driver, which libraries allocate from
};
std::unique_ptr<runtime::solvers> make_solvers(const solver_target& target);

}  // namespace sinter::cuda
