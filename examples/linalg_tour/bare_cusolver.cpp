// cuSOLVER called as its manual says. A matrix by rows is its transpose by columns; for the time it takes that is the
// same.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "linalg_tour/bare.hpp"

#ifdef LINALG_TOUR_CUSOLVER
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#endif

namespace linalg_tour {

#ifdef LINALG_TOUR_CUSOLVER

namespace {

void check(cusolverStatus_t status, const char* call) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw std::runtime_error(std::string(call) + " reports " + std::to_string(static_cast<int>(status)));
}

/// One for the process; it works on the default stream, as the library does.
cusolverDnHandle_t handle() {
  static const cusolverDnHandle_t made = [] {
    cusolverDnHandle_t h = nullptr;
    check(cusolverDnCreate(&h), "cusolverDnCreate");
    return h;
  }();
  return made;
}

bool on_gpu(const ndarray& a) { return a.device().kind == sn::device_kind::cuda; }

/// Memory whose address is out stays where it is.
template <class T>
class memory {
 public:
  explicit memory(ndarray x) : array_(std::move(x)), at_(array_.data<T>()) {}
  T* at() const { return at_; }

 private:
  ndarray array_;
  T* at_;
};
using reals = memory<double>;
using integers = memory<std::int32_t>;

/// A square matrix, a copy to work on, and where a call says how it went.
struct square {
  explicit square(const ndarray& a)
      : n(static_cast<int>(a.shape(0))), from(a.copy()), work(a.copy()), info(sn::zeros(1, sn::int32)) {}
  void restore() const {
    const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    if (cudaMemcpyAsync(work.at(), from.at(), bytes, cudaMemcpyDeviceToDevice) != cudaSuccess)
      throw std::runtime_error("cudaMemcpyAsync failed");
  }
  int n;
  reals from, work;
  integers info;
};

reals room(std::int64_t count) { return reals(sn::zeros(std::max<std::int64_t>(count, 1))); }

}  // namespace

bare_call bare_qr(const ndarray& a) {
  if (!on_gpu(a)) return {};
  const auto m = std::make_shared<square>(a);
  const reals tau = room(m->n);
  const int n = m->n;
  int first = 0, second = 0;
  check(cusolverDnDgeqrf_bufferSize(handle(), n, n, m->work.at(), n, &first), "geqrf_bufferSize");
  check(cusolverDnDorgqr_bufferSize(handle(), n, n, n, m->work.at(), n, tau.at(), &second), "orgqr_bufferSize");
  const int size = std::max(first, second);
  const reals scratch = room(size);
  return [=] {
    m->restore();
    check(cusolverDnDgeqrf(handle(), n, n, m->work.at(), n, tau.at(), scratch.at(), size, m->info.at()), "geqrf");
    check(cusolverDnDorgqr(handle(), n, n, n, m->work.at(), n, tau.at(), scratch.at(), size, m->info.at()), "orgqr");
  };
}

bare_call bare_solve(const ndarray& a, const ndarray& b) {
  if (!on_gpu(a)) return {};
  const auto m = std::make_shared<square>(a);
  const int n = m->n;
  const reals x(b.copy());
  const integers pivots(sn::zeros(n, sn::int32));
  int size = 0;
  check(cusolverDnDgetrf_bufferSize(handle(), n, n, m->work.at(), n, &size), "getrf_bufferSize");
  const reals scratch = room(size);
  return [=] {
    m->restore();
    check(cusolverDnDgetrf(handle(), n, n, m->work.at(), n, scratch.at(), pivots.at(), m->info.at()), "getrf");
    check(cusolverDnDgetrs(handle(), CUBLAS_OP_N, n, 1, m->work.at(), n, pivots.at(), x.at(), n, m->info.at()),
          "getrs");
  };
}

bare_call bare_svd(const ndarray& a) {
  if (!on_gpu(a)) return {};
  const auto m = std::make_shared<square>(a);
  const int n = m->n;
  const reals s = room(n), u(a.copy()), vh(a.copy());
  int size = 0;
  check(cusolverDnDgesvd_bufferSize(handle(), n, n, &size), "gesvd_bufferSize");
  const reals scratch = room(size);
  return [=] {
    m->restore();
    check(cusolverDnDgesvd(handle(), 'S', 'S', n, n, m->work.at(), n, s.at(), u.at(), n, vh.at(), n, scratch.at(), size,
                           nullptr, m->info.at()),
          "gesvd");
  };
}

bare_call bare_eigh(const ndarray& a) {
  if (!on_gpu(a)) return {};
  const auto m = std::make_shared<square>(a);
  const int n = m->n;
  const reals w = room(n);
  constexpr auto vectors = CUSOLVER_EIG_MODE_VECTOR;
  constexpr auto lower = CUBLAS_FILL_MODE_LOWER;
  int size = 0;
  check(cusolverDnDsyevd_bufferSize(handle(), vectors, lower, n, m->work.at(), n, w.at(), &size), "syevd_bufferSize");
  const reals scratch = room(size);
  return [=] {
    m->restore();
    check(cusolverDnDsyevd(handle(), vectors, lower, n, m->work.at(), n, w.at(), scratch.at(), size, m->info.at()),
          "syevd");
  };
}

#else

bare_call bare_qr(const ndarray&) { return {}; }
bare_call bare_solve(const ndarray&, const ndarray&) { return {}; }
bare_call bare_svd(const ndarray&) { return {}; }
bare_call bare_eigh(const ndarray&) { return {}; }

#endif

}  // namespace linalg_tour
