// src/backends/cuda/linalg: products and factorisations by cuBLAS and cuSOLVER, and kernels for what they have not.
//
// Matrix products on a GPU, runtime::products: cuBLAS, and for integers and bools a dedicated kernel or, for large
// ones, products of their digits by cuBLAS.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "runtime/algorithms/products.hpp"
#include "runtime/backend.hpp"

namespace sinter::cuda {

/// How the products of a device run: on the calling thread's current stream. Every call of the library counts as one
/// launch.
struct product_target {
  int device = 0;
  int multiprocessors = 1;
  std::atomic<std::uint64_t>* launches = nullptr;
  runtime::backend* memory = nullptr;    // that scratch memory comes from
  std::size_t workspace_bytes = 0;       // of cuBLAS's own workspace
  std::function<void()> release_memory;  // gives cached memory back to the driver, which libraries allocate from
};
std::unique_ptr<runtime::products> make_products(const product_target& target);

}  // namespace sinter::cuda
