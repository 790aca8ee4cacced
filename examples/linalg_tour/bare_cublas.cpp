// cuBLAS called as its manual says: row-major factors are the transposes of column-major ones.
#include <memory>
#include <stdexcept>

#include "linalg_tour/bare.hpp"

#ifdef LINALG_TOUR_CUBLAS
#include <cublas_v2.h>
#endif

namespace linalg_tour {

#ifdef LINALG_TOUR_CUBLAS

namespace {

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

/// One for the process; it works on the default stream, as the library does.
cublasHandle_t handle() {
  static const cublasHandle_t made = [] {
    cublasHandle_t h = nullptr;
    check(cublasCreate(&h));
    return h;
  }();
  return made;
}

template <class T>
class cublas_product final : public bare_product {
 public:
  cublas_product(const ndarray& a, const ndarray& b, const ndarray& c)
      : m_(static_cast<int>(c.shape(0))),
        n_(static_cast<int>(c.shape(1))),
        k_(static_cast<int>(a.shape(1))),
        a_(a.data<T>()),
        b_(b.data<T>()),
        c_(c.data<T>()) {}
  void run() override {
    const T one = 1, zero = 0;
    if constexpr (sizeof(T) == 4)
      check(cublasSgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, n_, m_, k_, &one, b_, n_, a_, k_, &zero, c_, n_));
    else check(cublasDgemm(handle(), CUBLAS_OP_N, CUBLAS_OP_N, n_, m_, k_, &one, b_, n_, a_, k_, &zero, c_, n_));
  }

 private:
  int m_, n_, k_;
  const T *a_, *b_;
  T* c_;
};

}  // namespace

std::unique_ptr<bare_product> make_cublas_product(const ndarray& a, const ndarray& b, const ndarray& c) {
  if (a.dtype() == sn::float32) return std::make_unique<cublas_product<float>>(a, b, c);
  return std::make_unique<cublas_product<double>>(a, b, c);
}

#else

std::unique_ptr<bare_product> make_cublas_product(const ndarray&, const ndarray&, const ndarray&) { return nullptr; }

#endif

}  // namespace linalg_tour
