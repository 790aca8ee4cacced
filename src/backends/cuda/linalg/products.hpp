// src/backends/cuda/linalg: products and factorisations by cuBLAS and cuSOLVER, and kernels for operations that these
// lack.
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

/// The context of a device's products, which run on the calling thread's current stream. Every library call counts as
/// one launch.
struct product_target {
  int device = 0;
  int multiprocessors = 1;
  std::atomic<std::uint64_t>* launches = nullptr;
  runtime::backend* memory = nullptr;    // source of scratch memory
  std::size_t workspace_bytes = 0;       // of the cuBLAS handle's workspace
  std::function<void()> release_memory;  // gives cached memory back to the driver, which libraries allocate from
};
std::unique_ptr<runtime::products> make_products(const product_target& target);

}  // namespace sinter::cuda
