// Products that cuBLASLt finishes on the way: scaled, with a bias, activated.
#pragma once
#include <cuda_runtime_api.h>

#include <memory>

#include "runtime/backend.hpp"
#include "runtime/products.hpp"

namespace sinter::cuda {

/// Thread safe. Keeps what it has found out about layouts.
class product_epilogue {
 public:
  virtual ~product_epilogue() = default;
  /// One product, without batch axes, on the current device. False where cuBLASLt has nothing for it; nothing has been done
  /// then. Scratch memory comes from `memory`.
  virtual bool run(const runtime::product_layout& l, const runtime::product_finish& f, const void* a, const void* b,
                   void* c, cudaStream_t stream, runtime::backend& memory) = 0;
};
/// Null where the library was built without cuBLASLt.
std::unique_ptr<product_epilogue> make_product_epilogue();

}  // namespace sinter::cuda
