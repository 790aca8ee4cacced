// The vendor's matrix product by itself: what the library's is set against.
#pragma once
#include <memory>

#include "sinter/sinter.hpp"

namespace linalg_tour {

namespace sn = sinter;
using sn::ndarray;

/// c = a b by one call of the vendor's library, on arrays in C order that nothing else holds. Enqueued on a GPU.
class bare_product {
 public:
  virtual ~bare_product() = default;
  virtual void run() = 0;
};
/// Null where the program was built without that library. float32 or float64.
std::unique_ptr<bare_product> make_cublas_product(const ndarray& a, const ndarray& b, const ndarray& c);
std::unique_ptr<bare_product> make_openblas_product(const ndarray& a, const ndarray& b, const ndarray& c);
/// Of the arrays' device.
std::unique_ptr<bare_product> make_bare_product(const ndarray& a, const ndarray& b, const ndarray& c);

}  // namespace linalg_tour
