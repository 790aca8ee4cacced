// OpenBLAS called as it is, with its own threads.
#include <memory>
#include <thread>

#include "linalg_tour/bare.hpp"

#ifdef LINALG_TOUR_OPENBLAS
#include <cblas.h>
#endif

namespace linalg_tour {

#ifdef LINALG_TOUR_OPENBLAS

namespace {

template <class T>
class openblas_product final : public bare_product {
 public:
  openblas_product(const ndarray& a, const ndarray& b, const ndarray& c)
      : m_(static_cast<blasint>(c.shape(0))),
        n_(static_cast<blasint>(c.shape(1))),
        k_(static_cast<blasint>(a.shape(1))),
        a_(a.data<T>()),
        b_(b.data<T>()),
        c_(c.data<T>()) {}
  void run() override {
    openblas_set_num_threads(static_cast<int>(std::thread::hardware_concurrency()));
    if constexpr (sizeof(T) == 4)
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m_, n_, k_, 1, a_, k_, b_, n_, 0, c_, n_);
    else cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m_, n_, k_, 1, a_, k_, b_, n_, 0, c_, n_);
  }

 private:
  blasint m_, n_, k_;
  const T *a_, *b_;
  T* c_;
};

}  // namespace

std::unique_ptr<bare_product> make_openblas_product(const ndarray& a, const ndarray& b, const ndarray& c) {
  if (a.dtype() == sn::float32) return std::make_unique<openblas_product<float>>(a, b, c);
  return std::make_unique<openblas_product<double>>(a, b, c);
}

#else

std::unique_ptr<bare_product> make_openblas_product(const ndarray&, const ndarray&, const ndarray&) { return nullptr; }

#endif

std::unique_ptr<bare_product> make_bare_product(const ndarray& a, const ndarray& b, const ndarray& c) {
  return a.device().kind == sn::device_kind::cuda ? make_cublas_product(a, b, c) : make_openblas_product(a, b, c);
}

}  // namespace linalg_tour
