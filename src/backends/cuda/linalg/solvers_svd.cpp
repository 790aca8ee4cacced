// Singular values on a GPU by cuSOLVER: Jacobi's method for many small matrices, QR iterations, polar decomposition for
// large ones.
#include <atomic>
#include <limits>

#include "backends/cuda/driver/hooks.hpp"
#include "backends/cuda/linalg/solver_calls.hpp"

#ifdef SINTER_HAS_GPU_SOLVERS

namespace sinter::cuda {

using runtime::right_vectors;
using runtime::svd_part;

namespace {

std::atomic<svd_method> wanted_method{svd_method::chosen};

constexpr int64_t largest_jacobi = 32;   // the library's limit
constexpr int64_t smallest_polar = 128;  // below, QR iterations are faster

/// Matrices of one SVD: rows >= columns. There are as many right vectors as columns.
struct svd_job {
  matrix_batch m;
  bool vectors = false, full = false;
  int64_t left = 0;  // how many left vectors

  svd_job(const matrix_batch& batch, svd_part part)
      : m(batch), vectors(part != svd_part::values), full(part == svd_part::full), left(full ? m.rows : m.columns) {}
};

/// The first of an SVD's matrices and its results.
template <class T>
struct svd_memory {
  T* a;
  part_of<T>* s;
  T *u, *v;
  std::int32_t* info;
};

/// Packs the first `used` of every `stride` bytes.
void gather(const solver_call& call, void* to, const void* from, int64_t used, int64_t stride, int64_t count) {
  const auto width = static_cast<std::size_t>(used);
  call.check(cudaMemcpy2DAsync(to, width, from, static_cast<std::size_t>(stride), width,
                               static_cast<std::size_t>(count), cudaMemcpyDeviceToDevice, call.stream),
             "cudaMemcpy2DAsync");
}

/// Jacobi's method for all matrices at once. It always computes all vectors, though fewer may be needed.
template <class T>
void svd_by_jacobi(const solver_call& call, gesvdjInfo_t jacobi, const svd_job& j, const svd_memory<T>& at) {
  using f = solver_of<T>;
  const int rows = static_cast<int>(j.m.rows), columns = static_cast<int>(j.m.columns);
  const int count = counted(j.m.count, j.m.function);
  const cusolverEigMode_t mode = j.vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  // The library needs memory for vectors even if none are computed.
  const bool partly = j.left < j.m.rows, own_u = !j.vectors || partly;
  const scratch_memory all_u = call.scratch(own_u ? size_of<T>(j.m.rows * j.m.rows * j.m.count) : 0);
  const scratch_memory all_v = call.scratch(j.vectors ? 0 : size_of<T>(j.m.columns * j.m.columns * j.m.count));
  T* const u = own_u ? static_cast<T*>(all_u->data()) : at.u;
  T* const v = j.vectors ? at.v : static_cast<T*>(all_v->data());
  int wanted = 0;
  call.check((call.solver.*f::gesvdj_size)(call.solver_handle, mode, rows, columns, at.a, rows, at.s, u, rows, v,
                                           columns, &wanted, jacobi, count),
             "cusolverDn<t>gesvdjBatched_bufferSize");
  const scratch_memory work = call.scratch(size_of<T>(wanted));
  call.check((call.solver.*f::gesvdj)(call.solver_handle, mode, rows, columns, at.a, rows, at.s, u, rows, v, columns,
                                      static_cast<T*>(work->data()), wanted, at.info, jacobi, count),
             "cusolverDn<t>gesvdjBatched");
  if (j.vectors && partly)
    gather(call, at.u, u, size_of<T>(j.m.rows * j.left), size_of<T>(j.m.rows * j.m.rows), j.m.count);
}

/// QR iterations, one matrix at a time; they give v^H instead of v.
template <class T>
class svd_by_qr {
 public:
  svd_by_qr(const solver_call& call, const svd_job& j, const svd_memory<T>& first)
      : call_(call),
        j_(j),
        job_(!j.vectors ? 'N'
             : j.full   ? 'A'
                        : 'S') {
    call.check(
        call.solver.cusolverDnXgesvd_bufferSize(call.solver_handle, call.parameters, job_, job_, rows(), columns(),
                                                f::data, first.a, rows(), f::real, first.s, f::data, first.u, rows(),
                                                f::data, first.v, columns(), f::data, &on_device_, &on_host_),
        "cusolverDnXgesvd_bufferSize");
    work_ = call.scratch(static_cast<int64_t>(on_device_));
  }
  void operator()(const svd_memory<T>& at) {
    call_.check(call_.solver.cusolverDnXgesvd(call_.solver_handle, call_.parameters, job_, job_, rows(), columns(),
                                              f::data, at.a, rows(), f::real, at.s, f::data, at.u, rows(), f::data,
                                              at.v, columns(), f::data, work_->data(), on_device_,
                                              call_.host_memory(on_host_), on_host_, at.info),
                "cusolverDnXgesvd");
    call_.await_host_memory(on_host_);
  }

 private:
  using f = solver_of<T>;
  int64_t rows() const { return j_.m.rows; }
  int64_t columns() const { return j_.m.columns; }

  const solver_call& call_;
  const svd_job& j_;
  signed char job_;
  std::size_t on_device_ = 0, on_host_ = 0;
  scratch_memory work_;
};

/// Polar decomposition (Nakatsukasa and Higham, Stable and Efficient Spectral Divide and Conquer Algorithms, 2013), one
/// matrix at a time: several times as fast, and as accurate unless the matrix is nearly singular, when the library adds
/// a perturbation. Those matrices are recomputed by QR iterations.
template <class T>
class svd_by_polar {
 public:
  svd_by_polar(const solver_call& call, const svd_job& j, const svd_memory<T>& first) : call_(call), j_(j) {
    call.check(call.solver.cusolverDnXgesvdp_bufferSize(call.solver_handle, call.parameters, CUSOLVER_EIG_MODE_VECTOR,
                                                        economy(), rows(), columns(), f::data, first.a, rows(), f::real,
                                                        first.s, f::data, first.u, rows(), f::data, first.v, columns(),
                                                        f::data, &on_device_, &on_host_),
               "cusolverDnXgesvdp_bufferSize");
  }
  void operator()(const svd_memory<T>& at) {
    const int64_t bytes = size_of<T>(rows() * columns());
    const scratch_memory kept = call_.scratch(bytes);
    copy(kept->data(), at.a, bytes, cudaMemcpyDeviceToDevice);
    if (attempt(at)) return;
    copy(at.a, kept->data(), bytes, cudaMemcpyDeviceToDevice);
    const scratch_memory vh = call_.scratch(size_of<T>(columns() * columns()));
    const svd_memory<T> again{at.a, at.s, at.u, static_cast<T*>(vh->data()), at.info};
    svd_by_qr<T>(call_, j_, again)(again);
    conjugate_transpose(again.v, at.v);
  }

 private:
  using f = solver_of<T>;
  using part = part_of<T>;
  int64_t rows() const { return j_.m.rows; }
  int64_t columns() const { return j_.m.columns; }
  int economy() const { return j_.full ? 0 : 1; }

  void copy(void* to, const void* from, int64_t bytes, cudaMemcpyKind kind) {
    call_.check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, call_.stream), "cudaMemcpyAsync");
  }

  bool attempt(const svd_memory<T>& at) {
    const scratch_memory work = call_.scratch(static_cast<int64_t>(on_device_));
    double perturbation = 0;
    call_.check(call_.solver.cusolverDnXgesvdp(
                    call_.solver_handle, call_.parameters, CUSOLVER_EIG_MODE_VECTOR, economy(), rows(), columns(),
                    f::data, at.a, rows(), f::real, at.s, f::data, at.u, rows(), f::data, at.v, columns(), f::data,
                    work->data(), on_device_, call_.host_memory(on_host_), on_host_, at.info, &perturbation),
                "cusolverDnXgesvdp");
    std::int32_t failed = 0;
    part most = 0, least = 0;
    copy(&failed, at.info, sizeof failed, cudaMemcpyDeviceToHost);
    copy(&most, at.s, sizeof most, cudaMemcpyDeviceToHost);
    copy(&least, at.s + columns() - 1, sizeof least, cudaMemcpyDeviceToHost);
    call_.synchronize();
    const part negligible = std::numeric_limits<part>::epsilon() * static_cast<part>(rows()) * most;
    return failed == 0 && perturbation == 0 && least > negligible;  // false for NaN
  }
  /// v = vh^H.
  void conjugate_transpose(const T* vh, T* v) {
    const T one = element_of<T>(1), zero = element_of<T>(0);
    const int n = static_cast<int>(columns());
    call_.check(
        (call_.blas.*f::geam)(call_.blas_handle, CUBLAS_OP_C, CUBLAS_OP_N, n, n, &one, vh, n, &zero, v, n, v, n),
        "cublas<t>geam");
  }

  const solver_call& call_;
  const svd_job& j_;
  std::size_t on_device_ = 0, on_host_ = 0;
};

bool by_polar(const svd_job& j) {
  if (!j.vectors) return false;
  const svd_method m = wanted_method.load(std::memory_order_relaxed);
  return m == svd_method::chosen ? j.m.smaller() >= smallest_polar : m == svd_method::by_polar;
}

template <class T, class Method>
void each_svd(const svd_job& j, const svd_memory<T>& first, Method&& method) {
  for (int64_t k = 0; k < j.m.count; ++k)
    method(svd_memory<T>{piece<T>(first.a, k, j.m.rows * j.m.columns), piece<part_of<T>>(first.s, k, j.m.columns),
                         piece<T>(first.u, k, j.m.rows * j.left), piece<T>(first.v, k, j.m.columns * j.m.columns),
                         first.info + k});
}

}  // namespace

void set_svd_method(svd_method m) noexcept { wanted_method.store(m, std::memory_order_relaxed); }

right_vectors cuda_solvers::svd(const matrix_batch& m, svd_part part, void* a, void* s, void* u, void* v,
                                std::int32_t* info) {
  const svd_job j(m, part);
  const solver_call call(*this, m.function);
  const bool jacobi = many_small(m, largest_jacobi);
  const fit_matrices fit(call, m, device::matrix_part::all, jacobi, a);
  right_vectors found = right_vectors::v;
  with_solver_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    const svd_memory<T> at{static_cast<T*>(a), static_cast<part_of<T>*>(s), static_cast<T*>(u), static_cast<T*>(v),
                           info};
    if (jacobi) return svd_by_jacobi(call, svd_jacobi_, j, at);
    if (by_polar(j)) return each_svd(j, at, svd_by_polar<T>(call, j, at));
    found = right_vectors::vh;
    each_svd(j, at, svd_by_qr<T>(call, j, at));
  });
  fit.finish(info, s, m.columns);
  return found;
}

}  // namespace sinter::cuda

#endif
