// The vendors' calls by themselves: what the library's lines are set against.
#pragma once
#include <functional>
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

/// A call that is enqueued on a GPU, with all memory allocated beforehand; empty on the CPU, and where the program was
/// built without the library.
using bare_call = std::function<void()>;

/// cuSOLVER, of square float64 matrices. Each call works on a copy of the matrix, which it makes: the routines destroy
/// it.
bare_call bare_qr(const ndarray& a);                       // geqrf, orgqr
bare_call bare_solve(const ndarray& a, const ndarray& b);  // getrf, getrs for one vector
bare_call bare_svd(const ndarray& a);                      // gesvd with both sides' vectors
bare_call bare_eigh(const ndarray& a);                     // syevd with vectors

/// cuFFT, of all axes (one or two) of a complex64 array.
bare_call bare_fft(const ndarray& x);
/// cuRAND's generator of normally distributed float32 numbers, which is another than the library's.
bare_call bare_normal(std::int64_t count);

}  // namespace linalg_tour
