// LU, Cholesky and QR factorisations, and triangular systems, by OpenBLAS.
#include "backends/cpu/linalg/solvers.hpp"

#include "backends/cpu/linalg/lapack_calls.hpp"
#include "backends/cpu/linalg/small_lu.hpp"
#include "platform/host_libraries.hpp"

namespace sinter::cpu {

using runtime::matrix_batch;
using runtime::matrix_form;
using runtime::triangular_system;

namespace {

/// The work is done when a call of this backend returns.
class known_outcome final : public runtime::outcome {
 public:
  explicit known_outcome(std::int64_t first) : first_(first) {}
  std::int64_t first_failure() override { return first_; }

 private:
  std::int64_t first_;
};

}  // namespace

std::unique_ptr<runtime::outcome> cpu_solvers::look_for_failures(const std::int32_t* info, std::int64_t count) {
  std::int64_t k = 0;
  while (k < count && info[k] == 0) ++k;
  return std::make_unique<known_outcome>(k < count ? k : -1);
}

const lapack_api& lapack(const char* function) {
  static const auto& opened =
      platform::open_library<lapack_api>(platform::prepared_openblas_place("OpenBLAS with LAPACK"));
  return opened.usable_by(function);
}

void cpu_solvers::factor_lu(const matrix_batch& m, void* a, std::int32_t* pivots, std::int32_t* info) {
  if (m.rows == m.columns && m.rows > 0 && m.rows <= largest_small_lu)
    return factor_small_lu(m.type, m.rows, m.count, a, pivots, info);
  const lapack_api& api = lapack(m.function);
  const blas_int rows = counted(m.rows, m.function), columns = counted(m.columns, m.function);
  with_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    each_range(m.function, m.count, m.rows * m.columns * m.smaller(), [&](int64_t first, int64_t last) {
      const stack<T> matrices(a, m.rows * m.columns, m.count);
      for (int64_t k = first; k < last; ++k)
        (api.*lapack_of<T>::getrf)(&rows, &columns, matrices.at(k).data(), &rows, pivots + k * m.smaller(), info + k);
    });
  });
}

void cpu_solvers::solve_lu(const matrix_batch& b, matrix_form form, const void* lu, const std::int32_t* pivots,
                           void* x) {
  if (form == matrix_form::plain && b.rows > 0 && b.rows <= largest_small_lu && b.columns <= largest_small_lu)
    return solve_small_lu(b.type, b.rows, b.columns, b.count, lu, pivots, x);
  const lapack_api& api = lapack(b.function);
  const blas_int order = counted(b.rows, b.function), columns = counted(b.columns, b.function);
  const char how = "NTC"[static_cast<int>(form)];
  with_type(b.type, [&](auto zero) {
    using T = decltype(zero);
    each_range(b.function, b.count, b.rows * b.rows * b.columns, [&](int64_t first, int64_t last) {
      blas_int wrong = 0;
      for (int64_t k = first; k < last; ++k)
        (api.*lapack_of<T>::getrs)(&how, &order, &columns, static_cast<const T*>(lu) + k * b.rows * b.rows, &order,
                                   pivots + k * b.rows, static_cast<T*>(x) + k * b.rows * b.columns, &order, &wrong, 1);
    });
  });
}

namespace {

template <class T>
void solve_one(const lapack_api& api, const triangular_system& s, const T* a, T* x) {
  const auto call = lapack_of<T>::trsm;
  // A matrix by columns is its transpose by rows.
  const bool flipped = !s.by_rows;
  const blas_triangle triangle = s.lower != flipped ? blas_triangle::lower : blas_triangle::upper;
  blas_form form = s.form == matrix_form::plain ? blas_form::plain : blas_form::transposed;
  if (flipped) form = form == blas_form::plain ? blas_form::transposed : blas_form::plain;
  if (!flipped && s.form == matrix_form::conjugated) form = blas_form::conjugated;
  const blas_diagonal diagonal = s.unit_diagonal ? blas_diagonal::unit : blas_diagonal::stored;
  const auto order = static_cast<blas_int>(s.order), columns = static_cast<blas_int>(s.columns);
  const auto leading = static_cast<blas_int>(s.leading);
  if constexpr (std::is_floating_point_v<T>) {
    (api.*call)(blas_order::by_rows, blas_side::left, triangle, form, diagonal, order, columns, T{1}, a, leading, x,
                columns);
  } else {
    const T one{1};
    (api.*call)(blas_order::by_rows, blas_side::left, triangle, form, diagonal, order, columns, &one, a, leading, x,
                columns);
  }
}

}  // namespace

void cpu_solvers::solve_triangular(const triangular_system& s, const void* a, void* x) {
  const lapack_api& api = lapack(s.function);
  for (const int64_t n : {s.order, s.columns, s.leading}) counted(n, s.function);
  with_type(s.type, [&](auto zero) {
    using T = decltype(zero);
    each_range(s.function, s.count, s.order * s.order * s.columns, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; ++k)
        solve_one(api, s, static_cast<const T*>(a) + k * s.stride, static_cast<T*>(x) + k * s.order * s.columns);
    });
  });
}

void cpu_solvers::factor_cholesky(const matrix_batch& m, bool upper, void* a, std::int32_t* info) {
  const lapack_api& api = lapack(m.function);
  const blas_int order = counted(m.rows, m.function);
  const char triangle = upper ? 'U' : 'L';
  with_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    each_range(m.function, m.count, m.rows * m.rows * m.rows, [&](int64_t first, int64_t last) {
      const stack<T> matrices(a, m.rows * m.rows, m.count);
      for (int64_t k = first; k < last; ++k)
        (api.*lapack_of<T>::potrf)(&triangle, &order, matrices.at(k).data(), &order, info + k, 1);
    });
  });
}

void cpu_solvers::factor_qr(const matrix_batch& m, void* a, void* tau) {
  const lapack_api& api = lapack(m.function);
  const blas_int rows = counted(m.rows, m.function), columns = counted(m.columns, m.function);
  with_type(m.type, [&](auto zero) {
    using T = decltype(zero);
    each_range(m.function, m.count, m.rows * m.columns * m.smaller(), [&](int64_t first, int64_t last) {
      blas_int wrong = 0, asking = -1;
      T wanted{};
      (api.*lapack_of<T>::geqrf)(&rows, &columns, nullptr, &rows, nullptr, &wanted, &asking, &wrong);
      const blas_int size = counted(asked_for(wanted), m.function);
      const workspace<T> work(size);
      const stack<T> matrices(a, m.rows * m.columns, m.count);
      for (int64_t k = first; k < last; ++k)
        (api.*lapack_of<T>::geqrf)(&rows, &columns, matrices.at(k).data(), &rows,
                                   static_cast<T*>(tau) + k * m.smaller(), work.data(), &size, &wrong);
    });
  });
}

void cpu_solvers::form_q(const matrix_batch& q, std::int64_t reflectors, void* a, const void* tau) {
  const lapack_api& api = lapack(q.function);
  const blas_int rows = counted(q.rows, q.function), columns = counted(q.columns, q.function);
  const blas_int count = static_cast<blas_int>(reflectors);
  with_type(q.type, [&](auto zero) {
    using T = decltype(zero);
    each_range(q.function, q.count, q.rows * q.columns * reflectors, [&](int64_t first, int64_t last) {
      blas_int wrong = 0, asking = -1;
      T wanted{};
      (api.*lapack_of<T>::orgqr)(&rows, &columns, &count, nullptr, &rows, nullptr, &wanted, &asking, &wrong);
      const blas_int size = counted(asked_for(wanted), q.function);
      const workspace<T> work(size);
      for (int64_t k = first; k < last; ++k)
        (api.*lapack_of<T>::orgqr)(&rows, &columns, &count, static_cast<T*>(a) + k * q.rows * q.columns, &rows,
                                   static_cast<const T*>(tau) + k * reflectors, work.data(), &size, &wrong);
    });
  });
}

}  // namespace sinter::cpu
