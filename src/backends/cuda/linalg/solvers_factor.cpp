// LU, Cholesky and QR factorisations, and triangular systems, on a GPU: one matrix by cuSOLVER, many small ones by the
// batched routines of cuBLAS and cuSOLVER, LU factors of very small ones by kernels, many large ones one at a time.
#include "backends/cuda/linalg/solver_calls.hpp"

#ifdef SINTER_HAS_GPU_SOLVERS

namespace sinter::cuda {

using runtime::matrix_form;
using runtime::triangular_system;

namespace {

constexpr int64_t largest_batched = 256;
/// More right sides than this keep a library's kernels busy.
constexpr int64_t few_sides = 64;

constexpr cublasOperation_t operation(matrix_form f) {
  return f == matrix_form::plain ? CUBLAS_OP_N : f == matrix_form::transposed ? CUBLAS_OP_T : CUBLAS_OP_C;
}

}  // namespace

void cuda_solvers::factor_lu(const matrix_batch& m, void* a, std::int32_t* pivots, std::int32_t* info) {
  const int rows = counted(m.rows, m.function), columns = counted(m.columns, m.function);
  const solver_call call(*this, m.function);
  if (rows == columns && many_small(m, device::most_small_order)) {
    call.check(device::factor_small_lu(call.context(), {static_cast<device::element>(m.type), m.rows, m.count}, a,
                                       pivots, info),
               "factor_lu");
    target_.launches->fetch_add(1, std::memory_order_relaxed);
    return;
  }
  with_solver_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    using f = solver_of<T>;
    const int64_t size = m.rows * m.columns;
    if (rows == columns && many_small(m, largest_batched)) {
      const scratch_memory table = call.addresses(a, size_of<T>(size), m.count);
      call.check((call.blas.*f::getrf_batched)(call.blas_handle, rows, static_cast<T* const*>(table->data()), rows,
                                               pivots, info, counted(m.count, m.function)),
                 "cublas<t>getrfBatched");
      return;
    }
    int wanted = 0;
    call.check((call.solver.*f::getrf_size)(call.solver_handle, rows, columns, static_cast<T*>(a), rows, &wanted),
               "cusolverDn<t>getrf_bufferSize");
    const scratch_memory work = call.scratch(size_of<T>(wanted));
    for (int64_t k = 0; k < m.count; ++k)
      call.check((call.solver.*f::getrf)(call.solver_handle, rows, columns, piece<T>(a, k, size), rows,
                                         static_cast<T*>(work->data()), pivots + k * m.smaller(), info + k),
                 "cusolverDn<t>getrf");
  });
}

void cuda_solvers::solve_lu(const matrix_batch& b, matrix_form form, const void* lu, const std::int32_t* pivots,
                            void* x) {
  const int order = counted(b.rows, b.function), columns = counted(b.columns, b.function);
  const solver_call call(*this, b.function);
  if (b.count > 1 && b.rows <= device::most_small_order && b.columns <= few_sides) {
    call.check(device::solve_small_lu(call.context(), {static_cast<device::element>(b.type), b.rows, b.count},
                                      b.columns, static_cast<int>(form), lu, pivots, x),
               "solve_lu");
    target_.launches->fetch_add(1, std::memory_order_relaxed);
    return;
  }
  with_solver_type(b.type, [&](auto zero) {
    using T = decltype(zero);
    using f = solver_of<T>;
    const int64_t size = b.rows * b.rows, sides = b.rows * b.columns;
    if (b.count > 1 && b.rows <= largest_batched) {
      const scratch_memory tables = call.addresses(lu, size_of<T>(size), x, size_of<T>(sides), b.count);
      const auto from = static_cast<T*const*>(tables->data()), to = from + b.count;
      int wrong = 0;  // number of an invalid argument
      call.check((call.blas.*f::getrs_batched)(call.blas_handle, operation(form), order, columns, from, order, pivots,
                                               to, order, &wrong, counted(b.count, b.function)),
                 "cublas<t>getrsBatched");
      return;
    }
    const scratch_memory wrong = call.scratch(sizeof(int));
    for (int64_t k = 0; k < b.count; ++k)
      call.check((call.solver.*f::getrs)(call.solver_handle, operation(form), order, columns,
                                         static_cast<const T*>(lu) + k * size, order, pivots + k * b.rows,
                                         piece<T>(x, k, sides), order, static_cast<int*>(wrong->data())),
                 "cusolverDn<t>getrs");
  });
}

// In column-major order, rows of x are columns of x^T, and op(a) x = b is x^T op(a)^T = b^T: a solve from the right. A
// row-major matrix is read as its transpose.
void cuda_solvers::solve_triangular(const triangular_system& s, const void* a, void* x) {
  const int order = counted(s.order, s.function), columns = counted(s.columns, s.function);
  const int leading = counted(s.leading, s.function);
  const solver_call call(*this, s.function);
  const bool lower = s.lower != s.by_rows;
  const cublasFillMode_t triangle = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  const cublasDiagType_t diagonal = s.unit_diagonal ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
  cublasOperation_t op = operation(s.form);
  if (!s.by_rows) op = s.form == matrix_form::plain ? CUBLAS_OP_T : CUBLAS_OP_N;
  with_solver_type(s.type, [&](auto zero) {
    using T = decltype(zero);
    using f = solver_of<T>;
    const T alpha = element_of<T>(1);
    const int64_t sides = s.order * s.columns;
    if (s.count > 1 && s.order <= largest_batched) {
      const scratch_memory tables = call.addresses(a, size_of<T>(s.stride), x, size_of<T>(sides), s.count);
      const auto from = static_cast<T*const*>(tables->data()), to = from + s.count;
      call.check((call.blas.*f::trsm_batched)(call.blas_handle, CUBLAS_SIDE_RIGHT, triangle, op, diagonal, columns,
                                              order, &alpha, from, leading, to, columns, counted(s.count, s.function)),
                 "cublas<t>trsmBatched");
      return;
    }
    for (int64_t k = 0; k < s.count; ++k)
      call.check(
          (call.blas.*f::trsm)(call.blas_handle, CUBLAS_SIDE_RIGHT, triangle, op, diagonal, columns, order, &alpha,
                               static_cast<const T*>(a) + k * s.stride, leading, piece<T>(x, k, sides), columns),
          "cublas<t>trsm");
  });
}

void cuda_solvers::factor_cholesky(const matrix_batch& m, bool upper, void* a, std::int32_t* info) {
  const int order = counted(m.rows, m.function);
  const cublasFillMode_t triangle = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const solver_call call(*this, m.function);
  with_solver_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    using f = solver_of<T>;
    const int64_t size = m.rows * m.rows;
    if (many_small(m, largest_batched)) {
      const scratch_memory table = call.addresses(a, size_of<T>(size), m.count);
      call.check((call.solver.*f::potrf_batched)(call.solver_handle, triangle, order, static_cast<T**>(table->data()),
                                                 order, info, counted(m.count, m.function)),
                 "cusolverDn<t>potrfBatched");
      return;
    }
    std::size_t on_device = 0, on_host = 0;
    call.check(call.solver.cusolverDnXpotrf_bufferSize(call.solver_handle, call.parameters, triangle, m.rows, f::data,
                                                       a, m.rows, f::data, &on_device, &on_host),
               "cusolverDnXpotrf_bufferSize");
    const scratch_memory work = call.scratch(static_cast<int64_t>(on_device));
    for (int64_t k = 0; k < m.count; ++k)
      call.check(call.solver.cusolverDnXpotrf(call.solver_handle, call.parameters, triangle, m.rows, f::data,
                                              piece<T>(a, k, size), m.rows, f::data, work->data(), on_device,
                                              call.host_memory(on_host), on_host, info + k),
                 "cusolverDnXpotrf");
    call.await_host_memory(on_host);
  });
}

void cuda_solvers::factor_qr(const matrix_batch& m, void* a, void* tau) {
  const int rows = counted(m.rows, m.function), columns = counted(m.columns, m.function);
  const solver_call call(*this, m.function);
  with_solver_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    using f = solver_of<T>;
    const int64_t size = m.rows * m.columns, k = m.smaller();
    if (many_small(m, largest_batched)) {
      const scratch_memory matrices = call.addresses(a, size_of<T>(size), m.count);
      const scratch_memory factors = call.addresses(tau, size_of<T>(k), m.count);
      int wrong = 0;  // number of an invalid argument
      call.check(
          (call.blas.*f::geqrf_batched)(call.blas_handle, rows, columns, static_cast<T* const*>(matrices->data()), rows,
                                        static_cast<T* const*>(factors->data()), &wrong, counted(m.count, m.function)),
          "cublas<t>geqrfBatched");
      return;
    }
    int wanted = 0;
    call.check((call.solver.*f::geqrf_size)(call.solver_handle, rows, columns, static_cast<T*>(a), rows, &wanted),
               "cusolverDn<t>geqrf_bufferSize");
    const scratch_memory work = call.scratch(size_of<T>(wanted)), wrong = call.scratch(sizeof(int));
    for (int64_t i = 0; i < m.count; ++i)
      call.check(
          (call.solver.*f::geqrf)(call.solver_handle, rows, columns, piece<T>(a, i, size), rows, piece<T>(tau, i, k),
                                  static_cast<T*>(work->data()), wanted, static_cast<int*>(wrong->data())),
          "cusolverDn<t>geqrf");
  });
}

void cuda_solvers::form_q(const matrix_batch& q, int64_t reflectors, void* a, const void* tau) {
  const int rows = counted(q.rows, q.function), columns = counted(q.columns, q.function);
  const solver_call call(*this, q.function);
  if (many_small(q, largest_batched)) {
    const device::q_shape shape{static_cast<device::element>(q.type), q.rows, q.columns, reflectors, q.count};
    call.check(device::form_q(call.context(), shape, a, tau), "form_q");
    target_.launches->fetch_add(1, std::memory_order_relaxed);
    return;
  }
  with_solver_type(q.type, [&](auto zero) {
    using T = decltype(zero);
    using f = solver_of<T>;
    const int count = static_cast<int>(reflectors);
    const T* factors = static_cast<const T*>(tau);
    int wanted = 0;
    call.check((call.solver.*f::orgqr_size)(call.solver_handle, rows, columns, count, static_cast<T*>(a), rows, factors,
                                            &wanted),
               "cusolverDn<t>orgqr_bufferSize");
    const scratch_memory work = call.scratch(size_of<T>(wanted)), wrong = call.scratch(sizeof(int));
    for (int64_t k = 0; k < q.count; ++k)
      call.check((call.solver.*f::orgqr)(call.solver_handle, rows, columns, count, piece<T>(a, k, q.rows * q.columns),
                                         rows, factors + k * reflectors, static_cast<T*>(work->data()), wanted,
                                         static_cast<int*>(wrong->data())),
                 "cusolverDn<t>orgqr");
  });
}

}  // namespace sinter::cuda

#endif
