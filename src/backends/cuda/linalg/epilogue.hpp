// Products with an epilogue by cuBLASLt: scale, bias, activation.
#pragma once
#include <cuda_runtime_api.h>

#include <memory>

#include "runtime/algorithms/products.hpp"
#include "runtime/backend.hpp"

namespace sinter::cuda {

/// Thread safe. Caches the algorithm chosen for each layout.
class lt_products {
 public:
  virtual ~lt_products() = default;
  /// One product, without batch axes, on the current device. False, without any effect, if cuBLASLt does not support
  /// it. Scratch memory comes from `memory`.
  virtual bool run(const runtime::product_layout& l, const runtime::product_epilogue& f, const void* a, const void* b,
                   void* c, cudaStream_t stream, runtime::backend& memory) = 0;
};
/// Null in a build without cuBLASLt.
std::unique_ptr<lt_products> make_lt_products();

}  // namespace sinter::cuda
