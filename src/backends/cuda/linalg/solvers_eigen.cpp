// Eigenvalues on a GPU by cuSOLVER. Hermitian matrices: Jacobi's method or the batched routine for many small ones,
// divide and conquer otherwise.
#include <atomic>

#include "backends/cuda/driver/hooks.hpp"
#include "backends/cuda/linalg/solver_calls.hpp"

#ifdef SINTER_HAS_GPU_SOLVERS

namespace sinter::cuda {

namespace {

std::atomic<eigh_method> wanted_eigh{eigh_method::chosen};

constexpr int64_t largest_jacobi = 32;  // one warp's limit; above, it takes ten times as long as the other method
constexpr int64_t largest_batched = 512;

/// Arguments of the methods that decompose Hermitian matrices.
struct eigh_job {
  matrix_batch m;
  cublasFillMode_t triangle;
  cusolverEigMode_t mode;
  void *a, *w;
  std::int32_t* info;
};

/// Jacobi's method, to the precision of the type; one warp per matrix.
template <class T>
void eigh_by_jacobi(const solver_call& call, syevjInfo_t jacobi, const eigh_job& j) {
  using f = solver_of<T>;
  const int n = static_cast<int>(j.m.rows), count = counted(j.m.count, j.m.function);
  T* const a = static_cast<T*>(j.a);
  auto* const w = static_cast<part_of<T>*>(j.w);
  int wanted = 0;
  call.check((call.solver.*f::syevj_size)(call.solver_handle, j.mode, j.triangle, n, a, n, w, &wanted, jacobi, count),
             "cusolverDn<t>syevjBatched_bufferSize");
  const scratch_memory work = call.scratch(size_of<T>(wanted));
  call.check((call.solver.*f::syevj)(call.solver_handle, j.mode, j.triangle, n, a, n, w, static_cast<T*>(work->data()),
                                     wanted, j.info, jacobi, count),
             "cusolverDn<t>syevjBatched");
}

template <class T>
void eigh_batched(const solver_call& call, const eigh_job& j) {
  using f = solver_of<T>;
  const int64_t n = j.m.rows;
  std::size_t on_device = 0, on_host = 0;
  call.check(
      call.solver.cusolverDnXsyevBatched_bufferSize(call.solver_handle, call.parameters, j.mode, j.triangle, n, f::data,
                                                    j.a, n, f::real, j.w, f::data, &on_device, &on_host, j.m.count),
      "cusolverDnXsyevBatched_bufferSize");
  const scratch_memory work = call.scratch(static_cast<int64_t>(on_device));
  // Versions of CUDA 12 read part of it before writing it.
  call.check(cudaMemsetAsync(work->data(), 0, on_device, call.stream), "cudaMemsetAsync");
  call.check(call.solver.cusolverDnXsyevBatched(call.solver_handle, call.parameters, j.mode, j.triangle, n, f::data,
                                                j.a, n, f::real, j.w, f::data, work->data(), on_device,
                                                call.host_memory(on_host), on_host, j.info, j.m.count),
             "cusolverDnXsyevBatched");
  call.await_host_memory(on_host);
}

template <class T>
void eigh_one_by_one(const solver_call& call, const eigh_job& j) {
  using f = solver_of<T>;
  const int64_t n = j.m.rows;
  std::size_t on_device = 0, on_host = 0;
  call.check(call.solver.cusolverDnXsyevd_bufferSize(call.solver_handle, call.parameters, j.mode, j.triangle, n,
                                                     f::data, j.a, n, f::real, j.w, f::data, &on_device, &on_host),
             "cusolverDnXsyevd_bufferSize");
  const scratch_memory work = call.scratch(static_cast<int64_t>(on_device));
  for (int64_t k = 0; k < j.m.count; ++k) {
    call.check(call.solver.cusolverDnXsyevd(call.solver_handle, call.parameters, j.mode, j.triangle, n, f::data,
                                            piece<T>(j.a, k, n * n), n, f::real, piece<part_of<T>>(j.w, k, n), f::data,
                                            work->data(), on_device, call.host_memory(on_host), on_host, j.info + k),
               "cusolverDnXsyevd");
    call.await_host_memory(on_host);
  }
}

bool by_jacobi(const matrix_batch& m, bool robust) {
  const eigh_method wanted = wanted_eigh.load(std::memory_order_relaxed);
  if (robust || m.rows < 2 || !many_small(m, largest_jacobi)) return false;
  return wanted != eigh_method::by_batches;
}

}  // namespace

void set_eigh_method(eigh_method m) noexcept { wanted_eigh.store(m, std::memory_order_relaxed); }

void cuda_solvers::eigh(const matrix_batch& m, bool upper, bool vectors, bool robust, void* a, void* w,
                        std::int32_t* info) {
  const solver_call call(*this, m.function);
  const bool jacobi = by_jacobi(m, robust);
  const fit_matrices fit(call, m, upper ? device::matrix_part::upper : device::matrix_part::lower, jacobi, a);
  const eigh_job j{m,
                   upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER,
                   vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR,
                   a,
                   w,
                   info};
  with_solver_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    if (jacobi) return eigh_by_jacobi<T>(call, eigh_jacobi_, j);
    if (many_small(m, largest_batched)) return eigh_batched<T>(call, j);
    eigh_one_by_one<T>(call, j);
  });
  fit.finish(info, w, m.rows);
}

void cuda_solvers::eig(const matrix_batch& m, void* a, void* w, void* v, std::int32_t* info) {
  const solver_call call(*this, m.function);
  const fit_matrices fit(call, m, device::matrix_part::all, false, a);
  const cusolverEigMode_t none = CUSOLVER_EIG_MODE_NOVECTOR, right = v ? CUSOLVER_EIG_MODE_VECTOR : none;
  const int64_t n = m.rows;
  with_solver_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    using f = solver_of<T>;
    using part = part_of<T>;
    const cudaDataType complex = f::real == CUDA_R_32F ? CUDA_C_32F : CUDA_C_64F;
    std::size_t on_device = 0, on_host = 0;
    call.check(call.solver.cusolverDnXgeev_bufferSize(call.solver_handle, call.parameters, none, right, n, f::data, a,
                                                      n, complex, w, f::data, nullptr, n, f::data, v, n, f::data,
                                                      &on_device, &on_host),
               "cusolverDnXgeev_bufferSize");
    const scratch_memory work = call.scratch(static_cast<int64_t>(on_device));
    for (int64_t k = 0; k < m.count; ++k) {
      call.check(call.solver.cusolverDnXgeev(call.solver_handle, call.parameters, none, right, n, f::data,
                                             piece<T>(a, k, n * n), n, complex, piece<part>(w, k, 2 * n), f::data,
                                             nullptr, n, f::data, piece<T>(v, k, n * n), n, f::data, work->data(),
                                             on_device, call.host_memory(on_host), on_host, info + k),
                 "cusolverDnXgeev");
      call.await_host_memory(on_host);
    }
  });
  fit.finish(info, w, m.rows);
}

}  // namespace sinter::cuda

#endif
