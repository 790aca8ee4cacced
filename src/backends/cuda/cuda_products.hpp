// Matrix products on a GPU, as runtime's interface wants them: cuBLAS, and an own kernel for integers and bools.
#pragma once
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/backend.hpp"
#include "runtime/products.hpp"

namespace sinter::cuda {

/// Where the products of a device run. Every call of the library counts as one launch.
struct product_target {
  int device = 0;
  int multiprocessors = 1;
  cudaStream_t stream = nullptr;
  std::atomic<std::uint64_t>* launches = nullptr;
  runtime::backend* memory = nullptr;    // that scratch memory comes from
  std::function<void()> release_memory;  // gives cached memory back to the driver, which libraries allocate from
};
std::unique_ptr<runtime::products> make_products(const product_target& target);

}  // namespace sinter::cuda
